"""What stands beside the verdict for people: what is attached to a query, and which tools are expected to be called.

The classifier hears of attachments by their names, so people see them too.  Expected tools that the agent declares
decide which tools a query calls (semantics, section 2, point 1a).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.intake.expectation import understand
from bot.intake.query import Query
from bot.intake.specification import UNLISTED
from bot.pipeline.submission import Submission
from bot.report.wording import Voice, listed


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedTool:
    """A tool that an eval set expects to be called, or not to be if ``unwanted``.

    ``declared`` tells whether the agent's specification has a tool of exactly this name; ``None``: that is not known,
    since it lists no tools, or not all of them.
    """

    name: str
    unwanted: bool
    declared: bool | None


def expected_tools(query: Query, submission: Submission) -> tuple[ExpectedTool, ...] | None:
    """The tools that ``query`` expects, each once and in the order of its eval set; none where it expects no call.

    ``None`` where the eval set does not say.
    """
    listed_tools = frozenset(submission.tools or ())
    is_whole = submission.tools is not None and UNLISTED not in listed_tools
    expectation = understand(query.expected, len(query.turns))
    if not (expectation.tool_calls or expectation.no_tools):
        return None
    return tuple(
        ExpectedTool(
            name=name, unwanted=unwanted, declared=True if name in listed_tools else False if is_whole else None
        )
        for name, unwanted in dict.fromkeys((call.name, call.unwanted) for call in expectation.tool_calls)
    )


def evidence(query: Query, submission: Submission, voice: Voice) -> str:
    """What is attached to ``query``, and the tools that it expects, a sentence each; empty where there is nothing."""
    attached = [voice.name(name) for name in query.setup.attachments]
    told = [f"Attached: {listed(attached)}."] if attached else []
    return " ".join([*told, *_told_tools(query, submission, voice)])


def _told_tools(query: Query, submission: Submission, voice: Voice) -> list[str]:
    tools = expected_tools(query, submission)
    if not tools:
        return [] if tools is None else ["Expected: no tool call."]
    wanted, unwanted = ([tool for tool in tools if tool.unwanted is each] for each in (False, True))
    parts = [f"Expected tools: {_named(wanted, voice)}"] if wanted else []
    parts += [f"{'not' if wanted else 'Tools not'} to be called: {_named(unwanted, voice)}"] if unwanted else []
    return [f"{'; '.join(parts)}."] if parts else []


def _named(tools: Sequence[ExpectedTool], voice: Voice) -> str:
    # Of many only the first are named: those that are missing first.
    shown = sorted(tools, key=lambda tool: tool.declared is not False)
    return listed([f"{voice.name(tool.name)}{' (not declared)' * (tool.declared is False)}" for tool in shown])
