"""``when`` rules: JMESPath over the normalised specification (semantics, section 2, specification path).

A rule is true, false, or null where the specification does not speak.  What a rule may name is checked when it is
compiled, since JMESPath takes a mistyped field for one that nobody declared.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
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
"""The fields of each of its tools."""

STRUCTURE_FACTS: Final = ("user_turns", "attachments")
"""What is counted in a query: its user turns (≥ 1), and the kinds of attachments that the eval set names (or null)."""

_FUNCTIONS: Final = cast(Mapping[str, Any], Functions.FUNCTION_TABLE)


class RuleError(IncumbentError):
    """A rule that cannot be used; the taxonomy is at fault.

    ``message`` says what is wrong, ``fix`` how to mend it.
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


def compile_rule(text: str) -> Rule:
    """The rule that ``text`` states; raises :class:`RuleError` for what is no JMESPath or names unknown things."""
    try:
        with warnings.catch_warnings():
            # The library still takes `abc` in backticks for a text, with a warning.
            warnings.simplefilter("error")
            expression = jmespath.compile(text)
    except Warning:
        raise RuleError("a text stands in backticks", "put texts in single quotes: 'oauth'") from None
    except JMESPathError as error:
        reason = " ".join(str(error).split("\n")[0].split()).rstrip(":")
        raise RuleError(f"the rule is not valid JMESPath: {reason}", "mend the expression (jmespath.org)") from None
    except RecursionError:
        raise RuleError("the rule is nested too deeply", "write a flatter expression") from None
    nodes = list(_walk(expression.parsed))
    made = {node["value"] for node in nodes if node["type"] == "key_val_pair"}
    for node in nodes:
        if node["type"] == "function_expression":
            _check_function(str(node["value"]), len(node["children"]))
        elif node["type"] == "field" and node["value"] not in {*FACTS, *TOOL_FACTS, *STRUCTURE_FACTS, *made}:
            raise _unknown_field(str(node["value"]))
    return Rule(text, expression)


def evaluate(rule: Rule, facts: Mapping[str, object]) -> bool | None:
    """Whether ``rule`` holds over ``facts`` (the normalised specification); ``None`` where they do not speak.

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
        raise RuleError(f"the rule fails: {error}", "mend the expression (jmespath.org)") from None
    if result is None or isinstance(result, bool):
        return result
    kinds: dict[type, str] = {str: "a text", list: "a list", dict: "a mapping", int: "a number", float: "a number"}
    kind = kinds.get(type(result), "something else")
    raise RuleError(
        f"the rule gives {kind}; it must give true, false or null",
        "compare it, for example length(tools[?card]) > `0`, contains(auth_modes, 'oauth') or platform == 'x'",
    )


def _unknown_field(name: str) -> RuleError:
    known = sorted({*FACTS, *TOOL_FACTS})
    message = f"the normalised specification has no field {name!r}{perhaps(name, known)}"
    if name in ("true", "false", "null"):
        return RuleError(message, f"write `{name}` in backticks for the value")
    fields = f"use one of {', '.join(FACTS)}, or of a tool {', '.join(TOOL_FACTS)}"
    return RuleError(message, f"{fields}; put texts in single quotes")


def _walk(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every node of a JMESPath syntax tree."""
    todo = [node]
    while todo:
        inner = todo.pop()
        yield inner
        todo.extend(child for child in inner["children"] if isinstance(child, dict))


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


# What probing evaluates a rule over: nothing declared, everything declared to be absent, and each kind of value.
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
PROBES: Final[tuple[Mapping[str, object], ...]] = tuple(
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What the rules of a source are evaluated over; ``probes`` are facts of every shape that it can have."""

    probes: tuple[Mapping[str, object], ...]


SUBJECTS: Final[Mapping[Source, Subject]] = {
    "spec": Subject(probes=PROBES),
    "tool": Subject(probes=_TOOLS),
    "structure": Subject(
        probes=tuple({"user_turns": turns, "attachments": kinds} for turns in (1, 3) for kinds in (None, ["image"]))
    ),
    "intent": Subject(probes=PROBES),
}
"""What the rules of each source are about."""


def probe(rule: Rule) -> None:
    """Evaluate ``rule`` over specifications of every shape; raises :class:`RuleError` if it fails for one of them."""
    for facts in PROBES:
        evaluate(rule, facts)
