"""R over time: its size, cost, floors and pairs at the end of each day, as entries and tombstones tell.

Past days are judged by the taxonomy, the scores, the knobs and the specifications of now.  So a curve shows what the
set gained and lost, and not how the yardstick changed.  An entry that was evicted and came back has no tombstone: only
git's history tells when it was gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import zip_longest
from typing import Annotated, Final, Literal

from pydantic import Field

from incumbent.curator.entry import total
from incumbent.curator.store import RegressionSet, entry_path
from incumbent.files.git.file_history import FileHistory
from incumbent.rater.pair_coverage import RuledOut, possible_pairs
from incumbent.rater.profile import Capabilities
from incumbent.taxonomy.config import Curation
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import utc

POINTS: Final = 30
"""The most days that are shown; a line of more points says no more at the width of an issue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthPoint:
    """R at the end of one day."""

    day: Annotated[str, Field(description="the day, as YYYY-MM-DD")]
    entries: Annotated[int, Field(ge=0)]
    cost: Annotated[float, Field(ge=0, description="total cost of the entries' set-ups, at what each costs now")]
    at_floor: Annotated[int, Field(ge=0, description="capabilities with as many competent coverers as their floor")]
    pairs: Annotated[int | None, Field(description="possible pairs that an entry carries; null: there are no pairs")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """R over time; of ``capabilities`` and ``possible`` pairs each point says how many are reached."""

    step: Annotated[int, Field(ge=1, description="days from one point to the next")]
    capabilities: Annotated[int, Field(ge=0, description="capabilities of the taxonomy that are not on trial")]
    possible: Annotated[int | None, Field(description="pairs that a query could carry; null: there are no pairs")]
    history: Annotated[
        Literal["whole", "shallow"] | None,
        Field(
            description="git's history, which tells when entries that came back were gone; shallow: its beginning is "
            "missing; null: it was not read. What is not known counts as time in the set"
        ),
    ]
    points: tuple[GrowthPoint, ...]


@dataclass(frozen=True, slots=True)
class _Stay:
    """A time of one entry in R, from the day that it ``came`` until it had ``gone``, and what it brings."""

    came: int
    gone: int | None
    cost: float
    covers: tuple[str, ...]
    pairs: frozenset[int]


def growth(
    known: RegressionSet,
    taxonomy: Taxonomy,
    config: Curation,
    agents: RuledOut | None = None,
    at: str | None = None,
    history: FileHistory | None = None,
) -> Growth:
    """R at the end of each day that is shown; the last point is R as it is now.

    That is the day of the moment ``at``, or else of the last change.  There are at most :data:`POINTS`, and one alone
    where everything happened on that day.  ``history`` are the changes of the files of R: an entry does not count from
    the commit that took it out until the one that brought it back; without, it counts from its first admission on.
    ``agents`` decide which pairs are possible (:func:`incumbent.rater.pair_coverage.pair_coverage`).  Raises
    :class:`ValueError` where ``at`` is no ISO 8601 time.
    """
    present = [(entry, None) for entry in known.entries.values()]
    moments = [entry.admitted.at for entry in (*known.entries.values(), *known.evicted.values())]
    moments += [item.evicted.at for item in known.tombstones.values() if item.evicted.at is not None]
    gaps = {} if history is None else {id: _gaps(id, history) for id in (*known.entries, *known.tombstones)}
    turns = [day for pairs in gaps.values() for gap in pairs for day in gap if day is not None]
    last = max([*map(_day, moments), *turns, *([] if at is None else [_day(utc(at))])], default=1)
    # An eviction that was only just merged has no time yet.
    left = [(item.entry, _day(item.evicted.at) if item.evicted.at else last) for item in known.tombstones.values()]
    rated = [known.rated(entry, taxonomy, known.identity)[0] for entry, _ in (*present, *left)]
    pairs = possible_pairs(rated, taxonomy, config, agents)
    names = [name for name in taxonomy.by_id if name not in config.trial]
    space = Capabilities({name for item in rated for name in item.scores}.union(names), config)
    stays = []
    for (entry, gone), item in zip((*present, *left), rated, strict=True):
        cost = known.cost_of(entry.turns, entry.setup)
        covers = space.named(space.profile(item.id, item.turns, item.scores).caps)
        carries = frozenset() if pairs is None else pairs.carried(item)
        spans = _spans(_day(entry.admitted.at), gone, gaps.get(entry.id, ()), last)
        stays += [_Stay(*span, cost, covers, carries) for span in spans]
    days, step = _days(stays, last)
    floors = {name: config.redundancy_floor(name) for name in names}
    return Growth(
        step=step,
        capabilities=len(names),
        possible=None if pairs is None else len(pairs.masks),
        history=None if history is None else "whole" if history.is_whole else "shallow",
        points=tuple(_points(days, stays, floors, has_pairs=pairs is not None)),
    )


def _gaps(id: str, history: FileHistory) -> tuple[tuple[int, int | None], ...]:
    """The days on which the file of the entry was deleted, each with the day on which it was added again, in order.

    ``None``: it was not, as far as is committed.
    """
    changes = [item for item in reversed(history.changes.get(entry_path(id), ())) if item.change != "M"]
    return tuple(
        (_day(item.at), None if back is None else _day(back.at))
        for item, back in zip_longest(changes, changes[1:])
        if item.change == "D"
    )


def _spans(
    came: int, gone: int | None, gaps: Iterable[tuple[int, int | None]], last: int
) -> Iterable[tuple[int, int | None]]:
    """The times between ``gaps`` of an entry that came and has gone (``None``: it is there on the ``last`` day).

    Days of commits may run backwards: no time is counted twice.
    """
    for out, back in gaps:
        # A tombstone says when an entry left for good.  Without one it has just come back, and is not committed yet.
        returned = back if back is not None else last if gone is None else out
        if out < returned:
            yield came, max(came, out if gone is None else min(out, gone))
            came = max(came, returned)
    yield came, gone


def _days(stays: Sequence[_Stay], last: int) -> tuple[list[int], int]:
    """The days that are shown up to the ``last`` one, and how many there are from one to the next."""
    span = last - min([last, *(day for stay in stays for day in (stay.came, stay.gone) if day is not None)])
    # Whole days between points, so that a chart that adds them up arrives at the last one.
    step = max(1, -(-span // (POINTS - 1)))
    points = -(-span // step)
    return [last - step * ago for ago in range(points, -1, -1)], step


def _points(
    days: Iterable[int], stays: Sequence[_Stay], floors: dict[str, int], *, has_pairs: bool
) -> Iterable[GrowthPoint]:
    coming = sorted((stay for stay in stays if not _is_gone_at_once(stay)), key=lambda stay: -stay.came)
    leaving = sorted(((stay.gone, stay) for stay in coming if stay.gone is not None), key=lambda item: -item[0])
    there: dict[int, _Stay] = {}
    coverers: Counter[str] = Counter()
    carriers: Counter[int] = Counter()
    for day in days:
        while coming and coming[-1].came <= day:
            stay = coming.pop()
            there[id(stay)] = stay
            coverers.update(stay.covers)
            carriers.update(stay.pairs)
        while leaving and leaving[-1][0] <= day:
            _, stay = leaving.pop()
            del there[id(stay)]
            coverers.subtract(stay.covers)
            carriers.subtract(stay.pairs)
        yield GrowthPoint(
            day=date.fromordinal(max(1, day)).isoformat(),
            entries=len(there),
            cost=total(stay.cost for stay in there.values()),
            at_floor=sum(1 for name, floor in floors.items() if coverers[name] >= floor),
            pairs=sum(1 for count in carriers.values() if count > 0) if has_pairs else None,
        )


def _is_gone_at_once(stay: _Stay) -> bool:
    """Whether an entry was in R at the end of no day."""
    return stay.gone is not None and stay.gone <= stay.came


def _day(moment: str) -> int:
    return date.fromisoformat(moment[:10]).toordinal()
