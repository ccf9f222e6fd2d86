"""Who counts as a person, by the login that GitHub writes."""

from __future__ import annotations

from typing import Final

BOT: Final = "[bot]"
NOBODY: Final = "ghost"
"""What GitHub writes where it knows no account, as of one that was deleted."""


def is_bot(login: str) -> bool:
    """Whether ``login`` is an app's."""
    return login.casefold().endswith(BOT)


def is_person(login: str) -> bool:
    """Whether ``login`` is that of somebody who can answer: neither an app's nor nobody's."""
    return login.casefold() != NOBODY and not is_bot(login)
