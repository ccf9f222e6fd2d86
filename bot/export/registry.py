"""The targets there are: every module beside this one that binds ``WRITER``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from bot import export
from bot.export.item import Writer


@cache
def writers() -> Mapping[str, Writer]:
    """The writers of all formats by name, sorted."""
    modules = (
        importlib.import_module(f"{export.__name__}.{found.name}") for found in pkgutil.iter_modules(export.__path__)
    )
    bound = (getattr(module, "WRITER", None) for module in modules)
    found = {writer.name: writer for writer in bound if isinstance(writer, Writer)}
    return {name: found[name] for name in sorted(found)}
