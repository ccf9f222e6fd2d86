"""“Perhaps you meant”: the nearest known name for a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 100
"""Longer names get no suggestion: comparing them is slow, and they are no typing errors."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; perhaps you meant 'x'"`` for the nearest of ``known``, or an empty string."""
    if len(name) > _LONGEST:
        return ""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; perhaps you meant {near[0]!r}" if near else ""
