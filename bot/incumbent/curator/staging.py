"""From verdicts to file changes: what `admit` does to the regression set, planned as values (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from incumbent.classifier.model import Identity
from incumbent.consolidator.admissions import AdmissionPlan, Answer, slot_holders
from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.verdict import Verdict
from incumbent.curator import file_changes as changes
from incumbent.curator.entry import Admitted, Entry, EntryClassification, Source, Tombstone, resident_of
from incumbent.curator.file_changes import FileChange
from incumbent.intake.query import Query
from incumbent.rater.model import RatedEntry, ScoredQuery
from incumbent.taxonomy.config import Curation
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStamp:
    """When, at which commit and by whom the curator acts; ``at`` is ISO 8601 UTC."""

    at: str
    commit: str | None
    by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionCandidate:
    """A query that may enter R, with all that its entry will record; ``corrected`` are values that curators gave."""

    query: Query
    scored: ScoredQuery
    source: Source
    entry_id: str
    corrected: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Staging:
    """Entries that enter R or the waitlist, in order, and the file changes for that.

    ``leaving`` were on the waitlist and no longer earn a slot.
    """

    admitted: tuple[Entry, ...]
    waiting: tuple[Entry, ...]
    leaving: tuple[Entry, ...] = ()
    file_changes: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetState:
    """R as a submission found it.

    ``ids`` are those of the residents that the submission was judged against.  ``edited`` maps queries to the entry in
    R that they would replace; ``texts`` are the current files of those entries.  ``waiting`` are the ids on the
    waitlist, ``tombstones`` those that were evicted.  ``order`` is the first place of those that enter now
    (:func:`first_place`).
    """

    ids: Collection[str]
    edited: Mapping[str, Entry]
    texts: Mapping[str, str]
    waiting: Collection[str] = ()
    tombstones: Collection[str] = ()
    order: int = 0


def first_place(entered: Iterable[tuple[str, int]], at: str) -> int:
    """The place after all that ``entered`` at the moment ``at``: they are pairs of a time and a place at that time."""
    return max([place + 1 for moment, place in entered if moment == at], default=0)


def stored(scores: Mapping[str, float]) -> dict[str, float]:
    """``scores`` as an entry stores them: sorted, rounded to the decimals that comparisons use."""
    return {name: rounded(scores[name]) for name in sorted(scores)}


def classified_by(
    identity: Identity,
    taxonomy: Taxonomy,
    capabilities: Sequence[str],
    corrected: Mapping[str, bool] = MappingProxyType({}),
) -> EntryClassification:
    """The record of the classifier identity, the definitions of the scored ``capabilities``, and the values that
    curators ``corrected``.
    """
    return EntryClassification(
        taxonomy=taxonomy.version,
        backend=identity.backend,
        model=identity.model,
        prompt=identity.prompt,
        samples=identity.samples,
        definitions={name: taxonomy.by_id[name].definition for name in sorted(capabilities)},
        corrected={name: value for name, value in sorted(corrected.items()) if name in taxonomy.by_id},
    )


def entry_of(candidate: AdmissionCandidate, admitted: Admitted, taxonomy: Taxonomy, identity: Identity) -> Entry:
    """The entry of ``candidate``, as it was ``admitted``."""
    query, scores = candidate.query, stored(candidate.scored.scores)
    return Entry(
        id=candidate.entry_id,
        turns=query.turns,
        scores=scores,
        by_rule=tuple(sorted(candidate.scored.by_rule)),
        classified=classified_by(identity, taxonomy, tuple(scores), candidate.corrected),
        source=candidate.source,
        admitted=admitted,
        expected=query.expected,
        setup=query.setup,
    )


def stage(
    plan: AdmissionPlan,
    accepted: Sequence[Answer],
    candidates: Mapping[str, AdmissionCandidate],
    standing: SetState,
    taxonomy: Taxonomy,
    identity: Identity,
    occasion: AuditStamp,
) -> Staging:
    """The entries that ``plan`` admits or puts on the waitlist, in its order; ``candidates`` are by query id.

    An entry that a person ``accepted`` records who did, and the reason if its verdict was EXCLUDE.
    """
    answers = {answer.id: answer for answer in accepted}

    def entered_as(id: str) -> str:
        # E may contain queries of the same cycle, which have become entries by now.
        return id if id in standing.ids or id not in candidates else candidates[id].entry_id

    def entry(place: int, verdict: Verdict) -> Entry:
        # An update keeps time, pin, quarantine and displaced entries of the one it replaces.
        before, answer = standing.edited.get(verdict.id), answers.get(verdict.id)
        displaces = {entered_as(id) for id in verdict.displaces}
        now = Admitted(
            at=occasion.at if before is None else before.admitted.at,
            order=place if before is None else before.admitted.order,
            decision=verdict.decision.value,
            route=verdict.route.value,
            reasons=tuple(reason.value for reason in verdict.reasons),
            displaces=tuple(sorted(displaces.union(() if before is None else before.admitted.displaces))),
            by=None if answer is None else answer.by,
            override=None if answer is None or verdict.decision.admits else answer.reason,
        )
        found = entry_of(candidates[verdict.id], now, taxonomy, identity)
        kept = {} if before is None else {"pin": before.pin, "quarantined": before.quarantined}
        return found.model_copy(update=kept)

    entries = [
        entry(place, verdict) for place, verdict in enumerate((*plan.admitted, *plan.waiting_for_slot), standing.order)
    ]
    admitted, waiting = tuple(entries[: len(plan.admitted)]), tuple(entries[len(plan.admitted) :])
    return Staging(
        admitted=admitted,
        waiting=waiting,
        file_changes=(
            *(changes.admit(entry, standing.texts.get(entry.id)) for entry in admitted),
            *(changes.stop_waiting(entry.id) for entry in admitted if entry.id in standing.waiting),
            *(changes.let_wait(entry) for entry in waiting),
            *(changes.forget(entry.id) for entry in (*admitted, *waiting) if entry.id in standing.tombstones),
        ),
    )


def stage_waiting(
    waiting: Sequence[Entry],
    residents: Sequence[RatedEntry],
    config: Curation,
    taxonomy: Taxonomy,
    occasion: AuditStamp,
) -> Staging:
    """Judge the waitlist again as one cycle, and admit the entries that earn a free slot, in its order.

    They enter now, on the current verdict.  An entry that a person accepted needs no second answer: it enters whatever
    its verdict has become.  Others that no longer earn a slot leave the waitlist; those that now need a person stay on
    it.
    """
    by_id = {entry.id: entry for entry in waiting}
    verdicts = run_cycle([queued(entry, taxonomy) for entry in waiting], residents, config)
    earning = [verdict for verdict in verdicts if verdict.admitted or by_id[verdict.id].is_wanted]
    holders = slot_holders([verdict.id for verdict in earning], config.ceiling - len(residents), ())
    entering = [item for item in earning if item.id in holders]
    place = first_place([(item.admitted_at, item.order) for item in residents], occasion.at)
    admitted = tuple(_enter(by_id[item.id], item, occasion, place) for place, item in enumerate(entering, place))
    earned = {verdict.id for verdict in earning}
    leaving = tuple(
        by_id[verdict.id] for verdict in verdicts if not verdict.decision.admits and verdict.id not in earned
    )
    gone = {*holders, *(entry.id for entry in leaving)}
    return Staging(
        admitted=admitted,
        waiting=tuple(by_id[verdict.id] for verdict in verdicts if verdict.id not in gone),
        leaving=leaving,
        file_changes=(
            *(changes.admit(entry) for entry in admitted),
            *(changes.stop_waiting(entry.id) for entry in (*admitted, *leaving)),
        ),
    )


def out_of_line(leaving: Sequence[Entry]) -> Staging:
    """Take the entries ``leaving`` off the waitlist."""
    planned = tuple(changes.stop_waiting(entry.id) for entry in leaving)
    return Staging(admitted=(), waiting=(), leaving=tuple(leaving), file_changes=planned)


def restoration(tombstone: Tombstone, full: bool) -> Staging:
    """Restore the entry of ``tombstone``; if R is ``full``, it goes on the waitlist."""
    entry = tombstone.restored
    if full and not entry.is_wanted:
        # No grounds of its eviction are recorded; while it waits, it must still count as wanted by a person.
        entry = entry.model_copy(update={"restored": "on no grounds"})
    return Staging(
        admitted=() if full else (entry,),
        waiting=(entry,) if full else (),
        file_changes=changes.restore(entry, wait=full),
    )


def queued(entry: Entry, taxonomy: Taxonomy) -> ScoredQuery:
    """An entry of the waitlist as a query that a cycle judges, with its comparable scores."""
    return resident_of(entry, taxonomy, None)[0].query


def as_entering(entry: Entry, verdict: Verdict) -> Entry:
    """The waiting ``entry`` as it enters R on its current ``verdict``; what a person accepted keeps the verdict of then
    if the current one is EXCLUDE.
    """
    if not verdict.decision.admits:
        return entry
    current = {
        "decision": verdict.decision.value,
        "route": verdict.route.value,
        "reasons": tuple(reason.value for reason in verdict.reasons),
        "displaces": verdict.displaces,
    }
    return entry.model_copy(update={"admitted": entry.admitted.model_copy(update=current)})


def _enter(entry: Entry, verdict: Verdict, occasion: AuditStamp, place: int) -> Entry:
    entry = as_entering(entry, verdict)
    now = {"at": occasion.at, "order": place}
    return entry.model_copy(update={"admitted": entry.admitted.model_copy(update=now)})
