"""Reads the user's turns and their attachments from lists of messages, which many formats have.

A message has a ``role`` and ``content``: a text, or a list of parts.  LangChain's forms of messages are read as well
(``type: human``; ``id`` and ``kwargs``).  Messages of other roles than the user are context, not turns.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Node, as_list, as_mapping, parse_json_text
from incumbent.files.snapshot import ReadingLimits

_USER: Final = frozenset({"user", "human"})
_OTHERS: Final = frozenset(
    {"system", "developer", "assistant", "ai", "model", "tool", "function", "chat", "critic", "discriminator", "remove"}
)
_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_ATTACHMENTS: Final = ("image", "input_image", "image_url", "audio", "input_audio", "video", "document", "file")
_JSON_MESSAGES: Final = re.compile(r'\[\s*\{\s*"|\{\s*"messages"')
_LIMITS: Final = ReadingLimits(file_bytes=1_000_000, nesting_depth=50, nodes=100_000)
_REFERENCES: Final = ("url", "uri", "path", "name", "filename", "file_id", "data", "file_data")


@dataclass(frozen=True, slots=True)
class UserTurns:
    """The user's ``turns`` in order, the names of their attachments; ``is_text``: there was nothing else."""

    turns: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    is_text: bool = False


def read_spoken(place: Node, problems: list[Problem]) -> UserTurns:
    """The user's turns at ``place``: a text, a list of texts or of messages, or a mapping with ``messages``.

    Messages may also be a list for each turn, as in BFCL, the Berkeley Function Calling Leaderboard.

    Adds faults to ``problems``.
    """
    if isinstance(place.data, str):
        return _written_out(place) or UserTurns((place.data,), is_text=True)
    if place["messages"].is_list:
        return _read_messages(place["messages"], place["messages"].items, problems)
    if place.is_list and place.items and all(isinstance(item.data, str) for item in place.items):
        return UserTurns(tuple(str(item.data) for item in place.items), is_text=True)
    if place.is_list:
        in_turns = any(map(is_messages, place.items)) and all(item.is_list for item in place.items)
        items = tuple(message for turn in place.items for message in turn.items) if in_turns else place.items
        return _read_messages(place, items, problems)
    message = f"{place.name}: must be a text or a list of messages"
    problems.append(place.problem(message, "write what the user says, in quotes"))
    return UserTurns()


def _written_out(place: Node) -> UserTurns | None:
    """The user's turns in messages that are JSON in a text, as in tables and files made from tables."""
    if not _JSON_MESSAGES.match(place.text):
        return None
    try:
        inner = Node(place.source, place.path, parse_json_text(place.text, str(place), _LIMITS).data)
    except InputError:
        return None
    if not is_messages(inner) and not has_messages(inner.data):
        return None
    problems: list[Problem] = []
    spoken = read_spoken(inner, problems)
    return None if problems else spoken


def is_messages(place: Node) -> bool:
    """Whether ``place`` is a list of messages."""
    return bool(place.items) and all(_role(item) is not None for item in place.items)


def _read_messages(place: Node, messages: tuple[Node, ...], problems: list[Problem]) -> UserTurns:
    turns: list[str] = []
    attachments: list[str] = []
    for message in messages:
        role = _role(message)
        if role is None:
            wrong = f"{message.name}: is no message of a known role"
            problems.append(message.problem(wrong, 'write `{"role": "user", "content": "..."}`'))
        elif role in _USER:
            text, attached = _content(_of(message, "content"), problems)
            turns.append(text)
            attachments.extend(attached)
    if not turns and not problems:
        fix = 'add one, such as `{"role": "user", "content": "..."}`'
        problems.append(place.problem(f"{place.name}: holds no message of the user", fix))
    return UserTurns(tuple(turns), tuple(attachments))


def _role(message: Node) -> str | None:
    """The role of ``message``, in lower case; ``None`` if it is not recognised as a message."""
    role = message["role"].text or message["type"].text
    if role == "constructor":
        # LangChain's own serialisation names the class: HumanMessage, AIMessage, …
        named = as_list(message["id"].data)
        role = str(named[-1]).removesuffix("Chunk").removesuffix("Message") if named else ""
    role = role.casefold()
    return role if role in _USER | _OTHERS else None


def _of(message: Node, key: str) -> Node:
    inner = message["kwargs"] if message["kwargs"].is_mapping else message["data"]
    return message[key] if message.has(key) or not inner.is_mapping else inner[key]


def _content(content: Node, problems: list[Problem]) -> tuple[str, list[str]]:
    """The text of a message's content, and the names of its attachments."""
    if isinstance(content.data, str):
        return content.data, []
    if not content.is_list:
        message = f"{content.name}: must be a text or a list of parts"
        problems.append(content.problem(message, "write what the user says, in quotes"))
        return "", []
    texts: list[str] = []
    attachments: list[str] = []
    for part in content.items:
        kind = part["type"].text
        if isinstance(part.data, str):
            texts.append(part.data)
        elif kind in _TEXTS or (not kind and part.has("text")):
            texts.append(str(part["text"].data or ""))
        elif kind in _ATTACHMENTS:
            attachments.append(_attachment(part, kind))
    text = "\n".join(texts)
    # A turn without text consists of the names of its attachments.
    return text if text.strip() or not attachments else f"[{', '.join(attachments)}]", attachments


def _attachment(part: Node, kind: str) -> str:
    """The name of the attachment ``part``; inline content is named by its kind, size and digest."""
    held = next((part[key] for key in (kind, kind.removeprefix("input_"), "image_url") if not part[key].absent), part)
    name = held.text or next((held[key].text for key in _REFERENCES if held[key].text), "") or kind
    if not name.startswith("data:") and len(name) <= 200:
        return name
    head, _, _ = name.partition(",")
    label = head.removeprefix("data:").partition(";")[0] if name.startswith("data:") else kind
    return f"{label[:80] or kind} ({len(name):,} characters, SHA-256 {hashlib.sha256(name.encode()).hexdigest()[:12]})"


def has_messages(data: object) -> bool:
    """Whether ``data`` is a mapping with a list of messages."""
    return any(isinstance(item, dict) for item in as_list(as_mapping(data).get("messages")))
