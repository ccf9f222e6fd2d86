"""What a text must have for a pattern of courtesies to match, written as a data file: python -m dev.required_words.

A pattern is taken apart as the library for regular expressions reads it.  Of every way to match it one piece of text is
found that all such matches have: the longest that is known to the letter.  A test holds the file against the patterns.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final, TypeAlias

from incumbent.classifier.embedded.phrases import BORDER, REQUIRED
from incumbent.classifier.embedded.wording import patterns

_MOST: Final = 250
"""So many pieces are listed; of more only a part is looked at."""

_SETS: Final = 3
"""Of so many sets at most each match has a piece; behind the first, only sets of no more than `_FEW` are worth it."""
_FEW: Final = 40
_DEEPEST: Final = 3
"""So many branchings, one within the other, are looked at together with what is around them."""

_REPEATS: Final = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
_SIDES: Final = (ops.ASSERT, ops.ASSERT_NOT)

Pieces: TypeAlias = frozenset[str]


def required(pattern: str) -> list[list[str]]:
    """Sets of pieces, in lower case: each match of ``pattern`` has one piece of each set.

    A blank before or behind a piece counts, and :data:`BORDER` where it begins or ends a word.
    """
    first, *others = _sets(list(parser.parse(pattern, re.IGNORECASE)), _DEEPEST) or [frozenset()]
    return [sorted(pieces) for pieces in (first, *others) if pieces and (pieces is first or len(pieces) <= _FEW)]


def _sets(items: list[tuple[Any, Any]], depth: int) -> list[Pieces]:
    """Those of a sequence; what branches within it is looked at together with what is around it."""
    exact, found = _sequence(items)
    found = _ranked([*found, *_usable(exact)])[:_SETS]
    at, branches = _branching(items) if depth else (0, [])
    if not branches:
        return found
    each = [_sets([*items[:at], *branch, *items[at + 1 :]], depth - 1)[:1] for branch in branches]
    if all(each):
        found.append(_least(frozenset(piece for (pieces,) in each for piece in pieces)))
    return _ranked(found)[:_SETS]


def _branching(items: list[tuple[Any, Any]]) -> tuple[int, list[list[tuple[Any, Any]]]]:
    """The first place of ``items`` where it branches into more than can be listed, and the branches."""
    for at, (kind, value) in enumerate(items):
        exact, _ = _item(kind, value)
        if kind is ops.SUBPATTERN and exact is None:
            return at, [list(value[3])]
        if kind is ops.BRANCH and exact is None:
            return at, [list(branch) for branch in value[1]]
    return 0, []


def _sequence(items: Iterable[tuple[Any, Any]]) -> tuple[Pieces | None, list[Pieces]]:
    """All that a sequence can match, if that is little, and sets of pieces of which each match has one."""
    run: Pieces = frozenset({""})
    found: list[Pieces] = []
    whole = True
    for kind, value in items:
        exact, some = _item(kind, value)
        if exact is not None and len(run) * len(exact) <= _MOST:
            run = _joined(run, exact)
            continue
        whole = False
        once = _sequence(value[2])[0] if kind in _REPEATS else None
        if once is not None and value[0] > 0 and len(run) * len(once) <= _MOST:
            found += _usable(_joined(run, once))
            run = once
            continue
        found += [*_usable(run), *some]
        if exact is not None:
            run = exact
        elif once is not None and all(map(_ends_outside, once)) and all(map(_ends_outside, run)):
            run = frozenset({BORDER})
        else:
            run = frozenset({""})
    return (run, found) if whole else (None, [*found, *_usable(run)])


def _joined(run: Pieces, exact: Pieces) -> Pieces:
    return frozenset(one + other for one in run for other in exact)


def _ends_outside(piece: str) -> bool:
    """Whether what follows ``piece`` is at the beginning of a word, if it is in one."""
    return piece[-1:] == BORDER or (piece != "" and not (piece[-1].isalnum() or piece[-1] == "_"))


def _item(kind: Any, value: Any) -> tuple[Pieces | None, list[Pieces]]:
    if kind is ops.LITERAL:
        return frozenset({chr(value).lower()}), []
    if kind is ops.IN:
        return _class(value), []
    if kind is ops.AT:
        return frozenset({BORDER if value is ops.AT_BOUNDARY else ""}), []
    if kind in _SIDES:
        return frozenset({BORDER if _is_border(kind, *value) else ""}), []
    if kind is ops.BRANCH:
        return _branch([_sequence(branch) for branch in value[1]])
    if kind is ops.SUBPATTERN:
        return _sequence(value[3])
    if kind is ops.ATOMIC_GROUP:
        return _sequence(value)
    if kind in _REPEATS:
        return _repeat(*value)
    return None, []


def _branch(found: Sequence[tuple[Pieces | None, list[Pieces]]]) -> tuple[Pieces | None, list[Pieces]]:
    exacts = [exact for exact, _ in found]
    if None not in exacts:
        together = frozenset(piece for exact in exacts if exact is not None for piece in exact)
        if len(together) <= _MOST:
            return together, []
    best = [_ranked([*_usable(exact), *some])[:1] for exact, some in found]
    return None, [_least(frozenset(piece for (pieces,) in best for piece in pieces))] if all(best) else []


def _repeat(least: int, most: int, items: Any) -> tuple[Pieces | None, list[Pieces]]:
    exact, some = _sequence(items)
    if most == 1 and exact is not None:
        return exact | ({""} if least == 0 else set()), []
    return None, [] if least == 0 else [*_usable(exact), *some]


def _class(items: Sequence[tuple[Any, Any]]) -> Pieces | None:
    if any(kind is not ops.LITERAL for kind, _ in items):
        return None
    return frozenset(chr(value).lower() for _, value in items)


def _is_border(kind: Any, direction: int, items: Any) -> bool:
    """Whether what is asserted of the character beside a piece is that it belongs to no word."""
    items = list(items)
    if kind is ops.ASSERT:
        return direction > 0 and _begins_outside(items)
    if len(items) == 1 and items[0][0] is ops.BRANCH:
        return any(_is_word(branch) for branch in items[0][1][1])
    if direction < 0 and len(items) == 1 and items[0][0] is ops.IN:
        value = items[0][1]
        if value[:1] == [(ops.NEGATE, None)]:
            return all(map(_is_outside, value[1:]))
        if value == [(ops.CATEGORY, ops.CATEGORY_NOT_SPACE)]:
            return True
    return _is_word(items)


def _is_word(items: Sequence[tuple[Any, Any]]) -> bool:
    """Whether ``items`` are one character that any of a word may be."""
    if len(items) != 1 or items[0][0] is not ops.IN:
        return False
    return items[0][1][0] != (ops.NEGATE, None) and (ops.CATEGORY, ops.CATEGORY_WORD) in items[0][1]


def _begins_outside(items: list[tuple[Any, Any]]) -> bool:
    while items:
        kind, value = items[0]
        if kind is ops.BRANCH:
            return all(_begins_outside([*branch, *items[1:]]) for branch in value[1])
        if kind is ops.SUBPATTERN:
            items = [*value[3], *items[1:]]
        elif kind in _REPEATS and value[0] == 0:
            return _begins_outside(list(value[2])) and _begins_outside(items[1:])
        elif kind is ops.AT:
            return value is ops.AT_END
        elif kind is ops.LITERAL:
            return _is_outside((kind, value))
        else:
            return kind is ops.IN and all(map(_is_outside, value))
    return False


def _is_outside(item: tuple[Any, Any]) -> bool:
    kind, value = item
    if kind is ops.CATEGORY:
        return value is ops.CATEGORY_SPACE
    return kind is ops.LITERAL and not (chr(value).isalnum() or chr(value) == "_")


def _usable(pieces: Pieces | None) -> list[Pieces]:
    """``pieces`` as they can be looked for; none if one of them says nothing."""
    if pieces is None:
        return []
    found = frozenset(_bordered(piece) for piece in pieces)
    return [] if any(not piece.strip(BORDER + " ") for piece in found) else [_least(found)]


def _bordered(piece: str) -> str:
    """``piece`` with borders at its ends alone, and only beside a letter or digit of ASCII."""
    inner = piece.replace(BORDER, "")
    begins = piece.startswith(BORDER) and inner[:1].isascii() and inner[:1].isalnum()
    ends = piece.endswith(BORDER) and inner[-1:].isascii() and inner[-1:].isalnum()
    return BORDER * begins + inner + BORDER * ends


def _least(pieces: Pieces) -> Pieces:
    """Without those that have another one in them."""
    kept: list[str] = []
    for piece in sorted(pieces, key=lambda piece: (len(piece), piece)):
        if not any(other in piece for other in kept):
            kept.append(piece)
    return frozenset(kept)


def _ranked(found: Iterable[Pieces]) -> list[Pieces]:
    """First those whose shortest piece is longest; of equal ones, the fewest."""
    return sorted(dict.fromkeys(found), key=lambda pieces: (-min(map(len, pieces)), len(pieces), sorted(pieces)))


def pattern_digest(patterns: Mapping[str, str]) -> str:
    """The digest of ``patterns``: the file is made anew when it differs."""
    return hashlib.sha256(json.dumps(patterns, sort_keys=True).encode()).hexdigest()[:16]


def as_text() -> str:
    """The data file."""
    found = {
        "patterns": pattern_digest(patterns()),
        "required": {name: required(pattern) for name, pattern in patterns().items()},
    }
    return json.dumps(found, ensure_ascii=False, indent=0) + "\n"


if __name__ == "__main__":
    REQUIRED.write_text(as_text(), encoding="utf-8")
