"""What an output shows of a value of the core, which needs no class of its own for that."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sized
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, PlainSerializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import (
    is_instance_schema,
    json_or_python_schema,
    plain_serializer_function_ser_schema,
    typed_dict_field,
    typed_dict_schema,
    union_schema,
)

from incumbent.text.compare import rounded


def _number(items: Sized | int) -> Annotated[int, Field(ge=0)]:
    return items if isinstance(items, int) else len(items)


HowMany: TypeAlias = Annotated[int, Field(ge=0), PlainSerializer(_number)]
"""In the place of items, their number."""


class View:
    """How a model writes a value of the core: as a mapping of fields and properties of it, in the order of ``names``.

    These are separated by spaces.  A name may be of the mapping alone: ``ece=calibration_error``, ``low=interval.low``
    (null where there is no interval).  A name with a question mark, ``note?``, is left out where it is null or empty.
    ``types`` are those of names that have another type in the mapping, such as a view.  With ``rounds``, numbers are as
    scores are compared.  A mapping in the place of the value is checked by the same types.  The ``Field`` of a name
    says what it means, or the docstring of a property.
    """

    def __init__(self, names: str, *, rounds: bool = False, **types: Any) -> None:
        named = [
            (name.removesuffix("?"), path, name) for name, _, path in (each.partition("=") for each in names.split())
        ]
        self._paths: Final = {name: path or name for name, path, _ in named}
        self._optional: Final = frozenset(name for name, _, written in named if name != written)
        self._rounds = rounds
        self._types = types

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        types = {name: self._types.get(name) or _declared(source, path) for name, path in self._paths.items()}
        mapping = typed_dict_schema(
            {
                name: typed_dict_field(handler.generate_schema(type), required=name not in self._optional)
                for name, type in types.items()
            },
            metadata={"pydantic_js_functions": [partial(_described, _first_paragraph(source))]},
        )
        return union_schema(
            [is_instance_schema(get_origin(source) or source), mapping],
            serialization=plain_serializer_function_ser_schema(self._mapping, return_schema=mapping),
        )

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        instance, mapping = schema["choices"]
        cls = instance["cls"]
        mapping = {**mapping, "ref": f"{cls.__module__}.{cls.__qualname__}:{id(self)}"}
        # What is inside of another schema is defined once, and referred to by its name.
        return handler(json_or_python_schema(mapping, mapping))

    def _mapping(self, value: Any) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        found = {name: _at(value, path) for name, path in self._paths.items()}
        shown = {name: item for name, item in found.items() if name not in self._optional or item not in _EMPTY}
        if self._rounds:
            return {name: _rounded(item) for name, item in shown.items()}
        return shown


_EMPTY: Final[tuple[object, ...]] = (None, (), [], {})


def _described(text: str, schema: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
    return {"description": text, **handler(schema)}


def _rounded(item: Any) -> Any:
    if isinstance(item, Mapping):
        return {name: _rounded(inner) for name, inner in item.items()}
    return rounded(item) if isinstance(item, float) else item


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = None if value is None else value[name] if isinstance(value, dict) else getattr(value, name)
    return value


def _declared(source: Any, path: str) -> Any:
    """The type of what is at ``path`` in a ``source``."""
    optional = False
    for name in path.split("."):
        owner = get_args(source)[0] if get_origin(source) is Annotated else source
        if isinstance(owner, UnionType):
            (owner,), optional = (each for each in get_args(owner) if each is not NoneType), True
        plain = get_origin(owner) or owner
        member = getattr(plain, name, None)
        if isinstance(member, property):
            type = get_type_hints(member.fget, include_extras=True)["return"]
            source = Annotated[type, Field(description=_first_paragraph(member))]
        else:
            type = get_type_hints(plain, include_extras=True)[name]
            source = get_args(owner)[plain.__parameters__.index(type)] if isinstance(type, TypeVar) else type
            if issubclass(plain, BaseModel):
                field = plain.model_fields[name]
                source = Annotated[source, *field.metadata, Field(description=field.description)]
    return source | None if optional else source


def _first_paragraph(documented: object) -> str:
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())
