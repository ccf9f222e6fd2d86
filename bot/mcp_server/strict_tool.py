"""A tool that knows its arguments: one that it does not know is an error, and every error says how to call it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from bot.mcp_server.slim_schemas import parts_of, slim, slim_arguments
from bot.mcp_server.untrusted import harmless, mark
from bot.report.escaping import shortened
from bot.text.did_you_mean import perhaps

_MOST_FAULTS = 20
_BUG = "It failed by a fault of the server's own, which its log tells: let the person know. To call again is no help."


class StrictTool(Tool):
    """The SDK's tool, which by itself leaves unknown arguments out without a word."""

    @classmethod
    def of(cls, function: Callable[..., Any], annotations: ToolAnnotations) -> Self:
        """``function`` as a tool; its docstring is what an assistant is told of it."""
        tool = cls.from_function(
            function, title=annotations.title, description=inspect.getdoc(function), annotations=annotations
        )
        assert isinstance(tool, cls)
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        tool.parameters = slim_arguments(model.model_json_schema(by_alias=True))
        tool.fn_metadata.output_schema = slim(tool.fn_metadata.output_schema or {})
        return tool

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Run the tool; arguments that do not fit are told all at once, with what would fit."""
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(error, UnexpectedToolError):
                raise UnexpectedToolError(_BUG) from cause
            if isinstance(cause, ValidationError):
                raise ToolError(self._misfit(cause)) from cause
            # Of an error of ours the SDK makes one of its own, with a word before it.
            raise (error if cause is None else ToolError(str(cause))) from None

    def _misfit(self, error: ValidationError) -> str:
        known = list(self.parameters["properties"])
        lines = [f"The arguments of {self.name} do not fit. Mend each, then call again:"]
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        for fault in faults[:_MOST_FAULTS]:
            place = ".".join(self._part(part) for part in fault["loc"])
            if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1:
                near = perhaps(str(fault["loc"][0]), known)
                lines.append(f"- {place}: there is no such argument{near}")
            else:
                lines.append(f"- {place}: {harmless(shortened(fault['msg']))}")
        if len(faults) > _MOST_FAULTS:
            lines.append(f"and {len(faults) - _MOST_FAULTS} more")
        lines.append(f"It takes: {', '.join(known)}")
        return "\n".join(lines)

    def _part(self, part: int | str) -> str:
        """A step to the place of a fault; a key that no schema of ours has is somebody else's word."""
        return str(part) if isinstance(part, int) or part in self._names else mark(part)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name for part in parts_of(self.parameters) for name in part.get("properties", {}))
