"""Which tools a customer expects to be called, beside the verdict: evidence for people, on which no verdict rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.intake.expectation import understand
from bot.intake.query import Query
from bot.report.wording import Voice, listed
from bot.submission import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedTool:
    """A tool that an eval set expects to be called, or not to be if ``unwanted``.

    ``declared`` tells whether the agent's specification has a tool of exactly this name; ``None``: it lists no tools.
    """

    name: str
    unwanted: bool
    declared: bool | None


def expected_tools(query: Query, submission: Submission) -> tuple[ExpectedTool, ...]:
    """The tools that ``query`` expects, each once and in the order of its eval set."""
    declared = None if submission.tools is None else frozenset(submission.tools)
    calls = understand(query.expected, len(query.turns)).tool_calls
    return tuple(
        ExpectedTool(name=name, unwanted=unwanted, declared=None if declared is None else name in declared)
        for name, unwanted in dict.fromkeys((call.name, call.unwanted) for call in calls)
    )


def evidence(query: Query, submission: Submission, voice: Voice) -> str:
    """The tools that ``query`` expects in one sentence; empty where it expects none."""
    tools = expected_tools(query, submission)
    wanted, unwanted = ([tool for tool in tools if tool.unwanted is each] for each in (False, True))
    parts = [f"Expected tools: {_named(wanted, voice)}"] if wanted else []
    parts += [f"{'not' if wanted else 'Tools not'} to be called: {_named(unwanted, voice)}"] if unwanted else []
    return f"{'; '.join(parts)}." if parts else ""


def _named(tools: Sequence[ExpectedTool], voice: Voice) -> str:
    return listed([f"{voice.name(tool.name)}{' (not declared)' * (tool.declared is False)}" for tool in tools])
