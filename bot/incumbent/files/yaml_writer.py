"""Writes YAML with ruamel.yaml, which keeps people's comments, order and quotes."""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import CommentMark, YAMLError
from ruamel.yaml.tokens import CommentToken

from incumbent.errors import InputError, Problem
from incumbent.files.documents import parse_yaml
from incumbent.files.snapshot import ReadingLimits

HOUSE: Final = (2, 4, 2)
"""The indentation of mappings, of list items and of their dashes, as the bot writes them."""

_INDENTATIONS: Final = (HOUSE, (2, 2, 0), (4, 4, 2), (4, 2, 0), (4, 6, 4))


def round_trip(indentation: tuple[int, int, int] = HOUSE) -> YAML:
    """A reader and writer that keeps everything it does not change, and never wraps lines."""
    yaml = YAML()
    yaml.width = 4096
    yaml.preserve_quotes = True
    mapping, sequence, offset = indentation
    yaml.indent(mapping=mapping, sequence=sequence, offset=offset)
    yaml.representer.add_representer(type(None), _null)
    return yaml


def dumped(value: Any, yaml: YAML | None = None) -> str:
    """``value`` as YAML text."""
    stream = io.StringIO()
    (yaml or round_trip()).dump(value, stream)
    return stream.getvalue()


def amend(text: str, values: Mapping[str, Any]) -> str:
    """The YAML ``text`` with ``values`` set, mapping by mapping; all else is unchanged."""
    document = round_trip().load(text)
    _set(document, values)
    return dumped(document)


def _set(mapping: Any, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if not isinstance(value, Mapping):
            mapping[name] = value
            continue
        if not isinstance(mapping.get(name), dict):
            mapping[name] = CommentedMap()
        below = mapping[name]
        if not below and any(isinstance(item, Mapping) for item in value.values()):
            below.fa.set_block_style()
        elif not below:
            below.fa.set_flow_style()
        gap = _take_gap(mapping, name) if value.keys() - below.keys() else ""
        _set(below, value)
        _put_gap(mapping, name, gap)


def copy_key(mapping: Any, name: str, source: Mapping[str, Any]) -> None:
    """Set the key ``name`` of ``mapping`` to what ``source`` has, with the comment on its line; a new key goes last.

    Either may be plain or of ruamel.yaml.  Comments and empty lines below the line stay below it.
    """
    is_kept = isinstance(mapping, CommentedMap)
    gap = _take_gap(mapping, name if name in mapping else list(mapping)[-1]) if is_kept and mapping else ""
    mapping[name] = source[name]
    said = _token(source, name) if is_kept and isinstance(source, CommentedMap) else None
    if said is not None:
        own = said.value.partition("\n")[0]
        mapping.ca.items[name] = [None, None, CommentToken(f"{own}\n", CommentMark(0), None), None]
    _put_gap(mapping, name, gap)


def remove_key(mapping: Any, name: str) -> None:
    """Remove the key ``name`` with the comment on its line; comments and empty lines below it stay.

    They are lost where it is the first key.
    """
    if isinstance(mapping, CommentedMap):
        gap, place = _take_gap(mapping, name), list(mapping).index(name)
        if place:
            _put_gap(mapping, list(mapping)[place - 1], gap)
    del mapping[name]


def _last(mapping: Any, name: str) -> tuple[Any, str]:
    """The mapping and the key at which the text of ``mapping[name]`` ends."""
    below: Any = mapping[name]
    if isinstance(below, CommentedMap) and below and not below.fa.flow_style():
        return _last(below, list(below)[-1])
    return mapping, name


def _token(mapping: Any, name: str) -> Any:
    """The comments and empty lines between ``mapping[name]`` and the next key, if any."""
    return (mapping.ca.items.get(name) or [None, None, None])[2]


def _put_gap(mapping: Any, name: str, gap: str) -> None:
    """Put comments and empty lines after ``mapping[name]``."""
    if not gap:
        return
    holder, last = _last(mapping, name)
    token = _token(holder, last)
    if token is not None:
        token.value += gap
    else:
        holder.ca.items[last] = [None, None, CommentToken(f"\n{gap}", CommentMark(0), None), None]


def _take_gap(mapping: Any, name: str) -> str:
    """Remove the comments and empty lines after ``mapping[name]``, which ruamel.yaml stores with its last line."""
    token = _token(*_last(mapping, name))
    if token is None:
        return ""
    own, _, gap = token.value.partition("\n")
    token.value = f"{own}\n"
    return str(gap)


def edited(content: bytes, file: str, limits: ReadingLimits, change: Callable[[Any], None]) -> str:
    """The YAML of ``content`` after ``change``, which edits the data in place; all else is kept.

    Raises :class:`InputError` if the edited text would not mean the same as the edited data, for example because an
    alias shares a value between two places.
    """
    before = parse_yaml(content, file, limits)
    # The copy has no shared values, so that each place of an alias is changed by itself.
    wanted = json.loads(json.dumps(before.data))
    change(wanted)
    try:
        text = _edited(before.text, change)
        written = parse_yaml(text.encode("utf-8"), file, limits).data == wanted
    except (YAMLError, InputError, KeyError, ValueError):
        written = False
    if not written:
        message = (
            "the file cannot be edited without changing what else it says: it has anchors, aliases or merge keys, "
            "or keys that look like numbers or truth values"
        )
        fix = "write out aliases and merge keys, put such keys between quotes, and run this again"
        raise InputError([Problem(file, None, message, fix)])
    return ("\ufeff" if content.startswith(BOM_UTF8) else "") + text


def _edited(text: str, change: Callable[[Any], None]) -> str:
    plain = text.replace("\r\n", "\n")
    yaml = round_trip(_indentation(plain))
    data = yaml.load(plain)
    change(data)
    written = dumped(data, yaml)
    return written if plain == text else written.replace("\n", "\r\n")


# Several edits of one file begin with the same text.
@lru_cache(maxsize=4)
def _indentation(text: str) -> tuple[int, int, int]:
    """The indentation that reproduces most lines of ``text``."""
    best, fewest = HOUSE, None
    data = round_trip().load(text)
    for indentation in _INDENTATIONS:
        again = dumped(data, round_trip(indentation))
        if again == text:
            return indentation
        lost = (Counter(text.splitlines()) - Counter(again.splitlines())).total()
        if fewest is None or lost < fewest:
            best, fewest = indentation, lost
    return best


def _null(representer: Any, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")
