"""``when`` rules: JMESPath over the facts of a capability's source (semantics, section 2.1).

A rule is true, false, or null if the facts do not decide it.  Its fields and values are checked when it is compiled:
JMESPath treats a mistyped field as one that was not declared, and accepts values that no tool can have.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast

import jmespath
from jmespath.exceptions import JMESPathError, JMESPathTypeError
from jmespath.functions import Functions

from incumbent.errors import IncumbentError
from incumbent.taxonomy.model import Source
from incumbent.text.did_you_mean import did_you_mean

FACTS: Final = ("platform", "name", "auth_modes", "tools", "knowledge", "starters", "facts")
"""The fields of the normalised specification."""

TOOL_FACTS: Final = ("name", "protocol", "effect", "confirmation", "card", "auth")
"""The fields of a tool: of each item of ``tools``, or of the tool over which a ``tool`` rule is evaluated."""

STRUCTURE_FACTS: Final = ("user_turns", "attachments")
"""The counted facts of a query: user turns (≥ 1), and the kinds of attachments in the eval set (or null)."""

AUTH_MODES: Final = ("none", "api-key", "oauth", "sso", "other")
PROTOCOLS: Final = ("rest", "mcp", "local", "function")
EFFECTS: Final = ("read", "write", "unknown")
ATTACHMENT_KINDS: Final = ("image", "audio", "file")
"""All kinds of attachments."""

Kind: TypeAlias = Literal["mapping", "list", "text", "number", "boolean"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """The type of a part of the facts: a mapping with ``fields``, a list of ``items``, or a single value.

    Shapes are compared by identity: comparing contents would take exponential time for nested rules.

    ``name`` is its name in messages.  ``values`` are all possible values, if known; null is always possible.  ``None``
    in place of a shape means any type.
    """

    name: str
    kind: Kind
    fields: Mapping[str, Shape | None] = field(default_factory=dict)
    items: Shape | None = None
    values: tuple[str, ...] = ()


def _value(name: str, kind: Kind = "text", values: tuple[str, ...] = ()) -> Shape:
    return Shape(name=repr(name), kind=kind, values=values)


def _values(name: str, values: tuple[str, ...] = ()) -> Shape:
    """A list of texts."""
    items = Shape(name=f"an item of {name!r}", kind="text", values=values)
    return Shape(name=repr(name), kind="list", items=items)


_ONE_TOOL: Final = Shape(
    name="one tool",
    kind="mapping",
    fields={
        "name": _value("name"),
        "protocol": _value("protocol", values=PROTOCOLS),
        "effect": _value("effect", values=EFFECTS),
        "confirmation": _value("confirmation", "boolean"),
        "card": _value("card", "boolean"),
        "auth": _value("auth", values=AUTH_MODES),
    },
)
_OWN_FACTS: Final = Shape(name="'facts'", kind="mapping")
"""The facts under names of the platform's own; a value may be of any type."""

_ONE_SPECIFICATION: Final = Shape(
    name="the normalised specification",
    kind="mapping",
    fields={
        "platform": _value("platform"),
        "name": _value("name"),
        "auth_modes": _values("auth_modes", AUTH_MODES),
        "tools": Shape(name="'tools'", kind="list", items=_ONE_TOOL),
        # No fixed values: an unknown kind of knowledge keeps its own name.
        "knowledge": _values("knowledge"),
        "starters": _values("starters"),
        "facts": _OWN_FACTS,
    },
)
_ONE_STRUCTURE: Final = Shape(
    name="the structure of the query",
    kind="mapping",
    fields={
        "user_turns": _value("user_turns", "number"),
        "attachments": _values("attachments", ATTACHMENT_KINDS),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The facts over which the rules of a source are evaluated.

    ``inner`` are the fields of the items of its lists.  ``probes`` are sample facts of every possible kind.
    """

    shape: Shape
    inner: tuple[str, ...] = ()
    probes: tuple[Mapping[str, object], ...]

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.shape.name

    @property
    def fields(self) -> tuple[str, ...]:
        """Its own fields."""
        return tuple(self.shape.fields)


# Sample tools with every kind of value.
_TOOL: Final[dict[str, object]] = {
    "name": "a",
    "protocol": "rest",
    "effect": "read",
    "confirmation": None,
    "card": False,
    "auth": None,
}
_TOOLS: Final[tuple[dict[str, object], ...]] = (
    _TOOL,
    _TOOL | {"protocol": "mcp", "effect": "write", "confirmation": True, "card": True, "auth": "oauth"},
    _TOOL | {"protocol": "local", "effect": "unknown", "confirmation": False, "auth": "none"},
    _TOOL | {"protocol": "function", "effect": "write", "card": None, "auth": "api-key"},
)
# Sample specifications: nothing declared, everything declared absent, and each kind of value.
_SPECIFICATIONS: Final[tuple[Mapping[str, object], ...]] = tuple(
    {
        "platform": platform,
        "name": platform,
        "auth_modes": modes,
        "tools": tools,
        "knowledge": knowledge,
        "starters": ["a"] if platform else [],
        "facts": {},
    }
    for platform, modes, tools, knowledge in (
        ("", None, None, None),
        ("a", None, [], None),
        ("a", None, None, []),
        ("a", ["none"], [], []),
        ("a", ["api-key", "oauth", "other", "sso"], list(_TOOLS), ["files", "web-search"]),
        *(("a", ["oauth"], [tool], ["files"]) for tool in _TOOLS),
    )
)
_STRUCTURES: Final[tuple[Mapping[str, object], ...]] = tuple(
    {"user_turns": turns, "attachments": attachments}
    for turns in (1, 3)
    for attachments in (None, [], ["image"], ["audio"], ["file"], ["audio", "file", "image"])
)

_SPECIFICATION: Final = Subject(shape=_ONE_SPECIFICATION, inner=TOOL_FACTS, probes=_SPECIFICATIONS)
SUBJECTS: Final[Mapping[Source, Subject]] = {
    "spec": _SPECIFICATION,
    "tool": Subject(shape=_ONE_TOOL, probes=_TOOLS),
    "structure": Subject(shape=_ONE_STRUCTURE, probes=_STRUCTURES),
    "intent": _SPECIFICATION,
}
"""The facts for each source; the rule of an ``intent`` capability is a gate over the specification."""

CONDITIONS: Final[Mapping[Source, tuple[str, ...]]] = {
    "spec": ("contains(auth_modes, 'oauth')", "length(tools[?effect == 'write']) > `0`", "platform == 'x'"),
    "tool": ("effect == 'write'", "contains(name, 'x')", "card"),
    "structure": ("contains(attachments, 'image')", "user_turns > `1`"),
    "intent": ("contains(auth_modes, 'oauth')", "length(tools[?effect == 'write']) > `0`", "platform == 'x'"),
}
"""Example rules for each source."""
_OVER_TOOLS: Final[Mapping[Kind, str]] = {
    "list": "compare its items, as in contains(auth_modes, 'oauth') or length(tools[?effect == 'write']) > `0`",
    "text": "compare the text itself, as in platform == 'x' or contains(auth_modes, 'oauth')",
    "number": "compare the number itself, as in length(tools) > `1`",
    "boolean": "use it unchanged, as in length(tools[?card && !confirmation]) > `0`",
}
COMPARED: Final[Mapping[Source, Mapping[Kind, str]]] = {
    "spec": _OVER_TOOLS,
    "tool": {
        "list": "compare its items, as in contains([effect, auth], 'none')",
        "text": "compare the text itself, as in effect == 'write'",
        "number": "compare the number itself, as in length(name) > `1`",
        "boolean": "use it unchanged, as in card && !confirmation",
    },
    "structure": {
        "list": "compare its items, as in contains(attachments, 'image')",
        "text": "compare the text itself, as in contains(attachments, 'image')",
        "number": "compare the number itself, as in user_turns > `1`",
        "boolean": "use it unchanged, as in !contains(attachments, 'image')",
    },
    "intent": _OVER_TOOLS,
}
"""Example uses of a part of each kind in a rule of each source."""


_SHOWN_CHARACTERS: Final = 200
"""Maximum number of characters of a rule or its facts that a message quotes."""

_FUNCTIONS: Final = cast(Mapping[str, Any], Functions.FUNCTION_TABLE)


class RuleError(IncumbentError):
    """A rule that cannot be used; the taxonomy is at fault.

    ``message`` says what is wrong, ``fix`` how to correct it.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}\n    fix: {fix}")
        self.message = message
        self.fix = fix


@dataclass(frozen=True)
class Rule:
    """A compiled rule over the facts of ``source``, if given; ``own_facts`` are the own facts that it reads."""

    text: str
    source: Source | None
    own_facts: frozenset[str]
    _expression: Any = field(repr=False, compare=False)


def compile_rule(text: str, source: Source | None = None) -> Rule:
    """Compile the rule ``text`` over the facts of ``source``.

    Raises :class:`RuleError` if it is not valid JMESPath, or uses fields or values that the source does not have.
    Without a source every field is allowed, for a rule that was checked before.
    """
    try:
        with warnings.catch_warnings():
            # The library still accepts `abc` in backticks as a text, with a warning.
            warnings.simplefilter("error")
            expression = jmespath.compile(text)
    except Warning:
        raise RuleError("a text goes in backticks", "put texts in single quotes: 'oauth'") from None
    except JMESPathError as error:
        reason = _shortened(" ".join(str(error).split("\n")[0].split()).rstrip(":"))
        raise RuleError(f"the rule is not valid JMESPath: {reason}", "correct the expression (jmespath.org)") from None
    except RecursionError:
        raise _too_deep() from None
    nodes = list(_nodes(expression.parsed))
    made = _made(nodes)
    own = _own_facts(nodes)
    for node in nodes:
        if node["type"] == "function_expression":
            _check_function(str(node["value"]), len(node["children"]))
        elif node["type"] == "field" and source is None and not any(node is name for name in own):
            _check_name(str(node["value"]), SUBJECTS.values(), made, source)
    if source is not None:
        try:
            growth = _growth(expression.parsed)
            result = _Check(source, made).shape(expression.parsed, SUBJECTS[source].shape)
        except RecursionError:
            raise _too_deep() from None
        if growth > _MOST_GROWTH:
            raise RuleError("the rule puts together more and more of the same", "name each part once or twice")
        wholes = [node for node in nodes if node["type"] == "field" and node["value"] == "facts"]
        if len(own) < sum(not any(node is name for name in own) for node in wholes):
            raise RuleError("'facts' is used as a whole", "name each fact, as in facts.engine == 'spark'")
        if own and result is not None and result.kind != "boolean":
            # No sample has such facts, so that no sample would show it.
            raise _no_condition(f"a {result.kind}", source)
    return Rule(text, source, frozenset(str(name["value"]) for name in own), expression)


def evaluate(rule: Rule, facts: Mapping[str, object]) -> bool | None:
    """Evaluate ``rule`` over ``facts``, those of its source; ``None`` if they do not decide it.

    A null argument of a function that needs a value makes the whole rule null.  So does an own fact that is not
    declared, or whose type does not fit: it is the agent's choice.  Raises :class:`RuleError` for any other type error,
    and for a result that is neither true, false nor null.
    """
    declared = facts.get("facts")
    if rule.own_facts and not (isinstance(declared, Mapping) and rule.own_facts <= declared.keys()):
        return None
    try:
        return _evaluate(rule, facts)
    except RuleError:
        if rule.own_facts:
            return None
        raise


def _evaluate(rule: Rule, facts: Mapping[str, object]) -> bool | None:
    try:
        result = rule._expression.search(facts)
    except JMESPathTypeError as error:
        if error.actual_type == "null":
            return None
        raise RuleError(f"the rule fails: {_shortened(str(error))}", "hand each function what it takes") from None
    except (JMESPathError, ArithmeticError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, TypeError) and "NoneType" in str(error):
            # The library does not check the arguments of some functions.
            return None
        reason = _shortened(str(error))
        raise RuleError(f"the rule fails: {reason}", "correct the expression (jmespath.org)") from None
    if result is None or isinstance(result, bool):
        return result
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "a mapping", int: "a number", float: "a number"}
    raise _no_condition(kinds.get(type(result), "something else"), rule.source)


def _no_condition(kind: str, source: Source | None) -> RuleError:
    return RuleError(
        f"the rule gives {kind}; it must give true, false or null",
        f"compare it, for example {' or '.join(CONDITIONS[source or 'spec'])}",
    )


def probe(rule: Rule, source: Source) -> None:
    """Evaluate ``rule`` over the sample facts of ``source``; raises :class:`RuleError` if it fails for one of them."""
    for facts in SUBJECTS[source].probes:
        evaluate(rule, facts)


def _too_deep() -> RuleError:
    return RuleError("the rule is nested too deeply", "write a flatter expression")


def _check_name(name: str, subjects: Iterable[Subject], made: Collection[str], source: Source | None) -> None:
    """Refuse a field that neither the ``subjects`` have nor the rule itself has ``made``."""
    if name not in made and not any(name in (*each.fields, *each.inner) for each in subjects):
        raise _unknown_field(name, source)


def _unknown_field(name: str, source: Source | None) -> RuleError:
    subject = SUBJECTS[source or "spec"]
    if name in subject.inner:
        message = f"{name!r} is a field of one tool, and not of {subject.name}"
        fix = f"ask it of the tools, as in length(tools[?{_condition(name)}]) > `0`, or make it `source: tool`"
        return RuleError(message, fix)
    fields = f"use {', '.join(subject.fields)}" + (
        f", or of a tool {', '.join(subject.inner)}" if subject.inner else ""
    )
    for other, its in SUBJECTS.items():
        if name in its.fields:
            message = f"{name!r} is a field of {its.name} (`source: {other}`), and not of {subject.name}"
            return RuleError(message, f"{fields}; or make it `source: {other}`")
    message = f"{subject.name} has no field {_shown(name)}{did_you_mean(name, {*subject.fields, *subject.inner})}"
    if name in ("true", "false", "null"):
        return RuleError(message, f"write `{name}` in backticks for the value")
    return RuleError(message, f"{fields}; put texts in single quotes")


def _condition(name: str) -> str:
    """An example condition on the field ``name`` of a tool."""
    shape = SUBJECTS["tool"].shape.fields[name]
    if shape is None or shape.kind == "boolean":
        return name
    return f"{name} == {_shown(shape.values[0] if shape.values else 'x')}"


def _made(nodes: Iterable[Mapping[str, Any]]) -> set[str]:
    """The field names that a rule creates: the keys of the mappings in it."""
    found: set[str] = set()
    literals: list[object] = []
    for node in nodes:
        if node["type"] == "key_val_pair":
            found.add(str(node["value"]))
        elif node["type"] == "literal":
            literals.append(node["value"])
    while literals:
        value = literals.pop()
        if isinstance(value, dict):
            found.update(value)
            literals.extend(value.values())
        elif isinstance(value, list):
            literals.extend(value)
    return found


def _own_facts(nodes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The nodes that name an own fact: that of `engine` in `facts.engine`."""
    found = []
    for node in nodes:
        for whole, name in pairwise(node["children"]) if node["type"] == "subexpression" else ():
            while name["type"] == "index_expression":
                name = name["children"][0]
            if whole["type"] == name["type"] == "field" and whole["value"] == "facts":
                found.append(name)
    return found


_MOST_GROWTH: Final = 10_000
"""Maximum multiple of the facts that a rule may build: `[@, @]` piped thirty times would fill any memory."""


def _growth(node: Mapping[str, Any]) -> int:
    """An upper bound on the size of the result of ``node``, as a multiple of its input; literals count as 0."""
    kind = node["type"]
    inner = [_growth(child) for child in node["children"] if isinstance(child, dict)]
    if kind == "literal":
        return 0
    taken_together = kind in ("multi_select_dict", "multi_select_list") or (
        kind == "function_expression" and all(child["type"] != "expref" for child in node["children"])
    )
    if taken_together:
        return max(1, sum(inner))
    if kind in ("comparator", "or_expression", "and_expression"):
        return max(1, *inner)
    # Each part takes the result of the one before it.
    return math.prod(max(1, each) for each in inner)


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every node of a JMESPath syntax tree."""
    todo = [node]
    while todo:
        inner = todo.pop()
        yield inner
        todo.extend(child for child in inner["children"] if isinstance(child, dict))


_BOOLEAN: Final = Shape(name="the condition", kind="boolean")


def _compared(kind: Kind, source: Source) -> str:
    return COMPARED[source].get(kind, "compare one of its fields")


_RESULTS: Final[Mapping[str, Kind]] = {
    "contains": "boolean",
    "starts_with": "boolean",
    "ends_with": "boolean",
    "length": "number",
    "sum": "number",
    "avg": "number",
    "to_string": "text",
    "join": "text",
    "type": "text",
}
"""The result types of functions; those of missing functions depend on their arguments."""


class _Check:
    """Infers the shape of each part of a rule, and checks that its fields exist."""

    def __init__(self, source: Source, made: Collection[str]) -> None:
        self._source, self._subject, self._made = source, SUBJECTS[source], made

    def shape(self, node: Mapping[str, Any], at: Shape | None) -> Shape | None:
        """The shape of the result of ``node`` for an input of shape ``at``; raises :class:`RuleError` if impossible."""
        children = node["children"]
        match node["type"]:
            case "field":
                return self._field(str(node["value"]), at)
            case "identity" | "current":
                return at
            case "literal":
                return _literal_shape(node["value"])
            case "subexpression" | "index_expression" | "pipe":
                for child in children:
                    at = self.shape(child, at)
                return at
            case "index":
                return _items(at, self._source)
            case "slice":
                _items(at, self._source)
                return at
            case "flatten":
                whole = self.shape(children[0], at)
                items = _items(whole, self._source)
                return items if items is not None and items.kind == "list" else whole
            case "projection" | "filter_projection":
                items = _items(self.shape(children[0], at), self._source)
                for condition in children[2:]:
                    self.shape(condition, items)
                return _list_of(self.shape(children[1], items))
            case "value_projection":
                whole = self.shape(children[0], at)
                if whole is not None and whole.kind != "mapping":
                    raise RuleError(
                        f"{whole.name} is a {whole.kind}, which has no fields", _compared(whole.kind, self._source)
                    )
                return _list_of(self.shape(children[1], None))
            case "comparator":
                return self._comparison(str(node["value"]), children, at)
            case "function_expression":
                return self._function(str(node["value"]), children, at)
            case "multi_select_dict":
                fields = {str(child["value"]): self.shape(child["children"][0], at) for child in children}
                return Shape(name="what the rule puts together", kind="mapping", fields=fields)
            case "multi_select_list":
                return _list_of(_common([self.shape(child, at) for child in children]))
            case "not_expression":
                self.shape(children[0], at)
                return _BOOLEAN
            case "expref":
                raise RuleError("`&` is where no function takes it", "write the expression without the `&`")
            case _:
                # `&&` and `||`: either side may be the result.
                return _common([self.shape(child, at) for child in children])

    def _field(self, name: str, at: Shape | None) -> Shape | None:
        if at is None:
            _check_name(name, [self._subject], self._made, self._source)
            return None
        if name in at.fields:
            return at.fields[name]
        if at is _OWN_FACTS:
            return None
        if at is self._subject.shape:
            raise _unknown_field(name, self._source)
        if at.kind != "mapping":
            raise RuleError(
                f"{at.name} is a {at.kind}, which has no field {_shown(name)}", _compared(at.kind, self._source)
            )
        message = f"{at.name} has no field {_shown(name)}{did_you_mean(name, at.fields)}"
        if name in self._subject.fields:
            message = f"{name!r} is a field of {self._subject.name}, and not of {at.name}"
        if name in ("true", "false", "null"):
            raise RuleError(message, f"write `{name}` in backticks for the value")
        raise RuleError(message, f"use {', '.join(at.fields)}; put texts in single quotes")

    def _comparison(self, operator: str, sides: list[Mapping[str, Any]], at: Shape | None) -> Shape:
        shapes = [self.shape(side, at) for side in sides]
        for shape, other in zip(shapes, reversed(sides), strict=True):
            if operator in ("eq", "ne"):
                _check_literal(shape, other, self._source)
            elif shape is not None and shape.kind != "number":
                message = f"{shape.name} is a {shape.kind}, and only numbers are more or less than another"
                fix = _compared("number", self._source).partition(", ")[2]
                raise RuleError(message, f"compare with == or !=; write a number in backticks, {fix}")
        return _BOOLEAN

    def _function(self, name: str, arguments: list[Mapping[str, Any]], at: Shape | None) -> Shape | None:
        for place, node in enumerate(arguments):
            _check_reference(name, place, node["type"] == "expref")
        values = [node for node in arguments if node["type"] != "expref"]
        shapes = [self.shape(node, at) for node in values]
        first = shapes[0] if shapes else None
        items = None if first is None else first.items
        results = [self.shape(node["children"][0], items) for node in arguments if node["type"] == "expref"]
        if name == "contains":
            other = shapes[-1]
            if first is not None and first.kind == "text" and other is not None and other.kind != "text":
                message = f"{first.name} is a text, and {other.name} is a {other.kind}, which no text contains"
                raise RuleError(message, "look for a text in it")
            _check_literal(items, values[-1], self._source)
            listed = values[0]["value"] if values[0]["type"] == "literal" else None
            for each in listed if isinstance(listed, list) else ():
                _check_literal(shapes[-1], {"type": "literal", "value": each}, self._source)
        if name in ("sort", "sort_by", "reverse"):
            return first
        if name in ("max", "min", "max_by", "min_by"):
            return items
        if name == "map":
            return _list_of(_common(results))
        return Shape(name=f"{name}()", kind=_RESULTS[name]) if name in _RESULTS else None


def _check_literal(shape: Shape | None, node: Mapping[str, Any], source: Source) -> None:
    """Refuse a comparison with a literal that ``shape`` can never equal."""
    if shape is None or node["type"] != "literal" or node["value"] is None:
        return
    value = node["value"]
    if _kind_of(value) == shape.kind and (not shape.values or value in shape.values):
        return
    message = f"{shape.name} is never {_shown(value)}"
    if shape.values:
        near = did_you_mean(value, shape.values) if isinstance(value, str) else ""
        raise RuleError(f"{message}{near}", f"use one of: {', '.join(map(repr, shape.values))}")
    raise RuleError(f"{message}: it is a {shape.kind}", _compared(shape.kind, source))


def _literal_shape(value: object) -> Shape | None:
    kind = _kind_of(value)
    return None if kind in (None, "list", "mapping") else Shape(name=_shown(value), kind=kind)


def _shown(value: object) -> str:
    """A literal as a rule writes it."""
    return repr(_shortened(value)) if isinstance(value, str) else f"`{_shortened(json.dumps(value))}`"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def _kind_of(value: object) -> Kind | None:
    kinds: dict[type, Kind] = {
        bool: "boolean",
        str: "text",
        int: "number",
        float: "number",
        list: "list",
        dict: "mapping",
    }
    return kinds.get(type(value))


def _items(at: Shape | None, source: Source) -> Shape | None:
    """The shape of the items of ``at``."""
    if at is None or at.kind == "list":
        return None if at is None else at.items
    raise RuleError(f"{at.name} is a {at.kind}, which has no items", _compared(at.kind, source))


def _list_of(items: Shape | None) -> Shape:
    return Shape(name="what the rule lists", kind="list", items=items)


def _common(shapes: list[Shape | None]) -> Shape | None:
    """The shape that all of ``shapes`` have; ``None`` if they differ."""
    return shapes[0] if shapes and all(shape is shapes[0] for shape in shapes) else None


def _check_reference(name: str, place: int, is_reference: bool) -> None:
    """Refuse an argument with `&` that must not have it, and one without `&` that needs it."""
    signature = _FUNCTIONS[name]["signature"]
    wanted = signature[min(place, len(signature) - 1)]["types"] == ["expref"]
    if is_reference and not wanted:
        raise RuleError(f"{name}() takes no expression with `&` there", "write the expression without the `&`")
    if wanted and not is_reference:
        raise RuleError(f"{name}() takes an expression with `&` there", "write `&` before what it finds for each item")


def _check_function(name: str, arguments: int) -> None:
    """Refuse unknown functions: JMESPath looks one up only at its call, which `||` and `&&` may skip."""
    entry = _FUNCTIONS.get(name)
    if entry is None:
        known = ", ".join(sorted(_FUNCTIONS))
        raise RuleError(
            f"JMESPath has no function {_shown(name)}{did_you_mean(name, _FUNCTIONS)}", f"use one of: {known}"
        )
    signature = entry["signature"]
    variadic = bool(signature) and signature[-1].get("variadic", False)
    if arguments < len(signature) or (arguments > len(signature) and not variadic):
        least = "at least " if variadic else ""
        message = f"{name}() takes {least}{len(signature)} arguments, not {arguments}"
        raise RuleError(message, "hand it what it takes")
