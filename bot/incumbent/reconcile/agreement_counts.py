"""What people made of verdicts, counted: of files of events that were counted before only what is new (pure).

A response rests on the events on one content, whichever files they are in, and on what people did to its entry.  So
what is added to a file can change the responses on the contents that it speaks of, and on those of the entries that
people took out or brought back; the files that speak of these are read, and no others.  Where all is counted, events
are parsed a few files at a time, so that they take no more memory the more there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from incumbent.files.git import blob_id
from incumbent.ledger.agreement.agreement import Tally, tally_of
from incumbent.ledger.agreement.responses import responses_of
from incumbent.ledger.counted import (
    AgreementRecord,
    CountedFile,
    CountedFiles,
    counted_path,
)
from incumbent.ledger.event_files import contents_in, recorded_in
from incumbent.ledger.events import (
    Answered,
    Applied,
    ChangedByHand,
    Closed,
    Corrected,
    Decided,
    Forgotten,
    LedgerEvent,
    Passed,
    Requested,
    Settled,
    Shown,
    Suggested,
    Withdrawn,
)
from incumbent.ledger.migrated import capabilities_in, migrated_events
from incumbent.taxonomy.migration import lineage
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.digests import digest

_DIGITS: Final = 5
AT_ONCE: Final = 5_000
"""From how many events on those that were parsed are counted, before more are: each takes some 3 kB of memory."""


@dataclass(frozen=True, kw_only=True)
class EventCounts:
    """What was counted, and of which ``files`` of events, by name."""

    tally: Tally = field(default_factory=Tally)
    files: Mapping[str, CountedFile] = field(default_factory=dict)


Read = Callable[[Collection[str]], Iterable[tuple[str, bytes]]]
"""The names and contents of files of events, one after the other, without those that cannot be read."""
Carry = Callable[[Sequence[LedgerEvent]], Sequence[LedgerEvent]]
"""Events under the ids of the taxonomy of now."""


def carried_to(taxonomy: Taxonomy, previous: Callable[[], Sequence[Taxonomy]]) -> Carry:
    """What carries events to the ids of ``taxonomy``; ``previous`` tells those that there were, oldest first."""
    known = cache(previous)
    return lambda events: migrated_events(events, lineage(taxonomy, capabilities_in(events), known))


def count(blobs: Mapping[str, str], before: EventCounts | None, read: Read, carry: Carry) -> EventCounts:
    """The counts of all events in the files ``blobs`` (name → git's id), of which some are in ``before``.

    It is the same whatever is known ``before``: where that does not fit, all of it is counted.
    """
    if before is None or not before.files.keys() <= blobs.keys():
        return _all(blobs, read, carry)
    known = before.files
    changed = {name for name, blob in blobs.items() if name not in known or known[name].blob != blob}
    files = _Files(known, read)
    files.take({*changed, *(name for name, item in known.items() if item.of_set)})
    if any(name in known and blob_id(files.content[name][: known[name].size]) != known[name].blob for name in changed):
        return _all(blobs, read, carry)
    fresh = [event for name in sorted(changed) for event in files.events[name][len(files.previous(name)) :]]
    contents = {content for event in fresh if (content := _content(event)) is not None}
    entries = {entry for event in fresh for entry in _moved(event)}
    files.take(files.about({*map(_of_entry, entries), *map(_of_content, contents)}))
    contents |= {
        event.content
        for found in files.events.values()
        for event in found
        if isinstance(event, Decided | Passed) and event.entry in entries
    }
    files.take(files.about(set(map(_of_content, contents))))
    old = [event for name in sorted(files.events) for event in files.previous(name)]
    new = [event for name in sorted(files.events) for event in files.events[name]]
    tally = before.tally.replaced(*(_tally(carry, _only(found, contents)) for found in (old, new)))
    if not tally.is_possible:
        return _all(blobs, read, carry)
    again = {name: _counted(blobs[name], files.content[name], files.events[name]) for name in sorted(changed)}
    return EventCounts(tally=tally, files={**known, **again})


def _all(blobs: Mapping[str, str], read: Read, carry: Carry) -> EventCounts:
    """All counts.  First it is found out what rests on several files: what people did to entries, and some contents."""
    elsewhere: list[LedgerEvent] = []
    once: set[int] = set()
    several: set[int] = set()
    for name, content in read(blobs.keys()):
        contents = contents_in(content)
        if contents is None:
            events = recorded_in(content, name).events
            contents = frozenset(found for event in events if (found := _content(event)) is not None)
            elsewhere += (event for event in events if _content(event) is None)
        keys = set(map(_short, contents))
        several |= once & keys
        once |= keys
    tally = _tally(carry, elsewhere)
    # Answers to suggestions are counted by now; what people did to entries tells what became of the others.
    elsewhere = [event for event in elsewhere if not isinstance(event, Answered | Closed | Forgotten)]
    files = {name: _counted(blob, b"", ()) for name, blob in blobs.items()}
    lot: list[LedgerEvent] = []
    shared: list[LedgerEvent] = []
    for name, content in read(blobs.keys()):
        events = recorded_in(content, name).events
        files[name] = _counted(blobs[name], content, events)
        for event in events:
            if (found := _content(event)) is not None:
                (shared if _short(found) in several else lot).append(event)
        if len(lot) >= AT_ONCE:
            tally, lot = tally.replaced(Tally(), _tally(carry, [*elsewhere, *lot])), []
    for rest in (lot, shared):
        tally = tally.replaced(Tally(), _tally(carry, [*elsewhere, *rest]))
    return EventCounts(tally=tally, files=dict(sorted(files.items())))


def _tally(carry: Carry, events: Sequence[LedgerEvent]) -> Tally:
    return tally_of(responses_of(carry(events)))


def _short(content: str) -> int:
    """What tells contents apart, in little memory; those that it does not are counted together."""
    return int(content[:15], 16)


class _Files:
    """Files of events that were read; ``known`` tells how they were when they were counted."""

    def __init__(self, known: Mapping[str, CountedFile], read: Read) -> None:
        self.content: dict[str, bytes] = {}
        self.events: dict[str, tuple[LedgerEvent, ...]] = {}
        self._known, self._read = known, read

    def take(self, names: Collection[str]) -> None:
        """Read those of ``names`` that were not read yet."""
        missing = set(names) - self.content.keys()
        found = dict(self._read(missing)) if missing else {}
        for name in sorted(missing):
            self.content[name] = found.get(name, b"")
            self.events[name] = recorded_in(self.content[name], name).events

    def about(self, marks: Collection[str]) -> set[str]:
        """The files that may speak of what has one of ``marks``."""
        return {name for name, item in self._known.items() if not _marks_of(item).isdisjoint(marks)}

    def previous(self, name: str) -> tuple[LedgerEvent, ...]:
        """The events that were counted of the file ``name``."""
        if name not in self._known:
            return ()
        size = self._known[name].size
        content = self.content[name]
        return self.events[name] if len(content) == size else recorded_in(content[:size], name).events


def _counted(blob: str, content: bytes, events: Iterable[LedgerEvent]) -> CountedFile:
    marks: set[str] = set()
    of_set = False
    for event in events:
        if (content_of := _content(event)) is not None:
            marks.add(_of_content(content_of))
        if isinstance(event, Decided | Passed):
            marks.add(_of_entry(event.entry))
        of_set = of_set or isinstance(event, _OF_SET)
    return CountedFile(blob=blob, size=len(content), about="".join(sorted(marks)), of_set=of_set)


def _marks_of(item: CountedFile) -> set[str]:
    return {item.about[place : place + _DIGITS] for place in range(0, len(item.about), _DIGITS)}


def _of_content(content: str) -> str:
    return content[:_DIGITS]


def _of_entry(entry: str) -> str:
    return digest(entry)[:_DIGITS]


_OF_SET: Final = (Suggested, Answered, Requested, Settled, ChangedByHand)


def _content(event: LedgerEvent) -> str | None:
    """The content of a query that ``event`` is on."""
    return event.content if isinstance(event, Shown | Decided | Withdrawn | Corrected | Applied | Passed) else None


def _moved(event: LedgerEvent) -> tuple[str, ...]:
    """The entries that people took out or brought back by ``event``, or not after all."""
    match event:
        case Requested() | Settled():
            return (event.entry,)
        case ChangedByHand():
            return (*event.added, *event.removed)
        case _:
            return ()


def _only(events: Iterable[LedgerEvent], contents: Collection[str]) -> list[LedgerEvent]:
    """``events`` without those on other contents."""
    return [event for event in events if (content := _content(event)) is None or content in contents]


def recorded(counts: EventCounts, events: str, conditions: str) -> tuple[AgreementRecord, dict[str, CountedFiles]]:
    """``counts`` for the ledger, by path: those of the folder of ``events`` (git's id), under these ``conditions``."""
    tally = counts.tally
    record = AgreementRecord(
        events=events,
        conditions=conditions,
        files=_digest(counts.files),
        people=dict(sorted(tally.people.items())),
        answers=tally.answers,
        questions=tally.questions,
        wordings=tally.wordings,
        rested=tally.rested,
        gone_explicit=tally.gone[True],
        gone_implicit=tally.gone[False],
    )
    parts: dict[str, dict[str, CountedFile]] = {}
    for name, item in sorted(counts.files.items()):
        parts.setdefault(counted_path(name), {})[name] = item
    return record, {path: CountedFiles(files=files) for path, files in parts.items()}


def tally_in(record: AgreementRecord) -> Tally:
    """What was counted, as it is recorded."""
    gone = {True: record.gone_explicit, False: record.gone_implicit}
    return Tally(
        people=Counter(record.people),
        answers=record.answers,
        questions=record.questions,
        wordings=record.wordings,
        rested=record.rested,
        gone=Counter({explicit: number for explicit, number in gone.items() if number}),
    )


def counts_in(record: AgreementRecord, parts: Iterable[CountedFiles]) -> EventCounts | None:
    """What was counted, with the files; ``None`` where ``parts`` are not those that were counted."""
    files = {name: item for part in parts for name, item in part.files.items()}
    return EventCounts(tally=tally_in(record), files=files) if _digest(files) == record.files else None


def _digest(files: Mapping[str, CountedFile]) -> str:
    return digest({name: [item.blob, item.size, item.about, item.of_set] for name, item in files.items()})
