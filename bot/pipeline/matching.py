"""Which queries are settled, which edit an entry, and which are new (architecture: life of an eval set; pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bot.curator.entry import Entry, Tombstone, entry_id
from bot.curator.store import RegressionSet
from bot.intake.expected_calls import stated_calls
from bot.intake.query import Query
from bot.pipeline.submission import Submission
from bot.text.digests import digest

Content: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...] | None]
"""What a query asks: its turns, the names of what is attached to them, and the tools that are expected to be called
(``None``: the eval set does not say), since these decide what it exercises."""


@dataclass(frozen=True, kw_only=True)
class Settling:
    """What is known of queries, by name.

    ``settled`` holds the entry or tombstone of those whose content is in R, in line, or was evicted; ``edited`` the
    entry in R of those that ask something else by now; ``targets`` the id that each of the others would enter under.
    """

    settled: Mapping[str, Entry | Tombstone]
    edited: Mapping[str, Entry]
    targets: Mapping[str, str]

    @property
    def entries(self) -> Mapping[str, str]:
        """The id of the entry of each query: of the one that settles it, or that it would enter under."""
        return {**{name: record.id for name, record in self.settled.items()}, **self.targets}


def settle(submissions: Sequence[Submission], regression_set: RegressionSet) -> Settling:
    """Compare ``submissions`` with what ``regression_set`` holds of the same agents.

    The text decides before the name does: queries that trade their names were renamed, and nothing about them is new.
    """
    known = regression_set.on_record
    settled: dict[str, Entry | Tombstone] = {}
    edited: dict[str, Entry] = {}
    targets: dict[str, str] = {}
    for submission in submissions:
        claimed: set[str] = set()
        left: list[Query] = []
        for query in submission.queries:
            id = _by_place(submission, query, regression_set)
            if id in known and content_of(known[id]) == asked(query):
                settled[query.id] = known[id]
                claimed.add(id)
            else:
                left.append(query)
        texts = _by_text(submission, regression_set, claimed)
        for query in left:
            renamed = texts.get(asked(query), [])
            if renamed:
                settled[query.id] = known[renamed[0]]
                claimed.add(renamed.pop(0))
        for query in left:
            if query.id in settled:
                continue
            id = _by_place(submission, query, regression_set)
            customer, agent, item = submission.source(query.id)
            while id in claimed:
                # Its name is another's by now: what the text tells apart, the id has to; of a copy it tells it again.
                item = " ".join([item, *query.turns])
                id = entry_id(customer, agent, item)
            targets[query.id] = id
            entry = regression_set.entries.get(id)
            if entry is not None:
                edited[query.id] = entry
    return Settling(settled=settled, edited=edited, targets=targets)


def in_line(found: Settling, regression_set: RegressionSet) -> dict[str, Entry]:
    """The entries in line of the queries that are ``found`` settled by them, without those that a person wants in.

    These stay in line whatever their verdict becomes; the others leave it once they earn no slot any more.
    """
    line = {name: regression_set.waiting.get(record.id) for name, record in found.settled.items()}
    return {name: entry for name, entry in line.items() if entry is not None and not entry.is_wanted}


def asked(query: Query) -> Content:
    """What ``query`` asks."""
    return query.turns, query.setup.attachments, stated_calls(query.expected, len(query.turns))


def content_key(content: Content) -> str:
    """A digest of ``content``: by it a query is known again whose turns were shown, and so perhaps cut or cleaned."""
    turns, attachments, calls = content
    return digest([turns, attachments] if calls is None else content)


def content_of(known: Entry | Tombstone) -> Content:
    """What an entry asks, also one that was evicted."""
    entry = known if isinstance(known, Entry) else known.entry
    return entry.turns, entry.setup.attachments, stated_calls(entry.expected, len(entry.turns))


def _by_place(submission: Submission, query: Query, regression_set: RegressionSet) -> str:
    """The id of what came from where ``query`` stands, or stood before its folder was renamed; else a new one."""
    places = [submission.source(query.id), submission.former_source(query.id)]
    known = [regression_set.by_source[place] for place in places if place and place in regression_set.by_source]
    return known[0] if known else submission.entry_id(query.id)


def _by_text(submission: Submission, regression_set: RegressionSet, claimed: set[str]) -> dict[Content, list[str]]:
    """Content → this agent's ids that no query of the same name claims: of entries, of the line, then of graves."""
    places = {place for place in ((submission.customer, submission.agent), submission.moved_from) if place is not None}
    theirs = [item for place in places for item in regression_set.by_agent.get(place, ())]
    found: dict[Content, list[str]] = {}
    for _, id, entry in sorted(theirs, key=lambda item: item[:2]):
        if id not in claimed:
            found.setdefault(content_of(entry), []).append(id)
    return found
