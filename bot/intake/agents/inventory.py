"""What a runtime of a plugin offers to be called, whatever kind of runtime it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.intake.agents.authentication import Alternatives
from bot.intake.agents.effects import Decision
from bot.intake.place import Place


@dataclass(frozen=True, slots=True)
class Entry:
    """An operation of an OpenAPI file or a tool of an MCP server.

    ``security`` is ``None`` where nothing is said about security.
    """

    name: str
    description: str
    effect: Decision
    security: Alternatives | None
    place: Place


Inventory = Mapping[str, Entry]
"""What a runtime offers, by name, in the order of its file."""
