"""The registered formats: every module of this package that binds ``READER``."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import bot.intake.agents
from bot.files.documents import Document
from bot.intake.agents.reader import AgentReader
from bot.intake.agents.standalone_files import BareReader


@cache
def whole_readers() -> tuple[AgentReader, ...]:
    """The readers of complete agents, in the order of their modules' names."""
    return tuple(reader for reader in _bound() if not isinstance(reader, BareReader))


@cache
def bare_readers() -> tuple[BareReader, ...]:
    """The readers of parts of agents, in the order of their modules' names."""
    return tuple(reader for reader in _bound() if isinstance(reader, BareReader))


def fitting(document: Document) -> Sequence[AgentReader | BareReader]:
    """The readers that recognise ``document``; readers of parts only without others."""
    whole = [reader for reader in whole_readers() if reader.fits(document)]
    return whole or [reader for reader in bare_readers() if reader.fits(document)]


def _bound() -> tuple[Any, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules(bot.intake.agents.__path__))
    modules = (import_module(f"{bot.intake.agents.__name__}.{name}") for name in names)
    return tuple(module.READER for module in modules if hasattr(module, "READER"))
