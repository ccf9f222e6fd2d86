"""The pull request that offers a calibrated config: planned here, applied by a caller with a token (pure).

Its branch is not under the bot's own prefix, so that it is reviewed like any pull request: its impact is shown, and
people decide on the merge.  The branch is named after the proposal, so that equal evidence leads to the same branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.calibration.calibrate import ConfigEdit
from bot.github.models import OpenPullRequest, Operation, PullRequest, PushBranch
from bot.ledger.people import is_bot

BRANCHES: Final = "incumbent-calibration/"
"""What the branches of these pull requests begin with; ``incumbent/`` is what reconcile takes for its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOffer:
    """The writes that create the pull request, or the number of an open one, or of one that people closed."""

    branch: str
    operations: tuple[Operation, ...] = ()
    number: int | None = None
    refused: bool = False


def branch_of(edit: ConfigEdit) -> str:
    """The branch that holds ``edit``."""
    return f"{BRANCHES}{edit.name}"


def plan_offer(
    edit: ConfigEdit,
    body: str,
    default_branch: str,
    base: str,
    tip: str | None,
    pulls: Sequence[PullRequest],
    closed_by: Callable[[int], tuple[str, str]],
) -> CalibrationOffer:
    """The writes for ``edit`` of the config at the commit ``base``.

    ``tip`` is where its branch points to, if it is there; ``pulls`` are pull requests, open and closed.  One that is
    open stays as it is; one that people closed unmerged is not asked again.  ``closed_by`` tells who closed one, and
    when.
    """
    branch = branch_of(edit)
    ours = sorted((item for item in pulls if item.branch == branch), key=lambda item: (item.closed, -item.number))
    if ours and not ours[0].closed:
        return CalibrationOffer(branch=branch, number=ours[0].number)
    # What a bot closed, as one for what is stale does, was never answered.
    while ours and ours[0].merge is None and is_bot(closed_by(ours[0].number)[0]):
        del ours[0]
    if ours and ours[0].merge is None:
        return CalibrationOffer(branch=branch, number=ours[0].number, refused=True)
    title = "Calibrate per-capability knobs from validated overrides"
    push = PushBranch(
        branch=branch,
        tip=tip,
        base=base,
        parents=(base,) if tip is None else (tip, base),
        files=((edit.path, edit.text),),
        message=f"{title}\n\nProposed by incumbent calibrate; the pull request says why.",
    )
    opened = OpenPullRequest(branch=branch, base=default_branch, title=title, body=body)
    # A branch without a pull request is what a run that was killed left behind, or one that was merged and is moved on.
    again = tip is not None and not ours
    return CalibrationOffer(branch=branch, operations=(opened,) if again else (push, opened))
