"""Conversations that came as messages: with what the agent had answered in between, they are one input."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from bot.export.item import Item
from bot.files.documents import Data, as_list, as_mapping

_ROLES: Final = frozenset({"system", "user", "assistant"})


def history(item: Item, key: str) -> list[Data] | None:
    """The messages under ``key`` of what was expected, if they are just the entry's turns with answers in between.

    Each has a role and a text, and nothing else: no file, image or tool call of a customer reaches a runner so.  The
    last is the user's, and is what is asked.
    """
    messages = as_list(as_mapping(item.expected).get(key))
    pairs = [(as_mapping(message).get("role"), as_mapping(message).get("content")) for message in messages]
    plain = all(role in _ROLES and isinstance(content, str) for role, content in pairs)
    said = tuple(content for role, content in pairs if role == "user")
    if not plain or said != item.turns or pairs[-1][0] != "user" or _has_two_users_in_a_row(pairs):
        return None
    return [{"role": role, "content": content} for role, content in pairs]


def _has_two_users_in_a_row(pairs: list[tuple[Data, Data]]) -> bool:
    roles = [role for role, _ in pairs if role != "system"]
    return any(one == other == "user" for one, other in pairwise(roles))
