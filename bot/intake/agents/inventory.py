"""What there is to be called, whatever kind of file lists it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from bot.intake.agents.authentication import Alternatives, required_mode
from bot.intake.agents.effects import note_doubt
from bot.intake.agents.names import Decision
from bot.intake.agents.package import Package
from bot.intake.agents.parameters import Parameters, no_parameters
from bot.intake.place import Place
from bot.intake.specification import Protocol, Tool


@dataclass(frozen=True, slots=True)
class Entry:
    """An operation of an OpenAPI file or a tool of an MCP server.

    ``security`` is ``None`` where nothing is said about security; ``parameters`` reads what it takes.
    ``described`` gives the effect of an operation that a plugin describes in further words.
    """

    name: str
    description: str
    effect: Decision
    security: Alternatives | None
    place: Place
    parameters: Parameters = no_parameters
    described: Callable[[str], Decision] | None = None


Inventory = Mapping[str, Entry]
"""What a runtime offers, by name, in the order of its file."""


def bare_tools(package: Package, place: Place, entries: Collection[Entry], protocol: Protocol) -> tuple[Tool, ...]:
    """The tools that ``entries``, listed at ``place``, are where no plugin says more of them.

    More than ``limits.tools`` are a fault of the package.
    """
    check_number(package, place, len(entries))
    for entry in entries:
        note_doubt(package, entry.place, entry.name, entry.effect)
    return tuple(bare_tool(entry, protocol) for entry in entries)


def bare_tool(entry: Entry, protocol: Protocol, confirmation: bool | None = None) -> Tool:
    """The tool that an entry is where no plugin says more of it; a card is then not declared."""
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


def check_number(package: Package, place: Place, tools: int) -> None:
    """Make it a fault of the package if the file of ``place`` has more tools than allowed."""
    limit = package.limits.tools
    if tools > limit:
        message = f"{place.source.document.file} has {tools:,} tools, more than the limit of {limit:,}"
        package.faults.append(place.problem(message, "bring fewer, or raise limits.tools in config/curation.yaml"))
