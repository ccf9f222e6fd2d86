"""Writing YAML with ruamel.yaml, so that comments, order and quoting of files that people edited survive."""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from bot.documents import parse_yaml
from bot.errors import InputError, Problem
from bot.limits import ReadingLimits

HOUSE: Final = (2, 4, 2)
"""How far mappings are indented, the items of lists, and the dashes of these: as we write them."""

_INDENTATIONS: Final = (HOUSE, (2, 2, 0), (4, 4, 2), (4, 2, 0), (4, 6, 4))


def round_trip(indentation: tuple[int, int, int] = HOUSE) -> YAML:
    """A reader and writer that keeps what it does not change, and breaks no line."""
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


def edited(content: bytes, file: str, limits: ReadingLimits, change: Callable[[Any], None]) -> str:
    """The YAML of ``content`` after ``change``, which edits plain data in place; all else as it stands, if it can be.

    Raises :class:`InputError` where the text cannot be edited so that it says what the plain data would say, as where
    an alias has one place speak for another.
    """
    before = parse_yaml(content, file, limits)
    # What aliases share is written out, so that each place is changed for itself.
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
        fix = "write out what stands for something else, put such keys between quotes, and run this again"
        raise InputError([Problem(file, None, message, fix)])
    return ("\ufeff" if content.startswith(BOM_UTF8) else "") + text


def _edited(text: str, change: Callable[[Any], None]) -> str:
    plain = text.replace("\r\n", "\n")
    yaml = round_trip(_indentation(plain))
    data = yaml.load(plain)
    change(data)
    written = dumped(data, yaml)
    return written if plain == text else written.replace("\n", "\r\n")


def _indentation(text: str) -> tuple[int, int, int]:
    """The way of indenting that gives back most lines of ``text``: it was written in that one, or nearly."""
    best, fewest = HOUSE, None
    for indentation in _INDENTATIONS:
        yaml = round_trip(indentation)
        again = dumped(yaml.load(text), yaml)
        if again == text:
            return indentation
        lost = (Counter(text.splitlines()) - Counter(again.splitlines())).total()
        if fewest is None or lost < fewest:
            best, fewest = indentation, lost
    return best


def _null(representer: Any, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")
