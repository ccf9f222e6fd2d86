"""Which branches git cannot hold beside the bot's."""

from __future__ import annotations

import pytest

from bot.github.branch_names import BEGINNING, FOLDERS, in_the_way, parents
from bot.github.calibration_offer import BRANCHES as CALIBRATION
from bot.ledger.model import BRANCH
from bot.mcp_server.on_github import BRANCHES as CHAT
from bot.reconcile.candidate_plan import PREFIX as CANDIDATES
from bot.reconcile.suggestion_pull_requests import ADMIT, EVICT, GROUP, REPACK, SWAP


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("incumbent", True),
        ("incumbent/ledger/x", True),
        ("incumbent/evict", True),
        ("incumbent-candidates", True),
        ("incumbent-chat", True),
        ("incumbent/ledger", False),
        ("incumbent/evict-later", False),
        ("incumbent/evict/some-0123456789abcdef", False),
        ("incumbent/mine", False),
        ("incumbent-set-up", False),
        ("Incumbent", False),
    ],
)
def test_what_git_cannot_hold_beside_ours(name: str, found: bool) -> None:
    assert in_the_way([name]) == ((name,) if found else ())


def test_all_of_ours_are_known() -> None:
    assert set(FOLDERS) == {EVICT, GROUP, SWAP, REPACK, ADMIT, CANDIDATES, CALIBRATION, CHAT}
    assert all(name.startswith(BEGINNING) for name in (*FOLDERS, BRANCH))


def test_the_folders_of_a_branch() -> None:
    assert parents("incumbent/evict/x") == ("incumbent", "incumbent/evict")
    assert parents("main") == ()
