"""The pipeline in one place: a platform repository and a customer's submission in, a review out.

Everything that commands, the Action and the MCP server share; nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bot.classifier.classify import ClassifierResult, classify
from bot.classifier.model import Backend, Identity, Progress
from bot.config import CONFIG_FILE, Curation, Limits, load_config
from bot.consolidator.cycle import run_cycle
from bot.consolidator.verdict import Verdict
from bot.curator.admission import AdmissionPlan, Swap, plan_admissions, suggest_swaps
from bot.curator.entry import Entry, Lag, Tombstone, entry_id
from bot.curator.store import RegressionSet, load_regression_set
from bot.errors import InputError, Problem
from bot.intake.agents import read_specification
from bot.intake.eval_sets import read_eval_sets
from bot.intake.query import Query
from bot.intake.specification import Specification
from bot.rater.adapter import rate
from bot.rater.contextualizer import LiveSet
from bot.rater.model import Resident, ScoredQuery
from bot.snapshot import Snapshot
from bot.taxonomy.loading import load_taxonomy
from bot.taxonomy.model import Taxonomy

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Platform:
    """A platform repository at one moment: what verdicts are judged by and against."""

    taxonomy: Taxonomy
    config: Curation
    regression_set: RegressionSet


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What a customer brings: an agent specification and queries; ``problems`` are rows that could not be read."""

    customer: str
    agent: str
    folder: str
    specification: Specification
    queries: tuple[Query, ...]
    problems: tuple[Problem, ...]

    def entry_id(self, query_id: str) -> str:
        """The id of the entry that a query of this submission has or would have."""
        return entry_id(self.customer, self.agent, query_id)


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Competent coverers of one capability, before and after the direct admissions of a review."""

    capability: str
    before: int
    after: int
    floor: int


@dataclass(frozen=True, kw_only=True)
class Review:
    """Everything that a verdict report says; query ids are those of the eval set, resident ids those of R.

    ``settled`` maps queries that were not judged again to the entry or tombstone that settles them; ``edited`` maps
    queries whose entry in R has other turns to that entry.  ``residents`` is what they were judged against: R and the
    entries that wait for a slot, without their own.
    """

    platform: Platform
    submission: Submission
    identity: Identity
    result: ClassifierResult
    scored: Mapping[str, ScoredQuery]
    residents: tuple[Resident, ...]
    verdicts: tuple[Verdict, ...]
    plan: AdmissionPlan
    swaps: tuple[Swap, ...]
    settled: Mapping[str, Entry | Tombstone]
    edited: Mapping[str, Entry]
    lags: tuple[Lag, ...]
    coverage: tuple[Coverage, ...]

    @property
    def unclassified(self) -> tuple[str, ...]:
        """Queries without a verdict, because too few inference samples were valid: the run is incomplete."""
        return self.result.unclassified


def load_platform(snapshot: Snapshot, config_path: str = CONFIG_FILE) -> Platform:
    """Taxonomy, config and regression set of ``snapshot``; all their faults at once as :class:`InputError`."""
    problems: list[Problem] = []
    taxonomy = collect(lambda: load_taxonomy(snapshot), problems)
    known = None if taxonomy is None else frozenset(taxonomy.by_id)
    config = collect(lambda: load_config(snapshot, known, config_path), problems)
    regression_set = collect(lambda: load_regression_set(snapshot, taxonomy), problems)
    if taxonomy is None or config is None or regression_set is None:
        raise InputError(problems)
    return Platform(taxonomy=taxonomy, config=config, regression_set=regression_set)


def read_submission(snapshot: Snapshot, customer: str, agent: str, folder: str, limits: Limits) -> Submission:
    """The agent specification and eval sets in ``snapshot``; raises :class:`InputError` when nothing can be judged."""
    problems: list[Problem] = []
    specification = collect(lambda: read_specification(snapshot, limits), problems)
    eval_sets = collect(lambda: read_eval_sets(snapshot, limits), problems)
    if specification is None or eval_sets is None:
        rows = () if eval_sets is None else eval_sets
        raise InputError([*problems, *(problem for eval_set in rows for problem in eval_set.problems)])
    return Submission(
        customer=customer,
        agent=agent,
        folder=folder,
        specification=specification,
        queries=tuple(query for eval_set in eval_sets for query in eval_set.queries),
        problems=tuple(problem for eval_set in eval_sets for problem in eval_set.problems),
    )


def review(platform: Platform, submission: Submission, backend: Backend, progress: Progress) -> Review:
    """Classify, rate and judge every unsettled query of ``submission`` against R; writes nothing."""
    settled, edited = _settle(submission, platform.regression_set)
    open_queries = [query for query in submission.queries if query.id not in settled]
    result = classify(open_queries, submission.specification, platform.taxonomy, backend, progress)
    turns = {query.id: query.turns for query in open_queries}
    scored = {item.query_id: rate(item, turns[item.query_id]) for item in result.classifications}
    known = platform.regression_set
    entries, lags = known.residents(platform.taxonomy, backend.identity)
    in_line, lags_in_line = known.in_line(platform.taxonomy, backend.identity)
    own = {submission.entry_id(query.id) for query in open_queries}
    residents = tuple(resident for resident in (*entries, *in_line) if resident.id not in own)
    verdicts = run_cycle(tuple(scored.values()), residents, platform.config)
    plan = plan_admissions(verdicts, len(known.entries), platform.config.ceiling, frozenset(edited))
    admitted = [scored[verdict.id] for verdict in plan.admitted]
    replaced = {submission.entry_id(query.id) for query in admitted}
    remaining = tuple(resident for resident in entries if resident.id not in replaced)
    return Review(
        platform=platform,
        submission=submission,
        identity=backend.identity,
        result=result,
        scored=scored,
        residents=residents,
        verdicts=verdicts,
        plan=plan,
        swaps=_swaps(plan, scored, remaining, lags, platform.config),
        settled=settled,
        edited=edited,
        lags=(*lags, *lags_in_line),
        coverage=_coverage(remaining, admitted, platform),
    )


def _swaps(
    plan: AdmissionPlan,
    scored: Mapping[str, ScoredQuery],
    entries: Sequence[Resident],
    lags: Sequence[Lag],
    config: Curation,
) -> tuple[Swap, ...]:
    """Swaps against R as it is after the direct admissions, which come last in the order of admission."""
    entered = [
        Resident(
            id=verdict.id,
            turns=scored[verdict.id].turns,
            scores=scored[verdict.id].scores,
            admitted_at=f"~{place:06d}",
            displaces=verdict.displaces,
        )
        for place, verdict in enumerate(plan.admitted)
    ]
    waiting = [(scored[verdict.id], verdict) for verdict in plan.waiting_for_slot]
    return suggest_swaps(waiting, [*entries, *entered], config, {lag.id for lag in lags})


def _settle(
    submission: Submission, regression_set: RegressionSet
) -> tuple[dict[str, Entry | Tombstone], dict[str, Entry]]:
    """Content that is in R, in line, or was evicted is not judged again (architecture, life of an eval set)."""
    settled: dict[str, Entry | Tombstone] = {}
    edited: dict[str, Entry] = {}
    for query in submission.queries:
        id = submission.entry_id(query.id)
        entry, waiting = regression_set.entries.get(id), regression_set.waiting.get(id)
        tombstone = regression_set.tombstones.get(id)
        if entry is not None and entry.turns == query.turns:
            settled[query.id] = entry
        elif waiting is not None and waiting.turns == query.turns:
            settled[query.id] = waiting
        elif tombstone is not None and tombstone.entry.turns == query.turns:
            settled[query.id] = tombstone
        elif entry is not None:
            edited[query.id] = entry
    return settled, edited


def _coverage(
    residents: Sequence[Resident], admitted: Sequence[ScoredQuery], platform: Platform
) -> tuple[Coverage, ...]:
    live = LiveSet(residents, admitted, platform.config)
    before = dict(zip(live.capabilities.names, live.coverers, strict=True))
    for query in admitted:
        live.admit(live.profile(query))
    after = dict(zip(live.capabilities.names, live.coverers, strict=True))
    return tuple(
        Coverage(
            capability=name,
            before=before.get(name, 0),
            after=after.get(name, 0),
            floor=platform.config.redundancy_floor(name),
        )
        for name in platform.taxonomy.by_id
    )


def collect(read: Callable[[], Value], problems: list[Problem]) -> Value | None:
    """What ``read`` returns; its faults go to ``problems`` so that others are found in the same run."""
    try:
        return read()
    except InputError as error:
        problems.extend(error.problems)
        return None
