"""A config of an invented format 2, which has brought `options.close_call`."""

from __future__ import annotations

from typing import Literal

import pytest

import bot.config
from bot.config import Curation, YoungerKey
from bot.files.validation import FileFormat
from bot.pipeline import migrated_files

KEY = "options.close_call"
FORMER = 0.5


class _SecondFormat(Curation):
    format: FileFormat[Literal[1, 2]] = 1  # type: ignore[assignment]


def invent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the product know that format."""
    for module in (bot.config, migrated_files):
        monkeypatch.setattr(module, "Curation", _SecondFormat)
    monkeypatch.setitem(bot.config.YOUNGER, KEY, YoungerKey(format=2, former=FORMER))
