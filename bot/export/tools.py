"""Expected tool calls as targets have a place for them."""

from __future__ import annotations

from collections.abc import Sequence

from bot.files.documents import Data
from bot.intake.expectation import ToolCall


def wanted_calls(calls: Sequence[ToolCall], arguments: str = "arguments") -> list[Data]:
    """The calls that are to be made, each with ``name`` and, where they are known, its ``arguments`` under that name.

    Calls that are not to be made are none of them: only the entry's record tells of those.
    """
    return [_call(call, arguments) for call in calls if not call.unwanted]


def _call(call: ToolCall, arguments: str) -> dict[str, Data]:
    named: dict[str, Data] = {"name": call.name}
    return named if call.arguments is None else {**named, arguments: call.arguments}
