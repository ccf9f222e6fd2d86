"""Reads YAML: libyaml with YAML 1.2's core schema, limits on depth and aliases, and the line of every value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import yaml

from incumbent.errors import InputError, Problem
from incumbent.files.json_reader import JsonPlace
from incumbent.files.snapshot import MOST_FAULTS, ReadingLimits

_PREFIX = "tag:yaml.org,2002:"
_STRING = _PREFIX + "str"
_COLLECTIONS: dict[type[yaml.Node], str] = {yaml.SequenceNode: _PREFIX + "seq", yaml.MappingNode: _PREFIX + "map"}
_NUMBER = "-+.0123456789"
# For each type: the first characters of its plain scalars, and their pattern.
_CORE_SCHEMA: tuple[tuple[str, str, str], ...] = (
    ("null", "~nN", r"(?:~|null|Null|NULL)"),
    ("bool", "tTfF", r"(?:true|True|TRUE|false|False|FALSE)"),
    ("int", _NUMBER, r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)"),
    (
        "float",
        _NUMBER,
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))",
    ),
)


def _by_first_character() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    table: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for name, characters, pattern in _CORE_SCHEMA:
        for character in characters:
            table.setdefault(character, []).append((_PREFIX + name, re.compile(pattern)))
    return table


_PLAIN_SCALARS = _by_first_character()
# A message quotes at most so many characters of an invalid value.
_QUOTED = 40
_OTHER_VALUE = "write such a value, or put it between quotes"
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "false": False}
# An alias, or a line break that only YAML knows: with these, the shortcut of :func:`check_shape` does not apply.
_UNUSUAL = re.compile("[*\r\x85\u2028\u2029]")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class CoreLoader(yaml.CSafeLoader):
    """libyaml's parser with the YAML 1.2 core schema."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> str:
        """The tag of a node without an explicit tag."""
        if kind is not yaml.ScalarNode:
            return _COLLECTIONS[kind]
        if implicit[0]:
            if not value:
                return _PREFIX + "null"
            for tag, pattern in _PLAIN_SCALARS.get(value[0], ()):
                if pattern.fullmatch(value):
                    return tag
        return _STRING

    # PyYAML also resolves by path, for every node.  That is not used here.
    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Do nothing."""

    def ascend_resolver(self) -> None:
        """Do nothing."""


class _Faults(list[Problem]):
    """The invalid values of a ``file`` that is valid YAML otherwise."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file

    def note(self, node: yaml.Node, message: str, fix: str) -> None:
        """Add what is wrong with ``node``."""
        self.append(Problem(self.file, node.start_mark.line + 1, f"not valid YAML: {message}", fix))

    def note_tag(self, node: yaml.Node) -> None:
        """Add that ``node`` has a tag that is not allowed."""
        self.note(node, f"the tag {node.tag!r} is not allowed", "write plain data without tags")


def load(text: str, file: str) -> Any:
    """The one document of ``text`` as plain data; raises :class:`yaml.YAMLError` or :class:`InputError`.

    Call :func:`check_shape` first: this walks the nodes recursively.
    """
    loader = CoreLoader(text)
    try:
        node = loader.get_single_node()
    finally:
        loader.dispose()
    faults = _Faults(file)
    data = None if node is None else _value(node, faults)
    if faults:
        raise InputError(faults[:MOST_FAULTS])
    return data


def _value(node: yaml.Node, faults: _Faults) -> Any:
    """The value of ``node``; adds what is wrong to ``faults``, so that the other values are checked too."""
    build = _BUILDERS.get((type(node), node.tag))
    if build is None:
        faults.note_tag(node)
        build = _INSIDES.get(type(node), _none)
    try:
        return build(node, faults)
    except (ValueError, KeyError):
        kind = node.tag.removeprefix(_PREFIX)
        faults.note(node, f"{node.value[:_QUOTED]!r} is not a value of the type {kind}", _OTHER_VALUE)
        return None


def _sequence(node: yaml.SequenceNode, faults: _Faults) -> list[Any]:
    return [_value(item, faults) for item in node.value]


def _mapping(node: yaml.MappingNode, faults: _Faults) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    merges: list[dict[str, Any]] = []
    for key_node, value_node in node.value:
        value = _value(value_node, faults)
        if type(key_node) is not yaml.ScalarNode:
            faults.note(key_node, "a key is not a plain scalar", "write the key as a plain word")
            continue
        if key_node.tag != _STRING and (yaml.ScalarNode, key_node.tag) not in _BUILDERS:
            faults.note_tag(key_node)
        # Keys are names: `on:`, `200:` and `null:` are strings.
        key = key_node.value
        if is_merge(key, key_node.style):
            if merges:
                faults.note(key_node, "the key `<<` is given twice", "write `<<: [*one, *other]`")
            merges.append(_merged(value, key_node, faults))
            continue
        if key in mapping:
            faults.note(key_node, f"the key {key!r} is given twice", "keep one of the two")
        mapping[key] = value
    return {**merges[0], **mapping} if merges else mapping


def is_merge(key: str, style: str | None) -> bool:
    """Whether a key written in ``style`` is YAML's merge key: an unquoted ``<<``."""
    return key == "<<" and not style


def _merged(value: Any, node: yaml.Node, faults: _Faults) -> dict[str, Any]:
    """The keys that a merge key takes from one or several mappings; for equal keys the first mapping counts."""
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(each, dict) for each in found):
        message = "`<<` takes over the keys of a mapping, and this is none"
        faults.note(node, message, 'name a mapping, or write the key between quotes: "<<"')
        return {}
    merged: dict[str, Any] = {}
    for each in found:
        merged |= {key: inner for key, inner in each.items() if key not in merged}
    return merged


def _integer(node: yaml.ScalarNode, faults: _Faults) -> int:
    text = str(node.value)
    if not text.startswith(("0o", "0x")):
        return int(text)
    number = int(text, 0)
    # Python refuses to write out numbers of thousands of digits, and to read them unless they are hexadecimal.
    str(number)
    return number


def _number(node: yaml.ScalarNode, faults: _Faults) -> float:
    number = float(str(node.value).lower().replace(".inf", "inf").replace(".nan", "nan"))
    # JSON can only write finite numbers.
    if not math.isfinite(number):
        faults.note(node, f"{node.value[:_QUOTED]!r} is not a finite number", _OTHER_VALUE)
    return number


def _nothing(node: yaml.ScalarNode, faults: _Faults) -> None:
    if node.value not in _NULLS:
        raise ValueError


def _none(node: yaml.Node, faults: _Faults) -> None:
    """Nothing: the forbidden tag of this scalar is a fault already."""


_BUILDERS: dict[tuple[type[yaml.Node], str], Callable[[Any, _Faults], Any]] = {
    (yaml.ScalarNode, _STRING): lambda node, _: node.value,
    (yaml.ScalarNode, _PREFIX + "null"): _nothing,
    (yaml.ScalarNode, _PREFIX + "bool"): lambda node, _: _BOOLEANS[node.value.lower()],
    (yaml.ScalarNode, _PREFIX + "int"): _integer,
    (yaml.ScalarNode, _PREFIX + "float"): _number,
    (yaml.SequenceNode, _PREFIX + "seq"): _sequence,
    (yaml.MappingNode, _PREFIX + "map"): _mapping,
}
_INSIDES: dict[type[yaml.Node], Callable[[Any, _Faults], Any]] = {
    yaml.SequenceNode: _sequence,
    yaml.MappingNode: _mapping,
}


def check_shape(text: str, file: str, limits: ReadingLimits) -> None:
    """Refuse deep nesting and exploding aliases before anything recursive runs.

    The event stream is flat, so walking it is safe at any depth.  A file too small to break a limit is not walked.
    """
    # A bracket may open two levels: `[a: 1]` is a list with a mapping in it.
    openers = 1 + sum(map(text.count, ("[", "[", "{", "- ", "? ", "\n ", "\n-")))
    if openers <= limits.nesting_depth and len(text) <= limits.nodes and not _UNUSUAL.search(text):
        return
    # For each anchor, the number of values and of characters in its value.
    sizes: dict[str, tuple[int, int]] = {}
    open_anchors: list[tuple[str | None, int, int]] = []
    nodes = characters = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_anchors.append((event.anchor, nodes, characters))
            nodes += 1
            if len(open_anchors) > limits.nesting_depth:
                raise limits.too_deep(file, line_of(event))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, *before = open_anchors.pop()
            if anchor is not None:
                sizes[anchor] = (nodes - before[0], characters - before[1])
        elif isinstance(event, yaml.ScalarEvent):
            nodes += 1
            characters += len(event.value)
            if event.anchor is not None:
                sizes[event.anchor] = (1, len(event.value))
        elif isinstance(event, yaml.AliasEvent):
            # An alias of a collection that is still open would be a cycle.
            if event.anchor not in sizes:
                raise InputError(
                    [
                        Problem(
                            file,
                            line_of(event),
                            f"the alias *{event.anchor} refers to itself or to nothing",
                            "write the value out",
                        )
                    ]
                )
            nodes += sizes[event.anchor][0]
            characters += sizes[event.anchor][1]
        if nodes > limits.nodes:
            raise limits.too_many(file, line_of(event))
        if characters > limits.file_bytes:
            raise limits.too_long(file, line_of(event))


def line_of(event: yaml.Event) -> int:
    """The line (from 1) at which ``event`` begins."""
    return event.start_mark.line + 1 if event.start_mark is not None else 1


def problem_of(error: yaml.YAMLError, file: str, text: str) -> Problem:
    """The fault that libyaml found in ``text``, as a problem."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    # A collection that is never closed is reported after the last line.
    line = None if mark is None else min(mark.line, text.rstrip().count("\n")) + 1
    message = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    fix = "correct the YAML at this place; quote text that holds ': ', '#', '[' or '{'"
    if message == "but found another document":
        message, fix = "a second document begins here", "keep one document per file"
    elif message == "second occurrence":
        message, fix = "an anchor is given twice", "give one of the two another name"
    elif (forbidden := _FORBIDDEN.search(text)) is not None:
        line = text.count("\n", 0, forbidden.start()) + 1
        message = f"the character U+{ord(forbidden.group()):04X} is not allowed in a YAML file"
        fix = 'remove it, or write it as an escape such as "\\x07" between double quotes'
    return Problem(file, line, f"not valid YAML: {message}", fix)


def find_places(text: str) -> JsonPlace | None:
    """The places of the values of ``text``, which is valid YAML; ``None`` if it is empty.

    The first of two equal keys counts.  This uses the parser's events, since its nodes need ten times the memory.
    """
    root = JsonPlace(0)
    path: list[_Open] = [_Open(root, is_mapping=False)]
    anchored: dict[str, JsonPlace] = {}
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            path.pop().end()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        line = line_of(event)
        if isinstance(event, yaml.AliasEvent):
            there = anchored[str(event.anchor)]
            path[-1].add(JsonPlace(line, there.members, there.items))
            continue
        place = JsonPlace(line)
        if event.anchor is not None:
            anchored[event.anchor] = place
        scalar = event if isinstance(event, yaml.ScalarEvent) else None
        path[-1].add(place, None if scalar is None else scalar.value, None if scalar is None else scalar.style)
        if isinstance(event, yaml.CollectionStartEvent):
            path.append(_Open(place, is_mapping=isinstance(event, yaml.MappingStartEvent)))
    return None if root.items is None else root.items[0]


class _Open:
    """A collection that is still open."""

    def __init__(self, place: JsonPlace, *, is_mapping: bool) -> None:
        self._place, self._is_mapping = place, is_mapping
        self._key: tuple[str | None, str | None, int] | None = None
        self._merged: list[JsonPlace] = []

    def add(self, place: JsonPlace, text: str | None = None, style: str | None = None) -> None:
        """Add a value or a key; a scalar has its ``text`` and its ``style``."""
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
        """Add the members of merged mappings; the mapping's own members have precedence."""
        for place in self._merged:
            for each in (place, *(place.items or ())):
                for name, member in (each.members or {}).items():
                    self._place.add_member(name, member)
