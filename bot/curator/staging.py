"""From verdicts to file changes: what `admit` does to the regression set, planned as values (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bot.classifier.model import Identity
from bot.config import Curation
from bot.consolidator.cycle import run_cycle
from bot.consolidator.verdict import Verdict
from bot.curator import changes
from bot.curator.admission import plan_admissions, slot_holders
from bot.curator.changes import FileChange
from bot.curator.entry import Admitted, Classified, Entry, SetupFile, Source
from bot.errors import InputError, Problem
from bot.intake.query import Query
from bot.rater.model import Resident, ScoredQuery
from bot.rater.profile import rounded
from bot.taxonomy.model import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """When, at which commit and by whom the curator acts; ``at`` is ISO 8601 UTC."""

    at: str
    commit: str | None
    by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A query that may enter R, with all that its entry will record."""

    query: Query
    scored: ScoredQuery
    source: Source
    entry_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """A person's word that the query ``id`` shall enter; a ``reason`` is needed where the verdict is EXCLUDE."""

    id: str
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Staging:
    """Entries that enter R or wait for a slot, in order, and the file changes that make it so.

    ``leaving`` waited for a slot and no longer earn one.
    """

    admitted: tuple[Entry, ...]
    waiting: tuple[Entry, ...]
    leaving: tuple[Entry, ...] = ()
    file_changes: tuple[FileChange, ...]


def stored(scores: Mapping[str, float]) -> dict[str, float]:
    """``scores`` as an entry holds them: sorted, with the decimals that take part in comparisons."""
    return {name: rounded(scores[name]) for name in sorted(scores)}


def classified_by(identity: Identity, taxonomy: Taxonomy, capabilities: Sequence[str]) -> Classified:
    """The record of the classifier identity and of the definitions of the scored ``capabilities``."""
    return Classified(
        taxonomy=taxonomy.version,
        backend=identity.backend,
        model=identity.model,
        prompt=identity.prompt,
        samples=identity.samples,
        definitions={name: taxonomy.by_id[name].definition for name in sorted(capabilities)},
    )


def stage(
    verdicts: Sequence[Verdict],
    candidates: Mapping[str, Candidate],
    acceptances: Sequence[Acceptance],
    residents: Sequence[Resident],
    size: int,
    edited: Collection[str],
    config: Curation,
    taxonomy: Taxonomy,
    identity: Identity,
    occasion: Occasion,
) -> Staging:
    """Direct admissions in the cycle's order, then what people accepted, each derived after the one before it.

    ``candidates`` are by query id; ``size`` is |R|; ``edited`` are the queries that would take over their own entry,
    which ``residents`` leaves out.  Raises :class:`InputError` for an acceptance that cannot stand.
    """
    names = {id: candidate.entry_id for id, candidate in candidates.items()}
    build = _EntryBuilder(candidates, names, taxonomy, identity, occasion)
    entering = [build.entry(verdict, None, None) for verdict in verdicts if verdict.admitted]
    present = [*residents, *(_resident(entry) for entry in entering)]
    problems: list[Problem] = []
    for acceptance in acceptances:
        candidate = candidates.get(acceptance.id)
        if candidate is None:
            problems.append(_refused(acceptance.id, "there is no such query that is not settled", sorted(candidates)))
            continue
        if any(entry.id == candidate.entry_id for entry in entering):
            problems.append(_refused(acceptance.id, "it is admitted already, without a person", ()))
            continue
        (verdict,) = run_cycle([candidate.scored], present, config)
        if not verdict.decision.admits and acceptance.reason is None:
            reasons = ", ".join(verdict.reasons)
            problems.append(
                Problem(
                    f"--accept {acceptance.id}",
                    None,
                    f"its verdict is EXCLUDE ({reasons}) after what was admitted before it",
                    "leave it out, or give --reason to override the verdict",
                )
            )
            continue
        override = None if verdict.decision.admits else acceptance.reason
        entry = build.entry(verdict, occasion.by or "a person", override)
        entering.append(entry)
        present.append(_resident(entry))
    if problems:
        raise InputError(problems)
    updates = {names[id] for id in edited}
    holders = slot_holders([entry.id for entry in entering], config.ceiling - size, updates)
    admitted = tuple(entry for entry in entering if entry.id in holders)
    waiting = tuple(entry for entry in entering if entry.id not in holders)
    return Staging(
        admitted=admitted,
        waiting=waiting,
        file_changes=(
            *(change for entry in admitted for change in (changes.admit(entry), changes.stop_waiting(entry.id))),
            *(changes.let_wait(entry) for entry in waiting),
        ),
    )


@dataclass(frozen=True, slots=True)
class _EntryBuilder:
    candidates: Mapping[str, Candidate]
    names: Mapping[str, str]
    taxonomy: Taxonomy
    identity: Identity
    occasion: Occasion

    def entry(self, verdict: Verdict, by: str | None, override: str | None) -> Entry:
        candidate = self.candidates[verdict.id]
        query = candidate.query
        scores = stored(candidate.scored.scores)
        return Entry(
            id=candidate.entry_id,
            turns=query.turns,
            scores=scores,
            classified=classified_by(self.identity, self.taxonomy, tuple(scores)),
            source=candidate.source,
            admitted=Admitted(
                at=self.occasion.at,
                decision=verdict.decision.value,
                route=verdict.route.value,
                reasons=tuple(reason.value for reason in verdict.reasons),
                # E may name queries of the same cycle, which have become entries meanwhile.
                displaces=tuple(self.names.get(id, id) for id in verdict.displaces),
                by=by,
                override=override,
            ),
            expected=query.expected,
            setup=SetupFile(
                cost=query.setup.cost,
                tenant=query.setup.tenant,
                connectors=query.setup.connectors,
                fixtures=query.setup.fixtures,
            ),
        )


def _resident(entry: Entry) -> Resident:
    return Resident(
        id=entry.id,
        turns=entry.turns,
        scores=entry.scores,
        admitted_at=entry.admitted.at,
        displaces=entry.admitted.displaces,
        setup_cost=entry.setup.cost,
    )


def _refused(id: str, message: str, known: Sequence[str]) -> Problem:
    fix = f"use one of: {', '.join(known)}" if known else "leave it out"
    return Problem(f"--accept {id}", None, message, fix)


def stage_waiting(waiting: Sequence[Entry], residents: Sequence[Resident], config: Curation) -> Staging:
    """Judge the line of waiting entries again as one cycle, and let in those that earn a free slot, in its order.

    An entry keeps the time of its first verdict; those that no longer earn a slot leave the line.
    """
    by_id = {entry.id: entry for entry in waiting}
    queries = [ScoredQuery(id=entry.id, turns=entry.turns, scores=entry.scores) for entry in waiting]
    verdicts = run_cycle(queries, residents, config)
    plan = plan_admissions(verdicts, len(residents), config.ceiling)
    admitted = tuple(by_id[verdict.id] for verdict in plan.admitted)
    leaving = tuple(by_id[verdict.id] for verdict in plan.excluded)
    return Staging(
        admitted=admitted,
        waiting=tuple(by_id[verdict.id] for verdict in (*plan.waiting_for_slot, *plan.waiting_for_review)),
        leaving=leaving,
        file_changes=(
            *(changes.admit(entry) for entry in admitted),
            *(changes.stop_waiting(entry.id) for entry in (*admitted, *leaving)),
        ),
    )
