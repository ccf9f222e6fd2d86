"""The names of the bot's branches, and the names that git cannot have beside them (pure)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from bot.ledger.model import BRANCH

BEGINNING: Final = "incumbent"
"""The prefix of the bot's branches."""
FOLDERS: Final = (
    "incumbent/evict/",
    "incumbent/group/",
    "incumbent/swap/",
    "incumbent/repack/",
    "incumbent/admit/",
    "incumbent-candidates/",
    "incumbent-calibration/",
    "incumbent-chat/",
)
"""The folders of the bot's branches, apart from the ledger."""


def excludes(name: str, wanted: str) -> bool:
    """Whether git cannot have both branches, ``name`` and ``wanted``: one would be a folder of the other."""
    return wanted.startswith(f"{name}/") or name.startswith(f"{wanted}/")


def in_the_way(names: Collection[str]) -> tuple[str, ...]:
    """The branches among ``names`` that prevent branches of the bot, sorted."""
    found = {name for name in names if excludes(name, BRANCH) or any(place.startswith(f"{name}/") for place in FOLDERS)}
    return tuple(sorted(found))


def parents(name: str) -> tuple[str, ...]:
    """The folders of the branch ``name``, shortest first."""
    parts = name.split("/")
    return tuple("/".join(parts[:length]) for length in range(1, len(parts)))
