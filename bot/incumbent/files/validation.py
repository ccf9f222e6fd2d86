"""Validates plain data against models; reports every fault with its line, its fix and “perhaps you meant”."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar, get_args, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    Strict,
    ValidationError,
)
from pydantic_core import CoreSchema, PydanticOmit

from incumbent.errors import InputError, LaterFormatError, Problem
from incumbent.files.documents import Document, Path
from incumbent.files.snapshot import MOST_FAULTS
from incumbent.text.compare import utc
from incumbent.text.did_you_mean import did_you_mean

Model = TypeVar("Model", bound=BaseModel)
Item = TypeVar("Item")

Tuple = Annotated[tuple[Item, ...], Strict(False)]
"""A list in the file, a tuple in the model."""


class ConstraintError(ValueError):
    """The error of a model's own check: the value must be ``wanted``, and ``fix`` says how to get there."""

    def __init__(self, wanted: str, fix: str) -> None:
        super().__init__(wanted)
        self.fix = fix


def _visible(text: str) -> str:
    if not text.strip():
        raise ValueError("a text with at least one visible character")
    return text


Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
"""A digest of a content, in hexadecimal digits."""

Text = Annotated[str, AfterValidator(_visible)]
"""A string with at least one visible character."""


def _whole_number(value: object) -> object:
    """``value``; refuses ``true`` and 1.0, which Python takes for 1."""
    if type(value) is not int:
        raise ConstraintError("a whole number", "write the number of the format without quotes, as in 1")
    return value


@dataclass(frozen=True, slots=True)
class FormatNumber:
    """Marks the key of a model that has the number of its file's format; its type lists the numbers that are known."""


FormatVersion = Annotated[Literal[1], BeforeValidator(_whole_number), FormatNumber()]
"""The number of a format that every file of its kind has: 1, the only one so far."""

FileFormat = Annotated[
    Item,
    BeforeValidator(_whole_number),
    FormatNumber(),
    Field(exclude_if=lambda value: value == 1, description="number of the format; absent: 1"),
]
"""The number of a format that a file may leave out, as in ``format: FileFormat[Literal[1, 2]] = 1``."""

Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A confidence or capability score in [0, 1]."""

Timestamp = Annotated[str, AfterValidator(utc)]
"""A moment in UTC to the second, such as ``2026-11-21T10:00:00Z``; a time without zone is taken as UTC."""


class FileModel(BaseModel):
    """A kind of file, or a part of one, that people write: unknown keys are errors, types are strict.

    Its validator is built when it is first used: there are a hundred models, and a command uses a few of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class LenientModel(FileModel):
    """A :class:`FileModel` that keeps the keys that it does not know, in ``model_extra``, and writes them again.

    Its JSON schema has no other keys, so that editors report a misspelt one.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra={"additionalProperties": False})


FILE_CONFIG: Final = FileModel.model_config
"""The same configuration for a frozen dataclass that files contain."""


def _left_out(_: object, __: object) -> NoReturn:
    raise PydanticOmit


def _is_hidden(field: Any) -> bool:
    return field["name"].startswith("_") or bool(field.get("serialization_exclude"))


class _FromMapping:
    """Lets a strict model read frozen dataclasses from mappings, tuples from lists and enumerations from their values.

    Scalars and models stay strict; private fields, and those with ``exclude``, are left out.  Instances are validated
    as mappings are, so that everything written can be read.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        self._open(schema, handler, set())
        return schema

    def _open(self, schema: Any, handler: GetCoreSchemaHandler, seen: set[str]) -> None:
        if schema["type"] == "definition-ref":
            if schema["schema_ref"] in seen:
                return
            seen.add(schema["schema_ref"])
            schema = handler.resolve_ref_schema(schema)
        if schema["type"] in ("dataclass", "tuple", "enum", "frozenset"):
            schema["strict"] = False
        if schema["type"] == "dataclass":
            schema["revalidate_instances"] = "always"
            schema["fields"] = [item["name"] for item in schema["schema"]["fields"] if not _is_hidden(item)]
        if schema["type"] == "dataclass-field" and _is_hidden(schema):
            schema |= {"init": False, "serialization_exclude": True}
            schema["schema"].setdefault("metadata", {})["pydantic_js_functions"] = [_left_out]
        if schema["type"] == "model":
            return
        for key in ("schema", "items_schema", "keys_schema", "values_schema", "fields", "choices"):
            inner = schema.get(key, ())
            for item in inner if isinstance(inner, list | tuple) else (inner,):
                if isinstance(item, dict):
                    self._open(item, handler, seen)


Checked = Annotated[Item, _FromMapping()]
"""A frozen dataclass of the core, or a container of some, as a field of a model."""


def validate(model: type[Model], document: Document, data: object = ..., at: Path = ()) -> Model:
    """``document.data`` (or ``data``, the value at path ``at``) as a ``model``; raises :class:`InputError`.

    At most :data:`MOST_FAULTS` faults are reported; of a file of a later format that alone (:class:`LaterFormatError`).
    """
    raw = document.data if data is ... else data
    _refuse_later_format(model, document, raw, at)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        problems = _problems(model, document, raw, at, error.errors(include_url=False))
    raise InputError(problems)


def _refuse_later_format(model: type[BaseModel], document: Document, raw: object, at: Path) -> None:
    for key, newest in newest_format(model).items():
        found = raw.get(key) if isinstance(raw, dict) else None
        if type(found) is int and found > newest:
            message = f"{'.'.join(map(str, (*at, key)))}: {found} was written by a later version, nothing was changed"
            fix = (
                f"install the version of Incumbent that wrote it, or a later one; this one reads formats up to {newest}"
            )
            raise LaterFormatError([document.problem((*at, key), message, fix)])


@cache
def newest_format(model: type[BaseModel]) -> dict[str, int]:
    """The key of ``model`` with the number of its format, and the greatest number known; none if it has no such key."""
    fields = model.model_fields.items()
    return {key: max(get_args(field.annotation)) for key, field in fields if FormatNumber() in field.metadata}


def unknown_keys(model: BaseModel, at: Path = ()) -> Iterator[Path]:
    """The paths of the keys in ``model`` that it keeps without knowing them."""
    yield from ((*at, name) for name in model.model_extra or ())
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from unknown_keys(value, (*at, name))


def unknown_key_notes(model: BaseModel, document: Document) -> Iterator[Problem]:
    """Each key in ``model``, which was read from ``document``, that it keeps without knowing it."""
    for path in unknown_keys(model):
        known = _siblings(type(model), path[:-1])
        message = f"{'.'.join(map(str, path))}: unknown key, which has no effect{did_you_mean(str(path[-1]), known)}"
        fix = f"take it out, or use one of: {', '.join(sorted(known))}; a later version of Incumbent may know it"
        yield document.problem(path, message, fix)


@dataclass(frozen=True, slots=True)
class _Fault:
    """One of pydantic's errors; ``union`` is the path of the value, if it may be of alternative types."""

    location: Path
    union: Path | None
    kind: str
    wanted: str
    fix: str


def _problems(model: type[BaseModel], document: Document, raw: object, at: Path, errors: list[Any]) -> list[Problem]:
    problems: list[Problem] = []
    alternatives: dict[Path, list[_Fault]] = {}
    faults = [_fault(raw, error) for error in errors[:MOST_FAULTS]]
    inside = {fault.location[:size] for fault in faults for size in range(len(fault.location))}
    for fault in faults:
        # Refused items are missing from the list, which is not a second fault.
        if fault.kind == "too_short" and fault.location in inside:
            continue
        name = ".".join(str(step) for step in at + fault.location) or "the file"
        if fault.union is not None:
            alternatives.setdefault(fault.union, []).append(fault)
        elif fault.kind in ("extra_forbidden", "unexpected_keyword_argument"):
            known = _siblings(model, fault.location[:-1])
            message = f"{name}: unknown key{did_you_mean(str(fault.location[-1]), known)}"
            fix = f"use one of: {', '.join(sorted(known)) or 'none'}"
            problems.append(document.problem(at + fault.location, message, fix))
        elif fault.kind == "missing":
            fix = f"add `{_key_to_add(model, fault.location)}`"
            problems.append(document.problem(at + fault.location[:-1], f"{name}: the key is missing", fix))
        else:
            problems.append(document.problem(at + fault.location, f"{name}: must {fault.wanted}", fault.fix))
    for faults in alternatives.values():
        # The author probably meant the alternative whose faults are deepest.
        depth = max(len(fault.location) for fault in faults)
        for location in dict.fromkeys(fault.location for fault in faults if len(fault.location) == depth):
            meant = [fault for fault in faults if fault.location == location]
            name = ".".join(str(step) for step in at + location)
            wanted = " or ".join(dict.fromkeys(fault.wanted for fault in meant))
            fix = ", or ".join(dict.fromkeys(fault.fix for fault in meant))
            problems.append(document.problem(at + location, f"{name}: must {wanted}", fix))
    return problems


def _fault(raw: object, error: Any) -> _Fault:
    """``error`` with its location in the file: pydantic inserts the names of alternative types."""
    location: list[str | int] = []
    union: Path | None = None
    steps = error["loc"]
    value: Any = raw
    for place, step in enumerate(steps):
        inside = isinstance(value, dict) and step in value
        if inside or (isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)):
            location.append(step)
            value = value[step]
        elif error["type"] == "missing" and place == len(steps) - 1:
            location.append(step)
        elif union is None and step != "[key]":
            union = tuple(location)
    if error["type"] == "recursion_depth_exceeded":
        # The location is where the value begins, not where the depth is reached.
        location, union = list(location if union is None else union), None
    wanted, fix = _wanted(error)
    return _Fault(tuple(location), union, error["type"], wanted, fix)


def _wanted(error: Any) -> tuple[str, str]:
    """What the value must be, and how to fix it."""
    context = error.get("ctx", {})
    match error["type"]:
        case "string_type":
            return "be a string", "write a string; quote values such as 12, true or null"
        case "tuple_type" | "list_type" | "set_type" | "frozen_set_type":
            return "be a list", "write a list, `[...]` or one `- ` item per line"
        case "model_type" | "dataclass_type" | "dict_type" | "mapping_type" | "model_attributes_type":
            return "be a mapping", "write `key: value` pairs"
        case "int_type" | "int_from_float":
            return "be a whole number", "write a whole number without quotes"
        case "float_type":
            return "be a number", "write a number without quotes"
        case "bool_type":
            return "be true or false", "write true or false without quotes"
        case "too_short":
            return f"have {context['min_length']} or more items", "add the missing items"
        case "too_long":
            return f"have {context['max_length']} or fewer items", "remove what is too many"
        case "string_too_short":
            return f"have at least {context['min_length']} characters", "write more"
        case "string_too_long":
            return f"have at most {context['max_length']} characters", "shorten it"
        case "string_pattern_mismatch":
            return f"match the pattern {context['pattern']}", "write it in that form"
        case "recursion_depth_exceeded":
            return "be nested less deeply", "flatten it"
        case "value_error" if isinstance(context.get("error"), ConstraintError):
            return f"be {context['error']}", context["error"].fix
        case _:
            text = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
            number = "a number " if error["type"].startswith(("greater_than", "less_than")) else ""
            return f"be {text}", f"write {number}{text}"


def _key_to_add(model: type[BaseModel], location: Path) -> str:
    """The key at ``location``, with its value where it can have only one, such as the version of a format."""
    name = str(location[-1])
    values = get_args(_known(model, location[:-1]).get(name))
    return f"{name}: {json.dumps(values[0])}" if len(values) == 1 and isinstance(values[0], int | str) else name


def _siblings(model: type[BaseModel], location: Path) -> set[str]:
    """The keys of the model at ``location``."""
    return set(_known(model, location))


def _known(model: type[BaseModel], location: Path) -> dict[str, Any]:
    """The keys of the model at ``location``, each with its type; none where there is no model."""
    known: Any = model
    for step in location:
        keys = _keys(known)
        if keys is None:
            break
        if str(step) in keys:
            known = _model_inside(keys[str(step)])
    return _keys(known) or {}


def _keys(known: Any) -> dict[str, Any] | None:
    """The keys of a model or a dataclass, each with its type; ``None`` for anything else."""
    if isinstance(known, type) and issubclass(known, BaseModel):
        named = known.model_fields.items()
        return {field.alias or name: field.annotation for name, field in named if not field.exclude}
    if not is_dataclass(known):
        return None
    hints = get_type_hints(known, include_extras=True)
    return {field.name: hints[field.name] for field in fields(known) if not field.name.startswith("_")}


def _model_inside(annotation: Any) -> Any:
    if _keys(annotation) is not None:
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _model_inside(inner)
        if found is not None:
            return found
    return None
