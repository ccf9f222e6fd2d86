"""How much a single file may ask of a reader."""

from __future__ import annotations

from dataclasses import dataclass

from bot.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """How much a single file may ask of a reader.

    ``file_bytes``: size of a file; ``nesting_depth``: mappings and sequences inside one another; ``nodes``: values in
    a file once aliases are expanded.
    """

    file_bytes: int
    nesting_depth: int
    nodes: int

    def too_deep(self, file: str, line: int) -> InputError:
        """The error for a file whose values are nested deeper than allowed."""
        return InputError(
            [
                Problem(
                    file,
                    line,
                    f"the values are nested deeper than {self.nesting_depth}",
                    "flatten the file, or raise limits.nesting_depth in config/curation.yaml",
                )
            ]
        )
