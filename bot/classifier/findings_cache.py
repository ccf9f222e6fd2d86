"""Findings in the user's cache folder, one file per query: a second run on unchanged input sends no requests."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.classifier.findings import Findings
from bot.files.atomic_write import read_model, write_whole

_LARGEST: Final = 5_000_000


class FindingFiles:
    """A store in ``folder``; without one, or if it cannot be written, findings last as long as the run.

    An invalid file counts as missing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._own: dict[str, Findings] = {}

    def get(self, key: str) -> Findings:
        """The findings of this run or an earlier one; empty if there are none."""
        if key in self._own or self._folder is None:
            return self._own.get(key) or Findings()
        return read_model(self._file(self._folder, key), Findings, _LARGEST) or Findings()

    def put(self, key: str, findings: Findings) -> None:
        """Save ``findings`` for this and later runs."""
        self._own[key] = findings
        if self._folder is not None:
            write_whole(self._file(self._folder, key), findings.model_dump_json().encode())

    @staticmethod
    def _file(folder: Path, key: str) -> Path:
        return folder / "findings" / key[:2] / f"{key}.json"
