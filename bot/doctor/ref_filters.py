"""Which branches the filters of a workflow's trigger let through, as GitHub reads them (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
        if _matches(pattern.removeprefix("!"), branch):
            found = not pattern.startswith("!")
    return found


@dataclass(frozen=True, slots=True)
class _Step:
    """A character of ``form``, which may be left out, and may come again."""

    form: re.Pattern[str]
    optional: bool
    again: bool


def _matches(pattern: str, branch: str) -> bool:
    """Whether ``pattern`` matches all of ``branch``, in time that grows with the product of their lengths."""
    try:
        steps = _steps(pattern)
    except re.error:
        return pattern == branch
    places = _reached({0}, steps)
    for character in branch:
        ahead = {place for place in places if place < len(steps) and steps[place].form.fullmatch(character)}
        stays = {place for place in ahead if steps[place].again}
        places = _reached({place + 1 for place in ahead} | stays, steps)
    return len(steps) in places


def _reached(places: set[int], steps: Sequence[_Step]) -> set[int]:
    """``places`` and those behind them that optional steps part from them."""
    found = set(places)
    for place, step in enumerate(steps):
        if step.optional and place in found:
            found.add(place + 1)
    return found


def _steps(pattern: str) -> list[_Step]:
    """``?`` and ``+`` say how often the sign before them may come, as in a regular expression."""
    steps: list[_Step] = []
    for sign in _SIGNS.findall(pattern):
        if sign in ("?", "+"):
            if not steps:
                raise re.error("nothing to repeat")
            last = steps[-1]
            if sign == "?":
                steps[-1] = replace(last, optional=True)
            elif not last.again:
                steps.append(replace(last, optional=True, again=True))
        else:
            form = {"**": ".", "*": "[^/]"}.get(sign) or _form(sign)
            steps.append(_Step(re.compile(form, re.DOTALL), sign in ("**", "*"), sign in ("**", "*")))
    return steps


def _form(sign: str) -> str:
    if sign.startswith("[") and len(sign) > 2:
        return sign
    return re.escape(sign.removeprefix("\\") or sign)
