"""Reads and replaces the version in the text of a taxonomy file, in any form of YAML (pure)."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from bot.config import REVIEWED_FILES
from bot.errors import InputError, Problem
from bot.files.documents import as_mapping, parse_yaml

_KEY: Final = "version"
_VERSION: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def read_version(content: str | bytes) -> str | None:
    """The version in ``content``, which may be invalid after it; ``None`` without a version.

    Reading stops at the version, so it is fast for a file that has it at the top.
    """
    event = _version_event(content)
    return None if event is None or not _VERSION.fullmatch(event.value) else str(event.value)


def with_version(text: str, file: str, version: str) -> str:
    """The valid ``text`` of the taxonomy ``file`` with another version; all else stays byte for byte.

    Raises :class:`InputError` if that is impossible, for example because the version is an alias.
    """
    plain = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(plain)]
    event = _version_event(plain)
    if event is not None and event.value == version:
        return text
    if event is not None:
        # The value may have an anchor or a tag before it, and quotes around it.
        start = plain.rfind(event.value, _index(event.start_mark), _index(event.end_mark))
        written = plain[:start] + version + plain[start + len(event.value) :]
        if start >= 0 and _says(written, file) == {**_says(plain, file), _KEY: version}:
            return mark + written
    line = parse_yaml(plain.encode("utf-8"), file, REVIEWED_FILES).line((_KEY,))
    message = f"the version must become {version}, and it cannot be set without changing what else the file says"
    raise InputError([Problem(file, line, message, f"write `version: {version}`, and run this again")])


def _says(text: str, file: str) -> dict[str, object]:
    return dict(as_mapping(parse_yaml(text.encode("utf-8"), file, REVIEWED_FILES).data))


def _version_event(content: str | bytes) -> yaml.ScalarEvent | None:
    """The value of the top-level key ``version``, if it is a scalar."""
    depth, is_key, found = 0, True, False
    try:
        for event in yaml.parse(content, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.NodeEvent):
                scalar = event if isinstance(event, yaml.ScalarEvent) else None
                if depth == 0 and not isinstance(event, yaml.MappingStartEvent):
                    return None
                if depth == 1 and found:
                    return scalar
                if depth == 1:
                    found = is_key and scalar is not None and scalar.value == _KEY
                    is_key = not is_key
                if isinstance(event, yaml.CollectionStartEvent):
                    depth += 1
    except yaml.YAMLError:
        return None
    return None


def _index(mark: Any) -> int:
    """The position in the text, which libyaml gives for every event."""
    return int(mark.index)
