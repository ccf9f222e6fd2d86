"""What was merged and is not settled, by the pull request that brought it (pure).

Merged pull requests are taken one cycle each, in the order of their merges (architecture, section 4: reconcile).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.curator.entry import entry_id
from bot.github.analysis import Analysis, SubmissionFacts
from bot.github.values import PullRequest
from bot.ledger.keys import digest
from bot.ledger.model import PullRequestRecord
from bot.reconcile.inventory import Inventory


@dataclass(frozen=True, kw_only=True)
class Case:
    """A merge, the facts of what it brought and nobody settled since, and where it was talked about.

    ``merge`` is its commit and ``at`` the time of that; ``pull_request`` is unknown for what was pushed directly.
    ``texts`` maps the entries that it brought to digests of their turns.
    """

    merge: str
    at: str
    pull_request: PullRequest | None
    record: PullRequestRecord | None
    analysis: Analysis
    texts: Mapping[str, str]


def cases_of(
    inventory: Inventory, pull_requests: Sequence[PullRequest], records: Mapping[int, PullRequestRecord]
) -> tuple[Case, ...]:
    """The cases of ``inventory``: those that were left open before, then the new merges, each in the order of merging.

    A query belongs to the first that brought its text as it is now.
    """
    by_merge = {pull.merge: pull for pull in pull_requests if pull.merge is not None}
    open_records = {record.merged.commit: record for record in records.values() if record.merged is not None}
    left = sorted((item.merged.at, item.pull_request, commit) for commit, item in open_records.items() if item.merged)
    brought = [(commit, at, open_records[commit].texts) for at, _, commit in left]
    brought += [
        (merge.commit, merge.at, merge.brought) for merge in inventory.merges if merge.commit not in open_records
    ]
    merged = {commit: open_records.get(commit) or records.get(pull.number) for commit, pull in by_merge.items()}
    # A pull request that was merged by a rebase brought more than its last commit, and that is its own.
    own = {
        commit: {**known.texts, **texts} if (known := merged.get(commit)) is not None else texts
        for commit, _, texts in brought
    }
    told = {item for commit, texts in own.items() if commit in by_merge for item in texts.items()}
    taken: set[str] = set()
    found = []
    for commit, at, _ in brought:
        pull, record = by_merge.get(commit), merged.get(commit) or open_records.get(commit)
        texts = own[commit] if pull is not None else dict(own[commit].items() - told)
        submissions = _filtered(inventory.submissions, texts, taken, _pinned(record))
        if not submissions:
            continue
        analysis = Analysis(
            repository=inventory.repository,
            pull_request=None if pull is None else pull.number,
            base=inventory.base,
            head=commit,
            held=False,
            touches=("eval_sets",),
            set_changes=(),
            identity=inventory.identity,
            submissions=submissions,
            problems=(),
            reused=0,
            classified=0,
        )
        found.append(Case(merge=commit, at=at, pull_request=pull, record=record, analysis=analysis, texts=texts))
    return tuple(found)


def without(case: Case, names: Collection[str]) -> Case:
    """``case`` without the queries ``names``."""
    if not names:
        return case
    submissions = tuple(
        facts.model_copy(update={"queries": tuple(query for query in facts.queries if query.id not in names)})
        for facts in case.analysis.submissions
    )
    return replace(case, analysis=case.analysis.model_copy(update={"submissions": submissions}))


def _pinned(record: PullRequestRecord | None) -> frozenset[str]:
    """The entries whose pins were spoken of: also where they are settled there is something to do."""
    decisions = () if record is None else record.decisions
    return frozenset(item.entry for item in decisions if item.action in ("pin", "unpin"))


def _filtered(
    submissions: Sequence[SubmissionFacts], texts: Mapping[str, str], taken: set[str], pinned: Collection[str]
) -> tuple[SubmissionFacts, ...]:
    """The agents with unsettled queries whose texts are among ``texts``, without those that are ``taken``, or with
    one that is ``pinned``.

    Settled queries stay, so that it is seen what else is there.
    """
    found = []
    for facts in submissions:
        kept, mine = [], False
        for query in facts.queries:
            entry = entry_id(facts.customer, facts.agent, query.id.removeprefix(facts.prefix))
            if query.key is None:
                kept.append(query)
                mine = mine or entry in pinned
            elif entry not in taken and texts.get(entry) == digest(list(query.turns)):
                kept.append(query)
                taken.add(entry)
                mine = True
        if mine:
            found.append(facts.model_copy(update={"queries": tuple(kept)}))
    return tuple(found) if len(found) != 1 else (_by_item(found[0]),)


def _by_item(facts: SubmissionFacts) -> SubmissionFacts:
    """``facts`` with the names that a pull request with one agent shows."""
    queries = tuple(query.model_copy(update={"id": query.id.removeprefix(facts.prefix)}) for query in facts.queries)
    return facts.model_copy(update={"prefix": "", "queries": queries})
