"""Remarks on expected calls that were not understood, or that name tools which the agent does not declare."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from incumbent.errors import Problem
from incumbent.files.documents import Data, as_mapping
from incumbent.intake.eval_sets.table import plain_key
from incumbent.intake.expectation import tool_names, understand
from incumbent.intake.expectation_keys import is_negative, is_record, role_of
from incumbent.intake.query import Query
from incumbent.intake.specification import UNLISTED, Specification
from incumbent.intake.tool_calls import EMPTY_CELL, IsTool, decoded, is_distinctive, stated
from incumbent.intake.tool_statements import AGENT, ELSEWHERE, TOOLS_OF_ANSWERS
from incumbent.text.did_you_mean import did_you_mean

SHOWN: Final = 10
"""Remarks of one kind that are made; the rest is a number."""
_DEEPEST: Final = 8
_LONGEST: Final = 20_000
_TOKEN: Final = re.compile(r"\w[\w./:-]*")
_RECORDS: Final = frozenset({*map(plain_key, AGENT), *TOOLS_OF_ANSWERS} - {"expectedactions"})
"""Keys of the record of a run, at the top."""
_AVAILABLE: Final = frozenset({"tools", "functions", "intermediatedata"}) | ELSEWHERE
"""Keys of the tools that there are, and of what is read elsewhere."""
_DEFINES: Final = frozenset({"description", "parameters", "inputschema"})
"""Keys of the definition of a tool."""


@dataclass(slots=True)
class _Remark:
    """What is remarked on: the ``first`` query, the names of all, and the tools that they name."""

    first: Query
    queries: dict[str, None] = field(default_factory=dict)
    tools: dict[str, None] = field(default_factory=dict)


_Remarks: TypeAlias = dict[tuple[str, str], _Remark]
"""File and key, or file and tool → the remark."""


def expectation_remarks(queries: Iterable[Query], specification: Specification) -> tuple[Problem, ...]:
    """Remarks on what the eval sets of ``queries`` expect of the tools in ``specification``.

    One for each key of a file under which a declared tool is named and was not understood, or calls are expected and
    the value has neither names nor calls, and one for each tool that is expected and not declared; nothing if the
    specification does not say which tools there are.
    """
    if specification.tools is None:
        return ()
    names = tool_names(tuple(tool.name for tool in specification.tools))
    declared = frozenset(tool.name for tool in specification.tools) - {UNLISTED}
    unread: _Remarks = {}
    undeclared: _Remarks = {}
    disputed: _Remarks = {}
    for query in queries:
        found = understand(query.expected, len(query.turns), names.is_declared)
        expected = dict.fromkeys(name for call in found.tool_calls for name in call.names)
        wanted = {names.meant_by(name) for call in found.calls for name in call.names}
        unwanted = {names.meant_by(name) for name in found.forbidden}
        for name in expected:
            if names.meant_by(name) is None:
                _add(undeclared, query, name, name)
        both = [name for name in wanted & set(map(names.meant_by, found.denied)) if name is not None]
        for name in sorted(both):
            _add(disputed, query, name, name)
        for path, name, is_all in dict.fromkeys(_named(query.expected, declared)):
            # Prose may well name what is not to be called.
            excused = (found.no_tools or name in unwanted) and (not is_all or _is_read(path))
            if name not in wanted and not excused:
                _add(unread, query, path, name)
        for key in _without_calls(query, names.is_declared):
            _add(unread, query, key)
    return (
        *_listed(unread, _unread_problem),
        *_listed(disputed, _disputed_problem),
        *_listed(undeclared, lambda remark, name: _undeclared_problem(remark, name, declared)),
    )


def _is_read(path: str) -> bool:
    """Whether calls that must not be made are read under one of the keys of ``path``."""
    return any(is_negative(key) or role_of(key) is not None for key in path.split("."))


def _add(remarks: _Remarks, query: Query, about: str, *tools: str) -> None:
    remark = remarks.setdefault((query.file, about), _Remark(query))
    remark.queries[query.id] = None
    remark.tools.update(dict.fromkeys(tools))


def _listed(remarks: _Remarks, problem: Callable[[_Remark, str], Problem]) -> Iterator[Problem]:
    shown = list(remarks.items())
    for (_, about), remark in shown[:SHOWN]:
        yield problem(remark, about)
    if len(shown) > SHOWN:
        first = shown[SHOWN][1].first
        message = f"{len(shown) - SHOWN} more remarks on expected tool calls are not shown"
        yield Problem(first.file, first.line, message, "correct the others first")


def _where(remark: _Remark) -> str:
    others = len(remark.queries) - 1
    return f"{remark.first.id} and {others} more" if others else remark.first.id


def _unread_problem(remark: _Remark, path: str) -> Problem:
    said = f"names {', '.join(list(remark.tools)[:SHOWN])}" if remark.tools else "has neither names nor calls of tools"
    message = f"{_where(remark)}: {path} {said}, and is not understood as a statement about tool calls"
    fix = "list the calls under `expected_tools`, or under `forbidden_tools` those that must not be made"
    return Problem(remark.first.file, remark.first.line, message, fix)


def _disputed_problem(remark: _Remark, name: str) -> Problem:
    message = f"{_where(remark)}: {name} is expected and must not be called; it counts as not called"
    return Problem(remark.first.file, remark.first.line, message, "take it out of one of the two")


def _undeclared_problem(remark: _Remark, name: str, declared: Collection[str]) -> Problem:
    near = did_you_mean(name, declared)
    message = f"{_where(remark)}: the agent does not declare the expected tool {name!r}, which is ignored{near}"
    fix = "write the name as the agent declares it, or declare the tool"
    return Problem(remark.first.file, remark.first.line, message, fix)


def _without_calls(query: Query, is_tool: IsTool) -> Iterator[str]:
    """The keys of expected calls whose values state nothing, and are not empty."""
    for key, value in as_mapping(query.expected).items():
        role, found = role_of(key), decoded(value)
        if role is None or found is None or isinstance(found, bool) or found in ([], {}):
            continue
        if isinstance(found, str) and EMPTY_CELL.fullmatch(found.strip()):
            continue
        statement = stated(found, role, is_tool, len(query.turns), empty=True)
        if not (statement.calls or statement.none):
            yield key


def _named(
    value: Data, declared: Collection[str], path: str = "", depth: int = _DEEPEST
) -> Iterator[tuple[str, str, bool]]:
    """Each place in ``value`` where one of the ``declared`` tools is named outside records of runs, its name, and
    whether there is nothing else.
    """
    found = decoded(value)
    if isinstance(found, str):
        yield from ((path, name, name == found.strip()) for name in _tools_in(found, declared))
    elif depth and isinstance(found, list):
        for item in found:
            yield from _named(item, declared, path, depth - 1)
    elif depth and isinstance(found, dict) and not _is_other(found):
        for key, inner in found.items():
            below = f"{path}.{key}" if path else key
            if key in declared:
                yield below, key, True
            apart = plain_key(key) in _AVAILABLE | (frozenset() if path else _RECORDS)
            if key == "turns" or not (apart or is_record(key)):
                yield from _named(inner, declared, below, depth - 1)


def _is_other(held: Mapping[str, Data]) -> bool:
    """Whether ``held`` is a message of a conversation, or the definition of a tool."""
    keys = {plain_key(key) for key in held}
    return "role" in keys or ("name" in keys and bool(keys & _DEFINES) and "arguments" not in keys)


def _tools_in(text: str, declared: Collection[str]) -> Iterator[str]:
    """The ``declared`` tools that ``text`` names; ordinary words only if they are all of it."""
    if text.strip() in declared:
        yield text.strip()
        return
    for token in _TOKEN.findall(text[:_LONGEST]):
        name = token.rstrip("./:-")
        if name in declared and is_distinctive(name):
            yield name
