"""The expected tool calls in the forms of all formats, and the keys of expectations."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot.files.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.table import plain_key
from bot.intake.expectation_forms import asserted_calls, asserts_no_call, replied, reply_tool_calls

ANSWERS: Final = (
    "expectedresponse",
    "expectedanswer",
    "expectedoutput",
    "referenceanswer",
    "referenceoutput",
    "referenceoutputs",
    "groundtruth",
    "target",
    "ideal",
    "idealanswer",
    "correctanswer",
    "correctlabel",
    "expected",
    "expect",
    "goldenanswer",
    "goldanswer",
    "expectedoutcome",
    "reference",
    "answer",
    "outputs",
    "output",
)
"""Keys of expected answers (see :func:`~bot.intake.eval_sets.table.plain_key`), the most specific first."""

TOOLS: Final = (
    "expectedtools",
    "expectedtool",
    "expectedtoolcalls",
    "expectedtoolcall",
    "expectedtoolname",
    "expectedtoolnames",
    "expectedactions",
    "expectedtrajectory",
    "expecttools",
    "expecttool",
    "expectedfunctions",
    "expectedfunction",
    "referencetoolcalls",
    "referencetrajectory",
    "requiredtools",
    "tools",
)
"""Keys of expected tools."""

TOOLS_OF_ANSWERS: Final = ("toolcalls", "trajectory")
"""Keys of recorded calls; inside an expected answer they are expected calls."""

AGENT: Final = ("actions", "expected_actions", "tool_calls", "tool_definitions")
"""Keys that only records about an agent's tools have."""

_ARGUMENTS: Final = ("arguments", "inputparameters", "args", "parameters", "input")
_NAMES: Final = ("command", "name", "tool_name", "tool")
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
_EMPTY: Final = frozenset({"", "-", "null", "n/a"})
"""Ways to leave a cell empty, which say nothing."""
_NO_CALL: Final = re.compile(r"none|no[ _-]?(?:tool|function|action)s?(?:[ _-]?calls?)?|no[ _-]?calls?", re.IGNORECASE)
"""Ways to say that no tool is called."""
_EXPECTED: Final = frozenset(TOOLS) - {"tools"}
"""Keys of expected tools; `tools` alone may mean the available tools."""
_RECORDED: Final = frozenset({"answer", "messages", "output", "outputs"})
"""Keys of answers that are often recorded, with an empty list if the run called nothing."""
_RECORDS: Final = frozenset(
    {"actions", "actualoutput", "conversation", "messages", "runid", "sampleoutput", "tooldefinitions", "toolscalled"}
)
"""Next to one of these keys, `tool_calls` are recorded calls."""
_RETURNED: Final = ("id", "tool_call_id", "call_id", "tool_result", "result", "output")
"""Keys of a recorded call."""
_REMARKS: Final = frozenset({"comment", "comments", "criteria", "note", "notes", "response", "rubric"})
_SEPARATORS: Final = re.compile(r"[|;,\n]")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """An expected tool call, or an ``unwanted`` one that must not be made; ``arguments`` are unchanged."""

    name: str
    arguments: Data = None
    unwanted: bool = False


@dataclass(frozen=True, slots=True)
class ToolStatement:
    """A statement about tools at one place: the ``calls`` in order, or that there must be ``none``."""

    calls: tuple[ToolCall, ...] = ()
    none: bool = False


def tool_statements(held: Mapping[str, Data]) -> Iterator[ToolStatement]:
    """The statements about tool calls in a mapping, in the forms of all formats."""
    names = {plain_key(key) for key in held}
    for key, value in held.items():
        name = plain_key(key)
        if name in TOOLS or (name == "groundtruth" and names_tools(value, held)):
            # DeepEval always writes both keys of a golden, even if they are empty.
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
    """The statements about tool calls in ``metadata``, for formats without a field for them."""
    for key, value in as_mapping(metadata).items():
        if plain_key(key) in _EXPECTED:
            yield _stated(value, empty=True)


def states_calls(held: Mapping[str, Data]) -> bool:
    """Whether calls under a key of recorded calls (``tool_calls``) are expected calls.

    They are if nothing in ``held`` looks like a recorded run: an identifier or a result of a call, the available tools,
    messages, an actual answer.
    """
    if any(plain_key(key) in _RECORDS for key in held) or isinstance(held.get("response"), list):
        return False
    called = [as_list(_parsed(value)) for key, value in held.items() if plain_key(key) in TOOLS_OF_ANSWERS]
    return not any(key in as_mapping(item) for items in called for item in items for key in _RETURNED)


def _of_answers(held: Mapping[str, Data]) -> Iterator[ToolStatement]:
    """The statements in the expected answers of ``held``: calls of messages, or calls next to the answer's text."""
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
    """The expected answers of ``held`` with their plain keys."""
    named = ((plain_key(key), value) for key, value in held.items())
    return [(name, value) for name, value in named if name in (*ANSWERS, "messages")]


def names_tools(value: Data, held: Mapping[str, Data]) -> bool:
    """Whether ``value``, the ground truth of the record ``held``, lists tools, as in Azure's task navigation.

    A list of texts may also be answers.  They are tools if none has white space, and if the record is about an agent's
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
    """``calls`` without duplicates."""
    seen: set[tuple[str, str, bool]] = set()
    for number, call in enumerate(calls):
        try:
            arguments = json.dumps(call.arguments, sort_keys=True)
        except (RecursionError, ValueError):
            # Nested too deeply to compare, which only happens if the limits are far too high.
            arguments = f"#{number}"
        key = (call.name, arguments, call.unwanted)
        if key not in seen:
            seen.add(key)
            yield call


def repeated(statements: Iterable[ToolStatement]) -> tuple[str, ...]:
    """The names of the calls that must be made, in order, without repetitions between statements.

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
    """The statement in ``value``: objects, names, a pair of names and arguments, a text with names, or “none”.

    With ``empty``, an empty list means that no tool is called; words that say so always do.
    """
    found = _parsed(value)
    if isinstance(found, str):
        # The format's reader reports invalid JSON.
        names = [] if _may_be_json(found) else [name.strip() for name in _SEPARATORS.split(found)]
        if any(map(_NO_CALL.fullmatch, names)) and not any(map(_is_name, names)):
            return ToolStatement(none=True)
        # If one part has white space, the whole text is prose.
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
    """The calls in ``items``."""
    return ToolStatement(tuple(call for item in items for call in _call(item, unwanted=unwanted)))


def _is_pair(items: list[Data]) -> bool:
    """Whether ``items`` is a list of names and a mapping of their arguments."""
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
        # The definition of an available tool, not a call.
        return
    # In Vally the name may be the server's, and the command is the tool.
    name = next((inner[key] for key in _NAMES if isinstance(inner.get(key), str)), None)
    if isinstance(name, str) and name.strip():
        arguments = next((value for key, value in inner.items() if plain_key(key) in _ARGUMENTS), None)
        yield ToolCall(name.strip(), arguments, unwanted)


def _is_name(text: str) -> bool:
    """Whether ``text`` may be the name of a tool, not a word for none."""
    said = text.strip()
    return said.casefold() not in _EMPTY and _NO_CALL.fullmatch(said) is None


def _parsed(value: Data) -> Any:
    """The value of JSON in a text, as in tables; else ``value`` itself."""
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
