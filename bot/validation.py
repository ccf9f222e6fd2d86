"""Plain data into models: every fault at once, each with its line, its fix and “perhaps you meant”."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError

from bot.documents import Document, Path
from bot.errors import InputError, Problem
from bot.suggest import perhaps

Model = TypeVar("Model", bound=BaseModel)
Item = TypeVar("Item")

Tuple = Annotated[tuple[Item, ...], Strict(False)]
"""A list in the file, a tuple in the model."""


def _visible(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Text = Annotated[str, AfterValidator(_visible)]
"""A string with at least one visible character."""

Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A confidence or capability score in [0, 1]."""


class FileModel(BaseModel):
    """A file kind (or a part of one) that people write: unknown keys are errors, values keep their types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def validate(model: type[Model], document: Document, data: object = ..., at: Path = ()) -> Model:
    """``document.data`` (or ``data``, which stands at path ``at``) as a ``model``; raises :class:`InputError`."""
    try:
        return model.model_validate(document.data if data is ... else data)
    except ValidationError as error:
        raise InputError(_problem(model, document, at, fault) for fault in error.errors()) from None


def _problem(model: type[BaseModel], document: Document, at: Path, fault: Any) -> Problem:
    location = tuple(step for step in fault["loc"] if step != "[key]")
    name = ".".join(str(step) for step in at + location) or "the file"
    kind = fault["type"]
    if kind == "extra_forbidden":
        known = _siblings(model, location[:-1])
        message = f"{name}: unknown key{perhaps(str(location[-1]), known)}"
        return document.problem(at + location, message, f"use one of: {', '.join(sorted(known)) or 'none'}")
    if kind == "missing":
        return document.problem(at + location[:-1], f"{name}: the key is missing", f"add `{location[-1]}`")
    wanted = fault["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return document.problem(at + location, f"{name}: must be {wanted}", _fix(kind, wanted))


def _fix(kind: str, wanted: str) -> str:
    if kind == "string_type":
        return "write a string; quote values such as 12, true or null"
    return f"write {wanted}"


def _siblings(model: type[BaseModel], location: Path) -> set[str]:
    """The keys that the model knows at ``location``."""
    known: Any = model
    for step in location:
        if not (isinstance(known, type) and issubclass(known, BaseModel)):
            break
        by_alias = {(field.alias or name): field for name, field in known.model_fields.items()}
        field = by_alias.get(str(step))
        if field is None:
            continue
        known = _model_inside(field.annotation)
    if isinstance(known, type) and issubclass(known, BaseModel):
        return {field.alias or name for name, field in known.model_fields.items()}
    return set()


def _model_inside(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _model_inside(inner)
        if found is not None:
            return found
    return None
