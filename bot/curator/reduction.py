"""Which newcomers R can do without: the reduction of an imported set (semantics, section 7; pure)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.config import Curation
from bot.curator.prune import prune
from bot.rater.model import RatedEntry


def dispensable(
    residents: Sequence[RatedEntry],
    newcomers: Collection[str],
    config: Curation,
    taxonomy_major: int,
    stale: Collection[str] = (),
) -> tuple[str, ...]:
    """The ``newcomers`` among the ``residents`` that prune would remove, until it suggests none of them any more.

    All others stay, and count.  So R keeps every floor, pin and combination, and every champion at or above the bar.
    ``stale`` newcomers stay too: what would be lost with them is unknown.
    """
    left = list(residents)
    gone: list[str] = []
    while True:
        immovable = {item.id for item in left if item.id not in newcomers or item.id in stale}
        found = [item.id for item in prune(left, config, taxonomy_major, lagging=immovable).suggestions]
        if not found:
            return tuple(gone)
        gone += found
        left = [item for item in left if item.id not in found]
