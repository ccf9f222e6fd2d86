"""Findings in the user's cache folder, a file a query: a second run of unchanged input asks nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.classifier.findings import Findings
from bot.files.atomic_write import read_model, write_whole

_LARGEST: Final = 5_000_000


class FindingFiles:
    """A store in ``folder``; without one, or where it cannot be written, findings last as long as the run.

    What is no file of ours is as good as none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._own: dict[str, Findings] = {}

    def get(self, key: str) -> Findings:
        """What this run or an earlier one found; empty if none did."""
        if key in self._own or self._folder is None:
            return self._own.get(key) or Findings()
        return read_model(self._file(self._folder, key), Findings, _LARGEST) or Findings()

    def put(self, key: str, findings: Findings) -> None:
        """Keep ``findings`` from now on."""
        self._own[key] = findings
        if self._folder is not None:
            write_whole(self._file(self._folder, key), findings.model_dump_json().encode())

    @staticmethod
    def _file(folder: Path, key: str) -> Path:
        return folder / "findings" / key[:2] / f"{key}.json"
