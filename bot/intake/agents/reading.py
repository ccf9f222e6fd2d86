"""An eval set folder's agent specification, whatever format it is in."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bot.config import Limits
from bot.errors import InputError, Problem
from bot.intake.agents.reader import Reader
from bot.intake.agents.registry import readers
from bot.intake.specification import Specification
from bot.snapshot import Snapshot


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
    found = _recognised(snapshot, limits, bare=False) or _recognised(snapshot, limits, bare=True)
    if not found:
        looked_for = "; ".join(reader.looked_for for reader in readers())
        raise _fault(
            folder,
            f"no agent specification is here; looked for: {looked_for}",
            "add the agent's app package, or describe the agent in agent.yaml",
        )
    if len(found) > 1:
        candidates = ", ".join(f"{snapshot.name(path)} ({reader.name})" for reader, path in found)
        raise _fault(folder, f"several agent specifications are here: {candidates}", _choose(found))
    reader, path = found[0]
    return reader.read(snapshot, path, limits)


def _recognised(snapshot: Snapshot, limits: Limits, *, bare: bool) -> list[tuple[Reader, str]]:
    """The agents of ``snapshot``, without those that are parts of another."""
    found = [
        (reader, path) for reader in readers() if reader.bare is bare for path in reader.recognise(snapshot, limits)
    ]
    parts = {part for reader, path in found for part in reader.parts(snapshot, path, limits) if part != path}
    return [(reader, path) for reader, path in found if path not in parts]


def _choose(found: Sequence[tuple[Reader, str]]) -> str:
    if not all(reader.bare for reader, _ in found):
        return "keep one agent per folder"
    listed = ", ".join(json.dumps(path, ensure_ascii=False) for _, path in found)
    return f"write an agent.yaml with `agent: 1` and `extends: [{listed}]`, which joins them, or keep one"


def _fault(folder: str, message: str, fix: str) -> InputError:
    return InputError([Problem(folder, None, message, fix)])
