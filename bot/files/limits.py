"""Limits on the size, depth and number of values of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.errors import InputError, Problem

MOST_FAULTS: Final = 1_000
"""The check of a file stops after so many faults: each takes time to find, and no one reads them all."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits on a single file.

    ``file_bytes``: size of a file; ``nesting_depth``: depth of nested mappings and sequences; ``nodes``: number of
    values after aliases are expanded.
    """

    file_bytes: int
    nesting_depth: int
    nodes: int

    def too_deep(self, file: str, line: int | None) -> InputError:
        """The error for a file that is nested deeper than allowed."""
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

    def too_many(self, file: str, line: int | None) -> InputError:
        """The error for a file with more values than allowed."""
        return InputError(
            [
                Problem(
                    file,
                    line,
                    f"the file holds more than {self.nodes:,} values (aliases expanded)",
                    "split the file, write fewer aliases, or raise limits.nodes in config/curation.yaml",
                )
            ]
        )

    def too_long(self, file: str, line: int | None) -> InputError:
        """The error for a file whose texts, repeated by aliases, are longer than a file may be."""
        return InputError(
            [
                Problem(
                    file,
                    line,
                    f"the texts have more than the limit of {self.file_bytes:,} characters (aliases expanded)",
                    "write fewer aliases, or raise limits.file_bytes in config/curation.yaml",
                )
            ]
        )

    def too_large(self, file: str, size: int) -> InputError:
        """The error for a file of ``size`` bytes, more than allowed."""
        return InputError(
            [
                Problem(
                    file,
                    None,
                    f"the file has {size:,} bytes, more than the limit of {self.file_bytes:,}",
                    "split the file, or raise limits.file_bytes in config/curation.yaml",
                )
            ]
        )
