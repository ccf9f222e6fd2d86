"""The SDK's server with error messages that say what is wrong and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError, UnexpectedResourceError
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_PARAMS, CallToolResult, GetPromptResult, InputRequiredResult
from pydantic import AnyUrl, ValidationError

from bot.mcp_server.standard_streams import answer_unreadable, leavable_stdin
from bot.mcp_server.untrusted import harmless, mark
from bot.report.escaping import shortened
from bot.text.did_you_mean import did_you_mean

_WRITING: Final = "; those that write are there only where a person started the server with --allow-writes"

_MOST_FAULTS: Final = 20


class ExplainingServer(MCPServer[None]):
    """Errors about unknown names list the known ones, and mark the names that a caller gave."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call the tool ``name``."""
        known = [tool.name for tool in await self.list_tools()]
        if name not in known:
            raise ToolError(_missing("tool", name, known) + _WRITING)
        return await super().call_tool(name, arguments, context)

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[None, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read the resource at ``uri``."""
        try:
            return await super().read_resource(uri, context)
        except ResourceNotFoundError:
            known = [resource.uri for resource in await self.list_resources()]
            known += [template.uri_template for template in await self.list_resource_templates()]
            raise _refused(_missing("resource", str(uri), known)) from None
        except UnexpectedResourceError as error:
            if isinstance(error.__cause__, ValidationError):
                raise _refused(_misfit(error.__cause__)) from None
            raise

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[None, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """The prompt ``name``, with ``arguments`` filled in."""
        prompts = {prompt.name: prompt for prompt in await self.list_prompts()}
        if name not in prompts:
            raise _refused(_missing("prompt", name, list(prompts)))
        takes = {argument.name: argument for argument in prompts[name].arguments or ()}
        given = arguments or {}
        lacking = [each for each, argument in takes.items() if argument.required and each not in given]
        if lacking:
            raise _refused("; ".join(f"{name} needs `{each}`: {takes[each].description}" for each in lacking))
        unknown = next((each for each in given if each not in takes), None)
        if unknown is not None:
            raise _refused(_missing(f"argument of {name}", unknown, list(takes)))
        return await super().get_prompt(name, arguments, context)

    async def run_stdio_async(self) -> None:
        """Serve one client over standard input and output; a line that is not a message gets an answer too."""
        server = self._lowlevel_server
        options = server.create_initialization_options()
        messages, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        with leavable_stdin() as leave:
            async with stdio_server() as (lines, answers):
                try:
                    async with anyio.create_task_group() as group:
                        group.start_soon(answer_unreadable, lines, messages, answers)
                        await server.run(received, answers, options)
                finally:
                    # If no one reads the answers, the SDK would wait for one more line.
                    leave()


async def explain_misfits(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Serve a message as ``call_next`` does; a request that violates the protocol gets an answer that says how."""
    try:
        return await call_next(ctx)
    except ValidationError as error:
        if any(fault["loc"][:1] != ("params",) for fault in error.errors()):
            raise  # perhaps of the server's own answer: not a fault of the request
        said = _faults(error, _in_request)
        raise _refused(f"the request does not fit the protocol: {said}; correct that, then send it again") from None


def _refused(message: str) -> MCPError:
    return MCPError(code=INVALID_PARAMS, message=message)


def _missing(kind: str, name: str, known: Collection[str]) -> str:
    # Addresses have the same beginning, so all of them would look similar.
    near = "" if kind == "resource" else did_you_mean(name, known)
    return f"there is no {kind} {mark(name)}{near}; there is {', '.join(known)}"


def _misfit(error: ValidationError) -> str:
    """Which parts of an address do not fit; their names are trusted."""
    return f"the address does not fit: {_faults(error, '.'.join)}"


def _in_request(place: list[str]) -> str:
    """The place of a fault: its first two steps are the protocol's; later keys are untrusted."""
    further = [mark(".".join(place[2:]))] if len(place) > 2 else []
    return ".".join([*place[:2], *further])


def _faults(error: ValidationError, written: Callable[[list[str]], str]) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    said = [
        f"{written(list(map(str, fault['loc'])))}: {harmless(shortened(fault['msg']))}"
        for fault in faults[:_MOST_FAULTS]
    ]
    if len(faults) > _MOST_FAULTS:
        said.append(f"and {len(faults) - _MOST_FAULTS} more")
    return "; ".join(said)
