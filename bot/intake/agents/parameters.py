"""The parameters of tools, wherever a format declares them: names and descriptions, no more than the limits allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Final, TypeAlias

from bot.config import Limits
from bot.files.documents import Data, as_list, as_mapping
from bot.intake.agents.package import Package
from bot.intake.place import Place
from bot.intake.specification import Parameter

Parameters: TypeAlias = Callable[[], tuple[Parameter, ...]]
"""The parameters of an operation or tool; read only where it is a tool of the agent."""

DESCRIBE_FEWER: Final = (
    "describe fewer parameters, or raise limits.tools or limits.turn_characters in config/curation.yaml"
)
_PARTS: Final = ("allOf", "anyOf", "oneOf")


def no_parameters() -> tuple[Parameter, ...]:
    """None: nothing declares any."""
    return ()


def of_schema(package: Package, tool: Place, schema: Place) -> tuple[Parameter, ...]:
    """The parameters of ``tool``, whose JSON schema is at ``schema``."""
    return kept(package, tool, properties(schema, package.limits))


def properties(
    schema: Place, limits: Limits, resolve: Callable[[Place], Place] = lambda place: place
) -> Iterator[Parameter]:
    """The properties of the object that a JSON schema describes, or of those that its array holds, in their order.

    Those of its parts (``allOf``, ``anyOf``, ``oneOf``) follow.  ``resolve`` follows a ``$ref``.  At most
    ``limits.tools`` schemas are looked at.
    """
    waiting = [schema]
    seen: set[object] = set()
    while waiting and len(seen) < limits.tools:
        place = resolve(waiting.pop(0))
        if (place.source.path, place.path) in seen:
            continue
        seen.add((place.source.path, place.path))
        described = place["properties"]
        for name, data in as_mapping(described.data).items():
            text = _text(data) if "$ref" not in as_mapping(data) else _text(resolve(described[name]).data)
            yield Parameter(name=name, description=text)
        waiting += islice(chain.from_iterable(items_at(place[key]) for key in _PARTS), limits.tools)
        waiting += [place["items"]] if place["items"].is_mapping else []


def _text(schema: Data) -> str:
    description = as_mapping(schema).get("description")
    return description.strip() if isinstance(description, str) else ""


def items_at(place: Place) -> Iterator[Place]:
    """The values of the list at ``place``, one after the other: it may be long, and read in part only."""
    return (Place(place.source, (*place.path, index), item) for index, item in enumerate(as_list(place.data)))


def kept(package: Package, tool: Place, found: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Those of ``found`` that the limits allow, with a note about ``tool`` where something is left out."""
    parameters, is_whole = bounded(found, package.limits)
    if not is_whole:
        limits = package.limits
        package.note(
            tool,
            f"{tool.name}: not all of its parameters are read: more than the limit of {limits.tools:,}, or of "
            f"{limits.turn_characters:,} characters together",
            DESCRIBE_FEWER,
        )
    return parameters


def bounded(found: Iterable[Parameter], limits: Limits) -> tuple[tuple[Parameter, ...], bool]:
    """The first of ``found`` by each name, within the limits, and whether that is all.

    At most ``limits.tools`` are looked at, and read with ``limits.turn_characters`` in all; a description that does not
    fit is left out.
    """
    names: dict[str, Parameter] = {}
    room, is_whole = limits.turn_characters, True
    for number, parameter in enumerate(found):
        if number == limits.tools or len(parameter.name) > room:
            return tuple(names.values()), False
        if parameter.name in names:
            continue
        room -= len(parameter.name)
        if len(parameter.description) > room:
            parameter, is_whole = Parameter(name=parameter.name), False
        room -= len(parameter.description)
        names[parameter.name] = parameter
    return tuple(names.values()), is_whole
