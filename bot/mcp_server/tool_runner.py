"""Runs one tool call: its work in a thread, its progress, its end, and error messages for the assistant."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from time import monotonic
from typing import Any, Final, NoReturn, TypeAlias

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent
from pydantic import BaseModel

from bot.errors import IncompleteError, IncumbentError, InputError, OutsideError, Problem, UsageError
from bot.mcp_server.untrusted import harmless, mark_text

Call: TypeAlias = Context[Any, Any]

WORKERS: Final = max(1, min(4, os.cpu_count() or 1))
"""Calls that are worked on at once; others wait their turn."""

WAITING: Final = "fitting the classifier to the taxonomy, once"

_PAUSE: Final = 0.2
"""Seconds between two reports of progress."""

_LOOK: Final = 0.05
"""Seconds between two looks whether the classifier is ready."""

_MOST_PROBLEMS: Final = 50
"""Faults that one error tells; the rest is counted."""


class _NotReadyError(Exception):
    """The call needs what is being made; it holds up nobody meanwhile, and begins anew once ``made`` is there."""

    def __init__(self, made: Future[Any]) -> None:
        super().__init__(WAITING)
        self.made = made


class Report:
    """What a call in its thread tells of itself to the client; it is told in turn when the client gave up, and ends.

    As a function it is the classifier's :class:`~bot.classifier.model.Progress`.
    """

    def __init__(self, ctx: Call) -> None:
        self._ctx = ctx
        self._reported_at = 0.0
        self._waits = False

    def __call__(self, done: int, total: int) -> None:
        """``done`` of ``total`` queries are classified."""
        anyio.from_thread.check_cancelled()
        if monotonic() - self._reported_at >= _PAUSE or done == total:
            self._reported_at = monotonic()
            anyio.from_thread.run(self._ctx.report_progress, done, total, f"{done} of {total} queries classified")

    def waiting(self, made: Future[Any]) -> NoReturn:
        """The classifier is not ready yet: ends the work, which changes nothing before it has a classifier."""
        raise _NotReadyError(made)

    async def wait(self, made: Future[Any]) -> None:
        """Wait in no thread for what is ``made``; said once, since how long it takes is not known.

        Raises what the making raises.
        """
        if not self._waits:
            self._waits = True
            await self._ctx.report_progress(0, None, WAITING)
        while not made.done():
            await anyio.sleep(_LOOK)
        made.result()


class Workers:
    """A few threads for the calls of all clients."""

    def __init__(self, root: Path, count: int = WORKERS) -> None:
        self._root = root
        self._limiter = anyio.CapacityLimiter(count)

    async def answer(self, ctx: Call, work: Callable[[Report], BaseModel]) -> CallToolResult:
        """What ``work`` returns, as structured output and as compact JSON.

        The progress that it reports goes to the client, and there it ends once the client gave up or went away: with
        the exception of cancellation, which no code of ours catches.  Raises :class:`ToolError` for what went wrong.
        """
        try:
            answer = await self._finished(work, Report(ctx))
        except IncumbentError as error:
            raise ToolError(error_text(error, self._root)) from None
        return CallToolResult(
            content=[TextContent(type="text", text=answer.model_dump_json())],
            structured_content=answer.model_dump(mode="json"),
        )

    async def _finished(self, work: Callable[[Report], BaseModel], report: Report) -> BaseModel:
        while True:
            try:
                return await anyio.to_thread.run_sync(work, report, limiter=self._limiter)
            except _NotReadyError as late:
                made = late.made
            await report.wait(made)

    async def read(self, work: Callable[[], str]) -> str:
        """What ``work`` returns, for a resource or a prompt; raises :class:`MCPError` for what went wrong."""
        try:
            return await anyio.to_thread.run_sync(work, limiter=self._limiter)
        except IncumbentError as error:
            raise MCPError(code=INVALID_PARAMS, message=error_text(error, self._root)) from None


def error_text(error: IncumbentError, root: Path) -> str:
    """All that is wrong, what to do next, and nothing of where the repository lies.

    Faults quote what strangers wrote: they are marked, each by itself.  What mends them is our word, to be followed;
    what that quotes is marked in it.
    """
    if isinstance(error, InputError):
        problems = error.problems
        count = "1 fault" if len(problems) == 1 else f"{len(problems)} faults"
        lines = [f"{count} in the input. Fix each, then call again:"]
        lines += [_fault(problem, root) for problem in problems[:_MOST_PROBLEMS]]
        if len(problems) > _MOST_PROBLEMS:
            lines.append(f"and {len(problems) - _MOST_PROBLEMS} more: `incumbent validate` lists all of a repository")
        return "\n".join(lines)
    if isinstance(error, UsageError):
        return f"The call cannot be followed: {harmless(without_places(str(error), root))}"
    said = mark_text(without_places(str(error), root))
    if isinstance(error, IncompleteError):
        return f"Not finished: {said}. What was found is kept: call again to go on."
    if isinstance(error, OutsideError):
        return f"Something outside failed: {said}. Call again later, or tell the person what it says."
    return f"It failed: {said}"


def _fault(problem: Problem, root: Path) -> str:
    place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
    said = mark_text(without_places(f"{place}: {problem.message}", root))
    return f"- {said}; fix: {_fix_text(problem, root)}"


def _fix_text(problem: Problem, root: Path) -> str:
    """The fix of ``problem``, which is our word but for what it quotes."""
    pieces = []
    for part, is_quoted in problem.parts:
        text = without_places(part, root)
        if is_quoted:
            pieces.append(mark_text(text))
        else:
            # What is harmless has no spaces at its ends, where a quotation may stand.
            before, after = (" " if end.isspace() else "" for end in (text[:1], text[1:][-1:]))
            pieces.append(f"{before}{harmless(text)}{after}")
    return "".join(pieces).strip()


def without_places(text: str, root: Path) -> str:
    """``text`` without the absolute paths that it may name: they tell who works here, and help nobody."""
    for place, within, itself in ((root, "", "the platform repository"), (Path.home(), "~/", "~")):
        if place != Path(place.anchor):
            text = text.replace(f"{place.as_posix()}/", within)
            # Another place may begin with the same letters.
            text = re.sub(rf"{re.escape(place.as_posix())}(?![\w.-])", itself, text)
    return text
