"""libyaml with the YAML 1.2 core schema, and with bounds on depth and aliases, for :mod:`bot.documents`."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, NoReturn

import yaml

from bot.errors import InputError, Problem
from bot.limits import ReadingLimits


class CoreLoader(yaml.CSafeLoader):
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
        CoreLoader.yaml_implicit_resolvers.setdefault(_key, []).append((_tag, re.compile(_pattern)))
CoreLoader.yaml_constructors = {
    "tag:yaml.org,2002:null": yaml.SafeLoader.construct_yaml_null,
    "tag:yaml.org,2002:bool": yaml.SafeLoader.construct_yaml_bool,
    "tag:yaml.org,2002:int": CoreLoader.construct_integer,
    "tag:yaml.org,2002:float": CoreLoader.construct_number,
    "tag:yaml.org,2002:str": yaml.SafeLoader.construct_yaml_str,
    "tag:yaml.org,2002:seq": CoreLoader.construct_plain_list,
    "tag:yaml.org,2002:map": CoreLoader.construct_plain_map,
    None: CoreLoader.refuse_tag,
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
