"""From what was merged to what the default branch, pull requests and ledger should be: one plan of writes (pure).

Each case is judged against R as the cases before it left it.  What is told on the pull requests is derived from the
state at the end, so that a run that was killed on the way and begun again ends with the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from incumbent.consolidator.verdict import Route
from incumbent.curator.staging import AuditStamp, Staging, out_of_line, restoration, stage_waiting
from incumbent.github.authority import NO_CO_AUTHORS, UNKNOWN_AUTHOR, Authority, author_of
from incumbent.github.command_processing import process_commands, read_by_now
from incumbent.github.decisions import DecisionContext, PriorRejections, noted
from incumbent.github.judgement import ReviewJudgement, judge_facts
from incumbent.github.ledger_events import decision_events, left_events, merge_events
from incumbent.github.models import Operation, PushCommits, WriteLedger
from incumbent.github.publish_plan import displayed_in, find_sticky, label_operations, replies_to
from incumbent.github.reclassified_entries import renewed
from incumbent.ledger.event_files import appended
from incumbent.ledger.events import SET_EVENTS, Forgotten, LedgerEvent, events_path
from incumbent.ledger.model import (
    ABILITIES,
    CORRECTIONS,
    INDEX,
    RECONCILED,
    FolderIndex,
    LeftQuery,
    Merged,
    PullRequestRecord,
    Rejection,
    record_path,
)
from incumbent.ledger.store import record_text, shard_changes
from incumbent.pipeline.review import Platform, stage_admissions
from incumbent.reconcile.admission_pull_request import AdmissionOffer, Refused, content
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.merge_comment import ProcessedSubmission, case_messages, closing_operations
from incumbent.reconcile.merged_submissions import (
    AdmissionInputs,
    MergedSubmission,
    agreed,
    disputed,
    undisputed,
    without,
)
from incumbent.reconcile.planned_set import Draft, follow_renames, pinned
from incumbent.reconcile.reconciled_state import new_index, remember, remember_folders, waiting
from incumbent.report.pull_request_bodies import EntryChange
from incumbent.report.verdict_text import admitting_route, counted
from incumbent.text.digests import digest


@dataclass(frozen=True, kw_only=True)
class AdmissionWrites:
    """What is to be written: commits first, then words, then what the ledger remembers; or an ``offer`` of the commits.

    Before all of it come the answers to what people said, and the ``note`` in the ledger of that, of what was merged,
    and of what people had seen by then.  The rest is planned anew once this is written, so that a run that is killed in
    the middle forgets nothing, and hears nobody twice.
    """

    note: tuple[tuple[int | None, Operation], ...]
    commits: tuple[Operation, ...]
    spoken: tuple[tuple[int, tuple[Operation, ...]], ...]
    ledger: tuple[Operation, ...]
    offer: AdmissionOffer | None = None

    @property
    def next(self) -> tuple[tuple[int | None, Operation], ...]:
        """What is to be written now, in order, each with the number of the pull request that it is on, if any."""
        return self.note or self.rest

    @property
    def rest(self) -> tuple[tuple[int | None, Operation], ...]:
        """What is to be written once that is noted."""
        return (
            *((None, item) for item in self.commits),
            *((number, item) for number, items in self.spoken for item in items),
            *((None, item) for item in self.ledger),
        )


def plan_admissions(
    inventory: Inventory, cases: Sequence[MergedSubmission], platform: Platform, inputs: AdmissionInputs
) -> AdmissionWrites:
    """The plan that makes GitHub and R match what was merged; where they match it is empty."""
    run = inputs.run or ""
    keys = frozenset(key for case in cases for key in disputed(case, run))
    if keys:
        inventory = inventory.model_copy(update={"submissions": undisputed(inventory.submissions, keys)})
        cases = [
            replace(case, submissions=undisputed(case.submissions, keys), disputed=disputed(case, run))
            for case in cases
        ]
    plan = _plan(inventory, cases, platform, inputs)
    refused = inputs.refused if plan.offer is None else inputs.refused.met_by(plan.offer)
    return plan if refused == inputs.refused else _plan(inventory, cases, platform, replace(inputs, refused=refused))


def _plan(
    inventory: Inventory, cases: Sequence[MergedSubmission], platform: Platform, inputs: AdmissionInputs
) -> AdmissionWrites:
    recorded = [_merged(case, inputs) for case in cases]
    draft = Draft(platform, inputs.texts, inputs.refused)
    _follow_the_taxonomy(draft, inventory)
    _restore(draft, inputs)
    _move_the_line(draft, inventory)
    draft.edit(follow_renames(inventory, draft.platform), "Follow renamed queries", EntryChange.MOVES)
    processed = []
    for case in recorded:
        item, staging = _settle(case, draft, inputs)
        pull = None if case.pull is None else case.pull.number
        of = "" if pull is None else f" of #{pull}"
        draft.stage(_admits(staging) + of, staging, pull)
        kept = draft.not_refused(pinned(item.outcome.judgement, draft.platform))
        draft.edit(kept, "Pin or unpin " + counted(len(kept), "entry", "entries") + of, EntryChange.PINNED, pull)
        processed.append(item)
    steps = tuple(draft.steps)
    present = platform if inputs.offering else draft.platform
    spoken, records = [], {}
    events: dict[int, tuple[LedgerEvent, ...]] = left_events(_left_unmerged(inputs), inventory.at)
    left: dict[str, LeftQuery] = {}
    rejected: list[Rejection] = []
    for item in processed:
        messages = case_messages(item, draft.platform, present, inputs)
        left |= messages.left
        rejected += messages.rejections
        if item.case.pull is not None:
            spoken.append((item.case.pull.number, messages.operations))
            records[item.case.pull.number] = messages.record
            events[item.case.pull.number] = messages.events
    spoken += [
        (over.number, closing_operations(over, inputs.login, inputs.comments.get(over.number, ())))
        for over in inputs.over
    ]
    spoken += [
        (pull.number, closing_operations(pull, inputs.login, inputs.comments.get(pull.number, ()), lost=True))
        for pull in inputs.lost
        if pull.number not in records
    ]
    spoken += [(pull.number, tuple(label_operations((), pull))) for pull in inputs.unmerged]
    pushed: tuple[Operation, ...] = ()
    if steps and not inputs.offering:
        commits = tuple(step.commit for step in steps)
        pushed = (PushCommits(branch=inputs.branch, parent=inputs.commit, commits=commits),)
    done: dict[int, PullRequestRecord | None] = dict.fromkeys(
        (*inputs.ended, *(pull.number for pull in (*inputs.over, *inputs.lost)))
    )
    rejected += [item for item in inputs.rejections if item.pull_request in done.keys() - records.keys()]
    # What leaves the line now is a case of the next plan.
    left = {**waiting(inventory, platform.regression_set), **left}
    reconciled = remember(inventory, cases, left, rejected, present, inputs.reconciled, inputs.fresh)
    folders = remember_folders(inventory, present, reconciled.left, inputs.folders)
    files: dict[str, str | None] = {RECONCILED: record_text(reconciled.model_copy(update={"left": {}}))}
    files |= {path: None if item is None else record_text(item) for path, item in folders.items()}
    shards = shard_changes(RECONCILED, reconciled.classifications, inputs.shards)
    for path, known in folders.items():
        shards |= shard_changes(path, {} if known is None else known.classifications, inputs.shards)
    # The review's word is kept as long as the record: what enters later has to agree with it, too.
    for number in [number for number, record in (done | records).items() if record is None]:
        shards |= shard_changes(record_path(number), {}, inputs.shards)
    abilities = inputs.abilities.after(inventory.work.abilities)
    if abilities != inputs.abilities:
        files[ABILITIES] = record_text(abilities)
    if not pushed:
        # What is left outside is judged on the set as it will be first: by the next plan.
        index = new_index(inventory, cases, reconciled, inputs.corrections.record, inputs.index, platform)
        files[INDEX] = _index_text(index, inputs)
    return AdmissionWrites(
        note=tuple(_note(cases, processed, inventory.at, inputs)),
        commits=pushed,
        spoken=tuple(spoken),
        ledger=tuple(_remember(files, shards, done | records, events, inventory.base, inventory.at, inputs)),
        offer=AdmissionOffer(steps=steps, leads_to=draft.platform.regression_set)
        if steps and inputs.offering
        else None,
    )


def _index_text(index: FolderIndex | None, inputs: AdmissionInputs) -> str | None:
    """The file of ``index``; taken as it is if it says so already, since writing out all folders takes long."""
    if index is None:
        return None
    return inputs.ledger_files[INDEX] if index == inputs.index and INDEX in inputs.ledger_files else record_text(index)


def _follow_the_taxonomy(draft: Draft, inventory: Inventory) -> None:
    """What was classified again comes before all else: the rest compares with it.

    Where not all of it could be, nothing is written: scores of one set are comparable only together.
    """
    known, taxonomy = draft.platform.regression_set, draft.platform.taxonomy
    found = renewed(
        inventory.renewals,
        {**known.waiting, **known.entries},
        taxonomy,
        inventory.identity,
        draft.platform.corrections,
    )
    under = digest([taxonomy.definitions, asdict(inventory.identity)])
    found = draft.not_refused(found, under)
    count = counted(len(found), "entry", "entries")
    message = f"Classify {count} again under taxonomy {taxonomy.version}"
    draft.edit(found, message, EntryChange.RESCORED, None, under)


def _restore(draft: Draft, inputs: AdmissionInputs) -> None:
    """What curators ask for comes back, first of all."""
    for id, request in sorted(inputs.restores.items()):
        known, config = draft.platform.regression_set, draft.platform.config
        if not inputs.refused.holds(known.tombstones[id].restored, request.comment):
            staging = restoration(known.tombstones[id], len(known.entries) >= config.ceiling)
            draft.stage(f"Restore {id}, as {request.by} asked", staging, None, EntryChange.RETURNS, request.comment)


def _move_the_line(draft: Draft, inventory: Inventory) -> None:
    """Of the entries that wait for a slot those leave whose source has gone, and those enter that earn a free one."""
    line = draft.not_refused(draft.platform.regression_set.waiting)
    departed = inventory.departed_from(draft.platform.regression_set)
    gone = [entry for id, entry in line.items() if id in departed and not (entry.pin or entry.restored)]
    draft.stage("Take out of the line what left its eval set", out_of_line(gone))
    left = [entry for entry in line.values() if entry not in gone]
    if left:
        platform = draft.platform
        residents, _ = platform.regression_set.residents(platform.taxonomy)
        occasion = AuditStamp(at=inventory.at, commit=inventory.base, by=None)
        staging = stage_waiting(left, residents, platform.config, platform.taxonomy, occasion)
        draft.stage("Let in what waited for a slot", staging)


def _merged(case: MergedSubmission, inputs: AdmissionInputs) -> MergedSubmission:
    """``case`` with a record that says how it was merged, and what people had seen by then."""
    pull, record = case.pull, case.record
    if pull is None or (record is not None and record.merged is not None):
        return case
    # What was said before this was looked at again was heard then.
    read = read_by_now(inputs.comments.get(pull.number, ()) if case.again else ())
    record = record or PullRequestRecord(
        pull_request=pull.number, head=case.head, cursor=read.cursor, reviews=read.reviews
    )
    sticky, _ = find_sticky(inputs.login, inputs.comments.get(pull.number, ()), record)
    displayed = displayed_in(sticky, record)
    seen = {
        entry: item.content
        for entry, item in sorted(displayed.items())
        if item.content is not None and admitting_route(item.codes) is Route.DIRECT
    }
    merged = Merged(commit=case.head, at=case.at, seen=seen)
    texts = {**record.texts, **case.texts}
    return replace(case, record=record.model_copy(update={"merged": merged, "texts": texts}))


def _note(
    cases: Sequence[MergedSubmission], processed: Sequence[ProcessedSubmission], at: str, inputs: AdmissionInputs
) -> list[tuple[int | None, Operation]]:
    """The answers to what people said since ``cases`` were recorded, and the records as they are from then on."""
    operations: list[tuple[int | None, Operation]] = []
    known = inputs.corrections
    corrections = noted(known.record, known.ended, [said for item in processed for said in item.outcome.corrected])
    files: dict[str, str | None] = {} if corrections == known.record else {CORRECTIONS: record_text(corrections)}
    if known.ended:
        ended = [item.event(at) for item in known.ended]
        files[SET_EVENTS] = appended(inputs.ledger_files.get(SET_EVENTS), ended)
    for case, item in zip(cases, processed, strict=True):
        pull, outcome = case.pull, item.outcome
        if pull is None or (item.record == case.record and not outcome.replies):
            continue
        replies = replies_to(outcome.replies, inputs.login, inputs.comments.get(pull.number, ()))
        operations += [(pull.number, reply) for reply in replies]
        files[record_path(pull.number)] = record_text(item.record.model_copy(update=outcome.recorded))
        events = decision_events(outcome, case.record or item.record.model_copy(update={"decisions": (), "void": ()}))
        if case.record is None or case.record.merged is None:
            contents = dict(outcome.judgement.contents)
            events += merge_events(item.record, item.displayed, contents, inputs.merged_by(pull.number))
        if events:
            files[events_path(pull.number)] = appended(inputs.ledger_files.get(events_path(pull.number)), events)
    if files:
        operations.append((None, WriteLedger.of(inputs.ledger, files, f"Merged up to {inputs.commit[:12]}")))
    return operations


def _settle(case: MergedSubmission, draft: Draft, inputs: AdmissionInputs) -> tuple[ProcessedSubmission, Staging]:
    """Judge ``case`` against R of now, hear its comments, and stage what enters."""
    pull, platform = case.pull, draft.platform
    number = None if pull is None else pull.number
    record = case.record or PullRequestRecord(pull_request=number or 1, head=case.head)
    comments = inputs.comments.get(number, ()) if number is not None else ()
    sticky, _ = find_sticky(inputs.login, comments, record)
    displayed = displayed_in(sticky, record)
    author = None if pull is None else author_of(pull, inputs.permission)
    bare = judge_facts(case, platform, author, ())
    turned_down = _turned_down(bare, inputs.refused)
    case = without(case, turned_down)
    # People saw a content, never a name, with the tags of the review: what has come in its place waits for a person.
    seen, same = {} if record.merged is None else record.merged.seen, agreed(case)
    unseen = tuple(
        name for name, entry in bare.entries.items() if seen.get(entry) != bare.contents[entry] or name not in same
    )
    context = DecisionContext(
        judge=lambda decisions, contested, corrections: judge_facts(
            case, replace(platform, corrections=corrections), author, decisions, contested, unseen
        ),
        displayed=displayed,
        author=author or UNKNOWN_AUTHOR,
        authority=Authority(curators=platform.config.curators, permission=inputs.permission),
        co_authors=NO_CO_AUTHORS if number is None else inputs.co_authors(number),
        texts={**record.texts, **case.text_digests},
        corrections=platform.corrections,
        merged=True,
        lost=number in {item.number for item in inputs.lost},
    )
    contents = set(case.contents.values())
    previous = PriorRejections.of(inputs.rejections, contents, lambda number: inputs.comments.get(number, ()))
    outcome = process_commands([item for item in comments if item.author != inputs.login], record, context, previous)
    review = outcome.judgement.review
    assert review is not None
    staging = stage_admissions(
        review, draft.texts(review.edited), AuditStamp(at=case.at, commit=case.head, by=None), number
    )
    processed = ProcessedSubmission(
        case=case,
        author=author,
        record=record,
        displayed=displayed,
        unseen=unseen,
        turned_down=turned_down,
        outcome=outcome,
        before=platform,
    )
    return processed, staging


def _turned_down(judgement: ReviewJudgement, refused: Refused) -> tuple[str, ...]:
    """The queries whose admission people were offered, and turned down."""
    review = judgement.review
    assert review is not None
    found = []
    for name, id in review.targets.items():
        pin = review.edited[name].pin if name in review.edited else None
        if content(id, review.queries[name], review.origins[name].source(name), pin) in refused.contents:
            found.append(name)
    return tuple(found)


def _admits(staging: Staging) -> str:
    """What the commit of ``staging`` does, in words."""
    if not staging.admitted:
        return f"Let {counted(len(staging.waiting), 'query', 'queries')} wait for a slot"
    return f"Admit {counted(len(staging.admitted), 'query', 'queries')}"


def _left_unmerged(inputs: AdmissionInputs) -> tuple[int, ...]:
    """Closed pull requests that were not merged, and of which something is remembered."""
    return tuple(number for number in inputs.ended if number not in inputs.merges and _is_kept(number, inputs))


def _is_kept(number: int, inputs: AdmissionInputs) -> bool:
    return record_path(number) in inputs.ledger_files


def _remember(
    files: Mapping[str, str | None],
    shards: Mapping[str, str | None],
    records: Mapping[int, PullRequestRecord | None],
    events: Mapping[int, Sequence[LedgerEvent]],
    base: str,
    at: str,
    inputs: AdmissionInputs,
) -> list[Operation]:
    """The ledger as it should be; nothing where it is so already."""
    wanted = {record_path(number): None if item is None else record_text(item) for number, item in records.items()}
    wanted |= files
    for number in sorted({*records, *events}):
        found = events.get(number, ())
        path = events_path(number)
        gone = inputs.ledger_files.get(record_path(number)) if records.get(number, ...) is None else None
        if gone is not None:
            found = (*found, Forgotten(at=at, pull_request=number, record=digest(gone)))
        if found:
            wanted[path] = appended(inputs.ledger_files.get(path), found)
    changed = {path: text for path, text in wanted.items() if inputs.ledger_files.get(path) != text}
    changed |= shards
    return [WriteLedger.of(inputs.ledger, changed, f"Reconciled with {base[:12]}")] if changed else []
