"""The formats there are: every module beside this one that binds ``READER``."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

import bot.intake.agents
from bot.documents import Document
from bot.intake.agents.reader import Reader


@cache
def readers() -> tuple[Reader, ...]:
    """The readers of all formats, those of whole agents first, in the order of their modules' names."""
    names = sorted(module.name for module in pkgutil.iter_modules(bot.intake.agents.__path__))
    modules = (import_module(f"{bot.intake.agents.__name__}.{name}") for name in names)
    found = (module.READER for module in modules if hasattr(module, "READER"))
    return tuple(sorted(found, key=lambda reader: reader.bare))


def fitting(document: Document) -> tuple[Reader, ...]:
    """The readers that take ``document`` for theirs; a bare one only where no other does."""
    for bare in (False, True):
        found = tuple(reader for reader in readers() if reader.bare is bare and reader.fits(document))
        if found:
            return found
    return ()
