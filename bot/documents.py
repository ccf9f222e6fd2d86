"""YAML and JSON from outside, as plain data that remembers its lines.

Reading is defensive: sizes, depth, aliases and duplicate keys are checked before anybody sees the data, and every
fault becomes a :class:`~bot.errors.Problem` with file, line and fix.  YAML follows the 1.2 core schema (``on``, ``yes``
and ``12:30`` are strings; time stamps stay strings), because that is what :mod:`ruamel.yaml` writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, TypeAlias, cast

import yaml

from bot.errors import InputError, Problem
from bot.json_places import Place, find_places

Data: TypeAlias = "bool | int | float | str | list[Data] | dict[str, Data] | None"
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """How much a single file may ask of a reader.

    ``file_bytes``: size of a file; ``nesting_depth``: mappings and sequences inside one another; ``nodes``: values in
    a file once aliases are expanded.
    """

    file_bytes: int
    nesting_depth: int
    nodes: int


@dataclass(frozen=True)
class Document:
    """A parsed file: ``data`` is plain Python, ``line`` finds the line of a value again."""

    file: str
    text: str
    data: Data
    is_json: bool = False

    # Only error paths and row numbers need lines, so the second parse is paid for only there.
    @cached_property
    def _tree(self) -> yaml.Node | None:
        try:
            return yaml.compose(self.text, Loader=_Loader)
        except (yaml.YAMLError, RecursionError):
            return None

    @cached_property
    def _places(self) -> Place:
        return find_places(self.text)

    def line(self, path: Path = ()) -> int | None:
        """The line (from 1) of the value at ``path``, or of its nearest ancestor that exists."""
        if self.is_json:
            place = self._places
            for step in path:
                inner = place.child(step)
                if inner is None:
                    break
                place = inner
            return place.line
        node = self._tree
        if node is None:
            return None
        line: int = node.start_mark.line + 1
        for step in path:
            key_line, found = _child(node, step)
            if found is None:
                return line
            node = found
            line = key_line
        return line

    def problem(self, path: Path, message: str, fix: str) -> Problem:
        """A problem of this file at the value under ``path``."""
        return Problem(self.file, self.line(path), message, fix)


def _child(node: yaml.Node, step: str | int) -> tuple[int, yaml.Node | None]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        child = node.value[step]
        return child.start_mark.line + 1, child
    return 0, None


class _Loader(yaml.CSafeLoader):
    """libyaml's parser with the YAML 1.2 core schema, and duplicate keys as errors."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own protocol

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        mapping: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key is not a plain scalar", key_node.start_mark)
            # Keys are names: `on:`, `200:` and `null:` are the strings people see.
            key = key_node.value
            if key in mapping:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice", key_node.start_mark
                )
            mapping[key] = self.construct_object(value_node, deep=True)
        return mapping

    def construct_plain_map(self, node: yaml.Node) -> dict[Hashable, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise yaml.constructor.ConstructorError(None, None, "a mapping was expected", node.start_mark)
        return self.construct_mapping(node)

    def construct_plain_list(self, node: yaml.Node) -> list[Any]:
        if not isinstance(node, yaml.SequenceNode):
            raise yaml.constructor.ConstructorError(None, None, "a list was expected", node.start_mark)
        return self.construct_sequence(node, deep=True)

    def construct_integer(self, node: yaml.Node) -> int:
        text = str(node.value)
        return int(text, 0) if text.startswith(("0o", "0x")) else int(text)

    def construct_number(self, node: yaml.Node) -> float:
        text = str(node.value).lower()
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))

    def refuse_tag(self, node: yaml.Node) -> NoReturn:
        raise yaml.constructor.ConstructorError(None, None, f"the tag {node.tag!r} is not allowed", node.start_mark)


_CORE_SCHEMA: tuple[tuple[str, str, str], ...] = (
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+.0123456789",
    ),
)
for _tag, _pattern, _first in _CORE_SCHEMA:
    for _character in _first:
        _key = "" if _character == "\0" else _character
        _Loader.yaml_implicit_resolvers.setdefault(_key, []).append((_tag, re.compile(_pattern)))
_Loader.yaml_constructors = {
    "tag:yaml.org,2002:null": yaml.SafeLoader.construct_yaml_null,
    "tag:yaml.org,2002:bool": yaml.SafeLoader.construct_yaml_bool,
    "tag:yaml.org,2002:int": _Loader.construct_integer,
    "tag:yaml.org,2002:float": _Loader.construct_number,
    "tag:yaml.org,2002:str": yaml.SafeLoader.construct_yaml_str,
    "tag:yaml.org,2002:seq": _Loader.construct_plain_list,
    "tag:yaml.org,2002:map": _Loader.construct_plain_map,
    None: _Loader.refuse_tag,
}


def decode(content: bytes, file: str, limits: ReadingLimits) -> str:
    """UTF-8 text (with or without a byte order mark) within the size limit; raises :class:`InputError`."""
    if len(content) > limits.file_bytes:
        raise InputError(
            [
                Problem(
                    file,
                    None,
                    f"the file has {len(content):,} bytes, more than the limit of {limits.file_bytes:,}",
                    "split the file, or raise limits.file_bytes in config/curation.yaml",
                )
            ]
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            [Problem(file, line, "the file is not valid UTF-8", "save the file with the encoding UTF-8")]
        ) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError([Problem(file, line, "the file holds a NUL character", "save the file as plain text")])
    return text


def parse_yaml(content: bytes, file: str, limits: ReadingLimits) -> Document:
    """Parse one YAML document; raises :class:`InputError` for anything that is not plain, bounded data."""
    text = decode(content, file, limits)
    try:
        _check_shape(text, file, limits)
        data = cast(Data, yaml.load(text, Loader=_Loader))  # noqa: S506 - _Loader is a restricted SafeLoader
    except yaml.YAMLError as error:
        raise InputError([_yaml_problem(error, file)]) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            [Problem(file, None, f"a value cannot be read: {error}", "write the value as a quoted string")]
        ) from None
    return Document(file, text, data)


def parse_json(content: bytes, file: str, limits: ReadingLimits) -> Document:
    """Parse one JSON document; duplicate keys, ``NaN`` and ``Infinity`` are errors (:class:`InputError`)."""
    text = decode(content, file, limits)
    _check_json_depth(text, file, limits)
    try:
        data = cast(Data, json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant))
    except json.JSONDecodeError as error:
        raise InputError(
            [Problem(file, error.lineno, f"not valid JSON: {error.msg}", "mend the JSON at this place")]
        ) from None
    except _JsonFaultError as fault:
        line = next(
            (number for number, row in enumerate(text.splitlines(), 1) if fault.needle in row and fault.seen(row)),
            None,
        )
        raise InputError([Problem(file, line, fault.message, fault.fix)]) from None
    except (ValueError, RecursionError) as error:
        raise InputError([Problem(file, None, f"not readable JSON: {error}", "write plain, shallow JSON")]) from None
    document = Document(file, text, data, is_json=True)
    if "\\ud" in text.lower():
        _refuse_half_characters(document)
    return document


def parse(content: bytes, file: str, limits: ReadingLimits) -> Document:
    """Parse JSON or YAML, decided by the file's ending (``.json`` is JSON, anything else YAML)."""
    return parse_json(content, file, limits) if file.lower().endswith(".json") else parse_yaml(content, file, limits)


class _JsonFaultError(Exception):
    def __init__(self, needle: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.needle, self.message, self.fix = needle, message, fix
        self._count = 0

    def seen(self, row: str) -> bool:
        """True at the row where the needle stands for the second time (for a constant: the first)."""
        self._count += row.count(self.needle)
        return self._count > 1 or not self.needle.startswith('"')


def _unique_keys(pairs: list[tuple[str, Data]]) -> dict[str, Data]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _JsonFaultError(json.dumps(twice), f"the key {twice!r} is given twice", "keep one of the two")
    return mapping


def _refuse_half_characters(document: Document) -> None:
    """Half of a surrogate pair is legal in JSON's grammar, but no text: it can be neither written nor hashed."""
    todo: list[tuple[Path, Data]] = [((), document.data)]
    while todo:
        path, value = todo.pop()
        texts = [value] if isinstance(value, str) else list(value) if isinstance(value, dict) else []
        if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
            raise InputError(
                [document.problem(path, "a text holds half of a surrogate pair", "write the whole character")]
            )
        if isinstance(value, dict):
            todo.extend(((*path, key), item) for key, item in value.items())
        elif isinstance(value, list):
            todo.extend(((*path, place), item) for place, item in enumerate(value))


def _refuse_constant(name: str) -> NoReturn:
    raise _JsonFaultError(name, f"{name} is not a JSON value", "write a number or null")


def _check_json_depth(text: str, file: str, limits: ReadingLimits) -> None:
    if text.count("[") + text.count("{") <= limits.nesting_depth:
        return
    depth = line = 0
    inside = False
    for match in re.finditer(r'\\.|["\[\]{}\n]', text):
        token = match.group()
        if token == '"':
            inside = not inside
        elif token == "\n":
            line += 1
        elif not inside and token in "[{":
            depth += 1
            if depth > limits.nesting_depth:
                raise InputError([_too_deep(file, line + 1, limits)])
        elif not inside and token in "]}":
            depth -= 1


def _too_deep(file: str, line: int, limits: ReadingLimits) -> Problem:
    return Problem(
        file,
        line,
        f"the values are nested deeper than {limits.nesting_depth}",
        "flatten the file, or raise limits.nesting_depth in config/curation.yaml",
    )


def _check_shape(text: str, file: str, limits: ReadingLimits) -> None:
    """Refuse deep nesting and exploding aliases before anything recursive runs.

    The event stream is flat, so walking it is safe at any depth; a file too small to break a limit is not walked.
    """
    openers = 1 + sum(text.count(opener) for opener in ("[", "{", "- ", "? ", "\n ", "\n-"))
    if openers <= limits.nesting_depth and "*" not in text:
        return
    sizes: dict[str, int] = {}
    open_anchors: list[tuple[str | None, int]] = []
    nodes = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_anchors.append((event.anchor, nodes))
            nodes += 1
            if len(open_anchors) > limits.nesting_depth:
                raise InputError([_too_deep(file, _line(event), limits)])
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_anchors.pop()
            if anchor is not None:
                sizes[anchor] = nodes - before
        elif isinstance(event, yaml.ScalarEvent):
            nodes += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            # An alias of a collection that is still open would make a cycle.
            if event.anchor not in sizes:
                raise InputError(
                    [
                        Problem(
                            file,
                            _line(event),
                            f"the alias *{event.anchor} refers to itself or to nothing",
                            "write the value out",
                        )
                    ]
                )
            nodes += sizes[event.anchor]
        if nodes > limits.nodes:
            raise InputError(
                [
                    Problem(
                        file,
                        _line(event),
                        f"the file holds more than {limits.nodes:,} values (aliases expanded)",
                        "split the file, write fewer aliases, or raise limits.nodes in config/curation.yaml",
                    )
                ]
            )


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1


def _yaml_problem(error: yaml.YAMLError, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    message = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    fix = {
        "a key is not a plain scalar": "write the key as a plain word",
    }.get(str(message), "mend the YAML at this place; quote text that holds ': ', '#', '[' or '{'")
    if "is given twice" in str(message):
        fix = "keep one of the two"
    if "is not allowed" in str(message):
        fix = "write plain data without tags"
    return Problem(file, None if mark is None else mark.line + 1, f"not valid YAML: {message}", fix)


def as_mapping(value: object) -> Mapping[str, Data]:
    """``value`` if it is a mapping, else an empty one: for walking data whose shape others decide."""
    return cast(Mapping[str, Data], value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Data]:
    """``value`` if it is a list, else an empty one: for walking data whose shape others decide."""
    return value if isinstance(value, list) else []
