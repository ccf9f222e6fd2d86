"""What a merge would change: verdicts, entries, coverage, pairs, size and cost, before and after it (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from incumbent.consolidator.admissions import resident
from incumbent.consolidator.verdict import Verdict
from incumbent.curator.entry import Entry, total
from incumbent.curator.losses import Departure
from incumbent.curator.store import RegressionSet
from incumbent.errors import Problem
from incumbent.intake.query import Query
from incumbent.pipeline.impact.model import Impact
from incumbent.pipeline.review import Platform, Review
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry
from incumbent.taxonomy.migration import migration_between

Outcome: TypeAlias = Literal["enters", "needs a person", "waits for a slot", "stays out"]
"""What becomes of a query."""
Change: TypeAlias = Literal["enters", "leaves", "waits", "changes"]
CHANGES: Final[tuple[Change, ...]] = ("enters", "leaves", "waits", "changes")
"""What happens to an entry: it comes into R, goes out of it, comes onto the waitlist, or is another one than before."""
Pair: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedEntry:
    """An entry that a merge changes; ``how`` it comes about, in words."""

    id: str
    change: Change
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageSides:
    """A capability before and after: its competent coverers, and how many there should be.

    ``before`` is its id before, ``after`` that after; ``None``: there is none.  ``on_trial``: it counts for nothing.
    """

    before: str | None
    after: str | None
    coverers_before: int
    coverers_after: int
    floor_before: int
    floor_after: int
    on_trial: bool

    @property
    def differs(self) -> bool:
        """Whether anything but its id changes."""
        same = (self.coverers_before, self.floor_before) == (self.coverers_after, self.floor_after)
        return self.before is None or self.after is None or not same

    @property
    def met_before(self) -> bool:
        return self.before is not None and self.coverers_before >= self.floor_before

    @property
    def met_after(self) -> bool:
        return self.after is not None and self.coverers_after >= self.floor_after

    @property
    def reaches(self) -> bool:
        """Whether it has as many coverers as its floor only after the merge."""
        return not self.on_trial and self.met_after and self.before is not None and not self.met_before

    @property
    def rank(self) -> int:
        """Where it stands in a list: what loses its floor first, then what reaches it, then what is below it."""
        return next((place for place, is_so in enumerate((self.loses, self.reaches, not self.met_after)) if is_so), 3)

    @property
    def loses(self) -> bool:
        """Whether it has as many coverers as its floor only before the merge."""
        return not self.on_trial and self.met_before and self.after is not None and not self.met_after


@dataclass(frozen=True, slots=True, kw_only=True)
class SetNumbers:
    """R in numbers: ``at_floor`` of the ``judged`` capabilities have as many coverers as their floor."""

    entries: int
    ceiling: int
    at_floor: int
    judged: int
    pairs: int
    cost: float


@dataclass(frozen=True, slots=True)
class _Covered:
    """What residents cover: competent coverers by capability, and the combinations that they carry."""

    coverers: Mapping[str, int]
    pairs: frozenset[Pair]


@dataclass(frozen=True, kw_only=True)
class MergeComparison:
    """What the merge of ``head`` into ``base`` would change, as far as it is known here.

    ``before`` is the platform at ``base``; ``after`` the one that is merged, before the queries of ``review`` enter.
    ``review`` judges the queries that are undecided after the merge (``None``: no eval set is changed).  ``unread`` are
    files of the set that the head changes, whose contents are not known here.  ``departure`` is what the set would lose
    with queries that leave the eval sets, and ``impact`` what a change of taxonomy or config does.  ``problems`` are
    faults that left something unread; ``held``: a first contribution waits for a curator, and nothing was classified.
    ``at`` is the time of the head.
    """

    name: str
    base: str
    head: str
    at: str
    before: Platform
    after: Platform
    review: Review | None
    unread: tuple[str, ...] = ()
    departure: Departure | None = None
    impact: Impact | None = None
    problems: tuple[Problem, ...] = ()
    held: bool = False

    @property
    def commit(self) -> str:
        """The commit that the page is about."""
        return self.head

    @property
    def is_changed(self) -> bool:
        """Never: a commit is as it is."""
        return False

    @property
    def platform(self) -> Platform:
        """The platform that the page names capabilities by."""
        return self.after

    @cached_property
    def outcomes(self) -> Mapping[str, Outcome]:
        """Query → what becomes of it; those that enter first, those that stay out last."""
        if self.review is None:
            return {}
        plan = self.review.plan
        parts: tuple[tuple[Outcome, tuple[Verdict, ...]], ...] = (
            ("enters", plan.admitted),
            ("needs a person", plan.waiting_for_review),
            ("waits for a slot", plan.waiting_for_slot),
            ("stays out", plan.excluded),
        )
        return {verdict.id: outcome for outcome, verdicts in parts for verdict in verdicts}

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts in the order of :attr:`outcomes`."""
        known = {} if self.review is None else {verdict.id: verdict for verdict in self.review.verdicts}
        return tuple(known[id] for id in self.outcomes)

    def count(self, outcome: Outcome) -> int:
        """How many queries have ``outcome``."""
        return sum(each == outcome for each in self.outcomes.values())

    @cached_property
    def entries(self) -> tuple[ChangedEntry, ...]:
        """The entries that change: by the head's own files, and then by verdicts; in the order of :data:`CHANGES`."""
        found = _moved(self.before.regression_set, self.after.regression_set)
        if self.review is not None:
            edited = {self.review.targets[name] for name in self.review.edited}
            for verdict in self.review.plan.admitted:
                id = self.review.targets[verdict.id]
                change: Change = "changes" if id in edited else "enters"
                how = "its query has other turns" if id in edited else "by its verdict"
                found[id] = ChangedEntry(id=id, change=change, how=how)
            for verdict in self.review.plan.waiting_for_slot:
                id = self.review.targets[verdict.id]
                found[id] = ChangedEntry(id=id, change="waits", how="it deserves a slot, and the set is full")
        return tuple(sorted(found.values(), key=lambda item: (CHANGES.index(item.change), item.id)))

    @cached_property
    def _covered_before(self) -> _Covered:
        return _covered(self.before, self.before.regression_set.residents(self.before.taxonomy)[0])

    @cached_property
    def _covered_after(self) -> _Covered:
        residents = self.after.regression_set.residents(self.after.taxonomy)[0]
        if self.review is not None:
            replaced = {self.review.targets[verdict.id] for verdict in self.review.plan.admitted}
            entered = [
                resident(self.review.scored[verdict.id], verdict, place)
                for place, verdict in enumerate(self.review.plan.admitted)
            ]
            residents = (*(item for item in residents if item.id not in replaced), *entered)
        return _covered(self.after, residents)

    @cached_property
    def capabilities(self) -> tuple[CoverageSides, ...]:
        """Every capability, in the order of the taxonomy after the merge; those that are gone come last."""
        old, new = self.before.taxonomy, self.after.taxonomy
        migration = migration_between(old, new)
        previous = {migration.renamed(name): name for name in old.by_id}
        pairs: list[tuple[str | None, str | None]] = [(previous.get(name), name) for name in new.by_id]
        pairs += [(previous[name], None) for name in previous if name not in new.by_id]
        return tuple(self._sides(first, second) for first, second in pairs)

    def _sides(self, first: str | None, second: str | None) -> CoverageSides:
        return CoverageSides(
            before=first,
            after=second,
            coverers_before=0 if first is None else self._covered_before.coverers.get(first, 0),
            coverers_after=0 if second is None else self._covered_after.coverers.get(second, 0),
            floor_before=0 if first is None else self.before.config.redundancy_floor(first),
            floor_after=0 if second is None else self.after.config.redundancy_floor(second),
            on_trial=second in self.after.taxonomy.trial or (second is None and first in self.before.taxonomy.trial),
        )

    @cached_property
    def pairs_won(self) -> tuple[Pair, ...]:
        """The combinations of capabilities that an entry carries only after the merge, sorted."""
        return tuple(sorted(self._covered_after.pairs - self._carried_before))

    @cached_property
    def pairs_lost(self) -> tuple[Pair, ...]:
        """The combinations that an entry carries only before the merge, sorted; by their ids after it."""
        return tuple(sorted(self._carried_before - self._covered_after.pairs))

    @cached_property
    def _carried_before(self) -> frozenset[Pair]:
        migration = migration_between(self.before.taxonomy, self.after.taxonomy)
        return frozenset(tuple(sorted(map(migration.renamed, pair))) for pair in self._covered_before.pairs)

    @cached_property
    def numbers_before(self) -> SetNumbers:
        """R at the base."""
        known = self.before.regression_set
        judged = [item for item in self.capabilities if item.before not in (None, *self.before.taxonomy.trial)]
        return SetNumbers(
            entries=len(known.entries),
            ceiling=self.before.config.ceiling,
            at_floor=sum(item.met_before for item in judged),
            judged=len(judged),
            pairs=len(self._covered_before.pairs),
            cost=known.cost,
        )

    @cached_property
    def numbers_after(self) -> SetNumbers:
        """R once all is merged, and what deserves a slot is in."""
        known = self.after.regression_set
        items: dict[str, Entry | Query] = dict(known.entries)
        items |= {} if self.review is None else self.review.entering
        judged = [item for item in self.capabilities if item.after not in (None, *self.after.taxonomy.trial)]
        return SetNumbers(
            entries=len(items),
            ceiling=self.after.config.ceiling,
            at_floor=sum(item.met_after for item in judged),
            judged=len(judged),
            pairs=len(self._covered_after.pairs),
            cost=total(known.cost_of(item.turns, item.setup) for item in items.values()),
        )

    @cached_property
    def stale(self) -> tuple[str, ...]:
        """The entries whose scores do not all count after the merge: other capabilities, or another classifier."""
        return tuple(item.id for item in self.after.regression_set.residents(self.after.taxonomy)[1])


def _covered(platform: Platform, residents: tuple[RatedEntry, ...]) -> _Covered:
    live = LiveSet(residents, (), platform.config)
    size = platform.config.options.novelty
    carried = {
        mask
        for mask in live.carriers()
        # Who exercises fewer capabilities than a combination has carries what it exercises.
        if size == "signature" or mask.bit_count() == size
    }
    return _Covered(
        coverers=dict(zip(live.capabilities.names, live.coverers, strict=True)),
        pairs=frozenset(tuple(sorted(live.capabilities.named(mask))) for mask in carried),
    )


_MOVES: Final[Mapping[tuple[str | None, str | None], tuple[Change, str]]] = {
    (None, "in-set"): ("enters", "its file is new"),
    ("waiting", "in-set"): ("enters", "from the waitlist"),
    ("evicted", "in-set"): ("enters", "restored"),
    ("in-set", None): ("leaves", "its file is removed, without a tombstone"),
    ("in-set", "evicted"): ("leaves", "evicted"),
    ("in-set", "waiting"): ("leaves", "to the waitlist"),
    (None, "waiting"): ("waits", "its file is new"),
    ("evicted", "waiting"): ("waits", "restored, and the set is full"),
    ("waiting", None): ("leaves", "the waitlist, without a tombstone"),
    ("waiting", "evicted"): ("leaves", "the waitlist"),
}


def _moved(before: RegressionSet, after: RegressionSet) -> dict[str, ChangedEntry]:
    """Entry → what the files of the set say of it after the merge, where that is another thing than before."""
    was, now = before.states, after.states
    found = {}
    for id in sorted(was.keys() | now.keys()):
        (first, entry), (second, later) = was.get(id, (None, None)), now.get(id, (None, None))
        if (move := _MOVES.get((first, second))) is not None:
            found[id] = ChangedEntry(id=id, change=move[0], how=move[1])
        elif first == second != "evicted" and entry != later:
            found[id] = ChangedEntry(id=id, change="changes", how="its file differs")
    return found
