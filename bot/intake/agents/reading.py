"""An eval set folder's agent specification, whatever format it is in."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

import bot.intake.agents
from bot.config import Limits
from bot.errors import InputError, Problem
from bot.intake.agents.reader import Reader
from bot.intake.specification import Specification
from bot.snapshot import Snapshot


@cache
def readers() -> tuple[Reader, ...]:
    """Every reader there is, by name: each module of this package with a ``READER`` brings one."""
    names = sorted(module.name for module in pkgutil.iter_modules(bot.intake.agents.__path__))
    modules = (import_module(f"{bot.intake.agents.__name__}.{name}") for name in names)
    return tuple(module.READER for module in modules if hasattr(module, "READER"))


def read_specification(snapshot: Snapshot, limits: Limits) -> Specification:
    """The one agent specification in ``snapshot``, which is rooted at an eval set folder.

    Raises :class:`InputError` if there is none, if there are several, if the folder has more files than
    ``limits.package_files``, or if the specification itself is at fault.
    """
    folder = snapshot.name("").rstrip("/") or "."
    paths = snapshot.paths()
    if len(paths) > limits.package_files:
        raise _fault(
            folder,
            f"the folder holds {len(paths):,} files, more than the limit of {limits.package_files:,}",
            "bring the agent package and the eval set only, or raise limits.package_files in config/curation.yaml",
        )
    found = [(reader, path) for reader in readers() for path in reader.recognise(snapshot, limits)]
    if not found:
        looked_for = "; ".join(reader.looked_for for reader in readers())
        raise _fault(
            folder,
            f"no agent specification is here; looked for: {looked_for}",
            "add the agent's app package, or describe the agent in agent.yaml",
        )
    if len(found) > 1:
        candidates = ", ".join(f"{snapshot.name(path)} ({reader.name})" for reader, path in found)
        raise _fault(folder, f"several agent specifications are here: {candidates}", "keep one agent per folder")
    reader, path = found[0]
    return reader.read(snapshot, path, limits)


def _fault(folder: str, message: str, fix: str) -> InputError:
    return InputError([Problem(folder, None, message, fix)])
