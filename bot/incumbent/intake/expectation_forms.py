"""Forms in which formats write expectations: assertions of promptfoo, constraints of Vally, and messages of an agent.

Assertions of promptfoo count as an expected answer if they compare the whole answer with a text.  Assertions about a
part of it (``contains``, ``regex``, rubrics) do not.

Source: https://www.promptfoo.dev/docs/configuration/expected-outputs/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from incumbent.files.documents import Data, as_list, as_mapping

_SAME: Final = frozenset(
    {
        *("equals", "similar", "similar:cosine", "similar:dot", "similar:euclidean", "factuality"),
        *("model-graded-factuality", "levenshtein", "rouge-n", "bleu", "gleu", "meteor"),
    }
)
_USED: Final = "trajectory:tool-used"
_TOOLS_USED: Final = frozenset({_USED, "trajectory:tool-sequence", "tool-call-f1"})
_TOOL_WITH_ARGUMENTS: Final = "trajectory:tool-args-match"
_STEPS: Final = "trajectory:step-count"
_ANY: Final = "*"
"""A pattern that every tool matches."""
_OTHERS: Final = frozenset(
    {
        *(
            "agent-rubric",
            "answer-relevance",
            "classifier",
            "contains",
            "contains-all",
            "contains-any",
            "contains-html",
        ),
        *("contains-json", "contains-sql", "contains-xml", "context-faithfulness", "context-recall", "cost", "eval"),
        *("context-relevance", "conversation-relevance", "finish-reason", "fn", "g-eval", "grade", "guardrails"),
        *("icontains", "icontains-all", "icontains-any", "is-html", "is-json", "is-refusal", "is-sql", "is-xml"),
        *("is-valid-function-call", "is-valid-openai-function-call", "is-valid-openai-tools-call", "javascript"),
        *("latency", "llm-rubric", "model-graded-closedqa", "moderation", "perplexity", "perplexity-score", "pi"),
        *("python", "regex", "ruby", "search-rubric", "skill-used", "starts-with", "trajectory:goal-success"),
        *("trace-error-spans", "trace-span-count", "trace-span-duration", "webhook"),
        "word-count",
    }
)
_KINDS: Final = sorted(_SAME | _TOOLS_USED | _OTHERS | {_TOOL_WITH_ARGUMENTS, _STEPS}, reverse=True)
_TYPED: Final = re.compile(rf"(not-)?({'|'.join(_KINDS)})(?:\([\d.]+\))?(?::\s*(.*))?", re.DOTALL)
_VARIABLE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def asserted_answer(held: Mapping[str, Data]) -> str | None:
    """The first text with which an assertion compares the answer, with the variables of its test replaced."""
    variables = as_mapping(held.get("vars"))
    for kind, value in _assertions(held):
        if kind in _SAME and isinstance(value, str) and value.strip():
            text = _VARIABLE.sub(lambda match: _value_text(variables.get(match[1]), match[0]), value)
            if not _VARIABLE.search(text) and not text.startswith("file://"):
                return text
    return None


def asserted_calls(held: Mapping[str, Data]) -> Iterator[tuple[list[Data], bool]]:
    """The expected calls of each assertion, and whether they must not be made."""
    for kind, value in _assertions(held):
        unwanted = kind.startswith("not-")
        name = kind.removeprefix("not-")
        if name in _TOOLS_USED:
            inner = as_mapping(value)
            listed = next((inner[key] for key in ("steps", "tools") if key in inner), value)
            items = listed if isinstance(listed, list) else _split(listed, name)
            # `max: 0` means that it must not be called.
            refused = [unwanted or as_mapping(item).get("max") == 0 for item in items]
            for each in (False, True):
                yield [item for item, is_refused in zip(items, refused, strict=True) if is_refused is each], each
        elif name == _TOOL_WITH_ARGUMENTS:
            yield [value], unwanted
    constraints = as_mapping(held.get("constraints"))
    for key, unwanted in (("expect_tools", False), ("reject_tools", True)):
        yield as_list(constraints.get(key)), unwanted


def asserts_no_call(held: Mapping[str, Data]) -> bool:
    """Whether ``held`` says that no tool may be called: every tool is rejected, or no step may be a call."""
    if _ANY in as_list(as_mapping(held.get("constraints")).get("reject_tools")):
        return True
    return any(_refuses_all(kind, value) for kind, value in _assertions(held))


def _refuses_all(kind: str, value: Data) -> bool:
    """Whether an assertion rejects every tool call."""
    inner = as_mapping(value)
    if kind == f"not-{_USED}":
        return _ANY in (value, inner.get("pattern"))
    if inner.get("max") != 0 or inner.get("pattern", None if kind == _USED else _ANY) != _ANY:
        return False
    return kind == _USED or (kind == _STEPS and inner.get("type") == "tool")


def _split(value: Data, kind: str) -> list[Data]:
    """One tool, or the comma-separated names of ``tool-call-f1``."""
    if isinstance(value, str) and kind == "tool-call-f1":
        return [name.strip() for name in value.split(",")]
    return [value]


def _assertions(held: Mapping[str, Data]) -> Iterator[tuple[str, Data]]:
    """The kind and value of all assertions of a test, including those of sets and of the default test."""
    default = as_mapping(as_mapping(held.get("config")).get("defaultTest"))
    without = as_mapping(held.get("options")).get("disableDefaultAsserts") is True
    todo = [*as_list(held.get("assert")), *([] if without else as_list(default.get("assert")))]
    todo.reverse()
    while todo:
        item = as_mapping(todo.pop())
        if item.get("type") == "assert-set":
            todo.extend(reversed(as_list(item.get("assert"))))
        elif isinstance(item.get("type"), str):
            yield str(item["type"]), item.get("value")
    for key, cell in held.items():
        if key.startswith("__expected") and isinstance(cell, str) and cell.strip():
            yield _parsed(cell.strip())


def _parsed(cell: str) -> tuple[str, Data]:
    """The assertion in a cell: ``equals: text``; a text without a kind means ``equals``."""
    match = _TYPED.fullmatch(cell)
    if match is None:
        return "equals", cell
    return f"{match[1] or ''}{match[2]}", match[3]


def _value_text(value: Data, otherwise: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return otherwise
    return str(value)


_AGENT: Final = frozenset({"assistant", "ai", "model"})
_USER: Final = frozenset({"user", "human"})


_CONTENT: Final = ("content", "kwargs", "data", "tool_calls", "function_call")


def replied(value: Data) -> list[Data]:
    """The messages in ``value`` if one of them is an agent's, else none.

    They may be a list, a single one, under ``messages``, or in a model's response (``choices``, ``generations``).
    """
    match value:
        case {"messages": list(messages)}:
            found = messages
        case {"choices": list(choices)}:
            found = [as_mapping(item).get("message") for item in choices[:1]]
        case {"generations": [[dict(first), *_], *_]} | {"generations": [dict(first), *_]}:
            found = [first.get("message") or {"role": "assistant", "content": first.get("text")}]
        case list():
            found = value
        case _:
            found = [value]
    return found if any(_speaks(item, _AGENT) for item in found) else []


def reply_text(messages: Sequence[Data]) -> str | None:
    """The last text of an agent in ``messages``; ``None`` if it only calls tools."""
    texts = [text for item in messages if _speaks(item, _AGENT) and (text := _text(item))]
    return texts[-1] if texts else None


def reply_tool_calls(messages: Sequence[Data]) -> list[Data]:
    """The tool calls of agents in ``messages``, unchanged."""
    calls: list[Data] = []
    for item in messages:
        if _speaks(item, _AGENT):
            # LangChain repeats a call in the form of the provider.
            holders = (as_mapping(item), _inner(item), as_mapping(_held(item, "additional_kwargs")))
            several = next((many for held in holders if (many := as_list(held.get("tool_calls")))), [])
            one = next((call for held in holders if (call := as_mapping(held.get("function_call")))), None)
            calls += several or ([dict(one)] if one else [])
    return calls


def reply_turns(messages: Sequence[Data]) -> list[list[Data]]:
    """The ``messages`` after each of the user's."""
    found: list[list[Data]] = []
    for item in messages:
        if _speaks(item, _USER):
            found.append([])
        elif found:
            found[-1].append(item)
    return found


def replies(messages: Data, turns: int) -> list[str | None]:
    """The agent's last text after each of the user's ``turns``; ``None`` for each if their number differs."""
    found = reply_turns(as_list(messages))
    return [reply_text(said) for said in found] if len(found) == turns else [None] * turns


def _speaks(message: Data, roles: frozenset[str]) -> bool:
    """Whether the role of ``message`` is in ``roles``."""
    held = as_mapping(message)
    role = held.get("role") or held.get("type")
    if role == "constructor":
        named = as_list(held.get("id"))
        role = str(named[-1]).removesuffix("Chunk").removesuffix("Message") if named else ""
    spoken = isinstance(role, str) and role.strip().casefold() in roles
    return spoken and any(key in held for key in _CONTENT)


def _inner(message: Data) -> Mapping[str, Data]:
    held = as_mapping(message)
    return as_mapping(held.get("kwargs")) or as_mapping(held.get("data"))


def _held(message: Data, key: str) -> Data:
    held = as_mapping(message)
    return held[key] if key in held else _inner(message).get(key)


def _text(message: Data) -> str:
    content = _held(message, "content")
    if isinstance(content, str):
        return content if content.strip() else ""
    parts = [item if isinstance(item, str) else as_mapping(item).get("text") for item in as_list(content)]
    return "\n".join(part for part in parts if isinstance(part, str) and part.strip())
