"""The formats there are: every module beside this one that binds ``READER``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from bot.intake import eval_sets
from bot.intake.eval_sets.reader import Reader, Source


@cache
def readers() -> tuple[Reader, ...]:
    """The readers of all formats, by name."""
    modules = (
        importlib.import_module(f"{eval_sets.__name__}.{found.name}")
        for found in pkgutil.iter_modules(eval_sets.__path__)
    )
    bound = (getattr(module, "READER", None) for module in modules)
    return tuple(sorted((reader for reader in bound if isinstance(reader, Reader)), key=lambda reader: reader.name))


def fitting(source: Source, possible: Sequence[Reader]) -> tuple[Reader, ...]:
    """Those of ``possible`` that take ``source`` for theirs; a plain one only where no other does."""
    for plain in (False, True):
        found = tuple(reader for reader in possible if reader.plain is plain and reader.recognises(source))
        if found:
            return found
    return ()
