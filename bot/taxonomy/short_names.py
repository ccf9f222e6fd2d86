"""Short names of capabilities: the id, the end of the id, or the name, if it is unambiguous (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from bot.taxonomy.model import Taxonomy
from bot.text.did_you_mean import did_you_mean

_LONGEST_SHOWN: Final = 64


class UnknownCapabilityError(Exception):
    """A text means no capability, or several; the message suggests some."""


class ShortNames:
    """Finds the capabilities of a taxonomy by their short names."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy

    @cached_property
    def _meant(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = {}
        for capability in self._taxonomy.capabilities:
            for name in {*_ends(capability.id), _plain(capability.name)}:
                found.setdefault(name, {})[capability.id] = None
        # A full id always means its capability, even if other ids end with it.
        ids = {_plain(id): (id,) for id in self._taxonomy.by_id}
        return {name: tuple(meant) for name, meant in found.items()} | ids

    def find(self, text: str, *, helpful: bool = True) -> str:
        """The id of the capability that ``text`` means; raises :class:`UnknownCapabilityError`.

        A ``helpful`` error suggests capabilities, which takes time.
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
    """Whether ``text`` is the capability ``id``, or the end of it."""
    return _plain(text) in _ends(id)


def _ends(id: str) -> frozenset[str]:
    """``id`` and its ends, at the dots."""
    parts = id.split(".")
    return frozenset(_plain(".".join(parts[place:])) for place in range(len(parts)))


def _plain(text: str) -> str:
    """``text`` with case, white space and hyphens normalised."""
    return re.sub(r"[\s_-]+", "-", text.casefold()).strip("-")
