"""Lists that an answer cuts: how many there are, and the first of them, since nobody reads hundreds in a chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, Field

from bot.curator.entry import Entry, Tombstone
from bot.mcp_server.untrusted import Marked, mark, mark_text

SHOWN: Final = 5
"""Items that stand beside a count."""


class Ids(BaseModel):
    """How many, and the first of them."""

    count: int = Field(ge=0)
    first: list[Marked]

    @staticmethod
    def of(ids: Sequence[str], most: int = SHOWN) -> Ids:
        """``ids`` for output, at most ``most`` of them by name."""
        return Ids(count=len(ids), first=[mark(id) for id in ids[:most]])


class Combinations(BaseModel):
    """How many combinations, and the first of them."""

    count: int = Field(ge=0)
    first: list[list[str]]

    @staticmethod
    def of(combinations: Sequence[Sequence[str]]) -> Combinations:
        """``combinations`` for output: a query of many capabilities has hundreds."""
        return Combinations(count=len(combinations), first=[list(names) for names in combinations[:SHOWN]])


class UnclassifiedRow(BaseModel):
    """A query without a verdict."""

    id: Marked
    why: Marked


class Unclassified(BaseModel):
    """Queries without a verdict; a further call goes on with these."""

    count: int = Field(ge=0)
    first: list[UnclassifiedRow]

    @staticmethod
    def of(shortfalls: Mapping[str, str]) -> Unclassified:
        """The queries that could not be classified, of each of which ``shortfalls`` says why."""
        rows = [UnclassifiedRow(id=mark(id), why=mark_text(why)) for id, why in list(shortfalls.items())[:SHOWN]]
        return Unclassified(count=len(shortfalls), first=rows)


class SettledRow(BaseModel):
    """A query whose entry says the same."""

    id: Marked
    entry: Marked = Field(description="the entry or tombstone that settles it")


class Settled(BaseModel):
    """Queries that an entry or a tombstone settles; they are not judged."""

    count: int = Field(ge=0)
    first: list[SettledRow]

    @staticmethod
    def of(settled: Mapping[str, Entry | Tombstone]) -> Settled:
        """The queries that are ``settled``, with what settles them."""
        rows = [SettledRow(id=mark(id), entry=mark(record.id)) for id, record in list(settled.items())[:SHOWN]]
        return Settled(count=len(settled), first=rows)
