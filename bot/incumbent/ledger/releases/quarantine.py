"""Which entries people should be asked to quarantine, and whose quarantine could end (pure).

An offer is evidence for people and never a rule: nothing is quarantined, and no quarantine ends, unless they merge it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from incumbent.curator.entry import Entry
from incumbent.ledger.releases.history import EntryHistory, ReleaseOutcome, histories, outcomes_of
from incumbent.ledger.releases.record import ReleaseRecord, content_of
from incumbent.taxonomy.config import ResultSettings
from incumbent.text.compare import seconds
from incumbent.text.digests import digest

FLAPS: Final = "it flaps in release runs"
"""The reason that is offered.  A quarantine for another one is people's own: to end it is never offered."""

_DIGITS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineOffer:
    """What people are asked: to quarantine ``entry``, as it is in R now, or to end its quarantine (``ends``).

    ``outcomes`` are what the releases that count said of it, oldest first, and ``history`` sums them up: the last
    releases, or those of them ``since`` people refused this last.
    """

    entry: Entry
    ends: bool
    since: str | None
    outcomes: tuple[ReleaseOutcome, ...]
    history: EntryHistory

    @property
    def changed(self) -> Entry:
        """The entry as people are asked to make it."""
        return self.entry.model_copy(update={"quarantined": None if self.ends else FLAPS})

    @property
    def grounds(self) -> str:
        """The digest of what is asked: what a refusal refuses.

        It is another one for another text, and for releases since a refusal.
        """
        return digest([self.ends, self.entry.id, content_of(self.entry), self.since])[:_DIGITS]


@dataclass(frozen=True, slots=True)
class Others:
    """How many entries ran in a release beside one that shares a capability with them, and how many of them failed."""

    failed: int
    ran: int


def others_in(
    entry: Entry, entries: Mapping[str, Entry], records: Sequence[ReleaseRecord], apart: Collection[str]
) -> dict[str, Others]:
    """Release of ``records`` → what it says of the other ``entries`` that share a capability with ``entry``.

    Where these fail as well, the agent is what has changed.  Those ``apart``, which nearly all share, do not count.
    """
    own = entry.scores.keys() - apart
    kin = [item for id, item in entries.items() if id != entry.id and not own.isdisjoint(item.scores)]
    outcomes = [item for each in kin for item in outcomes_of(each, records) if item.ran]
    ran = Counter(item.release for item in outcomes)
    failed = Counter(item.release for item in outcomes if item.failed)
    return {record.release: Others(failed[record.release], ran[record.release]) for record in records}


def quarantine_offers(
    entries: Mapping[str, Entry],
    known: Mapping[str, EntryHistory],
    records: Sequence[ReleaseRecord],
    settings: ResultSettings,
    refused: Mapping[str, str],
) -> tuple[QuarantineOffer, ...]:
    """What people should be asked about ``entries``: first the quarantines that could end, then what changed most.

    An entry could be quarantined if it flaps and is not stable, and its quarantine could end once it is stable.
    ``known`` are the histories over ``records``, which are in order.  ``refused`` maps an entry to the time when people
    refused such an offer last: only later releases count for it.
    """
    found = []
    for id, entry in entries.items():
        history, since, last = known.get(id), refused.get(id), records[-settings.window :]
        if history is None or not _is_due(entry, history):
            continue
        if since is not None:
            last = [record for record in last if seconds(record.at) > seconds(since)]
            history = histories({id: entry}, last, settings)[id]
            if not _is_due(entry, history):
                continue
        found.append(
            QuarantineOffer(
                entry=entry,
                ends=entry.quarantined is not None,
                since=since,
                outcomes=tuple(item for item in outcomes_of(entry, last) if item.ran),
                history=history,
            )
        )
    changes = {item.entry.id: item.history.flips + item.history.mixed for item in found}
    return tuple(sorted(found, key=lambda item: (not item.ends, -changes[item.entry.id], item.entry.id)))


def _is_due(entry: Entry, history: EntryHistory) -> bool:
    """Whether people should be asked about ``entry``.  Fewer of the first releases never make it so."""
    if entry.quarantined is None:
        return history.flapping and not history.stable
    return entry.quarantined == FLAPS and history.stable
