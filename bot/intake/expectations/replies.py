"""The agent's texts and tool calls in lists of messages, which many formats use as the expected answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.files.documents import Data, as_list, as_mapping

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


def replies(messages: Data, turns: int) -> list[str | None]:
    """The agent's last text after each of the user's ``turns``; ``None`` for each if their number differs."""
    found: list[list[Data]] = []
    for item in as_list(messages):
        if _speaks(item, _USER):
            found.append([])
        elif found:
            found[-1].append(item)
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
