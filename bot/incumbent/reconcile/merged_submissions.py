"""What was merged and is not settled, by the pull request that brought it, and what admissions are planned from (pure).

Merged pull requests are taken one cycle each, in the order of their merges.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from incumbent.classifier.model import Classification
from incumbent.curator.store import RegressionSet
from incumbent.github.authority import NO_CO_AUTHORS, CoAuthors
from incumbent.github.decisions import NOTHING_RECORDED, RecordedCorrections
from incumbent.github.facts import JudgedFacts, SubmissionFacts
from incumbent.github.judgement import judge_facts
from incumbent.github.models import IssueComment, PullRequest
from incumbent.ledger.model import (
    NO_ABILITIES,
    AbilityRecord,
    DecisionRecord,
    FolderIndex,
    FolderRecord,
    LeftQuery,
    PullRequestRecord,
    Reconciled,
    Rejection,
    Request,
)
from incumbent.pipeline.matching import settle
from incumbent.pipeline.review import Platform
from incumbent.reconcile.admission_pull_request import NOTHING_REFUSED, Refused
from incumbent.reconcile.inventory import Inventory, MergeFacts
from incumbent.text.compare import rounded
from incumbent.text.digests import digest


def origins(
    fresh: Sequence[MergeFacts],
    closed: Sequence[PullRequest],
    records: Mapping[int, PullRequestRecord],
    introduced: Callable[[str], tuple[PullRequest, ...]],
    pull_request: Callable[[int], PullRequest | None],
) -> dict[str, PullRequest]:
    """Commit → pull request, of the ``fresh`` merges and of the records that are open.

    The list of the last ones that were ``closed`` may lag, or end before: ``introduced`` tells which brought a commit,
    as those that a rebase makes of one pull request; ``pull_request`` looks one up.
    """
    found = {pull.merge: pull for pull in closed if pull.merge is not None}
    for record in records.values():
        if record.merged is not None and record.merged.commit not in found:
            pull = pull_request(record.pull_request)
            # A rebase makes several commits of one pull request: any of them may be the one that was noted.
            if pull is not None and pull.merge is not None:
                found[record.merged.commit] = pull
    for merge in fresh:
        if merge.commit not in found:
            merged = [pull for pull in introduced(merge.commit) if pull.merge is not None]
            if merged:
                found[merge.commit] = min(merged, key=lambda item: item.number)
    return found


@dataclass(frozen=True, kw_only=True)
class MergedSubmission(JudgedFacts):
    """A merge, the facts of what it brought and nobody settled since, and where it was talked about.

    ``head`` is its commit and ``at`` the time of that; ``pull`` is unknown for what was pushed directly.  ``texts``
    maps the entries that it brought to digests of their turns; ``reviewed`` is what the review said of its queries, by
    key, and ``is_same_version`` tells that this version of the product did; ``disputed`` are the keys of what the job
    after the merge says differently in this run.  ``again`` tells that all of it was settled once, and that the set has
    changed since; ``lost`` that some of it waited for a slot, and left the line.
    """

    at: str
    pull: PullRequest | None
    record: PullRequestRecord | None
    texts: Mapping[str, str]
    reviewed: Mapping[str, Classification] = field(default_factory=dict)
    is_same_version: bool = True
    disputed: frozenset[str] = frozenset()
    again: bool = False
    lost: bool = False


def cases_of(
    inventory: Inventory,
    fresh: Sequence[MergeFacts],
    pull_requests: Mapping[str, PullRequest],
    records: Mapping[int, PullRequestRecord],
    settled: Collection[str] = (),
) -> tuple[MergedSubmission, ...]:
    """The cases of ``inventory``: those that were left open before, then the ``fresh`` merges, in the order of merging.

    ``pull_requests`` maps commits of merges to what was merged by them.  A query belongs to the first that brought its
    text as it is now, until it is ``settled``.
    """
    brought = [*_left_open(inventory, records, pull_requests), *_merged(inventory, fresh, pull_requests, records)]
    of_pulls = {item for each in brought if each.pull is not None for item in each.texts.items()}
    taken: set[str] = set()
    found = []
    for each in brought:
        texts = each.texts if each.pull is not None else dict(each.texts.items() - of_pulls)
        submissions = _filtered(inventory.submissions, texts, taken, _pinned(each.record), settled)
        if submissions:
            found.append(replace(each, texts=texts, submissions=submissions))
    return tuple(found)


def judged_again(
    inventory: Inventory,
    left: Mapping[str, LeftQuery],
    cases: Sequence[MergedSubmission],
    settled: Collection[str] = (),
) -> tuple[tuple[int, MergedSubmission], ...]:
    """What was merged before and did not enter, by the pull request that brought it, as cases of their own.

    What has become of it is for a person to see who looks at it again: no pull request is asked for until then.
    """
    taken = {entry for case in cases for entry in case.texts}
    busy = {case.pull.number for case in cases if case.pull is not None}
    groups: dict[int, dict[str, LeftQuery]] = {}
    for entry, item in sorted(left.items()):
        if item.pull_request is not None and item.pull_request not in busy and entry not in taken:
            groups.setdefault(item.pull_request, {})[entry] = item
    found = []
    for number, items in sorted(groups.items()):
        texts = {entry: item.text for entry, item in items.items()}
        submissions = _filtered(inventory.submissions, texts, taken, ())
        if submissions:
            last = max(items.values(), key=lambda item: (item.at, item.commit))
            case = _case(inventory, last.commit, last.at, texts)
            outside = {facts.entry_of(query) for facts in submissions for query in facts.queries}.difference(settled)
            lost = any(items[entry].waits for entry in outside)
            found.append((number, replace(case, submissions=submissions, again=True, lost=lost)))
    return tuple(found)


def has_merit(case: MergedSubmission, platform: Platform, rejected: Sequence[DecisionRecord]) -> bool:
    """Whether a query of ``case`` would enter if a person let it; nobody saw any of them admitted."""
    bare = judge_facts(case, platform, None, ())
    review = judge_facts(case, platform, None, rejected, (), tuple(bare.entries)).review
    return review is not None and bool(review.plan.waiting_for_review)


def _left_open(
    inventory: Inventory, records: Mapping[int, PullRequestRecord], pull_requests: Mapping[str, PullRequest]
) -> list[MergedSubmission]:
    found = [
        _case(
            inventory,
            record.merged.commit,
            record.merged.at,
            record.texts,
            pull_requests.get(record.merged.commit),
            record,
        )
        for _, record in sorted(records.items())
        if record.merged is not None
    ]
    return sorted(found, key=lambda item: item.at)


def _merged(
    inventory: Inventory,
    fresh: Sequence[MergeFacts],
    pull_requests: Mapping[str, PullRequest],
    records: Mapping[int, PullRequestRecord],
) -> list[MergedSubmission]:
    """One for each pull request, however many commits of the line it became, and for each commit that was pushed."""
    noted = {record.merged.commit for record in records.values() if record.merged is not None}
    found: dict[int | str, MergedSubmission] = {}
    for merge in fresh:
        pull = pull_requests.get(merge.commit)
        if merge.commit in noted or (pull is not None and pull.merge in noted):
            continue
        key = merge.commit if pull is None else pull.number
        record = None if pull is None else records.get(pull.number)
        # A pull request that was merged by a rebase brought more than its last commit.
        known = found[key].texts if key in found else {} if record is None else record.texts
        found[key] = _case(inventory, merge.commit, merge.at, {**known, **merge.brought}, pull, record)
    return list(found.values())


def _case(
    inventory: Inventory,
    commit: str,
    at: str,
    texts: Mapping[str, str],
    pull: PullRequest | None = None,
    record: PullRequestRecord | None = None,
) -> MergedSubmission:
    """What the merge of ``commit`` brought, whose facts are not looked for yet."""
    return MergedSubmission(
        pull_request=None if pull is None else pull.number,
        base=inventory.base,
        head=commit,
        identity=inventory.identity,
        submissions=(),
        at=at,
        pull=pull,
        record=record,
        texts=texts,
    )


def without(case: MergedSubmission, names: Collection[str]) -> MergedSubmission:
    """``case`` without the queries ``names``."""
    if not names:
        return case
    submissions = tuple(
        facts.model_copy(update={"queries": tuple(query for query in facts.queries if query.query.id not in names)})
        for facts in case.submissions
    )
    return replace(case, submissions=submissions)


DISPUTED: Final = (
    "the job that read it after the merge says something else of it than the review did, under the same version; "
    "run the workflow again"
)


def disputed(case: MergedSubmission, run: str) -> frozenset[str]:
    """The keys of the classifications in ``case`` of which the review said something else, by the same version.

    One of the two jobs was not honest, or broken: neither is believed in this ``run``.  If a later run of the merged
    files disagrees with the review again, its word counts, and a person decides (:func:`agreed`).
    """
    if not case.is_same_version:
        return frozenset()
    before = {} if case.record is None else case.record.disputed
    found = set()
    for item in (item for facts in case.submissions for item in facts.queries):
        key, now = item.key or "", item.classification
        said = case.reviewed.get(key)
        if said is not None and now is not None and not agree(said, now) and before.get(key) in (None, run):
            found.add(key)
    return frozenset(found)


def agreed(case: MergedSubmission) -> frozenset[str]:
    """The queries of ``case`` of which two jobs say the same: the review, and the one that read the merged files."""
    return frozenset(
        item.query.id
        for facts in case.submissions
        for item in facts.queries
        if item.classification is not None
        and (said := case.reviewed.get(item.key or "")) is not None
        and agree(said, item.classification)
    )


def agree(one: Classification, other: Classification) -> bool:
    """Whether two jobs say the same of a text.

    A language model may well give other probabilities when it is asked again; the capabilities must be the same.
    """
    if one.findings or other.findings:
        return one.signature == other.signature
    return _decisive(one) == _decisive(other)


def _decisive(item: Classification) -> tuple[object, ...]:
    """All of ``item`` that a verdict may rest on."""
    values = {name: (each.value, rounded(each.confidence), each.path) for name, each in item.judgements.items()}
    marks = (item.attempt, item.basis, item.unfamiliar, item.contradiction is None)
    return (values, item.off_taxonomy, item.arbitrated, *marks)


def undisputed(submissions: Sequence[SubmissionFacts], keys: Collection[str]) -> tuple[SubmissionFacts, ...]:
    """``submissions`` in which queries with one of ``keys`` count as unclassified."""
    new = {"classification": None, "shortfall": DISPUTED}
    return tuple(
        facts.model_copy(
            update={
                "queries": tuple(
                    item.model_copy(update=new) if item.key in keys and item.classification is not None else item
                    for item in facts.queries
                )
            }
        )
        for facts in submissions
    )


def _pinned(record: PullRequestRecord | None) -> frozenset[str]:
    """The entries whose pins were spoken of: also where they are settled there is something to do."""
    decisions = () if record is None else record.decisions
    return frozenset(item.entry for item in decisions if item.action in ("pin", "unpin"))


def _filtered(
    submissions: Sequence[SubmissionFacts],
    texts: Mapping[str, str],
    taken: set[str],
    pinned: Collection[str],
    settled: Collection[str] = (),
) -> tuple[SubmissionFacts, ...]:
    """The agents with unsettled queries whose texts are among ``texts``, without those that are ``taken``, or with
    one that is ``pinned``.

    Settled queries stay, so that it is seen what else is there.
    """
    found = []
    for facts in submissions:
        kept, mine = [], False
        for query in facts.queries:
            entry = facts.entry_of(query)
            own = texts.get(entry) == digest(list(query.query.turns))
            if query.settled:
                # What others brought into the folder since is told where they brought it.
                if own or entry in pinned:
                    kept.append(query)
                    mine = mine or entry in pinned
            elif own and (entry not in taken or entry in settled):
                kept.append(query)
                mine = mine or entry not in taken
                taken.add(entry)
        if mine:
            found.append(facts.model_copy(update={"queries": tuple(kept)}))
    return tuple(found) if len(found) != 1 else (_by_item(found[0]),)


def settled_in(inventory: Inventory, regression_set: RegressionSet) -> frozenset[str]:
    """The ids that the settled queries have by their sources, with what was settled since ``inventory`` was made."""
    submissions = [facts.submission for facts in inventory.submissions]
    return frozenset(item.entry_id(name) for item in submissions for name in settle([item], regression_set).settled)


def _by_item(facts: SubmissionFacts) -> SubmissionFacts:
    """``facts`` with the names that a pull request with one agent shows."""
    about, queries = replace(facts.about, prefix=""), []
    for item in facts.queries:
        query = replace(item.query, id=facts.about.item(item.query.id))
        queries.append(item.model_copy(update={"query": query}))
    return facts.model_copy(update={"about": about, "queries": tuple(queries)})


@dataclass(frozen=True, kw_only=True)
class AdmissionInputs:
    """GitHub as the plan finds it: the default branch ``branch`` at ``commit``, comments by pull request, the ledger's
    commit.

    ``ended`` are closed pull requests of which nothing has to be remembered unless a query of theirs was merged and
    needs a person; ``merges`` are those that were merged, and ``merged_by`` tells who merged one, and when.
    ``rejections`` were given before; their comments are among the others.  ``ledger_files`` are the ledger's files by
    path, ``reconciled``, the ``index`` and, by path, what is known of ``folders`` that were read or are gone are among
    them; ``shards`` are the ids of the shards that may be written.  ``fresh`` tells whether eval sets were merged that
    the ledger does not know of.
    ``texts`` reads a file as it is at ``commit``.  ``offering`` tells that the branch takes no commits of ours, so that
    people are asked to merge them; ``refused`` is what they turned down then.  ``restores`` are tombstones whose entry
    is to come back, and who asks for it.  ``corrections`` is what is recorded of the texts that are here,
    ``abilities`` what is known of endpoints.
    ``over`` are pull requests with queries that needed a person, none of which
    is there any more, ``unmerged`` those that were closed without being merged, ``lost`` closed ones whose record
    cannot be read.  ``co_authors`` tells who counts as an author of one beside who opened it.
    """

    login: str
    branch: str
    commit: str
    comments: Mapping[int, tuple[IssueComment, ...]]
    ended: tuple[int, ...]
    ledger: str | None
    rejections: tuple[Rejection, ...]
    reconciled: Reconciled | None
    fresh: bool
    ledger_files: Mapping[str, str]
    permission: Callable[[str], str]
    merged_by: Callable[[int], tuple[str, str]]
    texts: Callable[[str], str]
    run: str | None
    index: FolderIndex | None = None
    folders: Mapping[str, FolderRecord | None] = field(default_factory=dict)
    shards: Mapping[str, str] = field(default_factory=dict)
    product: str | None = None
    offering: bool = False
    refused: Refused = NOTHING_REFUSED
    restores: Mapping[str, Request] = field(default_factory=dict)
    over: tuple[PullRequest, ...] = ()
    lost: tuple[PullRequest, ...] = ()
    unmerged: tuple[PullRequest, ...] = ()
    merges: frozenset[int] = frozenset()
    corrections: RecordedCorrections = NOTHING_RECORDED
    abilities: AbilityRecord = NO_ABILITIES
    co_authors: Callable[[int], CoAuthors] = lambda _: NO_CO_AUTHORS
