"""What a customer expects of an answer, understood: whatever format it came in, its answers and tool calls.

Expectations are carried unchanged; this is how reports and exports read them.  A format whose keys are not known here
loses nothing but that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bot.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.table import plain_key

_ANSWERS: Final = (
    "expectedresponse",
    "expectedanswer",
    "expectedoutput",
    "referenceanswer",
    "referenceoutput",
    "groundtruth",
    "target",
    "ideal",
    "expected",
    "expectedoutcome",
    "reference",
    "answer",
    "outputs",
    "output",
)
"""Keys of expected answers (see :func:`~bot.intake.eval_sets.table.plain_key`), the more telling first."""

_TOOLS: Final = ("expectedtools", "expectedtoolcalls", "referencetoolcalls", "tools")
_ARGUMENTS: Final = ("arguments", "inputparameters", "args", "parameters", "input")


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
    per_turn = [as_mapping(item) for item in as_list(held.get("turns"))]
    if len(per_turn) == turns and not any("role" in item for item in per_turn):
        answers = [_answer(item) for item in per_turn]
        calls = [call for item in per_turn for call in _tool_calls(item)]
    else:
        answers, calls = [None] * turns, []
    if isinstance(expected, str):
        whole: str | None = expected
    else:
        whole = _answer(held)
        calls = [*_tool_calls(held), *calls]
    if whole is not None and turns and answers[-1] is None:
        answers[-1] = whole
    return Expectation(tuple(answers), tuple(_once(calls)))


def _answer(held: Mapping[str, Data]) -> str | None:
    by_key = {plain_key(key): value for key, value in reversed(list(held.items()))}
    for key in _ANSWERS:
        text = _text(by_key.get(key))
        if text:
            return text
    return None


def _text(value: Data) -> str | None:
    """The text that an expected answer comes to; of several acceptable ones, the first."""
    match value:
        case str():
            return value.strip() and value
        case bool():
            return None
        case int() | float():
            return str(value)
        case [first, *_]:
            return _text(first)
        case {"content": str(content)}:
            return content
        case dict():
            texts = [item for item in value.values() if isinstance(item, str) and item.strip()]
            return _answer(value) or (texts[0] if len(texts) == 1 else None)
        case _:
            return None


def _tool_calls(held: Mapping[str, Data]) -> Iterator[ToolCall]:
    """The tool calls that a mapping names, in the ways of the formats that have them."""
    for key, value in held.items():
        if plain_key(key) in _TOOLS:
            for item in as_list(value):
                yield from _call(item)
    for grader in as_list(held.get("graders")):
        config = as_mapping(as_mapping(grader).get("config"))
        if as_mapping(grader).get("type") == "tool-calls":
            for key, unwanted in (("required", False), ("disallowed", True)):
                for item in as_list(config.get(key)):
                    yield from _call(item, unwanted=unwanted)


def _call(item: Data, *, unwanted: bool = False) -> Iterator[ToolCall]:
    if isinstance(item, str) and item.strip():
        yield ToolCall(item.strip(), None, unwanted)
        return
    held = as_mapping(item)
    inner = as_mapping(held.get("function")) or held
    # Vally names the server, and the tool as its command.
    name = next(
        (inner[key] for key in ("command", "name", "tool_name", "tool") if isinstance(inner.get(key), str)), None
    )
    if isinstance(name, str) and name.strip():
        arguments = next((value for key, value in inner.items() if plain_key(key) in _ARGUMENTS), None)
        yield ToolCall(name.strip(), arguments, unwanted)


def _once(calls: list[ToolCall]) -> Iterator[ToolCall]:
    seen: list[ToolCall] = []
    for call in calls:
        if call not in seen:
            seen.append(call)
            yield call
