"""Extension candidates as draft pull requests that people edit and merge, or close.

What was raised once is not raised again, however people ended it: it is known by the core of its cluster.  A branch is
pushed once, and from then on it is people's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incumbent.errors import InputError
from incumbent.extension.draft import drafted
from incumbent.extension.model import ExtensionCandidate, holds_core
from incumbent.github.check import post_check
from incumbent.github.managed_pull_request import (
    DesiredPullRequest,
    PullRequestState,
    labelled,
    plan_pull_request,
    plan_pull_requests,
)
from incumbent.github.models import Operation, PullRequest, WriteLedger
from incumbent.ledger.model import CANDIDATES, CandidateRecord
from incumbent.ledger.store import record_text
from incumbent.report.candidates import candidate_title, render_candidate
from incumbent.taxonomy.config import ExtensionSettings
from incumbent.text.digests import digest

PREFIX = "incumbent-candidates/"
"""Branches under it are made by us, and people's from then on: a ruleset for `incumbent/**` does not bind it."""
LABEL = "incumbent: candidate"
_DIGITS = 16


def plan_candidates(
    found: Sequence[ExtensionCandidate],
    settings: ExtensionSettings,
    github: PullRequestState,
    record: CandidateRecord,
    taxonomy: Mapping[str, str],
    ledger: str | None,
) -> tuple[tuple[int | None, Operation], ...]:
    """The writes that raise the candidates ``found``, and keep those that are open.

    ``github`` shows the pull requests from branches under our prefix; ``record`` is what the commit ``ledger`` says of
    them; ``taxonomy`` maps the paths of the taxonomy's files on the default branch to their texts.  What is opened is
    noted by the next plan, which sees it: a run that was killed between is taken up by its branch.
    """
    answered = [pull for pull in github.closed if pull.number in record.answered or github.was_answered(pull)]
    raised = {pull.branch for pull in (*answered, *github.open)}
    # What a bot closed alone was never answered: it may be raised again.
    unanswered = {pull.branch for pull in github.closed} - raised
    known = {branch: core for branch, core in record.raised.items() if branch not in unanswered}
    heads = {branch: head for branch, head in record.heads.items() if branch not in unanswered}
    wanted = []
    for candidate in found:
        desired = _draft(candidate, taxonomy)
        there = github.branches.get(desired.branch)
        if desired.branch in raised:
            known[desired.branch] = candidate.core
            if there is not None and there.blobs == desired.blobs:
                heads.setdefault(desired.branch, there.commit)
        elif desired.files and not holds_core(
            [item.digest for item in candidate.members], known.values(), settings.core_overlap
        ):
            wanted.append(desired)
            # One that cannot be raised now, as someone committed to its branch, keeps back no other like it.
            if plan_pull_request(desired, github).action != "wait":
                known[desired.branch] = candidate.core
    planned = plan_pull_requests(wanted, github, settings.open_candidates)
    operations = [write for item in planned for write in item.writes]
    for pull in github.open:
        if pull.author == github.login and pull.branch in known:
            operations += [(pull.number, item) for item in _keep(pull, heads.get(pull.branch or ""), github)]
    noted = {branch: core for branch, core in known.items() if branch in raised or branch in record.raised}
    new = record.model_copy(
        update={
            "raised": dict(sorted(noted.items())),
            "heads": dict(sorted(heads.items())),
            "answered": tuple(sorted(pull.number for pull in answered)),
        }
    )
    if new != record:
        write = WriteLedger.of(ledger, {CANDIDATES: record_text(new)}, f"Candidates on {github.base[:12]}")
        operations.append((None, write))
    return tuple(operations)


def is_candidate(branch: str | None) -> bool:
    """Whether a branch of the repository itself is one of candidates'."""
    return branch is not None and branch.startswith(PREFIX)


def branch_of(candidate: ExtensionCandidate) -> str:
    """The branch of ``candidate``: its core alone names it, since a model may name it otherwise each time."""
    return f"{PREFIX}{digest(candidate.core)[:_DIGITS]}"


def _draft(candidate: ExtensionCandidate, taxonomy: Mapping[str, str]) -> DesiredPullRequest:
    """The pull request that raises ``candidate``; without files where the taxonomy takes no such capability."""
    try:
        files = tuple(drafted(taxonomy, candidate).items())
    except InputError:
        files = ()
    return DesiredPullRequest(
        branch=branch_of(candidate),
        title=candidate_title(candidate),
        body=render_candidate(candidate),
        files=files,
        reason="A draft by Incumbent; the pull request says why.",
        draft=True,
    )


def _keep(pull: PullRequest, own: str | None, github: PullRequestState) -> list[Operation]:
    """The label, and a check on ``own`` commit alone: no workflow starts on what a job's own token opens.

    What anybody pushes is checked as any change of the taxonomy is.
    """
    found = labelled(pull, LABEL)
    if pull.head == own and github.check(pull.head) is None:
        text = (
            "A capability that the taxonomy may lack: edit it, and merge it or close it. What it would do to the set "
            "is said once somebody pushes to its branch, or a curator says `/incumbent run`."
        )
        found += post_check(pull.head, "success", "A draft for people to edit", text, None)
    return found
