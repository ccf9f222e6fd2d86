"""The expected tool calls, in the ways that formats give them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot.files.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.table import plain_key
from bot.intake.expectations.assertions import asserted_calls, asserts_no_call
from bot.intake.expectations.keys import ANSWERS, TOOLS, TOOLS_OF_ANSWERS
from bot.intake.expectations.replies import replied, reply_tool_calls

AGENT: Final = ("actions", "expected_actions", "tool_calls", "tool_definitions")
"""Keys that a record has only where it is about the tools of an agent."""

_ARGUMENTS: Final = ("arguments", "inputparameters", "args", "parameters", "input")
_NAMES: Final = ("command", "name", "tool_name", "tool")
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
_EMPTY: Final = frozenset({"", "-", "null", "n/a"})
"""How people leave a cell empty, which says nothing."""
_NO_CALL: Final = re.compile(r"none|no[ _-]?(?:tool|function|action)s?(?:[ _-]?calls?)?|no[ _-]?calls?", re.IGNORECASE)
"""How people say that nothing is to be called."""
_EXPECTED: Final = frozenset(TOOLS) - {"tools"}
"""Keys that say which tools are expected: by themselves `tools` are those that there are."""
_RECORDED: Final = frozenset({"answer", "messages", "output", "outputs"})
"""Keys of answers that are often what a run returned, with an empty list where it called nothing."""
_RECORDS: Final = frozenset(
    {"actions", "actualoutput", "conversation", "messages", "runid", "sampleoutput", "tooldefinitions", "toolscalled"}
)
"""Beside one of these keys, `tool_calls` are what an agent once called."""
_RETURNED: Final = ("id", "tool_call_id", "call_id", "tool_result", "result", "output")
"""Keys of a call that was made."""
_REMARKS: Final = frozenset({"comment", "comments", "criteria", "note", "notes", "response", "rubric"})
_SEPARATORS: Final = re.compile(r"[|;,\n]")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that is expected to be called, or not to be if ``unwanted``; ``arguments`` are as the file has them."""

    name: str
    arguments: Data = None
    unwanted: bool = False


@dataclass(frozen=True, slots=True)
class ToolStatement:
    """What one place says of tools: the ``calls`` that it names, in order, or that there is to be ``none``."""

    calls: tuple[ToolCall, ...] = ()
    none: bool = False


def tool_statements(held: Mapping[str, Data]) -> Iterator[ToolStatement]:
    """What a mapping says of tool calls, in the ways of the formats that have them, place by place."""
    names = {plain_key(key) for key in held}
    for key, value in held.items():
        name = plain_key(key)
        if name in TOOLS or (name == "groundtruth" and names_tools(value, held)):
            # DeepEval writes both keys of every golden, whether or not anything was said of it.
            yield _stated(value, empty=name in _EXPECTED and "toolscalled" not in names)
        elif name in TOOLS_OF_ANSWERS and states_calls(held):
            yield _stated(value, empty=names <= {*ANSWERS, *TOOLS_OF_ANSWERS, *_REMARKS})
    yield from _of_answers(held)
    for grader in map(as_mapping, as_list(held.get("graders"))):
        config = as_mapping(grader.get("config"))
        if grader.get("type") == "tool-calls":
            for key, unwanted in (("required", False), ("disallowed", True)):
                yield _listed(as_list(config.get(key)), unwanted=unwanted)
    for asserted, unwanted in asserted_calls(held):
        yield _listed(asserted, unwanted=unwanted)
    yield ToolStatement(none=asserts_no_call(held))


def noted_statements(metadata: Data) -> Iterator[ToolStatement]:
    """What people note of tool calls in the ``metadata`` of formats that have no place for them."""
    for key, value in as_mapping(metadata).items():
        if plain_key(key) in _EXPECTED:
            yield _stated(value, empty=True)


def states_calls(held: Mapping[str, Data]) -> bool:
    """Whether calls by the name of those that were made (``tool_calls``) are such as are expected.

    They are if nothing in ``held`` looks like the record of a run: an identifier or a result of a call, the tools that
    there were, messages, an actual answer.
    """
    if any(plain_key(key) in _RECORDS for key in held) or isinstance(held.get("response"), list):
        return False
    called = [as_list(_parsed(value)) for key, value in held.items() if plain_key(key) in TOOLS_OF_ANSWERS]
    return not any(key in as_mapping(item) for items in called for item in items for key in _RETURNED)


def _of_answers(held: Mapping[str, Data]) -> Iterator[ToolStatement]:
    """What the expected answers of ``held`` say: the calls of messages, or those named beside the answer's text."""
    waiting = _answers_in(held)
    while waiting:
        name, answer = waiting.pop(0)
        said = replied(answer)
        if said:
            yield _listed(reply_tool_calls(said))
            continue
        inner = as_mapping(answer)
        for key, value in inner.items():
            if plain_key(key) in (*TOOLS, *TOOLS_OF_ANSWERS):
                yield _stated(value, empty=plain_key(key) in _EXPECTED or name not in _RECORDED)
        waiting += _answers_in(inner)


def _answers_in(held: Mapping[str, Data]) -> list[tuple[str, Data]]:
    """The expected answers of ``held`` with the plain names of their keys."""
    named = ((plain_key(key), value) for key, value in held.items())
    return [(name, value) for name, value in named if name in (*ANSWERS, "messages")]


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


def repeated(statements: Iterable[ToolStatement]) -> tuple[str, ...]:
    """The names of the calls that are to be made, in order; what several statements say is said once.

    A name counts as often as in the statement that has it most often.
    """
    found: list[str] = []
    counted: Counter[str] = Counter()
    for statement in statements:
        here: Counter[str] = Counter()
        for call in statement.calls:
            if not call.unwanted:
                here[call.name] += 1
                if here[call.name] > counted[call.name]:
                    counted[call.name] += 1
                    found.append(call.name)
    return tuple(found)


def _stated(value: Data, *, empty: bool) -> ToolStatement:
    """What ``value`` says: objects, names, a pair of names and their arguments, a text with them; or that none is.

    ``empty``: an empty list says that there is none; words that say so always do.
    """
    found = _parsed(value)
    if isinstance(found, str):
        # What begins like JSON and is none is left to its reader to complain of.
        names = [] if _may_be_json(found) else [name.strip() for name in _SEPARATORS.split(found)]
        if any(map(_NO_CALL.fullmatch, names)) and not any(map(_is_name, names)):
            return ToolStatement(none=True)
        # One part with white space in it, and the whole is prose.
        if any(len(name.split()) > 1 for name in names):
            return ToolStatement()
        return ToolStatement(tuple(ToolCall(name) for name in names if _is_name(name)))
    items = as_list(found) or ([found] if isinstance(found, dict) else [])
    if _is_pair(items):
        arguments = as_mapping(items[1])
        named = [name for name in as_list(items[0]) if isinstance(name, str) and name.strip()]
        return ToolStatement(tuple(ToolCall(name.strip(), arguments.get(name)) for name in named))
    statement = _listed(items)
    said = [item.strip() for item in items if isinstance(item, str)]
    none = not statement.calls and ((empty and found == []) or any(map(_NO_CALL.fullmatch, said)))
    return ToolStatement(statement.calls, none)


def _listed(items: Iterable[Data], *, unwanted: bool = False) -> ToolStatement:
    """The calls that ``items`` are."""
    return ToolStatement(tuple(call for item in items for call in _call(item, unwanted=unwanted)))


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
    said = text.strip()
    return said.casefold() not in _EMPTY and _NO_CALL.fullmatch(said) is None


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
