"""The registered formats: every module of :mod:`bot.intake.eval_sets.formats`, each binds ``READER``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from bot.intake.eval_sets import formats
from bot.intake.eval_sets.reader import EvalSetReader, SourceFile


@cache
def readers() -> tuple[EvalSetReader, ...]:
    """The readers of all formats, sorted by name."""
    modules = (
        importlib.import_module(f"{formats.__name__}.{found.name}") for found in pkgutil.iter_modules(formats.__path__)
    )
    bound = (getattr(module, "READER", None) for module in modules)
    return tuple(
        sorted((reader for reader in bound if isinstance(reader, EvalSetReader)), key=lambda reader: reader.name)
    )


def names_of(possible: Sequence[EvalSetReader]) -> str:
    """The names of formats for a message; ``incumbent formats`` describes them."""
    return ", ".join(reader.name for reader in possible)


def fitting(source: SourceFile, possible: Sequence[EvalSetReader]) -> tuple[EvalSetReader, ...]:
    """Those of ``possible`` that recognise ``source``; a plain one only without others."""
    for plain in (False, True):
        found = tuple(reader for reader in possible if reader.plain is plain and reader.recognises(source))
        if found:
            return found
    return ()
