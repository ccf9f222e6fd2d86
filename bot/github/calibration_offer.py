"""The pull request that offers a calibrated config, from a branch outside the bot's prefix (pure).

So the bot treats it like any other pull request: its impact is reviewed, and people merge or close it.
"""

from __future__ import annotations

from typing import Final

from bot.calibration.calibrate import ConfigEdit
from bot.github.managed_pull_request import DesiredPullRequest

BRANCHES: Final = "incumbent-calibration/"
"""The prefix of the branches of these pull requests; reconcile takes those with ``incumbent/`` for its own."""


def calibration_offer(edit: ConfigEdit, body: str) -> DesiredPullRequest:
    """The pull request that offers ``edit``; equal evidence leads to the same branch."""
    return DesiredPullRequest(
        branch=f"{BRANCHES}{edit.name}",
        title="Calibrate per-capability knobs from validated overrides",
        body=body,
        files=((edit.path, edit.text),),
        reason="Proposed by incumbent calibrate; the pull request says why.",
    )
