"""``when`` rules: JMESPath over the facts of a capability's source (semantics, section 2.1).

A rule is true, false, or null where the facts do not say.  What a rule may name is checked when it is compiled, since
JMESPath takes a mistyped field for one that was not declared.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, cast

import jmespath
from jmespath.exceptions import JMESPathError, JMESPathTypeError
from jmespath.functions import Functions

from bot.errors import IncumbentError
from bot.suggest import perhaps
from bot.taxonomy.model import Source

FACTS: Final = ("platform", "name", "auth_modes", "tools", "knowledge", "starters")
"""The fields of the normalised specification."""

TOOL_FACTS: Final = ("name", "protocol", "effect", "confirmation", "card", "auth")
"""The fields of a tool: of each item of ``tools``, or of the one tool that a ``tool`` rule is about."""

STRUCTURE_FACTS: Final = ("user_turns", "attachments")
"""What is counted in a query: its user turns (≥ 1), and the kinds of attachments that the eval set names (or null)."""

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
    """A compiled rule."""

    text: str
    _expression: Any = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What the rules of a source are evaluated over.

    ``name`` is how messages call it.  ``fields`` are its own, ``inner`` those of the items of its lists.  ``probes``
    are facts of every shape that it can have.
    """

    name: str
    fields: tuple[str, ...]
    inner: tuple[str, ...] = ()
    probes: tuple[Mapping[str, object], ...]


def compile_rule(text: str, source: Source | None = None) -> Rule:
    """The rule that ``text`` states about the facts of ``source``.

    Raises :class:`RuleError` for what is no JMESPath, or names what that source does not have.  Without a source the
    rule may name every field: for one that was checked before.
    """
    try:
        with warnings.catch_warnings():
            # The library still takes `abc` in backticks for a text, with a warning.
            warnings.simplefilter("error")
            expression = jmespath.compile(text)
    except Warning:
        raise RuleError("a text stands in backticks", "put texts in single quotes: 'oauth'") from None
    except JMESPathError as error:
        reason = " ".join(str(error).split("\n")[0].split()).rstrip(":")
        raise RuleError(f"the rule is not valid JMESPath: {reason}", "correct the expression (jmespath.org)") from None
    except RecursionError:
        raise RuleError("the rule is nested too deeply", "write a flatter expression") from None
    nodes = list(_walk(expression.parsed))
    made = {str(node["value"]) for node, _ in nodes if node["type"] == "key_val_pair"}
    for node, at_root in nodes:
        if node["type"] == "function_expression":
            _check_function(str(node["value"]), len(node["children"]))
        elif node["type"] == "field":
            _check_field(str(node["value"]), source, made, at_root=at_root)
    return Rule(text, expression)


def evaluate(rule: Rule, facts: Mapping[str, object]) -> bool | None:
    """Whether ``rule`` holds over ``facts``, those of its source; ``None`` where they do not say.

    A function that is handed a null where it wants a value makes the whole rule null.  Raises :class:`RuleError` for
    any other error of types, and for a result that is neither true, false nor null.
    """
    try:
        result = rule._expression.search(facts)
    except JMESPathTypeError as error:
        if error.actual_type == "null":
            return None
        raise RuleError(f"the rule fails: {error}", "hand each function what it takes") from None
    except (JMESPathError, ArithmeticError, TypeError, ValueError, RecursionError) as error:
        raise RuleError(f"the rule fails: {error}", "correct the expression (jmespath.org)") from None
    if result is None or isinstance(result, bool):
        return result
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "a mapping", int: "a number", float: "a number"}
    kind = kinds.get(type(result), "something else")
    raise RuleError(
        f"the rule gives {kind}; it must give true, false or null",
        "compare it, for example length(tools[?card]) > `0`, contains(auth_modes, 'oauth') or platform == 'x'",
    )


def probe(rule: Rule, source: Source) -> None:
    """Evaluate ``rule`` over facts of every shape; raises :class:`RuleError` if it fails for one of them."""
    for facts in SUBJECTS[source].probes:
        evaluate(rule, facts)


def _check_field(name: str, source: Source | None, made: Collection[str], *, at_root: bool) -> None:
    """Refuse a field that the facts of ``source`` do not have; ``at_root``: it is asked of these facts themselves."""
    subjects = SUBJECTS.values() if source is None else (SUBJECTS[source],)
    known = {field for each in subjects for field in each.fields}
    if not at_root or source is None:
        known.update(made, *(each.inner for each in subjects))
    if name not in known:
        raise _unknown_field(name, source)


def _unknown_field(name: str, source: Source | None) -> RuleError:
    subject = SUBJECTS[source or "spec"]
    if name in subject.inner:
        message = f"{name!r} is a field of one tool, and not of {subject.name}"
        fix = f"ask it of the tools, as in length(tools[?{name} == 'x']) > `0`, or make it `source: tool`"
        return RuleError(message, fix)
    fields = f"use {', '.join(subject.fields)}" + (
        f", or of a tool {', '.join(subject.inner)}" if subject.inner else ""
    )
    for other, its in SUBJECTS.items():
        if name in its.fields:
            message = f"{name!r} is a field of {its.name} (`source: {other}`), and not of {subject.name}"
            return RuleError(message, f"{fields}; or make it `source: {other}`")
    message = f"{subject.name} has no field {name!r}{perhaps(name, {*subject.fields, *subject.inner})}"
    if name in ("true", "false", "null"):
        return RuleError(message, f"write `{name}` in backticks for the value")
    return RuleError(message, f"{fields}; put texts in single quotes")


# The types of nodes whose parts are all about what the node itself is about.  Of the others that is the first part
# alone: the next ones are about what the first gives.
_SAME: Final = frozenset(
    (
        "comparator",
        "or_expression",
        "and_expression",
        "not_expression",
        "multi_select_list",
        "multi_select_dict",
        "key_val_pair",
        "function_expression",
    )
)


def _walk(node: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Every node of a JMESPath syntax tree, and whether it is surely about the facts themselves."""
    todo = [(node, True)]
    while todo:
        inner, at_root = todo.pop()
        yield inner, at_root
        same = at_root and inner["type"] in _SAME
        first = at_root and inner["type"] != "expref"
        for place, child in enumerate(inner["children"]):
            if isinstance(child, dict):
                todo.append((child, same or (first and place == 0)))


def _check_function(name: str, arguments: int) -> None:
    """JMESPath itself looks up a function only when it is called, which `||` and `&&` may put off for ever."""
    entry = _FUNCTIONS.get(name)
    if entry is None:
        known = ", ".join(sorted(_FUNCTIONS))
        raise RuleError(f"JMESPath has no function {name!r}{perhaps(name, _FUNCTIONS)}", f"use one of: {known}")
    signature = entry["signature"]
    variadic = bool(signature) and signature[-1].get("variadic", False)
    if arguments < len(signature) or (arguments > len(signature) and not variadic):
        least = "at least " if variadic else ""
        message = f"{name}() takes {least}{len(signature)} arguments, not {arguments}"
        raise RuleError(message, "hand it what it takes")


# Tools of every kind of value.
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
# Nothing declared, everything declared to be absent, and each kind of value.
_SPECIFICATIONS: Final[tuple[Mapping[str, object], ...]] = tuple(
    {
        "platform": platform,
        "name": platform,
        "auth_modes": modes,
        "tools": tools,
        "knowledge": knowledge,
        "starters": ["a"] if platform else [],
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

_SPECIFICATION: Final = Subject(
    name="the normalised specification", fields=FACTS, inner=TOOL_FACTS, probes=_SPECIFICATIONS
)
SUBJECTS: Final[Mapping[Source, Subject]] = {
    "spec": _SPECIFICATION,
    "tool": Subject(name="one tool", fields=TOOL_FACTS, probes=_TOOLS),
    "structure": Subject(name="the structure of the query", fields=STRUCTURE_FACTS, probes=_STRUCTURES),
    "intent": _SPECIFICATION,
}
"""What the rules of each source are about; that of an ``intent`` capability is a gate over the specification."""
