"""Tools as assistants see them: strict about their arguments, with short schemas."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final, Self, TypeAlias, get_type_hints

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import TypeAdapter, ValidationError

from incumbent.mcp.tool_runner import adapter_of
from incumbent.mcp.untrusted import Marked, harmless, mark
from incumbent.report.escaping import shortened
from incumbent.text.did_you_mean import did_you_mean

Schema: TypeAlias = dict[str, Any]

_NULL: Final = {"type": "null"}
_PLACE: Final = "#/$defs/"
_MARKED: Final[Schema] = TypeAdapter(Marked).json_schema()
_OF_MANY: Final = ("properties", "$defs")
_OF_ONE: Final = ("items", "additionalProperties", "propertyNames")


def slim_arguments(schema: Schema) -> Schema:
    """The short ``schema`` of arguments; optional ones are left out rather than null."""
    return slim(_changed(schema, _without_null))


def slim(schema: Schema) -> Schema:
    """``schema`` without repetitions.

    Titles are left out, since they repeat names.  Untrusted text is defined once.  A definition that is used once is
    put in its place.
    """
    made = _in_place(_changed(_changed(schema, _without_title), _marked_once))
    referred = any(part.get("$ref") == f"{_PLACE}Marked" for part in parts_of(made))
    return made | {"$defs": made.get("$defs", {}) | {"Marked": _MARKED}} if referred else made


def parts_of(schema: Schema) -> Iterator[Schema]:
    """``schema`` and every schema in it, outer ones first."""
    yield schema
    for inner in _inner(schema):
        yield from parts_of(inner)


def _inner(schema: Schema) -> list[Schema]:
    found = [part for key in _OF_MANY for part in schema.get(key, {}).values()]
    found += [schema[key] for key in _OF_ONE if isinstance(schema.get(key), dict)]
    return found + list(schema.get("anyOf", ()))


def _changed(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """``schema`` with ``change`` applied to it and to every schema in it, inner ones first."""
    made = dict(schema)
    for key in _OF_MANY:
        if key in schema:
            made[key] = {name: _changed(part, change) for name, part in schema[key].items()}
    for key in _OF_ONE:
        if isinstance(schema.get(key), dict):
            made[key] = _changed(schema[key], change)
    if "anyOf" in schema:
        made["anyOf"] = [_changed(part, change) for part in schema["anyOf"]]
    return change(made)


def _without_title(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "title"}


def _marked_once(schema: Schema) -> Schema:
    """Untrusted text as a reference to its definition, beside the description of the field."""
    if any(schema.get(key) != _MARKED[key] for key in ("pattern", "type")):
        return schema
    said = schema.get("description", _MARKED["description"])
    return {"$ref": f"{_PLACE}Marked"} | ({} if said == _MARKED["description"] else {"description": said})


def _without_null(schema: Schema) -> Schema:
    left: list[Schema] = [part for part in schema.get("anyOf", ()) if part != _NULL]
    if len(left) != 1:
        return schema
    outside = {key: value for key, value in schema.items() if key != "anyOf" and (key, value) != ("default", None)}
    return left[0] | outside


def _in_place(schema: Schema) -> Schema:
    """``schema`` with the definitions that are used once put in their places."""
    definitions: dict[str, Schema] = schema.get("$defs", {})
    used = Counter(part["$ref"] for part in parts_of(schema) if "$ref" in part)
    single = {name: part for name, part in definitions.items() if used[_PLACE + name] == 1}

    def put(part: Schema) -> Schema:
        name = part.get("$ref", "").removeprefix(_PLACE)
        if name not in single:
            return part
        # The description of the place says more than that of the definition.
        beside = {key: value for key, value in part.items() if key != "$ref"}
        return _changed(single[name], put) | beside

    made = _changed({key: value for key, value in schema.items() if key != "$defs"}, put)
    kept = {name: _changed(part, put) for name, part in definitions.items() if name not in single}
    return made | {"$defs": kept} if kept else made


_MOST_FAULTS = 20
_BUG = "It failed by a fault of the server's own, which its log tells: let the person know. To call again is no help."


_MADE: dict[tuple[Callable[..., Any], str], Tool] = {}


class StrictTool(Tool):
    """A tool of the SDK that refuses unknown arguments, which the SDK ignores silently."""

    @classmethod
    def of(cls, function: Callable[..., Any], annotations: ToolAnnotations) -> Self:
        """``function`` as a tool; its docstring is the description for assistants.

        The schemas of a method take long to make, and are made once for all servers of a process.
        """
        plain = getattr(function, "__func__", function)
        key = (plain, annotations.model_dump_json())
        if key not in _MADE:
            _MADE[key] = cls._made_of(function, annotations).model_copy(update={"fn": plain})
        tool = _MADE[key].model_copy(update={"fn": function})
        assert isinstance(tool, cls)
        return tool

    @classmethod
    def _made_of(cls, function: Callable[..., Any], annotations: ToolAnnotations) -> Self:
        tool = cls.from_function(
            function,
            title=annotations.title,
            description=inspect.getdoc(function),
            annotations=annotations,
            structured_output=False,
        )
        assert isinstance(tool, cls)
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        tool.parameters = slim_arguments(model.model_json_schema(by_alias=True))
        (answer,) = get_type_hints(function, include_extras=True)["return"].__metadata__
        schema = slim(adapter_of(answer).json_schema())
        tool.fn_metadata.output_model = answer
        # What the tool does, it says itself.
        tool.fn_metadata.output_schema = {key: value for key, value in schema.items() if key != "description"}
        return tool

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Run the tool; an error lists all invalid arguments, with what would be valid."""
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(error, UnexpectedToolError):
                raise UnexpectedToolError(_BUG) from cause
            if isinstance(cause, ValidationError):
                raise ToolError(self._misfit(cause)) from cause
            # The SDK wraps the error in one of its own, with a prefix.
            raise (error if cause is None else ToolError(str(cause))) from None

    def _misfit(self, error: ValidationError) -> str:
        known = list(self.parameters["properties"])
        lines = [f"The arguments of {self.name} do not fit. Fix each, then call again:"]
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        for fault in faults[:_MOST_FAULTS]:
            place = ".".join(self._part(part) for part in fault["loc"])
            if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1:
                near = did_you_mean(str(fault["loc"][0]), known)
                lines.append(f"- {place}: there is no such argument{near}")
            else:
                lines.append(f"- {place}: {harmless(shortened(fault['msg']))}")
        if len(faults) > _MOST_FAULTS:
            lines.append(f"and {len(faults) - _MOST_FAULTS} more")
        lines.append(f"It takes: {', '.join(known)}")
        return "\n".join(lines)

    def _part(self, part: int | str) -> str:
        """A step to the place of a fault; a key that is in no schema is untrusted."""
        return str(part) if isinstance(part, int) or part in self._names else mark(part)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name for part in parts_of(self.parameters) for name in part.get("properties", {}))
