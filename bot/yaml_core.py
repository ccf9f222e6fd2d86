"""libyaml with the YAML 1.2 core schema, and with bounds on depth and aliases, for :mod:`bot.documents`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

from bot.errors import InputError, Problem
from bot.limits import ReadingLimits

_PREFIX = "tag:yaml.org,2002:"
_STRING = _PREFIX + "str"
_COLLECTIONS: dict[type[yaml.Node], str] = {yaml.SequenceNode: _PREFIX + "seq", yaml.MappingNode: _PREFIX + "map"}
_NUMBER = "-+.0123456789"
# Of each type: by which characters a plain scalar of it begins, and how it is written.
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


class CoreLoader(yaml.CSafeLoader):
    """libyaml's parser with the YAML 1.2 core schema."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> str:
        """The tag of a node that names none."""
        if kind is not yaml.ScalarNode:
            return _COLLECTIONS[kind]
        if implicit[0]:
            if not value:
                return _PREFIX + "null"
            for tag, pattern in _PLAIN_SCALARS.get(value[0], ()):
                if pattern.fullmatch(value):
                    return tag
        return _STRING

    # PyYAML resolves by path too; nobody here does, and it would be asked for every node.
    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Do nothing."""

    def ascend_resolver(self) -> None:
        """Do nothing."""


def load(text: str) -> Any:
    """The one document of ``text`` as plain data; raises :class:`yaml.YAMLError` or :class:`ValueError`.

    Only after :func:`check_shape`: this walks the nodes recursively.
    """
    loader = CoreLoader(text)
    try:
        node = loader.get_single_node()
        return None if node is None else _value(node)
    finally:
        loader.dispose()


def _value(node: yaml.Node) -> Any:
    build = _BUILDERS.get((type(node), node.tag))
    if build is None:
        raise _fault(f"the tag {node.tag!r} is not allowed", node)
    return build(node)


def _mapping(node: yaml.MappingNode) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if type(key_node) is not yaml.ScalarNode:
            raise _fault("a key is not a plain scalar", key_node)
        # Keys are names: `on:`, `200:` and `null:` are the strings people see.
        key = key_node.value
        if key in mapping:
            raise _fault(f"the key {key!r} is given twice", key_node)
        mapping[key] = _value(value_node)
    return mapping


def _integer(node: yaml.ScalarNode) -> int:
    text = str(node.value)
    return int(text, 0) if text.startswith(("0o", "0x")) else int(text)


def _number(node: yaml.ScalarNode) -> float:
    return float(str(node.value).lower().replace(".inf", "inf").replace(".nan", "nan"))


def _fault(message: str, node: yaml.Node) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, message, node.start_mark)


_BUILDERS: dict[tuple[type[yaml.Node], str], Callable[[Any], Any]] = {
    (yaml.ScalarNode, _STRING): lambda node: node.value,
    (yaml.ScalarNode, _PREFIX + "null"): lambda node: None,
    (yaml.ScalarNode, _PREFIX + "bool"): lambda node: node.value.lower() == "true",
    (yaml.ScalarNode, _PREFIX + "int"): _integer,
    (yaml.ScalarNode, _PREFIX + "float"): _number,
    (yaml.SequenceNode, _PREFIX + "seq"): lambda node: [_value(item) for item in node.value],
    (yaml.MappingNode, _PREFIX + "map"): _mapping,
}


def check_shape(text: str, file: str, limits: ReadingLimits) -> None:
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
                raise limits.too_deep(file, _line(event))
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


def problem_of(error: yaml.YAMLError, file: str) -> Problem:
    """The fault that libyaml found, in our words."""
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
