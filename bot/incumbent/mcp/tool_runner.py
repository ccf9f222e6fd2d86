"""Runs a tool call: its work in a thread, its progress, its cancellation, and error messages for the assistant."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection
from concurrent.futures import Future
from functools import cache
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
from pydantic import TypeAdapter

from incumbent.errors import (
    IncompleteError,
    IncumbentError,
    InputError,
    OutsideError,
    Problem,
    UnreadyError,
    UsageError,
)
from incumbent.mcp.untrusted import harmless, mark_text

Call: TypeAlias = Context[Any, Any]

WORKERS: Final = max(1, min(4, os.cpu_count() or 1))
"""The most calls at once; others wait for their turn."""

WAITING: Final = "fitting the classifier to the taxonomy, once"

_PAUSE: Final = 0.2
"""Seconds between reports of progress."""

_LOOK: Final = 0.05
"""Seconds between checks whether the classifier is ready."""

_MOST_PROBLEMS: Final = 50
"""The most faults that an error lists; the rest are counted."""


class _NotReadyError(Exception):
    """The call needs a value that is being computed: it leaves its thread, and starts again once ``made`` is there."""

    def __init__(self, made: Future[Any]) -> None:
        super().__init__(WAITING)
        self.made = made


class Report:
    """The reports of a call, from its thread to the client.  If the client has given up, a report ends the call.

    As a function it is the classifier's :class:`~incumbent.classifier.model.Progress`.
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
        """End the work, as the classifier is not ready; work changes nothing before it has a classifier."""
        raise _NotReadyError(made)

    async def wait(self, made: Future[Any]) -> None:
        """Wait for ``made`` without a thread; reported once, since the time that it takes is not known.

        Raises what the computation raises.
        """
        if not self._waits:
            self._waits = True
            await self._ctx.report_progress(0, None, WAITING)
        while not made.done():
            await anyio.sleep(_LOOK)
        made.result()


@cache
def adapter_of(shown_as: Any) -> TypeAdapter[Any]:
    """What writes values as ``shown_as``, a type of an answer."""
    return TypeAdapter(shown_as)


def shown_in_chat(value: object, shown_as: Any) -> dict[str, Any]:
    """``value`` as ``shown_as``, a type of an answer, as plain data."""
    shown: dict[str, Any] = adapter_of(shown_as).dump_python(value, mode="json")
    return shown


def _without(names: Collection[str], answer: dict[str, Any]) -> dict[str, Any]:
    def left(item: Any) -> Any:
        return {name: value for name, value in item.items() if name not in names} if isinstance(item, dict) else item

    return {
        name: [*map(left, value)] if isinstance(value, list) else value
        for name, value in answer.items()
        if name not in names
    }


class Workers:
    """A few threads for the calls of all clients."""

    def __init__(self, root: Path, count: int = WORKERS) -> None:
        self._root = root
        self._limiter = anyio.CapacityLimiter(count)

    async def answer(
        self, ctx: Call, work: Callable[[Report], Any], shown_as: Any, unasked: Collection[str] = ()
    ) -> CallToolResult:
        """What ``work`` returns, as structured output of the type ``shown_as``, and as compact JSON.

        Its fields and those of its rows that are ``unasked`` are left out.

        The progress goes to the client.  Once the client has given up, the next report ends the work with the exception
        of cancellation, which the product never catches.  Raises :class:`ToolError` with the message for the assistant.
        """
        try:
            found = await self._finished(work, Report(ctx))
        except IncumbentError as error:
            raise ToolError(error_text(error, self._root)) from None
        answer = _without(unasked, shown_in_chat(found, shown_as))
        return CallToolResult(
            content=[TextContent(type="text", text=json.dumps(answer, ensure_ascii=False, separators=(",", ":")))],
            structured_content=answer,
        )

    async def _finished(self, work: Callable[[Report], Any], report: Report) -> Any:
        while True:
            try:
                return await anyio.to_thread.run_sync(work, report, limiter=self._limiter)
            except _NotReadyError as late:
                made = late.made
            await report.wait(made)

    async def read(self, work: Callable[[], str]) -> str:
        """What ``work`` returns, for a resource or a prompt; raises :class:`MCPError` with the message."""
        try:
            return await anyio.to_thread.run_sync(work, limiter=self._limiter)
        except IncumbentError as error:
            raise MCPError(code=INVALID_PARAMS, message=error_text(error, self._root)) from None


def error_text(error: IncumbentError, root: Path) -> str:
    """All faults and what to do next, without the path of the repository.

    Faults quote untrusted text, so each is marked as a whole.  A fix is the product's own text, to be followed; only
    what it quotes is marked.
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
    if isinstance(error, UnreadyError):
        return f"The classifier cannot run on this machine: {said}. Tell the person: calling again changes nothing."
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
    """The fix of ``problem``, with only its quotations marked."""
    pieces = []
    for part, is_quoted in problem.parts:
        text = without_places(part, root)
        if is_quoted:
            pieces.append(mark_text(text))
        else:
            # `harmless` strips the spaces at the ends, beside which a quotation may be.
            before, after = (" " if end.isspace() else "" for end in (text[:1], text[1:][-1:]))
            pieces.append(f"{before}{harmless(text)}{after}")
    return "".join(pieces).strip()


def without_places(text: str, root: Path) -> str:
    """``text`` without absolute paths: they reveal who works here, and help no one."""
    for place, within, itself in ((root, "", "the platform repository"), (Path.home(), "~/", "~")):
        if place != Path(place.anchor):
            text = text.replace(f"{place.as_posix()}/", within)
            # Another path may begin with the same letters.
            text = re.sub(rf"{re.escape(place.as_posix())}(?![\w.-])", itself, text)
    return text
