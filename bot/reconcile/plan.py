"""From what was merged to what the default branch, pull requests and ledger should be: one plan of writes (pure).

Each case is judged against R as the cases before it left it.  What is told on the pull requests is derived from the
state at the end, so that a run that was killed on the way and begun again ends with the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.curator import changes
from bot.curator.changes import FileChange
from bot.curator.entry import Entry
from bot.curator.staging import Occasion, Staging, stage_waiting
from bot.curator.store import RegressionSet, entry_path
from bot.github.analysis import classified_of
from bot.github.check import result_of
from bot.github.conversation import Hearing, hear
from bot.github.judgement import Author, Judgement, judge_facts
from bot.github.notices import notices_of
from bot.github.publish import (
    comment_operations,
    displayed_in,
    find_sticky,
    label_operations,
    replies_to,
)
from bot.github.standing import Court
from bot.github.values import Commit, IssueComment, Operation, PushCommits, WriteLedger
from bot.ledger.keys import digest
from bot.ledger.model import (
    RECONCILED,
    Displayed,
    Merged,
    PullRequestRecord,
    Reconciled,
    Showing,
    StoredClassification,
    record_path,
)
from bot.ledger.store import README, record_text
from bot.pipeline import Platform, Review, stage_admissions, unsettled
from bot.reconcile.cases import Case
from bot.reconcile.inventory import Inventory
from bot.report.escaping import code
from bot.report.pull_request import PullRequestReport, render_comment
from bot.report.voices import quoted
from bot.report.wording import listed
from bot.settling import settle

SHOWN = 10
"""Entries that a notice names; the rest is counted."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """GitHub as reconcile finds it: the default branch ``branch``, comments by pull request, the ledger's commit.

    ``merged`` are pull requests of which nothing has to be remembered unless a query of theirs needs a person;
    ``ledger_files`` the ledger's files by path.  ``texts`` reads a file as it is at the inventory's commit.
    """

    login: str
    branch: str
    comments: Mapping[int, tuple[IssueComment, ...]]
    merged: tuple[int, ...]
    ledger: str | None
    ledger_files: Mapping[str, str]
    permission: Callable[[str], str]
    texts: Callable[[str], str]
    run: str | None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be written: commits first, then words, then what the ledger remembers."""

    commits: tuple[Operation, ...]
    spoken: tuple[tuple[int, tuple[Operation, ...]], ...]
    ledger: tuple[Operation, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """All of it, in order."""
        return (*self.commits, *(item for _, items in self.spoken for item in items), *self.ledger)


@dataclass(frozen=True, kw_only=True)
class _Heard:
    """A case after its comments were heard against R as it was then."""

    case: Case
    author: Author | None
    record: PullRequestRecord
    displayed: dict[str, Displayed]
    unseen: tuple[str, ...]
    hearing: Hearing


def plan_reconcile(inventory: Inventory, cases: Sequence[Case], platform: Platform, scene: Scene) -> Plan:
    """The plan that makes GitHub and R match what was merged; where they match it is empty."""
    texts = _Texts(scene.texts)
    commits: list[Commit] = []
    waiting = tuple(platform.regression_set.waiting.values())
    if waiting:
        residents, _ = platform.regression_set.residents(platform.taxonomy)
        occasion = Occasion(at=inventory.at, commit=inventory.base, by=None)
        staging = stage_waiting(waiting, residents, platform.config, platform.taxonomy, occasion)
        commits += _commit(staging, "Let in what waited for a slot")
        platform = _with(platform, staging, texts)
    moved = _follow_renames(inventory, platform)
    if moved:
        files = tuple(
            changes.admit(entry, texts.of({id: entry})[id])
            if id in platform.regression_set.entries
            else changes.let_wait(entry)
            for id, entry in sorted(moved.items())
        )
        texts.plan(files)
        commits.append(
            Commit(files=tuple((item.path, item.content) for item in files), message="Follow renamed queries")
        )
        platform = _with_entries(platform, moved)
    heard = []
    for case in cases:
        item, staging = _settle(case, platform, scene, texts)
        number = "" if case.pull_request is None else f" of #{case.pull_request.number}"
        commits += _commit(staging, f"Admit {len(staging.admitted)} queries{number}")
        platform = _with(platform, staging, texts)
        heard.append(item)
    spoken, records = [], {}
    for item in heard:
        operations, record = _tell(item, platform, scene)
        if item.case.pull_request is not None:
            spoken.append((item.case.pull_request.number, tuple(operations)))
            records[item.case.pull_request.number] = record
    pushed: tuple[Operation, ...] = ()
    if commits:
        pushed = (PushCommits(branch=scene.branch, parent=inventory.base, commits=tuple(commits)),)
    done: dict[int, PullRequestRecord | None] = dict.fromkeys(scene.merged)
    return Plan(
        commits=pushed, spoken=tuple(spoken), ledger=tuple(_remember(inventory, done | records, platform, scene))
    )


class _Texts:
    """The files of entries as the commits planned so far leave them."""

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read
        self._planned: dict[str, str | None] = {}

    def of(self, entries: Mapping[str, Entry]) -> dict[str, str]:
        paths = {entry.id: entry_path(entry.id) for entry in entries.values()}
        return {id: self._planned.get(path) or self._read(path) for id, path in paths.items()}

    def plan(self, planned: Sequence[FileChange]) -> None:
        self._planned |= {change.path: change.content for change in planned}


def _settle(case: Case, platform: Platform, scene: Scene, texts: _Texts) -> tuple[_Heard, Staging]:
    """Judge ``case`` against R of now, hear its comments, and stage what enters."""
    pull = case.pull_request
    number = None if pull is None else pull.number
    record = case.record or PullRequestRecord(pull_request=number or 1, head=case.merge)
    comments = scene.comments.get(number, ()) if number is not None else ()
    sticky, _ = find_sticky(scene.login, comments)
    displayed = displayed_in(sticky, record)
    author = None if pull is None else Author(login=pull.author, association=pull.association)
    bare = judge_facts(case.analysis, platform, author, ())
    unseen = tuple(name for name, entry in bare.entries.items() if not _seen(displayed.get(entry)))
    court = Court(
        judge=lambda decisions, contested: judge_facts(case.analysis, platform, author, decisions, contested, unseen),
        displayed=displayed,
        author=author or Author(login="", association=""),
        curators=platform.config.curators,
        permission=scene.permission,
    )
    hearing = hear([item for item in comments if item.author != scene.login], record, court)
    review = hearing.judgement.review
    assert review is not None
    staging = stage_admissions(
        review, texts.of(review.edited), Occasion(at=case.at, commit=case.merge, by=None), number
    )
    heard = _Heard(case=case, author=author, record=record, displayed=displayed, unseen=unseen, hearing=hearing)
    return heard, staging


def _seen(displayed: Displayed | None) -> bool:
    """Whether people saw a query admitted by itself when they merged it."""
    if displayed is None:
        return False
    decision, _, rest = displayed.codes.partition(" ")
    return decision in ("INCLUDE", "REPLACE", "KEEP-BOTH") and rest.startswith("direct")


def _commit(staging: Staging, message: str) -> list[Commit]:
    files = {change.path: change.content for change in staging.file_changes}
    return [Commit(files=tuple(sorted(files.items())), message=message)] if files else []


def _with(platform: Platform, staging: Staging, texts: _Texts) -> Platform:
    """``platform`` once ``staging`` has taken effect."""
    texts.plan(staging.file_changes)
    known = platform.regression_set
    entering = {entry.id: entry for entry in staging.admitted}
    gone = {entry.id for entry in staging.leaving}
    line = {id: entry for id, entry in known.waiting.items() if id not in entering and id not in gone}
    entries = {**known.entries, **entering}
    waiting = {**line, **{entry.id: entry for entry in staging.waiting}}
    graves = {id: item for id, item in known.tombstones.items() if id not in entries and id not in waiting}
    return replace(
        platform,
        regression_set=RegressionSet(
            dict(sorted(entries.items())), dict(sorted(waiting.items())), dict(sorted(graves.items()))
        ),
    )


def _follow_renames(inventory: Inventory, platform: Platform) -> dict[str, Entry]:
    """The entries whose query stands elsewhere by now, with their source as it is: a rename changes nothing else."""
    found = {}
    for facts in inventory.submissions:
        submission = classified_of(facts).submission
        files = {query.id: query.file for query in submission.queries}
        for name, entry in settle([submission], platform.regression_set).settled.items():
            if not isinstance(entry, Entry) or entry.source is None:
                continue
            customer, agent, item = submission.source(name)
            place = {"customer": customer, "agent": agent, "item": item, "eval_set": files[name]}
            source = entry.source.model_copy(update=place)
            if source != entry.source:
                found[entry.id] = entry.model_copy(update={"source": source})
    return found


def _with_entries(platform: Platform, changed: Mapping[str, Entry]) -> Platform:
    known = platform.regression_set
    return replace(
        platform,
        regression_set=RegressionSet(
            {id: changed.get(id, entry) for id, entry in known.entries.items()},
            {id: changed.get(id, entry) for id, entry in known.waiting.items()},
            known.tombstones,
        ),
    )


def _tell(heard: _Heard, platform: Platform, scene: Scene) -> tuple[list[Operation], PullRequestRecord | None]:
    """What is said on the pull request once all is settled, and what is remembered of it while somebody is needed."""
    case, hearing = heard.case, heard.hearing
    judgement = judge_facts(case.analysis, platform, heard.author, hearing.judgement.decisions, (), heard.unseen)
    review = judgement.review
    assert review is not None
    showing = Showing(
        digest=digest([case.merge, [[id, item.verdict] for id, item in judgement.shown.items()]]),
        verdicts=dict(judgement.shown),
    )
    report = PullRequestReport(
        commit=case.merge,
        digest=showing.digest,
        notices=(_outcome(heard, judgement, review), *notices_of(judgement, hearing, heard.record)),
        problems=(),
        review=review,
        run=scene.run,
    )
    pull = case.pull_request
    if pull is None:
        return [], None
    comments = scene.comments.get(pull.number, ())
    operations = replies_to(hearing.replies, scene.login, comments)
    operations += comment_operations(render_comment(report), *find_sticky(scene.login, comments))
    operations += label_operations(result_of(judgement).labels, pull)
    if not review.plan.waiting_for_review:
        return operations, None
    record = heard.record.model_copy(
        update={
            "merged": Merged(commit=case.merge, at=case.at),
            "texts": {**heard.record.texts, **judgement.texts},
            "displayed": heard.displayed,
            "showing": showing,
            "decisions": (*judgement.decisions, *hearing.dormant),
            "void": hearing.void,
            "cursor": hearing.cursor,
            "classifications": {},
        }
    )
    # What is displayed by now is found out again from the comment: no reason to write.
    same = record.model_copy(update={"displayed": heard.record.displayed}) == heard.record
    return operations, heard.record if same else record


def _outcome(heard: _Heard, judgement: Judgement, review: Review) -> str:
    """One sentence on what became of the merged queries."""
    entered = [entry.id for name, entry in review.settled.items() if isinstance(entry, Entry)]
    turned = [
        name
        for name, entry in judgement.entries.items()
        if _seen(heard.displayed.get(entry)) and name in {item.id for item in review.plan.excluded}
    ]
    text = f"Merged as {code(heard.case.merge[:12])}: {len(entered)} of its queries are in the regression set."
    if turned:
        shown = listed([quoted(name) for name in turned], SHOWN)
        text += f" Since people looked, what others brought has made {shown} redundant."
    return text


def _remember(
    inventory: Inventory, records: Mapping[int, PullRequestRecord | None], platform: Platform, scene: Scene
) -> list[Operation]:
    """The ledger as it should be; nothing where it is so already.

    Where no eval set was merged since, the commit that was reconciled last stays: our own commits move the branch too.
    """
    moved = inventory.since is None or inventory.merges
    commit = inventory.base if moved or inventory.since is None else inventory.since
    known: dict[str, StoredClassification] = {}
    for facts in inventory.submissions:
        left = {query.id for query in unsettled(platform, classified_of(facts).submission)}
        for query in facts.queries:
            if query.id in left and query.key is not None and query.classification is not None:
                known[query.key] = query.classification
    wanted: dict[str, str | None] = {
        RECONCILED: record_text(Reconciled(commit=commit, classifications=known)),
        **{record_path(number): None if item is None else record_text(item) for number, item in records.items()},
    }
    if scene.ledger is None:
        wanted["README.md"] = README
    files = {path: text for path, text in wanted.items() if scene.ledger_files.get(path) != text}
    if not files:
        return []
    message = f"Reconciled with {inventory.base[:12]}"
    return [WriteLedger(parent=scene.ledger, files=tuple(sorted(files.items())), message=message)]
