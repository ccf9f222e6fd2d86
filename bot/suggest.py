"""“Perhaps you meant”: the nearest known name for a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def perhaps(name: str, known: Iterable[str]) -> str:
    """Return ``"; perhaps you meant 'x'"`` for the nearest of ``known``, or an empty string."""
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; perhaps you meant {near[0]!r}" if near else ""
