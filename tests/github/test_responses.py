"""Accounts as GitHub writes them: apps are known as such, whatever their login looks like."""

from __future__ import annotations

from typing import Any

import pytest

from bot.github.responses import account, comment_of

COMMENT = {"id": 1, "body": None, "created_at": "2026-11-21T10:00:00Z", "updated_at": "2026-11-21T10:00:00Z"}


@pytest.mark.parametrize(
    ("user", "login", "bot"),
    [
        ({"login": "cora", "type": "User"}, "cora", False),
        ({"login": "Copilot", "type": "Bot"}, "Copilot[bot]", True),
        ({"login": "stale[bot]", "type": "Bot"}, "stale[bot]", True),
        ({"login": "stale[bot]"}, "stale[bot]", True),
        ({"login": None}, "ghost", False),
        (None, "ghost", False),
    ],
)
def test_an_app_is_known_by_its_type_or_by_its_login(user: Any, login: str, bot: bool) -> None:
    assert account(user) == login
    found = comment_of({**COMMENT, "user": user})
    assert found.is_bot is bot
    assert found.author == ((user or {}).get("login") or "ghost")
