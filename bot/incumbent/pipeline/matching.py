"""Which queries are already decided, which edit an entry, and which are new (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from incumbent.curator.entry import Entry, Tombstone, entry_id
from incumbent.curator.store import RegressionSet
from incumbent.intake.expectation import stated_calls
from incumbent.intake.query import Query
from incumbent.pipeline.submission import Submission
from incumbent.text.digests import digest

Content: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...] | None]
"""The content of a query: its turns, the names of its attachments, and the tools that are expected to be called.

The tools are ``None`` if the eval set does not say.  All of these decide what the query exercises.
"""


@dataclass(frozen=True, kw_only=True)
class MatchedQueries:
    """What is known of queries, by name.

    ``settled`` has the entry or tombstone of queries whose content is in R, on the waitlist, or was evicted; ``edited``
    the entry in R of those with other content now; ``targets`` the id that each of the others would get.
    """

    settled: Mapping[str, Entry | Tombstone]
    edited: Mapping[str, Entry]
    targets: Mapping[str, str]

    @property
    def entries(self) -> Mapping[str, str]:
        """The entry id of each query: of the record that decides it, or the one that it would get."""
        return {**{name: record.id for name, record in self.settled.items()}, **self.targets}


def settle(submissions: Sequence[Submission], regression_set: RegressionSet) -> MatchedQueries:
    """Compare ``submissions`` with the records of the same agents in ``regression_set``.

    The text takes precedence over the name: queries that swapped their names were only renamed.
    """
    known = regression_set.on_record
    settled: dict[str, Entry | Tombstone] = {}
    edited: dict[str, Entry] = {}
    targets: dict[str, str] = {}
    for submission in submissions:
        claimed: set[str] = set()
        left: list[Query] = []
        contents = {query.id: asked(query) for query in submission.queries}
        for query in submission.queries:
            id = _by_place(submission, query, regression_set)
            if id in known and content_of(known[id]) == contents[query.id]:
                settled[query.id] = known[id]
                claimed.add(id)
            else:
                left.append(query)
        texts = _by_text(submission, regression_set, claimed) if left else {}
        for query in left:
            renamed = texts.get(contents[query.id], [])
            if renamed:
                settled[query.id] = known[renamed[0]]
                claimed.add(renamed.pop(0))
        for query in left:
            if query.id in settled:
                continue
            id = _by_place(submission, query, regression_set)
            customer, agent, item = submission.source(query.id)
            while id in claimed:
                # Another query has this id now: append the text to the name, repeatedly for copies of the same text.
                item = " ".join([item, *query.turns])
                id = entry_id(customer, agent, item)
            targets[query.id] = id
            entry = regression_set.entries.get(id)
            if entry is not None:
                edited[query.id] = entry
    return MatchedQueries(settled=settled, edited=edited, targets=targets)


def in_line(found: MatchedQueries, regression_set: RegressionSet) -> dict[str, Entry]:
    """The waitlist entries of the queries that are ``found`` on the waitlist, without those that a person accepted.

    Accepted entries stay on the waitlist whatever their verdict becomes; the others leave it if they no longer earn a
    slot.
    """
    line = {name: regression_set.waiting.get(record.id) for name, record in found.settled.items()}
    return {name: entry for name, entry in line.items() if entry is not None and not entry.is_wanted}


def asked(query: Query) -> Content:
    """The content of ``query``."""
    return query.turns, query.setup.attachments, stated_calls(query.expected, len(query.turns))


def content_key(content: Content) -> str:
    """A digest of ``content``, to recognise a query whose turns were shown, perhaps cut or cleaned."""
    turns, attachments, calls = content
    return digest([turns, attachments] if calls is None else content)


def content_of(known: Entry | Tombstone) -> Content:
    """The content of an entry, also of an evicted one."""
    entry = known if isinstance(known, Entry) else known.entry
    return entry.turns, entry.setup.attachments, stated_calls(entry.expected, len(entry.turns))


def _by_place(submission: Submission, query: Query, regression_set: RegressionSet) -> str:
    """The id of the record from the same place, before or after a rename of its folder; else a new one."""
    places = [submission.source(query.id), submission.previous_source(query.id)]
    known = [regression_set.by_source[place] for place in places if place and place in regression_set.by_source]
    return known[0] if known else submission.entry_id(query.id)


def _by_text(submission: Submission, regression_set: RegressionSet, claimed: set[str]) -> dict[Content, list[str]]:
    """Content → this agent's ids without a query of the same name: of entries, of the waitlist, then of tombstones."""
    places = {place for place in ((submission.customer, submission.agent), submission.moved_from) if place is not None}
    theirs = [item for place in places for item in regression_set.by_agent.get(place, ())]
    found: dict[Content, list[str]] = {}
    for _, id, entry in sorted(theirs, key=lambda item: item[:2]):
        if id not in claimed:
            found.setdefault(content_of(entry), []).append(id)
    return found
