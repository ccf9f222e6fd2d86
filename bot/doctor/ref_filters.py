"""Which branches the filters of a workflow's trigger let through, as GitHub reads them (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

_SIGNS: Final = re.compile(r"\*\*|\*|\\.|\[[^\]]*\]|[?+]|.", re.DOTALL)


def lets_through(filters: Mapping[str, Sequence[str]], branch: str) -> bool:
    """Whether an event on ``branch`` passes ``filters`` (``branches-ignore`` and the like, with their values)."""
    if "branches" in filters:
        return _last_match(filters["branches"], branch)
    if "branches-ignore" in filters:
        return not _last_match(filters["branches-ignore"], branch)
    # Where tags alone are named, branches start nothing.
    return not {"tags", "tags-ignore"} & set(filters)


def _last_match(patterns: Sequence[str], branch: str) -> bool:
    """The last pattern that matches decides; one that begins with ``!`` takes out what others let in."""
    found = False
    for pattern in patterns:
        if _expression(pattern.removeprefix("!")).fullmatch(branch):
            found = not pattern.startswith("!")
    return found


def _expression(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile("".join(map(_piece, _SIGNS.findall(pattern))), re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern))


def _piece(sign: str) -> str:
    """``?`` and ``+`` say how often the sign before them may come, as in a regular expression."""
    match sign:
        case "**":
            return "(?:.*)"
        case "*":
            return "(?:[^/]*)"
        case "?" | "+":
            return sign
        case _ if sign.startswith("[") and len(sign) > 2:
            return sign
        case _:
            return re.escape(sign.removeprefix("\\") or sign)
