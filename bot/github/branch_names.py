"""The names of the bot's branches, and which other names git cannot hold beside them (pure)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from bot.ledger.model import BRANCH

BEGINNING: Final = "incumbent"
"""Every branch of the bot's begins with it."""
FOLDERS: Final = (
    "incumbent/evict/",
    "incumbent/swap/",
    "incumbent/admit/",
    "incumbent-candidates/",
    "incumbent-calibration/",
    "incumbent-chat/",
)
"""Below these the bot makes branches, beside the ledger's."""


def excludes(name: str, wanted: str) -> bool:
    """Whether git cannot hold the branches ``name`` and ``wanted`` together: one would be a folder of the other."""
    return wanted.startswith(f"{name}/") or name.startswith(f"{wanted}/")


def in_the_way(names: Collection[str]) -> tuple[str, ...]:
    """Those of the branches ``names`` beside which the bot cannot make all of its own, sorted."""
    found = {name for name in names if excludes(name, BRANCH) or any(place.startswith(f"{name}/") for place in FOLDERS)}
    return tuple(sorted(found))


def parents(name: str) -> tuple[str, ...]:
    """The names that are folders of the branch ``name``, the shortest first."""
    parts = name.split("/")
    return tuple("/".join(parts[:length]) for length in range(1, len(parts)))
