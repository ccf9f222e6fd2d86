"""Which of an agent's declared tools an eval set expects a query to call."""

from __future__ import annotations

from collections.abc import Sequence

from bot.documents import Data
from bot.intake.expectation import understand
from bot.intake.specification import Tool


def expected_tools(expected: Data, turns: int, tools: Sequence[Tool]) -> tuple[str, ...] | None:
    """The names of the ``tools`` that ``expected`` expects a query of so many ``turns`` to call, each once, in order.

    Empty where it expects that none is called; ``None`` where it does not say, or names a tool that is not declared.
    """
    wanted = tuple(dict.fromkeys(call.name for call in understand(expected, turns).tool_calls if not call.unwanted))
    declared = {tool.name for tool in tools}
    return wanted if wanted and declared.issuperset(wanted) else None


def stated_calls(expected: Data, turns: int) -> tuple[str, ...] | None:
    """The tools that ``expected`` says a query of so many ``turns`` calls, as it names them, declared or not.

    ``()``: it says plainly that no tool is to be called.  ``None``: it does not say.
    """
    called = tuple(call.name for call in understand(expected, turns).tool_calls if not call.unwanted)
    return called or None
