"""Matches the expected tool calls of a query with the declared tools (semantics, section 2, called tools).

Eval sets name tools as their runner does: with the server before the name, or in another spelling.  A name that does
not clearly mean one declared tool counts as undeclared, so that no call is taken for another.  If not all tools are
listed, an unknown name counts as an unlisted tool.
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
"""Maximum number of prefixes of a name: servers and namespaces."""
_SEPARATOR: Final = re.compile(r"__|[./:-]")
"""Separators between server and tool; a single underscore is not one, since it joins the words of most names."""
_IGNORED: Final = re.compile(r"[\W_]+")

_Index: TypeAlias = Mapping[str, Sequence[str]]
"""Spelling → the names with this spelling."""


def expected_tools(expected: Data, turns: int, tools: Sequence[Tool] | None) -> tuple[str, ...] | None:
    """The names of the declared ``tools`` that a query of so many ``turns`` is expected to call, in order.

    ``tools`` is ``None`` if the specification does not declare tools.  In this case, and if one of them represents
    unlisted tools, each call of an unknown name becomes :data:`UNLISTED`.

    Each expected call is one item, so a name may occur several times; calls that must not be made are left out.
    ``()``: the eval set says explicitly that no tool is called.  ``None``: it says nothing, or names only undeclared
    tools.
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
    """The names of the expected calls of a query of so many ``turns``, as in ``expected``, declared or not.

    ``()``: it says explicitly that no tool is called.  ``None``: it does not say.
    """
    expectation = understand(expected, turns)
    return expectation.called or (() if expectation.no_tools else None)


@dataclass(frozen=True, slots=True)
class _ToolNames:
    """Declared names by spelling: ``exact`` and ``plain`` (without case and separators), whole and after a prefix.

    ``lists_all`` means that there are no other tools.
    """

    exact: _Index
    plain: _Index
    tail: _Index
    plain_tail: _Index
    lists_all: bool

    @staticmethod
    def of(declared: Collection[str]) -> _ToolNames:
        """The spellings of the names ``declared``, one of which may represent unlisted tools."""
        known = tuple(name for name in dict.fromkeys(declared) if name != UNLISTED)
        return _ToolNames(
            exact=_index((name, name) for name in known),
            plain=_index((_plain(name), name) for name in known),
            tail=_index((tail, name) for name in known for tail in _tails(name)),
            plain_tail=_index((_plain(tail), name) for name in known for tail in _tails(name)),
            lists_all=UNLISTED not in declared,
        )

    def meant_by(self, called: str) -> str | None:
        """The single name that ``called`` means; ``None`` if it means none, or several equally well.

        If not all tools are listed, a name that means none of them means :data:`UNLISTED`, if it is a name at all.

        The comparison goes from whole names to ``called`` without a prefix (the longest rest first), then to the
        declared names without a prefix; each exact first, then plain.  The first comparison with a match decides.
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
    """Spelling → names, each once; empty spellings are left out."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for spelling, name in spellings:
        if spelling:
            found[spelling][name] = None
    return {spelling: tuple(names) for spelling, names in found.items()}


def _tails(name: str) -> list[str]:
    """The rests of ``name`` after each of its last separators, the longest first."""
    ends = [match.end() for match in _SEPARATOR.finditer(name)]
    return [name[end:] for end in ends[-MAX_PREFIXES:]]


def _plain(name: str) -> str:
    return _IGNORED.sub("", name).casefold()
