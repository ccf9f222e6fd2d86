"""The expected tool calls, in the ways that formats give them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.table import plain_key
from bot.intake.expected.assertions import asserted_calls
from bot.intake.expected.keys import ANSWERS, TOOLS, TOOLS_OF_ANSWERS
from bot.intake.expected.replies import replied, reply_tool_calls

AGENT: Final = ("actions", "expected_actions", "tool_calls", "tool_definitions")
"""Keys that a record has only where it is about the tools of an agent."""

_ARGUMENTS: Final = ("arguments", "inputparameters", "args", "parameters", "input")
_NAMES: Final = ("command", "name", "tool_name", "tool")
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
_NONE: Final = frozenset({"", "-", "none", "null", "n/a", "no_tool"})
_NOTED: Final = frozenset(TOOLS) - {"tools"}
"""Keys of metadata that say which tools are expected: by themselves `tools` are those that there are."""
_SEPARATORS: Final = re.compile(r"[|;,\n]")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that is expected to be called, or not to be if ``unwanted``; ``arguments`` are as the file has them."""

    name: str
    arguments: Data = None
    unwanted: bool = False


def tool_calls_of(held: Mapping[str, Data]) -> Iterator[ToolCall]:
    """The tool calls that a mapping names, in the ways of the formats that have them."""
    for key, value in held.items():
        if plain_key(key) in TOOLS or (plain_key(key) == "groundtruth" and names_tools(value, held)):
            yield from _calls(value)
    yield from _of_answers(held)
    for grader in map(as_mapping, as_list(held.get("graders"))):
        config = as_mapping(grader.get("config"))
        if grader.get("type") == "tool-calls":
            for key, unwanted in (("required", False), ("disallowed", True)):
                for item in as_list(config.get(key)):
                    yield from _call(item, unwanted=unwanted)
    for asserted, unwanted in asserted_calls(held):
        yield from _call(asserted, unwanted=unwanted)


def noted_calls(metadata: Data) -> Iterator[ToolCall]:
    """The tool calls that people note in the ``metadata`` of formats that have no place for them."""
    for key, value in as_mapping(metadata).items():
        if plain_key(key) in _NOTED:
            yield from _calls(value)


def _of_answers(held: Mapping[str, Data]) -> Iterator[ToolCall]:
    """The calls in the expected answers of ``held``: of messages, or named beside the answer's text."""
    waiting = [value for key, value in held.items() if plain_key(key) in (*ANSWERS, "messages")]
    while waiting:
        answer = waiting.pop(0)
        said = replied(answer)
        yield from (call for item in reply_tool_calls(said) for call in _call(item))
        if not said:
            inner = as_mapping(answer)
            for key, value in inner.items():
                if plain_key(key) in (*TOOLS, *TOOLS_OF_ANSWERS):
                    yield from _calls(value)
            waiting += [value for key, value in inner.items() if plain_key(key) in (*ANSWERS, "messages")]


def names_tools(value: Data, held: Mapping[str, Data]) -> bool:
    """Whether ``value``, the ground truth of the record ``held``, is tools, as Azure's task navigation has them.

    A list of texts may as well be answers.  They are tools if none has white space, and the record is about an agent's
    tools or one of the texts is a name with an underscore.
    """
    names = as_list(_parsed(value))
    if _is_pair(names):
        return True
    if not names or not all(isinstance(name, str) and len(name.split()) == 1 for name in names):
        return False
    about_tools = any(held.get(key) for key in AGENT) or isinstance(held.get("response"), list)
    return about_tools or any("_" in str(name).strip("_") for name in names)


def each_once(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    """``calls`` without those that are there already."""
    seen: set[tuple[str, str, bool]] = set()
    for number, call in enumerate(calls):
        try:
            arguments = json.dumps(call.arguments, sort_keys=True)
        except (RecursionError, ValueError):
            # Too deep to be compared, which only limits that are set far too high let happen.
            arguments = f"#{number}"
        key = (call.name, arguments, call.unwanted)
        if key not in seen:
            seen.add(key)
            yield call


def _calls(value: Data) -> Iterator[ToolCall]:
    """The tool calls that ``value`` lists: objects, names, a pair of names and their arguments, or a text with them."""
    found = _parsed(value)
    if isinstance(found, str):
        # What begins like JSON and is none is left to its reader to complain of.
        names = [] if _may_be_json(found) else [name.strip() for name in _SEPARATORS.split(found)]
        # One part with white space in it, and the whole is prose.
        if all(len(name.split()) < 2 for name in names):
            yield from (ToolCall(name) for name in names if _is_name(name))
        return
    items = as_list(found) or ([found] if isinstance(found, dict) else [])
    if _is_pair(items):
        arguments = as_mapping(items[1])
        for name in as_list(items[0]):
            if isinstance(name, str) and name.strip():
                yield ToolCall(name.strip(), arguments.get(name))
        return
    for item in items:
        yield from _call(item)


def _is_pair(items: list[Data]) -> bool:
    """Whether ``items`` are the names of tools, and their arguments by name."""
    match items:
        case [[*names], dict()]:
            return bool(names) and all(isinstance(name, str) for name in names)
        case _:
            return False


def _call(item: Data, *, unwanted: bool = False) -> Iterator[ToolCall]:
    if isinstance(item, str) and _is_name(item):
        yield ToolCall(item.strip(), None, unwanted)
        return
    held = as_mapping(item)
    inner = as_mapping(held.get("function")) or held
    if any(as_mapping(inner.get(key)).get("type") == "object" for key in _SCHEMAS):
        # The definition of a tool: it may be called, and that is all.
        return
    # Vally names the server, and the tool as its command.
    name = next((inner[key] for key in _NAMES if isinstance(inner.get(key), str)), None)
    if isinstance(name, str) and name.strip():
        arguments = next((value for key, value in inner.items() if plain_key(key) in _ARGUMENTS), None)
        yield ToolCall(name.strip(), arguments, unwanted)


def _is_name(text: str) -> bool:
    """Whether ``text`` may name a tool; people write that there is none as well."""
    return text.strip().casefold() not in _NONE


def _parsed(value: Data) -> Any:
    """What the JSON in a text stands for, as tables have it; else ``value`` itself."""
    if not isinstance(value, str) or not _may_be_json(value):
        return value
    try:
        return json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return value


def _may_be_json(text: str) -> bool:
    return text.lstrip().startswith(("[", "{"))


def _refuse(word: str) -> None:
    raise ValueError(word)
