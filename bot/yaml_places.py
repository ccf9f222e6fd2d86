"""Where the values of a YAML text stand: the line of every key and item."""

from __future__ import annotations

import yaml

from bot.json_places import Place
from bot.yaml_core import is_merge, line_of


def find_places(text: str) -> Place | None:
    """The places of the values of ``text``, which is valid YAML; ``None`` if nothing stands there.

    Of keys that are given twice the first counts.  Made of the parser's events: its nodes take ten times the memory.
    """
    root = Place(0)
    path: list[_Open] = [_Open(root, is_mapping=False)]
    anchored: dict[str, Place] = {}
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            path.pop().end()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        line = line_of(event)
        if isinstance(event, yaml.AliasEvent):
            there = anchored[str(event.anchor)]
            path[-1].add(Place(line, there.members, there.items))
            continue
        place = Place(line)
        if event.anchor is not None:
            anchored[event.anchor] = place
        scalar = event if isinstance(event, yaml.ScalarEvent) else None
        path[-1].add(place, None if scalar is None else scalar.value, None if scalar is None else scalar.style)
        if isinstance(event, yaml.CollectionStartEvent):
            path.append(_Open(place, is_mapping=isinstance(event, yaml.MappingStartEvent)))
    return None if root.items is None else root.items[0]


class _Open:
    """A collection whose end was not seen yet."""

    def __init__(self, place: Place, *, is_mapping: bool) -> None:
        self._place, self._is_mapping = place, is_mapping
        self._key: tuple[str | None, str | None, int] | None = None
        self._merged: list[Place] = []

    def add(self, place: Place, text: str | None = None, style: str | None = None) -> None:
        """One more value, or the key of one; of a scalar there are its ``text`` and the ``style`` it is written in."""
        if not self._is_mapping:
            self._place.add_item(place)
        elif self._key is None:
            self._key = (text, style, place.line)
        else:
            (name, written, line), self._key = self._key, None
            if name is not None and is_merge(name, written):
                self._merged.append(place)
            elif name is not None:
                place.line = line
                self._place.add_member(name, place)

    def end(self) -> None:
        """Take over the members of what is merged; the mapping's own come first."""
        for place in self._merged:
            for each in (place, *(place.items or ())):
                for name, member in (each.members or {}).items():
                    self._place.add_member(name, member)
