"""What published schemas ask for, as remarks: packages break them and still run, so nothing here stops a reading."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bot.intake.agents.package import Package
from bot.intake.place import Place


def check_version(package: Package, place: Place, known: Collection[str]) -> None:
    """Remark a schema version that this reader does not know; the file is read all the same."""
    if not place.absent and place.data not in known:
        package.note(
            place,
            f"{place.name}: {place.data!r} is not a version this reader knows; the file is read all the same",
            f"use one of: {', '.join(sorted(known))}",
        )


def check_keys(package: Package, place: Place, required: Iterable[str]) -> None:
    """Remark keys that the published schema requires and that are not there."""
    missing = [f"`{key}`" for key in required if not place.has(key)]
    if missing:
        where = f"{place.name}: " if place.path else ""
        package.note(
            place,
            f"{where}the published schema requires {' and '.join(missing)}, not given here; read all the same",
            f"add {' and '.join(missing)}",
        )
