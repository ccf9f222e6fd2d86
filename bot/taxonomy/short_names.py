"""How people name a capability: its id, the end of its id, or its name, as long as only one is meant (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from bot.taxonomy.model import Taxonomy
from bot.text.did_you_mean import did_you_mean

_LONGEST_SHOWN: Final = 64


class UnknownCapabilityError(Exception):
    """Nobody can tell which capability is meant; its text says so, and what may have been."""


class ShortNames:
    """The capabilities of a taxonomy by all that people may call them."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy

    @cached_property
    def _meant(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = {}
        for capability in self._taxonomy.capabilities:
            for name in {*_ends(capability.id), _plain(capability.name)}:
                found.setdefault(name, {})[capability.id] = None
        # A whole id means its capability, whatever else ends so.
        ids = {_plain(id): (id,) for id in self._taxonomy.by_id}
        return {name: tuple(meant) for name, meant in found.items()} | ids

    def find(self, text: str, *, helpful: bool = True) -> str:
        """The id of the capability that ``text`` means; raises :class:`UnknownCapabilityError`.

        A ``helpful`` error says what may have been meant, which takes time to find.
        """
        meant = self._meant.get(_plain(text), ())
        if len(meant) == 1:
            return meant[0]
        shown = repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…")
        if meant:
            raise UnknownCapabilityError(f"{shown} may mean {' or '.join(meant)}: write the whole id")
        raise UnknownCapabilityError(f"the taxonomy has no capability {shown}{self._near(text) if helpful else ''}")

    def _near(self, text: str) -> str:
        said = _plain(text)
        near = did_you_mean(text, self._taxonomy.by_id) or did_you_mean(said, self._meant)
        within = [item.id for item in self._taxonomy.capabilities if said in _plain(item.name).split("-")]
        return near or (f"; perhaps you meant {within[0]!r}" if len(within) == 1 else "")


def is_end(text: str, id: str) -> bool:
    """Whether ``text`` is the ``id`` of a capability, or the end of it."""
    return _plain(text) in _ends(id)


def _ends(id: str) -> frozenset[str]:
    """What ``id`` ends in, whole parts at a time, and it itself."""
    parts = id.split(".")
    return frozenset(_plain(".".join(parts[place:])) for place in range(len(parts)))


def _plain(text: str) -> str:
    """``text`` without what people write in different ways: case, white space, hyphens."""
    return re.sub(r"[\s_-]+", "-", text.casefold()).strip("-")
