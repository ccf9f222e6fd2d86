"""Who counts as a person."""

from __future__ import annotations

import pytest

from incumbent.ledger.people import is_bot, is_person


@pytest.mark.parametrize(
    ("login", "bot", "person"),
    [
        ("github-actions[bot]", True, False),
        ("Renovate[Bot]", True, False),
        ("cora", False, True),
        ("bot", False, True),
        ("ghost", False, False),
        ("Ghost", False, False),
        ("ghostwriter", False, True),
    ],
)
def test_apps_and_nobody_are_known_by_their_logins(login: str, bot: bool, person: bool) -> None:
    assert (is_bot(login), is_person(login)) == (bot, person)
