"""Agent specifications: one reader per format, each returns a :class:`bot.intake.specification.Specification`."""

from bot.intake.agents.reading import read_specification

__all__ = ["read_specification"]
