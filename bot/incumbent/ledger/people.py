"""Which GitHub logins are people."""

from __future__ import annotations

from typing import Final

BOT: Final = "[bot]"
GHOST: Final = "ghost"
"""The login that GitHub shows for an unknown account, such as a deleted one."""


def is_bot(login: str) -> bool:
    """Whether ``login`` is an app's."""
    return login.casefold().endswith(BOT)


def is_person(login: str) -> bool:
    """Whether ``login`` is a person's: neither an app's nor that of a deleted account."""
    return login.casefold() != GHOST and not is_bot(login)
