"""The stages of reconcile, in the order in which ``STAGES`` in ``run.py`` has them.

Each reads what its plan needs, and returns the writes that are left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from incumbent.curator.entry import Entry
from incumbent.curator.roles import EvictionKind
from incumbent.curator.staging import AuditStamp
from incumbent.curator.store import FOLDER as SET_FOLDER
from incumbent.files.git import ChangedFile, CommitSnapshot
from incumbent.files.user_cache import digest_of_product
from incumbent.github.co_authors import co_authors_of
from incumbent.github.events import is_own
from incumbent.github.facts import classified_of
from incumbent.github.git_state import (
    abilities_of,
    branch_at,
    comment_lookup,
    index_of,
    pull_request_state,
    raised_of,
    record_of,
    recorded_numbers,
    records_of,
    text_of,
)
from incumbent.github.managed_pull_request import Branch, PullRequestState
from incumbent.github.models import (
    CreateIssue,
    OpenPullRequest,
    Operation,
    PullRequest,
    PushBranch,
    PushCommits,
    WriteLedger,
)
from incumbent.github.publish_plan import doubled_replies
from incumbent.ledger.agreement.agreement import Agreement, Tally, agreement_in
from incumbent.ledger.counted import AgreementRecord, CountedFiles
from incumbent.ledger.event_files import SUFFIX, appended, parsed_of, parsed_with
from incumbent.ledger.events import EVENTS, SET_EVENTS, events_path
from incumbent.ledger.model import (
    ABILITIES,
    AGREEMENT,
    COUNTED_FILES,
    FOLDER,
    INDEX,
    RECONCILED,
    REQUESTS,
    RUNS,
    ArchivedQuery,
    PullRequestRecord,
    Reconciled,
    RequestRecord,
    RunRecord,
    SuggestionRecord,
    record_path,
)
from incumbent.ledger.store import if_readable, readable, record_text, shard_ids
from incumbent.pipeline.admit import archived_entries
from incumbent.reconcile import admission_plan, dashboard_plan, requests
from incumbent.reconcile.admission_pull_request import turned_down
from incumbent.reconcile.agreement_counts import carried_to, count, counts_in, recorded, tally_in
from incumbent.reconcile.candidate_plan import branch_of, is_candidate, plan_candidates
from incumbent.reconcile.desired_suggestions import SuggestionInputs, desired_suggestions
from incumbent.reconcile.inventory import MergeFacts
from incumbent.reconcile.merged_submissions import (
    AdmissionInputs,
    MergedSubmission,
    cases_of,
    has_merit,
    judged_again,
    origins,
    settled_in,
)
from incumbent.reconcile.quarantine_plan import QuarantineInputs, desired_quarantines, is_quarantine, plan_quarantines
from incumbent.reconcile.requests import plan_records
from incumbent.reconcile.run_state import RunState, Staged, StageResult
from incumbent.reconcile.set_changes import CommitLookup, changed_by_hand, confirmed, no_longer_true
from incumbent.reconcile.suggestion_plan import plan_suggestions, remembered
from incumbent.reconcile.suggestion_pull_requests import grounds_shown, is_group, is_offer, is_suggestion
from incumbent.report.dashboard import MARKER
from incumbent.report.task_list import boxes_in
from incumbent.taxonomy.config import LEDGER_FILES
from incumbent.taxonomy.history import History
from incumbent.taxonomy.loading import read_files
from incumbent.text.digests import digest


def record_ticks(tip: RunState) -> Staged:
    """What somebody ticked is recorded in comments, which the stages after this read."""
    ticks = tip.event.ticks
    if ticks is None:
        return Staged(carried=tip.carried)
    pull = tip.github.find_pull_request(ticks.number)
    body = pull.body if pull is not None else _dashboard_body(tip, ticks.number)
    if not body:
        # It is another bot's issue.
        return Staged(carried=tip.carried)
    events = text_of(tip.ledger, SET_EVENTS)
    writes = plan_records(
        ticks, boxes_in(body), tip.github.reading(replace).comments, tip.github.login, tip.ledger_commit, events
    )
    return Staged(writes=writes, carried=tip.carried)


def _dashboard_body(tip: RunState, number: int | None = None) -> str:
    """The text of the dashboard, or of the issue ``number`` of the bot; empty if there is none."""
    issues = tip.github.own_issues() or ()
    known = (item for item in issues if item.body.startswith(MARKER) and number in (None, item.number))
    return next((item.body for item in known), "")


def read_requests(tip: RunState) -> Staged:
    """What curators ask of entries is noted, wherever they say it."""
    record = readable(tip.ledger, REQUESTS, RequestRecord)
    writes, stand = requests.plan_requests(
        requests.RequestInputs(
            login=tip.github.login,
            known=tip.platform.regression_set,
            taxonomy=tip.platform.taxonomy,
            at=tip.inventory.at,
            record=record,
            remarks=tip.github.comments_since(tip.inventory.at if record is None else record.since),
            reviewed=lambda: frozenset(pull.number for pull in tip.open_pull_requests() if not is_own(pull.branch)),
            lookups=comment_lookup(tip.github, tip.platform.config.curators),
            thread=cache(tip.github.comments),
            suggested=cache(lambda: grounds_shown(tip.open_pull_requests(), tip.platform.regression_set.entries)),
            listed=cache(lambda: tuple(boxes_in(_dashboard_body(tip)))),
            refusals=frozenset(item.pull_request for item in tip.suggestions.refusals),
            by_hand=tip.platform.config.admissions == "by-hand",
            ledger=tip.ledger_commit,
            events=text_of(tip.ledger, SET_EVENTS),
        )
    )
    return Staged(writes=writes, carried=StageResult(requests=stand))


def admit_merged(tip: RunState) -> Staged:
    """What was merged enters R, or is offered to, and the pull requests are told what became of it."""
    if tip.platform.config.admissions == "by-hand":
        return Staged(carried=tip.carried)
    pulls = tip.github.closed_pull_requests(tip.event.default_branch)
    records = records_of(tip.ledger)
    reconciled = tip.reconciled
    fresh = [merge for merge in tip.inventory.merges if not _is_known(merge.commit, reconciled, tip)]
    fresh += _reviewed_and_merged(tip, pulls, records)
    found = origins(fresh, pulls, records, tip.github.introduced_by, tip.github.find_pull_request)
    settled = settled_in(tip.inventory, tip.platform.regression_set)
    cases = cases_of(tip.inventory, fresh, found, records, settled)
    cases = _with_reviews(tip, cases)
    cases += _with_merit(tip, cases, pulls, settled)
    contents = {content for case in cases for content in case.contents.values()}
    spoken = {case.pull.number for case in cases if case.pull is not None}
    # Of what cannot be read nobody knows whether it is there.
    unread = {number for number, item in records.items() if item.merged is not None and tip.inventory.unread}
    over = () if tip.inventory.unread else _over(records, found, spoken)
    spoken |= {item.pull_request for item in tip.rejections if item.decision.content in contents}
    # Of a pull request that is over the bot's own comment is all that matters.
    comments = {pull.number: tip.github.comments(pull.number) for pull in over if pull.number not in spoken}
    comments |= {number: tip.github.said_on(number) for number in sorted(spoken)}
    ended = {pull.number for pull in pulls if pull.number in records.keys() - unread}
    lost = _lost(tip, pulls, records)
    comments |= {pull.number: tip.github.comments(pull.number) for pull in lost}
    offers = {pull.number for pull in pulls if is_offer(pull.branch)}
    offers |= {item.pull_request for item in tip.suggestions.refusals}
    closed_by = remembered(parsed_of(text_of(tip.ledger, SET_EVENTS), offers), tip.github.closed_by)
    inputs = AdmissionInputs(
        login=tip.github.login,
        branch=tip.event.default_branch,
        commit=tip.commit,
        comments=comments,
        rejections=tip.rejections,
        ended=tuple(sorted(ended)),
        merges=frozenset(pull.number for pull in pulls if pull.merge is not None),
        over=over,
        lost=lost,
        unmerged=tuple(pull for pull in pulls if pull.merge is None),
        ledger=tip.ledger_commit,
        index=index_of(tip.ledger),
        folders=tip.folders,
        ledger_files=_files(tip.ledger, comments.keys() | ended, tip.folders),
        shards=shard_ids(tip.ledger, [RECONCILED, *tip.folders, *map(record_path, sorted(comments.keys() | ended))]),
        reconciled=reconciled,
        fresh=bool(fresh),
        permission=tip.github.permission,
        merged_by=cache(tip.github.merged_by),
        texts=tip.read,
        run=tip.world.run,
        product=tip.world.product,
        offering=tip.offering,
        restores={
            id: item
            for id, item in requests.asked(tip.carried.requests, "restore").items()
            if id in tip.platform.regression_set.tombstones
        },
        corrections=tip.corrections,
        abilities=abilities_of(tip.ledger, tip.world.clock()),
        refused=turned_down(tip.suggestions, pulls, closed_by, tip.github.find_pull_request),
        co_authors=cache(partial(co_authors_of, ledger=tip.ledger, github=tip.github)),
    )
    plan = admission_plan.plan_admissions(tip.inventory, cases, tip.platform, inputs)
    if plan.commits and _is_offering(tip):
        # The branch took no commits when that was opened, and takes none until it was merged.
        inputs = replace(inputs, offering=True)
        plan = admission_plan.plan_admissions(tip.inventory, cases, tip.platform, inputs)
    carried = replace(tip.carried, offer=plan.offer)
    if tip.dry_run:
        return Staged(writes=(*plan.note, *plan.rest), carried=carried)
    return Staged(writes=(*_single(tip), *plan.next), carried=carried)


def _reviewed_and_merged(
    tip: RunState, pulls: Sequence[PullRequest], records: Mapping[int, PullRequestRecord]
) -> list[MergeFacts]:
    """Merges of what was reviewed and not noted since, where the ledger forgot from when on merges count."""
    store, known = tip.world.store, {merge.commit for merge in tip.inventory.merges}
    return [
        MergeFacts(commit=pull.merge, at=store.commit_time(pull.merge), brought=records[pull.number].texts)
        for pull in pulls
        if pull.merge is not None
        and pull.number in records
        and records[pull.number].merged is None
        and pull.merge not in known
        and store.exists(pull.merge)
        and store.is_ancestor(pull.merge, tip.inventory.base)
    ]


def _over(
    records: Mapping[int, PullRequestRecord], found: Mapping[str, PullRequest], spoken: Collection[int]
) -> tuple[PullRequest, ...]:
    """The pull requests with queries that needed a person, and of which none is there any more."""
    noted = [(number, record.merged.commit) for number, record in sorted(records.items()) if record.merged is not None]
    return tuple(found[commit] for number, commit in noted if number not in spoken and commit in found)


def _with_reviews(tip: RunState, cases: Sequence[MergedSubmission]) -> tuple[MergedSubmission, ...]:
    """``cases`` with what was said of their queries when they were reviewed."""
    found = []
    for case in cases:
        record = None if case.record is None else record_of(tip.ledger, case.record.pull_request)
        if record is not None:
            same = record.version == tip.world.version
            case = replace(case, reviewed=record.classifications, is_same_version=same)
        found.append(case)
    return tuple(found)


def _lost(
    tip: RunState, pulls: Sequence[PullRequest], records: Mapping[int, PullRequestRecord]
) -> tuple[PullRequest, ...]:
    """The closed pull requests whose record cannot be read; that of an open one is made again by its next review."""
    known = {pull.number: pull for pull in pulls}
    numbers = [number for number in recorded_numbers(tip.ledger) if number not in records]
    found = [known.get(number) or tip.github.find_pull_request(number) for number in numbers]
    return tuple(pull for pull in found if pull is not None and pull.closed)


def _is_known(commit: str, reconciled: Reconciled | None, tip: RunState) -> bool:
    """Whether a run has reconciled the default branch up to ``commit`` already."""
    store = tip.world.store
    return reconciled is not None and store.exists(reconciled.commit) and store.is_ancestor(commit, reconciled.commit)


def _with_merit(
    tip: RunState, cases: Sequence[MergedSubmission], pulls: Sequence[PullRequest], settled: Collection[str]
) -> tuple[MergedSubmission, ...]:
    """What did not enter, and would by now if a person agreed: the set, the taxonomy or the knobs have changed.

    So is what waited for a slot and earns none any more, since people were told that it waits.
    """
    known = {pull.number: pull for pull in pulls}
    rejected = [item.decision for item in tip.rejections]
    found = []
    for number, case in judged_again(tip.inventory, tip.left, cases, settled):
        if case.lost or has_merit(case, tip.platform, rejected):
            pull = known.get(number) or tip.github.find_pull_request(number)
            if pull is not None:
                found.append(replace(case, pull=pull))
    return tuple(found)


def forget_requests(tip: RunState) -> Staged:
    """What was asked and has happened is not asked again when the like of it comes."""
    left = requests.undone(tip.carried.requests, tip.platform.regression_set)
    record = readable(tip.ledger, REQUESTS, RequestRecord)
    if left == tip.carried.requests or record is None:
        return Staged(carried=tip.carried)
    new = record.model_copy(update={"requests": requests.undone(record.requests, tip.platform.regression_set)})
    if new == record:
        return Staged(carried=replace(tip.carried, requests=left))
    events = requests.settled(record.requests, new.requests, tip.platform.regression_set, tip.inventory.at)
    write = requests.noted(new, tip.ledger_commit, text_of(tip.ledger, SET_EVENTS), events)
    return Staged(writes=((None, write),), carried=replace(tip.carried, requests=left))


def _is_offering(tip: RunState) -> bool:
    """Whether a pull request is open that offers admissions."""
    offers = tip.suggestions.offers
    return any(is_offer(pull.branch) and pull.branch in offers for pull in tip.open_pull_requests())


def _single(tip: RunState) -> tuple[tuple[int, Operation], ...]:
    """What this run said while another one said the same, before one of them lost the race, is said once."""
    pairs = [(number, doubled_replies(tip.github.login, tip.github.comments(number))) for number in sorted(tip.spoken)]
    return tuple((number, item) for number, items in pairs for item in items)


def confirm_evictions(tip: RunState) -> Staged:
    """Tombstones of merged evictions say who confirmed them, and when; one whose grounds had gone is reported."""
    branch, offer = tip.event.default_branch, tip.carried.offer
    unsaid = [item for item in tip.platform.regression_set.tombstones.values() if item.evicted.at is None]
    if not unsaid:
        return Staged(carried=tip.carried)
    closed = tip.github.closed_pull_requests(branch)
    merged = [pull for pull in closed if pull.merge is not None and is_suggestion(pull.branch)]
    known = parsed_of(text_of(tip.ledger, SET_EVENTS), {pull.number for pull in merged})
    staged = Staged(
        writes=no_longer_true(tip.platform, merged, known, tip.github.login, tip.github.comments), carried=tip.carried
    )
    offering = tip.offering or tip.suggestions.takes_no_commits
    if tip.platform.config.admissions == "by-hand" or (offering and offer is None):
        # No pull request is opened for this alone.
        return staged
    step = confirmed(tip.platform, merged, tip.github.merged_by, tip.read)
    if step is None:
        return staged
    if offer is not None:
        return replace(staged, carried=replace(tip.carried, offer=offer.joined_by(step)))
    push = PushCommits(branch=branch, parent=tip.commit, commits=(step.commit,))
    return replace(staged, writes=(*staged.writes, (None, push)))


def _files(ledger: CommitSnapshot | None, numbers: Collection[int], folders: Collection[str]) -> dict[str, str]:
    """The ledger's files that the plan may write: of events, those of the pull requests ``numbers``; ``folders``.

    One that cannot be read is empty: it is written anew or deleted as any other.
    """
    if ledger is None:
        return {}
    paths = [
        RECONCILED,
        INDEX,
        ABILITIES,
        SET_EVENTS,
        *ledger.paths(FOLDER),
        *map(events_path, sorted(numbers)),
        *folders,
    ]
    present = [path for path in paths if ledger.exists(path)]
    return {path: text_of(ledger, path) or "" for path in present}


def note_changes_by_hand(tip: RunState) -> Staged:
    """Who changed the regression set by hand is recorded."""
    changes, carried = _commits_since(tip), replace(tip.carried, noted=tip.commit)
    if not changes:
        return Staged(carried=carried)
    before = text_of(tip.ledger, SET_EVENTS)
    lookups = CommitLookup(
        login=tip.github.login,
        introduced_by=tip.github.introduced_by,
        merged_by=tip.github.merged_by,
        author_of=tip.github.author_of,
    )
    found = changed_by_hand(changes, parsed_with(before, {commit for commit, _, _ in changes}), lookups)
    if not found:
        return Staged(carried=carried)
    write = WriteLedger.of(tip.ledger_commit, {SET_EVENTS: appended(before, found)}, "Changes of the set by hand")
    return Staged(writes=((None, write),), carried=carried)


def _commits_since(tip: RunState) -> list[tuple[str, str, Sequence[ChangedFile]]]:
    """The commits since changes of R were noted last, or since the last merge that was reconciled."""
    store, since = tip.world.store, (readable(tip.ledger, RUNS, RunRecord) or RunRecord()).noted
    if since is None or not store.exists(since):
        since = tip.inventory.since
    line = () if since is None else store.first_parents(since, tip.commit)
    pairs = zip((since or "", *line), line, strict=False)
    return [(commit, store.commit_time(commit), store.changes(old, commit)) for old, commit in pairs]


def raise_candidates(tip: RunState) -> Staged:
    """What customers ask for and the taxonomy may lack becomes a draft that people edit and merge, or close."""
    found = tip.inventory.candidates
    record = raised_of(tip.ledger)
    if not found and not record.raised:
        return Staged(carried=tip.carried)
    state = _state(tip, [pull for pull in _listed(tip) if is_candidate(pull.branch)])
    state = replace(state, branches=branches_of(tip, {branch_of(item) for item in found}))
    files = {path: tip.read(path) for path in read_files(tip.snapshot).contents}
    operations = plan_candidates(found, tip.platform.config.extension, state, record, files, tip.ledger_commit)
    return Staged(writes=operations, carried=tip.carried)


def offer_quarantines(tip: RunState) -> Staged:
    """What flaps in release runs is offered for quarantine, and what is stable by now to end it; both are kept true."""
    if not _offers_quarantines(tip):
        return Staged(carried=tip.carried)
    pulls = [pull for pull in _listed(tip) if is_quarantine(pull.branch)]
    inputs = QuarantineInputs(
        github=_state(tip, pulls),
        records=tip.releases,
        histories=tip.histories,
        record=tip.quarantines,
        ledger=tip.ledger_commit,
        pull_request=tip.github.find_pull_request,
        texts=tip.read,
    )
    desired = desired_quarantines(tip.platform, inputs)
    names = {pull.branch or "" for pull in inputs.github.open} | {item.branch for item in desired.wanted}
    inputs = replace(inputs, github=replace(inputs.github, branches=branches_of(tip, names)))
    writes, quarantines = plan_quarantines(desired, tip.platform, inputs)
    return Staged(writes=writes, carried=replace(tip.carried, quarantines=quarantines))


def _offers_quarantines(tip: RunState) -> bool:
    """Whether the bot may offer quarantines, or offered some that are to be kept true."""
    offers = tip.platform.config.limits.open_quarantines > 0 and bool(tip.releases)
    return offers or bool(tip.quarantines.heads)


def suggest_changes(tip: RunState) -> Staged:
    """What could go is suggested in pull requests of ours, these are kept true, and the dashboard tells of all."""
    inputs = _suggestion_inputs(tip)
    # What people dropped from a group is seen on its branch.
    names = {pull.branch or "" for pull in inputs.github.open if is_group(pull.branch)}
    inputs = replace(inputs, github=replace(inputs.github, branches=branches_of(tip, names)))
    departed = tip.inventory.departed_from(tip.platform.regression_set)
    undone = {id: item.comment for id, item in requests.asked(tip.carried.requests, "undo").items()}
    kinds = {id: EvictionKind(kind) for id, kind in departed.items()}
    wanted = desired_suggestions(tip.platform, kinds, inputs, tip.carried.offer, undone)
    # A run that was killed may have left a branch without a pull request.
    more = {pull.branch or "" for pull in inputs.github.open} | {proposal.branch for proposal in wanted.proposals}
    branches = {**inputs.github.branches, **branches_of(tip, more - names)}
    inputs = replace(inputs, github=replace(inputs.github, branches=branches))
    writes, planned = plan_suggestions(wanted, tip.platform, inputs)
    staged = Staged(writes=tuple(writes), carried=tip.carried)
    if writes and not tip.dry_run:
        return staged
    issues = tip.github.own_issues()
    if issues is None or (not issues and any(isinstance(item, CreateIssue) for item in tip.written)):
        return staged
    agreement, counted = _agreement(tip)
    dashboard_inputs = dashboard_plan.DashboardInputs(
        commit=tip.commit,
        at=tip.world.store.commit_time(tip.commit),
        address=tip.world.url,
        default_branch=tip.event.default_branch,
        page=tip.world.run,
        wanted=wanted,
        keeps=tuple(item for item in tip.carried.requests if item.action == "keep"),
        planned=planned,
        barred=tip.barred,
        pushed=sum(1 for item in tip.left.values() if item.pull_request is None)
        + sum(item.pushed for item in tip.inventory.unchanged.values()),
        records=records_of(tip.ledger),
        issues=issues,
        ledger=tip.ledger_commit,
        runs=readable(tip.ledger, RUNS, RunRecord) or RunRecord(),
        noted=tip.carried.noted,
        agreement=agreement,
        agents=tip.inventory.agents,
        history=tip.world.store.file_history(tip.commit, SET_FOLDER),
        releases=tip.releases,
        quarantines=tip.carried.quarantines,
        unread=tip.inventory.unread,
        counted=counted,
        written=tip.written,
    )
    dashboard = dashboard_plan.plan_dashboard(tip.platform, dashboard_inputs)
    return replace(staged, writes=(*writes, *dashboard))


def _agreement(tip: RunState) -> tuple[Agreement, dict[str, str | None]]:
    """How far people agree, and the files of the ledger that keep what was counted, where they change."""
    ledger, store = tip.ledger, tip.world.store
    tree = None if ledger is None else store.trees(tip.ledger_commit or "", EVENTS).get(EVENTS)
    if ledger is None or tree is None:
        return agreement_in(Tally()), {}
    history = History(store, tip.commit)
    conditions = digest([history.last, digest_of_product()])
    record = readable(tip.ledger, AGREEMENT, AgreementRecord)
    if record is not None and (record.conditions != conditions or not tally_in(record).is_possible):
        record = None
    if record is not None and record.events == tree:
        return agreement_in(tally_in(record)), {}
    places = ledger.paths(COUNTED_FILES)
    ledger.prepare(places)
    known = {path: item for path in places if (item := readable(ledger, path, CountedFiles)) is not None}
    events = ledger.within(EVENTS)
    counts = count(
        {name: id for name, id in events.ids().items() if name.endswith(SUFFIX)},
        None if record is None else counts_in(record, known.values()),
        partial(_contents, events),
        carried_to(tip.platform.taxonomy, history.all),
    )
    record, parts = recorded(counts, tree, conditions)
    files: dict[str, str | None] = {AGREEMENT: record_text(record)}
    files |= {path: record_text(part) for path, part in parts.items() if known.get(path) != part}
    files |= dict.fromkeys(set(places) - parts.keys())
    return agreement_in(counts.tally), files


def _contents(events: CommitSnapshot, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The names and contents of files of events, but for those that are too large."""
    events.prepare(names)
    for name in sorted(names):
        content = if_readable(partial(events.read, name, LEDGER_FILES))
        if content is not None:
            yield name, content


def _suggestion_inputs(tip: RunState) -> SuggestionInputs:
    record, events, pulls = tip.suggestions, text_of(tip.ledger, SET_EVENTS), _listed(tip)
    ours = [pull for pull in pulls if is_suggestion(pull.branch)]
    refused = {item.pull_request for item in record.refusals}
    known = parsed_of(events, refused.union(pull.number for pull in ours))
    closed_by = remembered(known, cache(tip.github.closed_by))
    archived = _archived(tip, record)
    return SuggestionInputs(
        github=replace(_state(tip, ours), heads=record.heads, closed_by=closed_by),
        misnamed=tuple(pull for pull in pulls if _is_misnamed(pull, tip) and pull not in ours and not pull.closed),
        ledger=tip.ledger_commit,
        record=record,
        takes_no_commits=tip.refused
        or (record.takes_no_commits and not any(isinstance(item, PushCommits) for item in tip.written)),
        at=tip.inventory.at,
        events=events,
        known=known,
        merged_by=tip.github.merged_by,
        pull_request=tip.github.find_pull_request,
        archived=archived,
        unread=_unread(tip, record, archived),
        is_reviewed=cache(tip.github.is_reviewed),
        keeps=tuple(item for item in tip.carried.requests if item.action == "keep"),
        asked=tuple(item for item in tip.carried.requests if item.action == "suggest"),
        histories=tip.histories,
    )


def _is_misnamed(pull: PullRequest, tip: RunState) -> bool:
    """Whether the branch of ``pull`` is under our prefix, and offers no quarantine where the bot offers some."""
    return is_own(pull.branch) and not (is_quarantine(pull.branch) and _offers_quarantines(tip))


def _archived(tip: RunState, record: SuggestionRecord) -> dict[str, Entry]:
    """The entries of excluded queries that a repack or a top-up may admit: all of them in a look through all eval sets,
    else those of ``record``.
    """
    inventory, rejected = tip.inventory, {item.decision.content for item in tip.rejections}
    known = {id: item for id, item in record.archived.items() if id not in tip.platform.regression_set.on_record}
    if not (tip.event.seeks or known):
        return {}
    folders = None if tip.event.seeks else {item.folder for item in known.values()}
    read = [facts for facts in inventory.submissions if folders is None or facts.about.folder in folders]
    names = {id for facts in read for id, content in facts.contents.items() if content in rejected}
    stamp = AuditStamp(at=inventory.at, commit=inventory.base, by=None)
    found = archived_entries(tip.platform, map(classified_of, read), inventory.identity, stamp, names)
    return {id: _found_before(entry, known.get(id)) for id, entry in found.items() if folders is None or id in known}


def _found_before(entry: Entry, known: ArchivedQuery | None) -> Entry:
    """``entry`` as it was found first: else its pull request would change with each commit of the default branch."""
    if known is None or entry.source is None or known.text != digest(entry.turns):
        return entry
    admitted = entry.admitted.model_copy(update={"at": known.at})
    source = entry.source.model_copy(update={"commit": known.commit})
    return entry.model_copy(update={"admitted": admitted, "source": source})


def _unread(tip: RunState, record: SuggestionRecord, archived: Collection[str]) -> dict[str, ArchivedQuery]:
    """What ``record`` knows of queries that are not ``archived`` and whose eval sets were not read, or with faults."""
    inventory, known = tip.inventory, {*tip.platform.regression_set.on_record, *archived}
    faulty = {facts.about.folder for facts in inventory.submissions if facts.about.problems}
    there = {*inventory.unchanged, *inventory.unread, *faulty}
    return {id: item for id, item in record.archived.items() if item.folder in there and id not in known}


def _listed(tip: RunState) -> list[PullRequest]:
    """The pull requests to the default branch that are open, and the last ones that were closed."""
    base, number = tip.event.default_branch, tip.event.pull_request
    found, closed = tip.open_pull_requests(), tip.github.closed_pull_requests(base)
    # What was closed between the two readings is in both; lists may lag behind what the event speaks of.
    if number is not None and all(pull.number != number for pull in closed):
        pull = tip.github.find_pull_request(number)
        closed = (pull, *closed) if pull is not None and pull.closed and pull.base == base else closed
    ended = {pull.number for pull in closed}
    return [*(pull for pull in found if pull.number not in ended), *closed]


def _state(tip: RunState, pulls: Sequence[PullRequest]) -> PullRequestState:
    """What GitHub shows of ``pulls``, without their branches."""
    state = pull_request_state(tip.github, tip.event.default_branch, tip.commit, pulls)
    opened = frozenset(item.branch for item in tip.written if isinstance(item, OpenPullRequest))
    pushed = sum(1 + len(item.then) for item in tip.written if isinstance(item, PushBranch))
    return replace(state, barred=tip.barred, opened=opened, pushed=pushed)


def branches_of(tip: RunState, names: Collection[str]) -> dict[str, Branch]:
    """Those of the branches ``names`` that are there."""
    found = tip.world.fetch_branches(names)
    return {name: branch_at(tip.world.store, tip.commit, commit) for name, commit in found.items()}
