"""YAML and JSON from outside, as plain data that remembers its lines.

Reading is defensive: sizes, depth, aliases and duplicate keys are checked before anybody sees the data, and every
fault becomes a :class:`~bot.errors.Problem` with file, line and fix.  YAML follows the 1.2 core schema (``on``, ``yes``
and ``12:30`` are strings; time stamps stay strings), because that is what :mod:`ruamel.yaml` writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, cast

import yaml

from bot.errors import InputError, Problem
from bot.json_places import Place
from bot.json_places import find_places as find_json_places
from bot.json_strict import JsonFaultsError
from bot.json_strict import check_shape as check_json_shape
from bot.json_strict import load as load_json
from bot.limits import MOST_FAULTS, ReadingLimits
from bot.parsed_once import parsed_once
from bot.yaml_core import ValueFaultsError, check_shape, problem_of
from bot.yaml_core import load as load_yaml
from bot.yaml_places import find_places as find_yaml_places

Data: TypeAlias = "bool | int | float | str | list[Data] | dict[str, Data] | None"
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A parsed file, or a part of one: ``data`` is plain Python, ``line`` finds the line of a value again.

    ``first_line`` is where ``text`` begins in its file.
    """

    file: str
    text: str
    data: Data
    is_json: bool = False
    first_line: int = 1

    # Only error paths and row numbers need lines, so the second parse is paid for only there.
    @cached_property
    def _places(self) -> Place | None:
        try:
            return find_json_places(self.text) if self.is_json else find_yaml_places(self.text)
        except yaml.YAMLError:
            return None

    def line(self, path: Path = ()) -> int | None:
        """The line (from 1) of the value at ``path``, or of its nearest ancestor that exists."""
        if self.is_json and not path:
            # Asked of every record: no second parse for that.
            return self.first_line + self.text[: len(self.text) - len(self.text.lstrip())].count("\n")
        place = self._places
        if place is None:
            return None
        for step in path:
            inner = place.child(step)
            if inner is None:
                break
            place = inner
        return place.line + self.first_line - 1

    def problem(self, path: Path, message: str, fix: str) -> Problem:
        """A problem of this file at the value under ``path``."""
        return Problem(self.file, self.line(path), message, fix)


def decode(content: bytes, file: str, limits: ReadingLimits) -> str:
    """UTF-8 text (with or without a byte order mark) within the size limit; raises :class:`InputError`."""
    if len(content) > limits.file_bytes:
        raise limits.too_large(file, len(content))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            [Problem(file, line, "the file is not valid UTF-8", "save the file with the encoding UTF-8")]
        ) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError(
            [Problem(file, line, "the file holds a NUL character", "save the file as plain text, encoded as UTF-8")]
        )
    return text


@parsed_once
def parse_yaml(content: bytes, file: str, limits: ReadingLimits) -> Document:
    """Parse one YAML document; raises :class:`InputError` for anything that is not plain, bounded data."""
    text = decode(content, file, limits)
    try:
        check_shape(text, file, limits)
        data = cast(Data, load_yaml(text))
    except yaml.YAMLError as error:
        raise InputError([problem_of(error, file, text)]) from None
    except ValueFaultsError as error:
        raise InputError(error.problems(file)) from None
    except RecursionError:
        raise _beyond_reading(file) from None
    return Document(file, text, data)


def _beyond_reading(file: str) -> InputError:
    """The error for values that no parser follows; only limits that are set far too high let them come so far."""
    message = "the values are nested more deeply than can be read"
    return InputError([Problem(file, None, message, "flatten the file")])


@parsed_once
def parse_json(content: bytes, file: str, limits: ReadingLimits) -> Document:
    """Parse one JSON document; duplicate keys, ``NaN`` and ``Infinity`` are errors (:class:`InputError`)."""
    return parse_json_text(decode(content, file, limits), file, limits)


def parse_json_text(text: str, file: str, limits: ReadingLimits, first_line: int = 1) -> Document:
    """Parse JSON that begins at ``first_line`` of ``file``, as a line of JSON Lines does (see :func:`parse_json`)."""
    try:
        check_json_shape(text, file, limits)
        data = cast(Data, load_json(text))
    except InputError as error:
        raise InputError(_moved(error.problems, first_line)) from None
    except JsonFaultsError as error:
        raise InputError(_moved(error.problems(file, text), first_line)) from None
    except RecursionError:
        raise _beyond_reading(file) from None
    document = Document(file, text, data, is_json=True, first_line=first_line)
    if "\\ud" in text.lower():
        _refuse_half_characters(document)
    return document


def _moved(problems: Iterable[Problem], first_line: int) -> list[Problem]:
    """``problems`` of a text as those of the file in which it begins at ``first_line``."""
    return [replace(problem, line=problem.line and problem.line + first_line - 1) for problem in problems]


def _refuse_half_characters(document: Document) -> None:
    """Half of a surrogate pair is legal in JSON's grammar, but no text: it can be neither written nor hashed."""
    problems: list[Problem] = []
    todo: list[tuple[Path, Data]] = [((), document.data)]
    while todo and len(problems) < MOST_FAULTS:
        path, value = todo.pop()
        texts = [value] if isinstance(value, str) else list(value) if isinstance(value, dict) else []
        if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
            problems.append(
                document.problem(path, "a text holds half of a surrogate pair", "write the whole character")
            )
        if isinstance(value, dict):
            todo.extend(((*path, key), item) for key, item in value.items())
        elif isinstance(value, list):
            todo.extend(((*path, place), item) for place, item in enumerate(value))
    if problems:
        raise InputError(problems)


def parse(content: bytes, file: str, limits: ReadingLimits) -> Document:
    """Parse JSON or YAML, decided by the file's ending (``.json`` is JSON, anything else YAML)."""
    return parse_json(content, file, limits) if file.lower().endswith(".json") else parse_yaml(content, file, limits)


def as_mapping(value: object) -> Mapping[str, Data]:
    """``value`` if it is a mapping, else an empty one: for walking data whose shape others decide."""
    return cast(Mapping[str, Data], value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Data]:
    """``value`` if it is a list, else an empty one: for walking data whose shape others decide."""
    return value if isinstance(value, list) else []
