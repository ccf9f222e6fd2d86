"""The callable operations in a file of any format, with their parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Final, TypeAlias

from incumbent.files.documents import Data, Node, as_list, as_mapping
from incumbent.intake.agents.authentication import Alternatives, required_mode
from incumbent.intake.agents.effects import effect_of_tool, note_doubt
from incumbent.intake.agents.name_effects import EffectReason
from incumbent.intake.agents.package import AgentPackage
from incumbent.intake.specification import Parameter, Protocol, Tool
from incumbent.taxonomy.config import Limits

Parameters: TypeAlias = Callable[[], tuple[Parameter, ...]]
"""Reads the parameters of an operation; called only if it is a tool of the agent."""

DESCRIBE_FEWER: Final = (
    "describe fewer parameters, or raise limits.tools or limits.turn_characters in config/curation.yaml"
)
_PARTS: Final = ("allOf", "anyOf", "oneOf")


def no_parameters() -> tuple[Parameter, ...]:
    """No parameters."""
    return ()


def of_schema(package: AgentPackage, tool: Node, schema: Node) -> tuple[Parameter, ...]:
    """The parameters of ``tool``, whose JSON schema is at ``schema``."""
    return kept(package, tool, properties(schema, package.limits))


def properties(
    schema: Node, limits: Limits, resolve: Callable[[Node], Node] = lambda place: place
) -> Iterator[Parameter]:
    """The properties of the object in a JSON schema, or of the items of its array, in order.

    Those of its parts (``allOf``, ``anyOf``, ``oneOf``) follow.  ``resolve`` follows a ``$ref``.  At most
    ``limits.tools`` schemas are read.
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


def items_at(place: Node) -> Iterator[Node]:
    """The values of the list at ``place``, lazily: it may be long."""
    return (Node(place.source, (*place.path, index), item) for index, item in enumerate(as_list(place.data)))


def kept(package: AgentPackage, tool: Node, found: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """The parameters in ``found`` that the limits allow; a note at ``tool`` if some are left out."""
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
    """The first of ``found`` with each name, within the limits, and whether none was left out.

    At most ``limits.tools`` are read, with ``limits.turn_characters`` in total; a description that does not fit is left
    out.
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


@dataclass(frozen=True, slots=True)
class InventoryOperation:
    """An operation of an OpenAPI file or a tool of an MCP server.

    ``security`` is ``None`` if nothing is declared; ``parameters`` reads its parameters.
    """

    name: str
    description: str
    effect: EffectReason
    security: Alternatives | None
    place: Node
    parameters: Parameters = no_parameters


Inventory = Mapping[str, InventoryOperation]
"""The operations of a runtime by name, in the order of its file."""


def entry_of(package: AgentPackage, tool: Node) -> InventoryOperation:
    """The tool of an MCP server at ``tool``: its annotations decide the effect, else its name."""
    name, annotations = tool["name"].text, tool["annotations"]
    return InventoryOperation(
        name=name,
        description=tool["description"].text or tool["title"].text or annotations["title"].text,
        effect=effect_of_tool(package, annotations, name),
        security=None,
        place=tool,
        parameters=partial(of_schema, package, tool, tool["inputSchema"]),
    )


def bare_tools(
    package: AgentPackage, place: Node, entries: Collection[InventoryOperation], protocol: Protocol
) -> tuple[Tool, ...]:
    """The tools for ``entries``, listed at ``place``, without a plugin that describes them.

    More than ``limits.tools`` are a fault of the package.
    """
    check_number(package, place, len(entries))
    for entry in entries:
        note_doubt(package, entry.place, entry.name, entry.effect)
    return tuple(bare_tool(entry, protocol) for entry in entries)


def bare_tool(entry: InventoryOperation, protocol: Protocol, confirmation: bool | None = None) -> Tool:
    """The tool for an entry without a plugin that describes it; its card is not declared."""
    return Tool(
        name=entry.name,
        description=entry.description,
        protocol=protocol,
        effect=entry.effect.effect,
        effect_from=entry.effect.reason,
        confirmation=confirmation,
        card=None,
        auth=None if entry.security is None else required_mode(entry.security),
        declared_in=str(entry.place),
        parameters=entry.parameters(),
    )


def check_number(package: AgentPackage, place: Node, tools: int) -> None:
    """Add a fault to the package if the file of ``place`` has too many tools."""
    limit = package.limits.tools
    if tools > limit:
        message = f"{place.source.document.file} has {tools:,} tools, more than the limit of {limit:,}"
        package.faults.append(place.problem(message, "bring fewer, or raise limits.tools in config/curation.yaml"))
