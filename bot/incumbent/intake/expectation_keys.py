"""Which keys state expected tool calls: by the words of a key, not by a list of whole keys.

A key states calls that are expected if it has a word of expectation (*expected*, *required*, *reference*, *must*, …)
and one of tools (*tool*, *call*, *function*, *action*, *use*, *trajectory*), in any spelling: ``expected_tool_use``,
``expectedToolCalls``, ``must-call``.  One of the words may be in the key above it, as in ``expect: {tools: […]}``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final


@dataclass(frozen=True, slots=True)
class Role:
    """What a key says about the calls under it: that they are ``unwanted``, or that any of them will do.

    ``is_claim``: an empty list under it says that no tool is called; under *required* it demands nothing.  ``denies``:
    *false* under it says so.  ``is_plain``: it is about nothing but calls, so that *none* and *no* under it say so.
    """

    unwanted: bool = False
    alternatives: bool = False
    is_claim: bool = False
    denies: bool = False
    is_plain: bool = True


_CLAIM: Final = frozenset(
    {
        *("expect", "expects", "expected", "expecting", "expectation", "expectations", "reference", "references"),
        *("golden", "gold", "ideal", "correct", "desired", "truth", "target", "assert", "assertion", "assertions"),
        *("wanted", "intended", "optimal", "oracle", "gt"),
    }
)
_DEMAND: Final = frozenset(
    {
        *("require", "requires", "required", "requirement", "requirements", "must", "should"),
        *("need", "needs", "needed", "mandatory"),
    }
)
_TOOL: Final = frozenset(
    {
        *("tool", "tools", "call", "calls", "called", "function", "functions", "action", "actions"),
        *("trajectory", "trajectories", "invoke", "invoked", "invocation", "invocations"),
    }
)
_USE: Final = frozenset({"use", "uses", "used"})
_FORBIDDEN: Final = frozenset(
    {
        *("forbid", "forbids", "forbidden", "prohibit", "prohibited", "disallow", "disallowed", "unwanted"),
        *("unexpected", "avoid", "avoided", "banned", "deny", "denied", "reject", "rejected", "excluded"),
        *("blacklist", "blacklisted", "denylist", "blocked"),
    }
)
_NOT: Final = frozenset({"not", "never", "none", "no", "dont"})
_WRONG: Final = frozenset({"wrong", "incorrect", "bad", "invalid", "mistaken"})
_ALLOWED: Final = frozenset({"allow", "allowed", "permitted"})
_MODAL: Final = frozenset({"must", "should"})
_OPTIONAL: Final = frozenset({"optional", "optionally"})
_STATE: Final = frozenset({"status", "state", "expectation", "expected", "type", "kind", "requirement", "mode"})
"""Words of keys of a call under which a word says whether it must be made."""
_IMPERATIVE: Final = frozenset({"call", "use", "invoke"})
"""With *not* they forbid; *not called* may be what an agent did."""
_ANY: Final = frozenset({"any", "either", "alternatives", "acceptable", "one"})
_GROUP: Final = _CLAIM | _DEMAND | _TOOL | {"all", "names", "steps", "sequence", "ordered", "unordered", "list"}
_OTHER: Final = frozenset(
    {
        *("output", "outputs", "result", "results", "response", "responses", "answer", "answers", "text", "message"),
        *("messages", "arg", "args", "argument", "arguments", "param", "params", "parameter", "parameters", "input"),
        *("inputs", "count", "number", "num", "max", "min", "score", "rate", "threshold", "accuracy", "precision"),
        *("recall", "schema", "definition", "definitions", "description", "reason", "rationale", "comment", "notes"),
        *("type", "mode", "format", "cost", "user", "users", "case", "cases", "rubric", "criteria", "prompt", "query"),
        *("question", "available"),
    }
)
"""Words of keys that are about something of a call, or of something else."""
_RECORD: Final = frozenset(
    {
        *("actual", "predicted", "prediction", "predictions", "generated", "observed", "recorded", "executed", "made"),
        *("response", "responses", "output", "outputs", "completion", "completions", "trace", "traces", "log", "logs"),
        *("history", "message", "messages", "conversation", "transcript", "result", "results", "run", "runs", "sample"),
        *("called", "used", "available", "definition", "definitions"),
    }
)
"""Words of keys of what an agent did, or of the tools that there are."""
_DEED: Final = frozenset(
    {
        *("action", "actions", "invocation", "invocations", "taken", "reply", "replies", "said", "assistant"),
        *("agent", "bot", "context", "contexts", "background", "retrieved"),
    }
)
"""The same, but not below a word of expectation."""
_QUERY: Final = frozenset(
    {
        *("query", "question", "questions", "prompt", "prompts", "input", "inputs", "user", "request", "utterance"),
        *("instruction", "instructions", "turns", "vars", "data_mapping", "incumbent"),
    }
)
"""Keys or words of the query, and of what no customer wrote."""

_KNOWN: Final = (
    _CLAIM | _DEMAND | _TOOL | _USE | _FORBIDDEN | _NOT | _ANY | {"of", "be", "to", "name", "names", "ground", "list"}
)
_CONTAINING: Final = frozenset({"contain", "contains", "include", "includes", "mention", "mentions", "say", "says"})
_VOCABULARY: Final = sorted(_KNOWN, key=len, reverse=True)
_PART: Final = re.compile("|".join(_VOCABULARY))
_WHOLE: Final = re.compile(f"(?:{_PART.pattern})+")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_LONGEST_KEY: Final = 100


@lru_cache(maxsize=10_000)
def words_of(key: str) -> frozenset[str]:
    """The words of a ``key`` in any spelling, in lower case; those of a key without separators if all are known."""
    if len(key) > _LONGEST_KEY:
        return frozenset()
    words: set[str] = set()
    for word in map(str.casefold, _WORD.findall(key)):
        words.update(_PART.findall(word) if _WHOLE.fullmatch(word) else [word])
    return frozenset(words)


@lru_cache(maxsize=10_000)
def role_of(key: str, above: str = "") -> Role | None:
    """The role of ``key``, below the key ``above``; ``None`` if it states no calls."""
    own, outer = words_of(key), words_of(above)
    words = own | outer
    if own & _OTHER or own & (_RECORD - _TOOL - _USE) or (outer & _TOOL and outer & (_CLAIM | _DEMAND)):
        return None
    if not own & (_CLAIM | _DEMAND | _TOOL | _USE | _FORBIDDEN | _NOT | _WRONG):
        return None
    # `should_use_markdown` is about something else.
    is_about_calls = own <= _KNOWN
    is_tool = bool(words & _TOOL) or (bool(own & _USE) and not above and is_about_calls)
    unwanted = bool(words & _FORBIDDEN or own & _WRONG)
    unwanted = unwanted or bool(words & _NOT and words & (_CLAIM | _DEMAND | _IMPERATIVE | _ALLOWED))
    claims, demands = bool(words & _CLAIM), bool(words & _DEMAND)
    if not is_tool or not (claims or demands or unwanted or (own & _TOOL and is_alternative(key))):
        return None
    is_plain = is_about_calls and bool(words & _TOOL)
    denies = is_plain and not unwanted and (claims or bool(words & _MODAL))
    return Role(unwanted, is_alternative(key), claims and not unwanted, denies, is_plain)


def is_alternative(key: str) -> bool:
    """Whether ``key`` says that any of several calls will do: ``any_of``, ``expected_any_tool``."""
    own = words_of(key)
    return bool(own & _ANY) and ("one" not in own or bool(own & {"of", "least"})) and "order" not in own


@lru_cache(maxsize=10_000)
def group_role(key: str) -> Role | None:
    """The role of ``key`` in a value that states calls; ``None`` if it has none."""
    own = words_of(key)
    if own & _FORBIDDEN or own & _NOT:
        return Role(unwanted=True)
    if own & _OTHER:
        return None
    if is_alternative(key):
        return Role(alternatives=True)
    return Role(is_claim=not own & _DEMAND) if own & _GROUP else None


@lru_cache(maxsize=10_000)
def is_negative(word: str) -> bool:
    """Whether a key, or the kind of an assertion, forbids: ``tool_not_called``, ``must_not``, ``wrong_calls``."""
    return bool(words_of(word) & (_FORBIDDEN | _NOT | _WRONG))


@lru_cache(maxsize=10_000)
def is_about_texts(key: str) -> bool:
    """Whether ``key`` speaks of texts of an answer: ``wrong_answer``, ``must_not_contain``."""
    return bool(words_of(key) & (_OTHER | _CONTAINING))


def states_optional(key: str, value: object) -> bool:
    """Whether ``key`` of a call with its ``value`` says that it may be made: ``required: false``."""
    own = words_of(key)
    if isinstance(value, str):
        return bool(own & _STATE and words_of(value) & _OPTIONAL)
    return (value is False and bool(own & _DEMAND)) or (value is True and bool(own & _OPTIONAL))


def states_unwanted(key: str, value: object) -> bool:
    """Whether ``key`` of a call with its ``value`` says that it must not be made: ``forbidden: true``."""
    own = words_of(key)
    if isinstance(value, str):
        return bool(own & _STATE) and is_negative(value)
    return (value is True and is_negative(key)) or (value is False and bool(own & (_CLAIM | {"called", "call"})))


@lru_cache(maxsize=10_000)
def is_claimed(key: str) -> bool:
    """Whether ``key`` says that what is under it is all that is expected."""
    return bool(words_of(key) & _CLAIM)


@lru_cache(maxsize=10_000)
def is_expected(key: str) -> bool:
    """Whether ``key`` has a word of expectation, so that under it is no record."""
    return bool(words_of(key) & (_CLAIM | _DEMAND))


@lru_cache(maxsize=10_000)
def is_record(key: str, *, expected: bool = False) -> bool:
    """Whether under ``key`` is what an agent did or has, or the query itself; ``expected``: below a word of
    expectation.
    """
    if is_expected(key):
        return False
    words = words_of(key)
    return (
        bool(words & (_RECORD | _QUERY))
        or key in _QUERY
        or (not expected and bool(words & _DEED or words >= {"tool", "uses"}))
    )
