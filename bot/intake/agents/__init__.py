"""Agent specifications: one reader per format, all filling :class:`bot.intake.specification.Specification`."""

from bot.intake.agents.reading import read_specification

__all__ = ["read_specification"]
