"""Extension candidates as draft pull requests that people edit and merge, or close (pure).

What was raised once is not raised again, however people ended it: it is known by the core of its cluster.  A branch is
pushed once, and from then on it is people's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.errors import InputError
from bot.extension.draft import drafted
from bot.extension.model import ExtensionCandidate, holds_core
from bot.git import blob_id
from bot.github.check import post_check
from bot.github.models import AddLabels, CheckRun, OpenPullRequest, Operation, PullRequest, PushBranch, WriteLedger
from bot.ledger.model import CANDIDATES, CandidateRecord
from bot.ledger.people import is_bot
from bot.ledger.store import record_text
from bot.reconcile.desired_suggestions import Branch
from bot.report.candidate_pull_request import candidate_title, render_candidate
from bot.text.digests import digest

PREFIX = "incumbent-candidates/"
"""Branches under it are made by us, and people's from then on: a ruleset for `incumbent/**` does not bind it."""
LABEL = "incumbent: candidate"
_DIGITS = 16


@dataclass(frozen=True, kw_only=True)
class CandidateInputs:
    """GitHub as the plan finds it.

    ``open`` and ``closed`` are pull requests from branches under our prefix; ``branches`` are those that are there by
    name, ``checks`` maps heads to our checks on them.  ``record`` is the ledger's part, ``taxonomy`` the texts of
    the taxonomy's files on the default branch at ``base``, by path.  For ``barred`` branches GitHub lets us open no
    pull request.  ``closed_by`` tells who closed a pull request, and when.
    """

    login: str
    default_branch: str
    base: str
    taxonomy: Mapping[str, str]
    open: tuple[PullRequest, ...]
    closed: tuple[PullRequest, ...]
    branches: Mapping[str, Branch]
    checks: Mapping[str, CheckRun | None]
    ledger: str | None
    record: CandidateRecord
    barred: frozenset[str]
    closed_by: Callable[[int], tuple[str, str]]


def plan_candidates(
    found: Sequence[ExtensionCandidate], most: int, overlap: float, scene: CandidateInputs
) -> tuple[tuple[int | None, Operation], ...]:
    """The writes that raise the candidates ``found``, so that at most ``most`` are open at a time.

    What is opened is noted by the next plan, which sees it: a run that was killed between is taken up by its branch.
    """
    operations: list[tuple[int | None, Operation]] = []
    answered = _answered(scene)
    pulls = {pull.branch: pull for pull in (*answered, *scene.open) if is_candidate(pull.branch)}
    # What a bot closed alone, as one for what is stale does, was never answered: it may be raised again.
    unanswered = {pull.branch for pull in scene.closed} - pulls.keys()
    free = most - sum(1 for pull in scene.open if is_candidate(pull.branch))
    known = {branch: core for branch, core in scene.record.raised.items() if branch not in unanswered}
    heads = {branch: head for branch, head in scene.record.heads.items() if branch not in unanswered}
    for candidate in found:
        branch = branch_of(candidate)
        files = _drafted(candidate, scene)
        ours = {path: blob_id(text) for path, text in files.items()}
        there = scene.branches.get(branch)
        if branch in pulls:
            known[branch] = candidate.core
            if there is not None and there.blobs == ours:
                heads.setdefault(branch, there.commit)
        # A branch that holds something else is somebody's, whatever it is called.
        elif (
            free > 0
            and files
            and branch not in scene.barred
            and (there is None or there.blobs == ours)
            and not holds_core([item.digest for item in candidate.members], known.values(), overlap)
        ):
            operations += [(None, step) for step in _raise(candidate, branch, files, scene)]
            known[branch] = candidate.core
            free -= 1
    for pull in scene.open:
        if pull.author == scene.login and pull.branch in known:
            operations += [(pull.number, item) for item in _keep(pull, heads.get(pull.branch or ""), scene)]
    noted = {branch: core for branch, core in known.items() if branch in pulls or branch in scene.record.raised}
    record = CandidateRecord(
        raised=dict(sorted(noted.items())),
        heads=dict(sorted(heads.items())),
        answered=tuple(sorted(pull.number for pull in answered)),
    )
    if record != scene.record:
        write = WriteLedger.of(scene.ledger, {CANDIDATES: record_text(record)}, f"Candidates on {scene.base[:12]}")
        operations.append((None, write))
    return tuple(operations)


def _answered(scene: CandidateInputs) -> list[PullRequest]:
    """Those of the closed pull requests that people merged or closed."""
    return [
        pull
        for pull in scene.closed
        if pull.merge is not None or pull.number in scene.record.answered or not is_bot(scene.closed_by(pull.number)[0])
    ]


def is_candidate(branch: str | None) -> bool:
    """Whether a branch of the repository itself is one of candidates'."""
    return branch is not None and branch.startswith(PREFIX)


def branch_of(candidate: ExtensionCandidate) -> str:
    """The branch of ``candidate``: its core alone names it, since a model may name it otherwise each time."""
    return f"{PREFIX}{digest(candidate.core)[:_DIGITS]}"


def _drafted(candidate: ExtensionCandidate, scene: CandidateInputs) -> Mapping[str, str]:
    """The files of the taxonomy that change with the capability; none where it takes none."""
    try:
        return drafted(scene.taxonomy, candidate)
    except InputError:
        return {}


def _raise(
    candidate: ExtensionCandidate, branch: str, files: Mapping[str, str], scene: CandidateInputs
) -> list[Operation]:
    """The branch, unless it is there, and the pull request."""
    title = candidate_title(candidate)
    steps: list[Operation] = []
    if branch not in scene.branches:
        steps.append(
            PushBranch(
                branch=branch,
                tip=None,
                base=scene.base,
                parents=(scene.base,),
                files=tuple(files.items()),
                message=f"{title}\n\nA draft by Incumbent; the pull request says why.",
            )
        )
    body = render_candidate(candidate)
    steps.append(OpenPullRequest(branch=branch, base=scene.default_branch, title=title, body=body, draft=True))
    return steps


def _keep(pull: PullRequest, own: str | None, scene: CandidateInputs) -> list[Operation]:
    """The label, and a check on ``own`` commit alone: no workflow starts on what a job's own token opens.

    What anybody pushes is checked as any change of the taxonomy is.
    """
    found: list[Operation] = []
    if LABEL.casefold() not in {label.casefold() for label in pull.labels}:
        found.append(AddLabels(names=(LABEL,)))
    if pull.head == own and pull.head in scene.checks and scene.checks[pull.head] is None:
        text = (
            "A capability that the taxonomy may lack: edit it, and merge it or close it. What it would do to the set "
            "is said once somebody pushes to its branch, or a curator says `/incumbent run`."
        )
        found += post_check(pull.head, "success", "A draft for people to edit", text, None)
    return found
