"""What a customer expects of an answer, understood: whatever format it came in, its answers and tool calls.

Expectations are carried unchanged; this is how reports and exports read them.  A format whose keys are not known here
loses nothing but that.  What an agent once did (``tool_calls``, ``tools_called``, ``actions``) and what it could call
(``tool_definitions``) is no expectation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.references import path_of
from bot.intake.eval_sets.table import plain_key
from bot.intake.replies import replied, replies, reply_text, reply_tool_calls

_ANSWERS: Final = (
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
    "expectedoutcome",
    "reference",
    "answer",
    "outputs",
    "output",
)
"""Keys of expected answers (see :func:`~bot.intake.eval_sets.table.plain_key`), the more telling first."""

_TOOLS: Final = ("expectedtools", "expectedtoolcalls", "expectedactions", "referencetoolcalls", "tools")
"""Keys of expected tools (see :func:`~bot.intake.eval_sets.table.plain_key`)."""
_ARGUMENTS: Final = ("arguments", "inputparameters", "args", "parameters", "input")
_NAMES: Final = ("command", "name", "tool_name", "tool")
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
_AGENT: Final = ("actions", "expected_actions", "tool_calls", "tool_definitions")
"""Keys that a record has only where it is about the tools of an agent."""
_SEPARATORS: Final = re.compile(r"[|;,\n]")

_DEPTH: Final = 8
"""An answer lies no deeper than this in what is expected."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that is expected to be called, or not to be if ``unwanted``; ``arguments`` are as the file has them."""

    name: str
    arguments: Data = None
    unwanted: bool = False


@dataclass(frozen=True, slots=True)
class Expectation:
    """Per turn the expected answer (``None``: none is given), and the expected tool calls of the whole query."""

    answers: tuple[str | None, ...]
    tool_calls: tuple[ToolCall, ...]

    @property
    def answer(self) -> str | None:
        """The answer to the last turn."""
        return self.answers[-1] if self.answers else None


def understand(expected: Data, turns: int = 1) -> Expectation:
    """What ``expected`` says about a query of so many ``turns``.

    An answer that is given for the query as a whole is that to its last turn.
    """
    held = as_mapping(expected)
    per_turn = as_list(held.get("turns"))
    answers: list[str | None]
    calls: list[ToolCall] = []
    if len(per_turn) == turns and not any("role" in as_mapping(item) for item in per_turn):
        answers = [_answer(as_mapping(item)) or (None if isinstance(item, dict) else _text(item)) for item in per_turn]
        calls = [call for item in per_turn for call in _tool_calls(as_mapping(item))]
    else:
        answers = _of_messages(as_mapping(held.get("conversation")).get("messages"), turns)
    if isinstance(expected, dict):
        # The Evals API of OpenAI keeps what belongs to an item below it.
        places = (_mapped(held), held, as_mapping(held.get("item")))
        whole = next((answer for place in places if (answer := _answer(place))), None)
        calls = [*(call for place in places for call in _tool_calls(place)), *calls]
    else:
        whole = _text(expected)
    if whole is not None and turns > 0 and answers[-1] is None:
        answers[-1] = whole
    return Expectation(tuple(answers), tuple(_once(calls)))


def _of_messages(messages: Data, turns: int) -> list[str | None]:
    """Per turn the ``ground_truth`` of the message that answers it, as conversations of Azure AI Evaluation have it."""
    answers: list[str | None] = []
    for message in map(as_mapping, as_list(messages)):
        if message.get("role") == "user":
            answers.append(None)
        elif message.get("role") == "assistant" and answers and answers[-1] is None:
            answers[-1] = _text(message.get("ground_truth"))
    return answers if len(answers) == turns else [None] * turns


def _mapped(held: Mapping[str, Data]) -> Mapping[str, Data]:
    """What stands in the column that a ``data_mapping`` names for the ground truth, and what tells its kind."""
    path = path_of(as_mapping(held.get("data_mapping")).get("ground_truth"), held)
    if not path:
        return {}
    value: Data = dict(held)
    for step in path:
        value = as_mapping(value).get(step)
    return {"ground_truth": value, **{key: held[key] for key in (*_AGENT, "response") if key in held}}


def _answer(held: Mapping[str, Data], depth: int = _DEPTH) -> str | None:
    by_key = {plain_key(key): value for key, value in reversed(list(held.items()))}
    for key in _ANSWERS:
        value = by_key.get(key)
        text = None if key == "groundtruth" and _names_tools(value, held) else _text(value, depth)
        if text:
            return text
    return None


def _text(value: Data, depth: int = _DEPTH) -> str | None:
    """The text that an expected answer comes to; of several acceptable ones, the first."""
    if depth == 0:
        return None
    match value:
        case str():
            return value if value.strip() else None
        case bool():
            return None
        case int() | float():
            return str(value)
        case [*items]:
            return _first(items, depth)
        case {"content": str(content)}:
            return content if content.strip() else None
        case dict():
            texts = [item for item in value.values() if isinstance(item, str) and item.strip()]
            return _answer(value, depth - 1) or (texts[0] if len(texts) == 1 else None)
        case _:
            return None


def _first(items: Sequence[Data], depth: int) -> str | None:
    return _text(items[0], depth - 1) if items else None


def _tool_calls(held: Mapping[str, Data]) -> Iterator[ToolCall]:
    """The tool calls that a mapping names, in the ways of the formats that have them."""
    for key, value in held.items():
        if plain_key(key) in _TOOLS or (plain_key(key) == "groundtruth" and _names_tools(value, held)):
            yield from _calls(value)
    for grader in map(as_mapping, as_list(held.get("graders"))):
        config = as_mapping(grader.get("config"))
        if grader.get("type") == "tool-calls":
            for key, unwanted in (("required", False), ("disallowed", True)):
                for item in as_list(config.get(key)):
                    yield from _call(item, unwanted=unwanted)


def _names_tools(value: Data, held: Mapping[str, Data]) -> bool:
    """Whether ``value``, the ground truth of the record ``held``, is tools, as Azure's task navigation has them.

    A list of texts may as well be answers.  They are tools if none has white space, and the record is about an agent's
    tools or one of the texts is a name with an underscore.
    """
    names = as_list(_parsed(value))
    if _is_pair(names):
        return True
    if not names or not all(isinstance(name, str) and len(name.split()) == 1 for name in names):
        return False
    about_tools = any(held.get(key) for key in _AGENT) or isinstance(held.get("response"), list)
    return about_tools or any("_" in str(name).strip("_") for name in names)


def _once(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
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
        names = [] if _may_be_json(found) else _SEPARATORS.split(found)
        yield from (ToolCall(name.strip()) for name in names if len(name.split()) == 1)
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
    if isinstance(item, str) and item.strip():
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
