"""Plain JSON Lines: one entry a line.

Every line has ``id`` and ``turns``; ``expected_response`` (of the last turn) and ``expected_tools`` as far as they are
known; and under ``incumbent`` capabilities, source, set-up and what was expected, as the customer wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.documents import Data, as_mapping
from bot.export.item import Item, Writer, Written
from bot.export.jsons import lines
from bot.export.tools import wanted_calls
from bot.intake.expected.carried import CARRIED

_ANSWER: Final = "expected_response"
_TOOLS: Final = "expected_tools"


def _write(items: Sequence[Item]) -> Written:
    return Written({"regression_set.jsonl": lines(map(_line, items))})


def _line(item: Item) -> dict[str, Data]:
    line: dict[str, Data] = {"id": item.id, "turns": [*item.turns]}
    if item.expectation.answer is not None:
        line[_ANSWER] = item.expectation.answer
    calls = wanted_calls(item.expectation.tool_calls)
    if calls:
        line[_TOOLS] = calls
    # What came back from an export of this kind would else be wrapped once more each time.
    came_back = as_mapping(item.expected)
    said = item.expected is None or (CARRIED in came_back and came_back.keys() <= {_ANSWER, _TOOLS, CARRIED})
    return {**line, CARRIED: item.record(said=said)}


WRITER: Final = Writer(
    name="jsonl",
    title="plain JSON Lines with `id`, `turns`, `expected_response`, `expected_tools` and everything else",
    obstacle=lambda item: None,
    write=_write,
    attaches=True,
)
