"""Schemas of tools without what says nothing: all of them are read before the first question is asked (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter

from bot.mcp_server.untrusted import Marked

Schema: TypeAlias = dict[str, Any]

_NULL: Final = {"type": "null"}
_PLACE: Final = "#/$defs/"
_MARKED: Final[Schema] = TypeAdapter(Marked).json_schema()
_OF_MANY: Final = ("properties", "$defs")
_OF_ONE: Final = ("items", "additionalProperties")


def slim_arguments(schema: Schema) -> Schema:
    """``schema`` of arguments, slim; one that is not given is left out, so that none need be null."""
    return slim(_changed(schema, _without_null))


def slim(schema: Schema) -> Schema:
    """``schema`` without what it says twice.

    Titles repeat names; what strangers write is defined once; a definition that is used once stands in its place.
    """
    made = _in_place(_changed(_changed(schema, _without_title), _marked_once))
    referred = any(part.get("$ref") == f"{_PLACE}Marked" for part in parts_of(made))
    return made | {"$defs": made.get("$defs", {}) | {"Marked": _MARKED}} if referred else made


def parts_of(schema: Schema) -> Iterator[Schema]:
    """``schema`` and every schema in it, from the outside in."""
    yield schema
    for inner in _inner(schema):
        yield from parts_of(inner)


def _inner(schema: Schema) -> list[Schema]:
    found = [part for key in _OF_MANY for part in schema.get(key, {}).values()]
    found += [schema[key] for key in _OF_ONE if isinstance(schema.get(key), dict)]
    return found + list(schema.get("anyOf", ()))


def _changed(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """``schema`` with ``change`` made to it and to every schema in it, from the inside out."""
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
    """What strangers write refers to its definition; beside that stands what a field says of itself."""
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
    """``schema`` without the definitions that one place alone refers to: there stands what they say."""
    definitions: dict[str, Schema] = schema.get("$defs", {})
    used = Counter(part["$ref"] for part in parts_of(schema) if "$ref" in part)
    single = {name: part for name, part in definitions.items() if used[_PLACE + name] == 1}

    def put(part: Schema) -> Schema:
        name = part.get("$ref", "").removeprefix(_PLACE)
        if name not in single:
            return part
        # What is said of this place says more than what is said of the kind.
        beside = {key: value for key, value in part.items() if key != "$ref"}
        return _changed(single[name], put) | beside

    made = _changed({key: value for key, value in schema.items() if key != "$defs"}, put)
    kept = {name: _changed(part, put) for name, part in definitions.items() if name not in single}
    return made | {"$defs": kept} if kept else made
