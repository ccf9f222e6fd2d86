"""The pull request that offers a calibrated config, from a branch outside of the bot's own prefix (pure).

So it is a pull request like anybody's: its impact is reviewed, and people merge it or not.
"""

from __future__ import annotations

from typing import Final

from bot.calibration.calibrate import ConfigEdit
from bot.github.managed_pull_request import DesiredPullRequest

BRANCHES: Final = "incumbent-calibration/"
"""What the branches of these pull requests begin with; ``incumbent/`` is what reconcile takes for its own."""


def calibration_offer(edit: ConfigEdit, body: str) -> DesiredPullRequest:
    """The pull request that offers ``edit``; equal evidence leads to the same branch."""
    return DesiredPullRequest(
        branch=f"{BRANCHES}{edit.name}",
        title="Calibrate per-capability knobs from validated overrides",
        body=body,
        files=((edit.path, edit.text),),
        reason="Proposed by incumbent calibrate; the pull request says why.",
    )
