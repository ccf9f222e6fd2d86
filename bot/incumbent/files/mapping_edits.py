"""Edits mappings in place, plain ones or those of ruamel.yaml, in which comments stay with their keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def rename_keys(mapping: dict[str, Any], names: Mapping[str, str]) -> None:
    """Rename keys of ``mapping``, all at once; each key keeps its position.

    A renamed key is dropped if its new name belongs to a key that is not renamed.
    """
    kept = {key for key in mapping if key not in names}
    if len(kept) < len(mapping):
        items = [(key, names.get(key, key), value) for key, value in mapping.items()]
        _rebuild(mapping, (item for item in items if item[0] in kept or item[1] not in kept))


def insert_key(mapping: dict[Any, Any], before: object, key: object, value: Any) -> None:
    """Insert ``key`` with ``value`` into ``mapping`` before the key ``before``."""
    items: list[tuple[object, object, Any]] = []
    for known, inner in mapping.items():
        if known == before:
            items.append((key, key, value))
        items.append((known, known, inner))
    _rebuild(mapping, items)


def _rebuild(mapping: dict[Any, Any], items: Iterable[tuple[object, object, Any]]) -> None:
    """Replace the content of ``mapping`` by ``items``: old key, new key, value."""
    comments = getattr(mapping, "ca", None)
    items = list(items)
    known = dict(comments.items) if comments is not None else {}
    for key in list(mapping):
        del mapping[key]
    for _, key, value in items:
        mapping[key] = value
    if comments is not None:
        comments.items.clear()
        comments.items.update({key: known[before] for before, key, _ in items if before in known})
