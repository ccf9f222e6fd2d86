"""Which declared tools an eval set expects a query to call (semantics, section 2, called tools).

Eval sets name tools as their runner does: with the server before the name, or in another spelling.  What is not
plainly one declared tool counts as not declared, so that no call is taken for another.  Where not all tools are listed,
a name that none of the listed ones has is that of one that is not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from bot.files.documents import Data
from bot.intake.expectation import understand
from bot.intake.specification import UNLISTED, Tool

MAX_PREFIXES: Final = 8
"""A name has no more prefixes than this, of servers and namespaces."""
_SEPARATOR: Final = re.compile(r"__|[./:-]")
"""What separates a server's name from that of its tool; a single underscore joins the words of most names."""
_IGNORED: Final = re.compile(r"[\W_]+")

_Index: TypeAlias = Mapping[str, Sequence[str]]
"""Spelling → the names that may be spelt so."""


def expected_tools(expected: Data, turns: int, tools: Sequence[Tool] | None) -> tuple[str, ...] | None:
    """The names of the declared ``tools`` that a query of so many ``turns`` is expected to call, in order.

    ``tools`` is ``None`` where it is not declared which there are.  Then, and where one of them stands for those that
    are not listed, it is :data:`UNLISTED` for each call of a name that no listed tool has.

    Each expected call is one item, so a name may be there several times; calls that are not to be made are none.
    ``()``: it is said plainly that no tool is to be called.  ``None``: nothing is said, or only tools are named that
    the agent does not declare.
    """
    expectation = understand(expected, turns)
    if expectation.no_tools:
        return ()
    if not expectation.called:
        return None
    declared = (UNLISTED,) if tools is None else tuple(tool.name for tool in tools)
    names = _ToolNames.of(declared)
    meant = {called: names.meant_by(called) for called in expectation.called}
    return tuple(name for called in expectation.called if (name := meant[called]) is not None) or None


def stated_calls(expected: Data, turns: int) -> tuple[str, ...] | None:
    """The tools that ``expected`` says a query of so many ``turns`` calls, as it names them, declared or not.

    ``()``: it says plainly that no tool is to be called.  ``None``: it does not say.
    """
    expectation = understand(expected, turns)
    return expectation.called or (() if expectation.no_tools else None)


@dataclass(frozen=True, slots=True)
class _ToolNames:
    """Declared names by their spellings: as they are and without case and separators (``plain``), whole and behind a
    prefix (``tail``).  ``lists_all``: there are no other tools than these.
    """

    exact: _Index
    plain: _Index
    tail: _Index
    plain_tail: _Index
    lists_all: bool

    @staticmethod
    def of(declared: Collection[str]) -> _ToolNames:
        """The spellings of the names ``declared``, one of which may stand for tools that are not listed."""
        known = tuple(name for name in dict.fromkeys(declared) if name != UNLISTED)
        return _ToolNames(
            exact=_index((name, name) for name in known),
            plain=_index((_plain(name), name) for name in known),
            tail=_index((tail, name) for name in known for tail in _tails(name)),
            plain_tail=_index((_plain(tail), name) for name in known for tail in _tails(name)),
            lists_all=UNLISTED not in declared,
        )

    def meant_by(self, called: str) -> str | None:
        """The one name that ``called`` means; ``None`` if it means none, or several alike.

        Where not all tools are listed, what means none of the listed ones means :data:`UNLISTED`, if it is a name.

        Compared are whole names, then what stands behind a prefix of ``called``, the longest first, then behind a
        prefix of the declared ones; each as they are and then in plain.  The first comparison that finds any decides.
        """
        for found in self._compared(called):
            if found:
                return found[0] if len(found) == 1 else None
        return UNLISTED if _plain(called) and not self.lists_all else None

    def _compared(self, called: str) -> Iterator[Sequence[str]]:
        for form in (called, *_tails(called)):
            yield self.exact.get(form, ())
            yield self.plain.get(_plain(form), ())
        yield self.tail.get(called, ())
        yield self.plain_tail.get(_plain(called), ())


def _index(spellings: Iterable[tuple[str, str]]) -> _Index:
    """Spelling → names, each once; an empty spelling is none."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for spelling, name in spellings:
        if spelling:
            found[spelling][name] = None
    return {spelling: tuple(names) for spelling, names in found.items()}


def _tails(name: str) -> list[str]:
    """What stands behind each of the last separators of ``name``, the longest first."""
    ends = [match.end() for match in _SEPARATOR.finditer(name)]
    return [name[end:] for end in ends[-MAX_PREFIXES:]]


def _plain(name: str) -> str:
    return _IGNORED.sub("", name).casefold()
