"""The one issue that says how the regression set stands: found again, edited in place, single (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from incumbent.files.git.file_history import FileHistory
from incumbent.github.check import lasting
from incumbent.github.managed_pull_request import PlannedPullRequest
from incumbent.github.models import (
    CloseIssue,
    ClosePullRequest,
    CreateIssue,
    EditIssue,
    Issue,
    OpenPullRequest,
    Operation,
    PushCommits,
    WriteLedger,
)
from incumbent.ledger.agreement.agreement import Agreement
from incumbent.ledger.model import RUNS, PullRequestRecord, Request, Run, RunRecord
from incumbent.ledger.refusals import grounds_in
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.ledger.store import record_text
from incumbent.pipeline.review import Platform
from incumbent.rater.pair_coverage import RuledOut
from incumbent.reconcile.desired_suggestions import DesiredSuggestions
from incumbent.reconcile.quarantine_plan import QuarantineStatus
from incumbent.reconcile.suggestion_pull_requests import Proposal, is_about, is_group, is_offer, looks_back
from incumbent.report.dashboard import (
    MARKER,
    TITLE,
    Dashboard,
    Kind,
    OpenQuarantine,
    OpenSuggestion,
    PendingReview,
    RefusedSuggestion,
    UnopenedSuggestion,
    render_dashboard,
)
from incumbent.report.task_list import Task
from incumbent.report.verdict_text import SHOWN_NAMES, asks

RUNS_KEPT = 10
"""Runs that the dashboard lists."""


@dataclass(frozen=True, kw_only=True)
class DashboardInputs:
    """What the dashboard is made from; ``written`` is what this run has done so far, ``page`` its address.

    ``keeps`` are what curators asked to keep.  ``planned`` is what becomes of the pull requests that are ``wanted``,
    ``barred`` are branches for which GitHub lets us open none.  ``pushed`` is how many queries no pull request brought;
    ``noted`` the commit up to which changes of the set by hand were noted.  ``counted`` are the files of the ledger
    that keep what ``agreement`` rests on, where they change.  ``agents`` are the declared agents of the default branch,
    each with what it rules out, ``history`` the changes of the files of R, ``releases`` the last ones with results,
    ``quarantines`` what is offered by these.  ``unread`` are the agents' folders that could not be read.
    """

    commit: str
    at: str
    address: str
    default_branch: str
    page: str | None
    wanted: DesiredSuggestions
    keeps: tuple[Request, ...] = ()
    planned: tuple[PlannedPullRequest, ...]
    barred: frozenset[str]
    pushed: int
    records: Mapping[int, PullRequestRecord]
    issues: tuple[Issue, ...]
    ledger: str | None
    runs: RunRecord
    noted: str | None
    agreement: Agreement
    agents: RuledOut
    history: FileHistory
    releases: tuple[ReleaseRecord, ...] = ()
    quarantines: tuple[QuarantineStatus, ...] = ()
    unread: tuple[str, ...] = ()
    counted: Mapping[str, str | None]
    written: tuple[Operation, ...]


def plan_dashboard(platform: Platform, inputs: DashboardInputs) -> tuple[tuple[int | None, Operation], ...]:
    """The writes that make the dashboard true; none where it is."""
    operations: list[Operation] = []
    runs = _runs(inputs)
    files = {**inputs.counted, **({} if runs == inputs.runs else {RUNS: record_text(runs)})}
    if files:
        operations.append(WriteLedger.of(inputs.ledger, files, f"Run on {inputs.commit[:12]}"))
    body = render_dashboard(_dashboard(platform, inputs, runs))
    known = [issue for issue in inputs.issues if issue.body.startswith(MARKER)]
    if not known:
        operations.append(CreateIssue(title=TITLE, body=body))
    elif lasting(known[0].body) != lasting(body):
        operations.append(EditIssue(number=known[0].number, body=body))
    operations += [CloseIssue(number=issue.number) for issue in known[1:]]
    return tuple((None, item) for item in operations)


def _dashboard(platform: Platform, inputs: DashboardInputs, runs: RunRecord) -> Dashboard:
    by_branch = {proposal.branch: proposal for proposal in inputs.wanted.proposals}
    # The number of a refused one is that of a closed pull request.
    current = [item for item in inputs.planned if item.branch in by_branch and item.action != "refused"]
    pulls = [(item.number, item.branch) for item in current]
    shown = [(number, by_branch[branch]) for number, branch in pulls if number is not None]
    beyond = [(item, by_branch[item.branch]) for item in inputs.planned if item.action in ("wait", "barred")]
    notices = [
        f"The ledger names pull request {item.pull_request} as a refusal, which it is not: ignored."
        for item in inputs.wanted.forged
    ]
    notices += [
        f"Pull request {item.number} has someone's commits, so the bot leaves it unchanged."
        for item in (*inputs.planned, *(each.planned for each in inputs.quarantines))
        if item.action == "leave"
    ]
    notices += [f"{item.file} is left out: {item.message}. Fix: {item.fix}." for item in platform.left_out]
    notices += [f"{folder} is not read: `incumbent validate` names its faults." for folder in inputs.unread]
    if inputs.pushed:
        notices.append(
            f"{inputs.pushed} queries were pushed without a pull request, so no one was asked: touch them in one, or "
            "admit them with `incumbent admit`."
        )
    if inputs.barred:
        notices.append("Pull requests may not be opened with this token: `incumbent doctor` names the setting.")
    return Dashboard(
        platform=platform,
        commit=inputs.commit,
        at=inputs.at,
        open_suggestions=tuple(
            OpenSuggestion(pull_request=number, entries=proposal.entries, kind=cast(Kind, proposal.kind))
            for number, proposal in shown
        ),
        limit=platform.config.limits.open_evictions,
        candidates=tuple(
            UnopenedSuggestion(
                entry=entry,
                kind=cast(Kind, kind),
                why="",
                compare=_compare(item.branch, inputs) if item.action == "barred" else None,
                boxes=boxes if item.action == "wait" else (),
            )
            for item, proposal in beyond
            for entry, kind, boxes in _suggested_in(proposal)
        ),
        reopenable=_reopenable(platform, inputs),
        refused=inputs.wanted.suggestions.refused,
        pending=tuple(_pending(inputs.records, platform.config.admissions != "by-hand")),
        runs=runs.runs,
        notices=tuple(notices),
        agreement=inputs.agreement,
        agents=inputs.agents,
        history=inputs.history,
        releases=inputs.releases,
        quarantines=tuple(
            OpenQuarantine(
                entry=item.offer.entry.id,
                ends=item.offer.ends,
                pull_request=item.planned.number,
                compare=_compare(item.planned.branch, inputs) if item.planned.action == "barred" else None,
            )
            for item in inputs.quarantines
        ),
    )


def _suggested_in(proposal: Proposal) -> list[tuple[str, str, tuple[Task, ...]]]:
    """What ``proposal`` is about, why, and the boxes: of a group each entry, of anything else the first."""
    members = [(item.id, item.grounds.kind.value, item.grounds.digest) for item in proposal.members]
    if not members:
        id, kind, branch = proposal.entries[0], proposal.kind, proposal.branch
        if is_offer(branch) or looks_back(branch):
            return [(id, kind, ())]
        shown = grounds_in(branch)
        if proposal.admits is not None:
            return [(id, kind, (Task("suggest", proposal.admits, shown),))]
        members = [(id, kind, shown)]
    return [(id, kind, (Task("suggest", id, shown), Task("keep", id, shown))) for id, kind, shown in members]


def _reopenable(platform: Platform, inputs: DashboardInputs) -> tuple[RefusedSuggestion, ...]:
    """The refusals that hold a suggestion of an entry of R, or of one that waits, back; each with its box."""
    known, wanted = platform.regression_set, inputs.wanted
    holding, ids = wanted.suggestions.refused, (*known.entries, *known.waiting)
    found = {keep.grounds: (keep.entry, 0) for keep in inputs.keeps if keep.grounds in holding}
    for item in wanted.refusals:
        if is_group(item.branch):
            about = {grounds: id for id, grounds in item.entries.items()}
        else:
            about = {grounds_in(item.branch): id for id in ids if is_about(item.branch, id)}
        found |= {grounds: (id, item.pull_request) for grounds, id in about.items() if grounds in holding}
    return tuple(
        RefusedSuggestion(entry=id, pull_request=number or None, again=Task("suggest", id, grounds, number))
        for grounds, (id, number) in sorted(found.items(), key=lambda item: (item[1], item[0] or ""))
        if grounds is not None and (id in known.entries or id in known.waiting)
    )


def _compare(branch: str, inputs: DashboardInputs) -> str:
    return f"{inputs.address}/compare/{inputs.default_branch}...{branch}?expand=1"


def _pending(records: Mapping[int, PullRequestRecord], boxes: bool) -> list[PendingReview]:
    """What needs a person, as the comments on the pull requests say; with ``boxes`` once they are merged."""
    found = []
    for number, record in sorted(records.items()):
        decided = {item.entry for item in record.decisions}
        said = {} if record.showing is None else record.showing.verdicts
        asked = [id for id, shown in sorted(said.items()) if asks(shown.codes)]
        waiting = [id for id in asked if id not in decided]
        if waiting:
            shown = waiting[:SHOWN_NAMES] if boxes and record.merged is not None else []
            found.append(
                PendingReview(
                    pull_request=number,
                    queries=tuple(waiting),
                    merged=record.merged is not None,
                    boxes=tuple(Task("accept", id, said[id].verdict, number) for id in shown),
                )
            )
    return found


def _runs(inputs: DashboardInputs) -> RunRecord:
    did = "; ".join(_did(inputs.written))
    if not did:
        return inputs.runs
    run = Run(at=inputs.at, commit=inputs.commit, did=did[:500], run=inputs.page)
    if run in inputs.runs.runs:
        return inputs.runs
    others = [item for item in inputs.runs.runs if item.run is None or item.run != run.run]
    return inputs.runs.model_copy(update={"runs": (run, *others)[:RUNS_KEPT], "noted": inputs.noted})


def _did(written: Sequence[Operation]) -> list[str]:
    """What people would tell each other of a run; comments, checks and records are left out."""
    found = []
    for operation in written:
        match operation:
            case PushCommits(commits=commits):
                found += [commit.message.partition("\n")[0] for commit in commits]
            case OpenPullRequest(title=title):
                found.append(f"suggested: {title}")
            case ClosePullRequest():
                found.append("closed a suggestion")
            case _:
                pass
    return found
