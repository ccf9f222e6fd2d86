"""Parses untrusted YAML, JSON and JSON Lines into plain data that remembers its lines, and nodes that walk it."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from threading import Lock
from typing import AnyStr, Final, TypeAlias, TypeVar, cast

import yaml

from incumbent.errors import InputError, Problem
from incumbent.files.json_reader import JsonPlace, size
from incumbent.files.json_reader import check_shape as check_json_shape
from incumbent.files.json_reader import find_places as find_json_places
from incumbent.files.json_reader import load as load_json
from incumbent.files.snapshot import MOST_FAULTS, ReadingLimits
from incumbent.files.yaml_reader import check_shape, problem_of
from incumbent.files.yaml_reader import find_places as find_yaml_places
from incumbent.files.yaml_reader import load as load_yaml

Result = TypeVar("Result")


def parsed_once(
    parse: Callable[[AnyStr, str, ReadingLimits], Result],
) -> Callable[[AnyStr, str, ReadingLimits], Result]:
    """``parse``, a pure function of a file's content, its name and the limits, with a cache of its results.

    The cache keeps one file of any size, and of the most recent files as many bytes as a file may have values, so that
    a folder of many large files does not fill the memory.  Results are shared: callers must not change them.
    """
    kept: OrderedDict[tuple[AnyStr, str, ReadingLimits], Result | tuple[Problem, ...]] = OrderedDict()
    lock = Lock()

    held = largest = 0

    def make_room(size: int, limits: ReadingLimits) -> None:
        nonlocal held, largest
        with lock:
            largest = max(largest, size)
            while held + size - largest > limits.nodes:
                oldest = _size(kept.popitem(last=False)[0])
                held -= oldest
                if oldest == largest:
                    largest = max([size, *map(_size, kept)])

    @wraps(parse)
    def once(content: AnyStr, file: str, limits: ReadingLimits) -> Result:
        nonlocal held
        asked = (content, file, limits)
        with lock:
            outcome = kept.pop(asked, None)
            held -= 0 if outcome is None else len(content)
        if outcome is None:
            make_room(len(content), limits)
            try:
                outcome = parse(content, file, limits)
            except InputError as error:
                outcome = error.problems
        with lock:
            held += 0 if asked in kept else len(content)
            kept[asked] = outcome
        if isinstance(outcome, tuple):
            raise InputError(outcome)
        return outcome

    return once


def _size(asked: tuple[AnyStr, str, ReadingLimits]) -> int:
    return len(asked[0])


Data: TypeAlias = "bool | int | float | str | list[Data] | dict[str, Data] | None"
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A parsed file, or a part of one: ``data`` is plain Python, ``line`` gives the line of a value.

    ``first_line`` is where ``text`` begins in its file.
    """

    file: str
    text: str
    data: Data
    is_json: bool = False
    first_line: int = 1

    # Only errors and row numbers need lines, so the second parse is lazy.
    @cached_property
    def _places(self) -> JsonPlace | None:
        try:
            return find_json_places(self.text) if self.is_json else find_yaml_places(self.text)
        except yaml.YAMLError:
            return None

    def line(self, path: Path = ()) -> int | None:
        """The line (from 1) of the value at ``path``, or of its nearest ancestor that exists."""
        if self.is_json and not path:
            # Every record needs this line, so it must not cost a second parse.
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
        """A problem of this file at the value at ``path``."""
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
            [Problem(file, line, "the file contains a NUL character", "save the file as plain text, encoded as UTF-8")]
        )
    return text


@parsed_once
def parse_yaml(content: bytes, file: str, limits: ReadingLimits) -> Document:
    """Parse one YAML document; raises :class:`InputError` for anything that is not plain, bounded data."""
    text = decode(content, file, limits)
    try:
        check_shape(text, file, limits)
        data = cast(Data, load_yaml(text, file))
    except yaml.YAMLError as error:
        raise InputError([problem_of(error, file, text)]) from None
    except RecursionError:
        raise _beyond_reading(file) from None
    return Document(file, text, data)


def _beyond_reading(file: str) -> InputError:
    """The error for values nested too deeply for the parser, which only happens if the limits are far too high."""
    message = "the values are nested more deeply than can be read"
    return InputError([Problem(file, None, message, "flatten the file")])


@parsed_once
def parse_json(content: bytes, file: str, limits: ReadingLimits) -> Document:
    """Parse one JSON document; duplicate keys, ``NaN`` and ``Infinity`` are errors (:class:`InputError`)."""
    return parse_json_text(decode(content, file, limits), file, limits)


def parse_json_text(text: str, file: str, limits: ReadingLimits, first_line: int = 1) -> Document:
    """:func:`parse_json` for a ``text`` that begins at ``first_line`` of ``file``, such as a line of JSON Lines."""
    try:
        check_json_shape(text, file, limits)
        data = cast(Data, load_json(text, file))
    except InputError as error:
        raise InputError(_moved(error.problems, first_line)) from None
    except RecursionError:
        raise _beyond_reading(file) from None
    document = Document(file, text, data, is_json=True, first_line=first_line)
    if "\\ud" in text.lower():
        _refuse_half_characters(document)
    return document


def _moved(problems: Iterable[Problem], first_line: int) -> list[Problem]:
    """``problems`` with lines of the file in which the text begins at ``first_line``."""
    return [replace(problem, line=problem.line and problem.line + first_line - 1) for problem in problems]


def _refuse_half_characters(document: Document) -> None:
    """Refuse lone surrogates: JSON's grammar allows them, but they cannot be encoded."""
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
    """``value`` if it is a mapping, else an empty one: for walking data of unknown shape."""
    return cast(Mapping[str, Data], value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Data]:
    """``value`` if it is a list, else an empty one: for walking data of unknown shape."""
    return value if isinstance(value, list) else []


_BROKEN_LINES: Final = 50
"""Reading stops after so many invalid lines: the file is hardly JSON Lines."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The values of a file in order, and the problems of its invalid lines."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


@parsed_once
def parse_json_lines(text: str, file: str, limits: ReadingLimits) -> Lines:
    """The values of ``text``; blank lines are skipped.

    ``limits.nodes`` applies to all lines together.  Each line counts as one more value, since it is parsed by itself.
    """
    documents: list[Document] = []
    problems: list[Problem] = []
    nodes = broken = 0
    # Only a line feed ends a line: other separators may be inside a string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            document = parse_json_text(line, file, limits, number)
        except InputError as error:
            problems.extend(error.problems)
            broken += 1
            if broken == _BROKEN_LINES:
                message = "too many lines cannot be read; what follows was not looked at"
                problems.append(Problem(file, number + 1, message, "write one JSON value a line"))
                break
            continue
        nodes += 1 + size(document.data)
        if nodes > limits.nodes:
            problems.extend(limits.too_many(file, number).problems)
            break
        documents.append(document)
    return Lines(tuple(documents), tuple(problems))


_PLAIN_KEY = re.compile(r"[\w$*-]+")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed file of a package; ``path`` is its path in the snapshot, the base of its references."""

    path: str
    document: Document

    @property
    def root(self) -> Node:
        """The whole document."""
        return Node(self, (), self.document.data)


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a file with its path; an absent value is ``None``, like JSON's ``null``."""

    source: Parsed
    path: Path
    data: Data

    def __getitem__(self, key: str) -> Node:
        """The value of ``key``; absent if there is none, or if this is not a mapping."""
        return Node(self.source, (*self.path, key), as_mapping(self.data).get(key))

    def __str__(self) -> str:
        """The place as messages show it: ``ai-plugin.json: runtimes[0].auth``."""
        return f"{self.source.document.file}: {self.name}" if self.path else self.source.document.file

    @property
    def name(self) -> str:
        """The path inside the file: ``runtimes[0].auth``."""
        text = ""
        for step in self.path:
            if isinstance(step, int):
                text += f"[{step}]"
            elif _PLAIN_KEY.fullmatch(step):
                text += f".{step}"
            else:
                text += f"['{step}']"
        return text.removeprefix(".")

    @property
    def absent(self) -> bool:
        """Whether the value is missing or ``null``."""
        return self.data is None

    @property
    def is_mapping(self) -> bool:
        """Whether the value is a mapping."""
        return isinstance(self.data, dict)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.data, list)

    @property
    def text(self) -> str:
        """The value if it is a string, without surrounding white space; empty otherwise."""
        return self.data.strip() if isinstance(self.data, str) else ""

    @property
    def items(self) -> tuple[Node, ...]:
        """The values of the list."""
        return tuple(Node(self.source, (*self.path, index), item) for index, item in enumerate(as_list(self.data)))

    @property
    def entries(self) -> tuple[tuple[str, Node], ...]:
        """The keys and values of the mapping, in the file's order."""
        return tuple((key, self[key]) for key in as_mapping(self.data))

    @property
    def line(self) -> int | None:
        """The line of the value in its file, from 1."""
        return self.source.document.line(self.path)

    def has(self, key: str) -> bool:
        """Whether the value is a mapping with ``key``, even if that value is ``null``."""
        return key in as_mapping(self.data)

    def problem(self, message: str, fix: str) -> Problem:
        """A problem at this place."""
        return self.source.document.problem(self.path, message, fix)
