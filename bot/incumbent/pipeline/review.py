"""The whole pipeline: a platform repository and a customer's submission in, a review out.

Commands, the Action and the MCP server share it; nothing here writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from incumbent.classifier.classify import ClassifierResult, classify
from incumbent.classifier.corrections import Correction, Corrections, corrected, values_of
from incumbent.classifier.model import Backend, Classification, Contradiction, Identity, Progress, Unfamiliar
from incumbent.consolidator.admissions import (
    AdmissionPlan,
    Answer,
    Derivation,
    accept,
    by_expected_detection,
    derive,
    plan_admissions,
    resident,
)
from incumbent.consolidator.cycle import Trust
from incumbent.consolidator.verdict import Verdict
from incumbent.consolidator.verdict_engine import doubt_text
from incumbent.curator.corrections import by_hand, corrected_costs, load_corrections
from incumbent.curator.entry import Entry, Source, StaleEntry, Tombstone, total
from incumbent.curator.exchanges import Exchanges
from incumbent.curator.losses import Coverage
from incumbent.curator.provisions import Provision, to_provision
from incumbent.curator.prune import SafeRemovals
from incumbent.curator.staging import AdmissionCandidate, AuditStamp, SetState, Staging, first_place, stage
from incumbent.curator.store import RegressionSet, load_regression_set
from incumbent.curator.suggestions import Swap, earning, newcomers_of
from incumbent.errors import IncumbentError, InputError, Problem
from incumbent.files.snapshot import Snapshot
from incumbent.files.user_cache import Remembered
from incumbent.intake.query import FixtureFolder, Query
from incumbent.pipeline.matching import in_line, settle
from incumbent.pipeline.repository_paths import link_problems
from incumbent.pipeline.submission import Package, Submission, collect
from incumbent.rater.adapter import rate
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry, ScoredQuery
from incumbent.taxonomy.config import CONFIG_FILE, Curation, load_config
from incumbent.taxonomy.loading import TAXONOMY_FILE, load_taxonomy
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import text_key
from incumbent.text.personal_data.detector import personal_in


@dataclass(frozen=True, kw_only=True)
class Platform:
    """A platform repository at one time: what verdicts are judged by and against, and curators' corrections.

    ``fixtures`` are those that are there; ``None``: no folder for them is configured.  ``left_out`` reports the links
    among the reviewed files, which were not read.
    """

    taxonomy: Taxonomy
    config: Curation
    regression_set: RegressionSet
    corrections: Corrections = field(default_factory=dict)
    fixtures: FixtureFolder | None = None
    left_out: tuple[Problem, ...] = ()

    def corrections_of(self, turns: Sequence[str]) -> Mapping[str, Correction]:
        """Curators' corrections of a text."""
        return self.corrections.get(text_key(turns), {}) if self.corrections else {}

    def cost_of(self, query: Query) -> float:
        """What the set-up behind ``query`` costs."""
        return self.regression_set.cost_of(query.turns, query.setup)

    def personal_in(self, texts: tuple[str, ...], customer: str | None) -> Mapping[str, int]:
        """Kind of personal data in ``texts`` of ``customer`` → how many values."""
        return personal_in(texts, self.config.personal_data.detector(customer))

    def rate(self, classification: Classification, query: Query, customer: str | None) -> ScoredQuery:
        """``query``, which ``customer`` brought, with its scores and the personal data in it."""
        return rate(
            query.id,
            query.turns,
            classification,
            self.taxonomy,
            customer,
            personal=self.personal_in(query.texts, customer),
            doubted=classification.doubted(self.config.options.doubted_below, self.config.limits.stated_calls),
            setup_cost=self.cost_of(query),
        )


@dataclass(frozen=True, kw_only=True)
class ClassifiedSubmission:
    """A submission and the classifications of its undecided queries."""

    submission: Submission
    result: ClassifierResult


@dataclass(frozen=True, kw_only=True)
class Review:
    """The contents of a verdict report; queries are by their names in the submissions, residents by their ids.

    ``settled`` maps queries that were already decided to their entry or tombstone.  ``edited`` maps queries whose entry
    in R has other turns to that entry.  ``targets`` maps all undecided queries to the id that they would have.
    ``residents`` are what they were judged against: R and the waitlist, without the queries' own entries.
    ``derivation`` has the verdicts, and people's answers.
    """

    platform: Platform
    submissions: tuple[Submission, ...]
    identity: Identity
    results: tuple[ClassifierResult, ...]
    scored: Mapping[str, ScoredQuery]
    residents: tuple[RatedEntry, ...]
    derivation: Derivation
    plan: AdmissionPlan
    swaps: tuple[Swap, ...]
    settled: Mapping[str, Entry | Tombstone]
    edited: Mapping[str, Entry]
    targets: Mapping[str, str]
    stale: tuple[StaleEntry, ...]
    coverage: tuple[Coverage, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict per query that was judged and not rejected by a person."""
        return self.derivation.verdicts

    @cached_property
    def queries(self) -> Mapping[str, Query]:
        """All queries by name, in the order of their eval sets."""
        return {query.id: query for submission in self.submissions for query in submission.queries}

    @cached_property
    def origins(self) -> Mapping[str, Submission]:
        return {query.id: submission for submission in self.submissions for query in submission.queries}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Rows that could not be read, in reading order."""
        found = [problem for submission in self.submissions for problem in submission.problems]
        return tuple(sorted(found, key=lambda problem: problem.order))

    @property
    def notes(self) -> tuple[Problem, ...]:
        """Remarks on the agents; they stop nothing."""
        return tuple(note for submission in self.submissions for note in submission.notes)

    @cached_property
    def classifications(self) -> Mapping[str, Classification]:
        """The classifications by query."""
        return {id: item for result in self.results for id, item in result.classifications.items()}

    @property
    def corrected(self) -> Mapping[str, Mapping[str, Correction]]:
        """Query → the corrections that decide tags of it, unless it is already decided."""
        found = {}
        for id, item in self.classifications.items():
            said = {} if id in self.settled else self.platform.corrections_of(self.queries[id].turns)
            found[id] = {name: said[name] for name in item.corrected if name in said}
        return {id: tags for id, tags in found.items() if tags}

    @property
    def off_taxonomy(self) -> Mapping[str, tuple[str, ...]]:
        """Query → the exactly-one groups none of whose members fits it."""
        return {id: item.off_taxonomy for id, item in self.classifications.items() if item.off_taxonomy}

    @property
    def unclassified(self) -> tuple[str, ...]:
        """Queries without a verdict, because too few inference samples were valid: the run is incomplete."""
        return tuple(id for result in self.results for id in result.unclassified)

    @property
    def attempts(self) -> tuple[str, ...]:
        """Queries that argued with the classifier, whatever became of them."""
        return tuple(id for id, item in self.classifications.items() if item.attempt)

    @cached_property
    def personal(self) -> Mapping[str, Mapping[str, int]]:
        """Undecided query with personal data → kinds of it, and how many values of each."""
        found = {
            id: self.platform.personal_in(query.texts, self.origins[id].customer)
            for id, query in self.queries.items()
            if id not in self.settled
        }
        return {id: kinds for id, kinds in found.items() if kinds}

    @property
    def contradictions(self) -> Mapping[str, Contradiction]:
        """Query → where its eval set expects other tool calls than the classifier."""
        found = self.classifications.items()
        return {id: item.contradiction for id, item in found if item.contradiction is not None}

    @property
    def unfamiliar(self) -> Mapping[str, Unfamiliar]:
        """Query → why the classifier cannot judge its kind of text."""
        return {id: item.unfamiliar for id, item in self.classifications.items() if item.unfamiliar is not None}

    @cached_property
    def alternates(self) -> Mapping[str, tuple[str, ...]]:
        """Query that waits for a person → those that would take its place, in the cycle's order."""
        behind: dict[str, list[str]] = {}
        for verdict in self.verdicts:
            for leader in verdict.alternate_of:
                behind.setdefault(leader, []).append(verdict.id)
        return {leader: tuple(ids) for leader, ids in behind.items()}

    @cached_property
    def entering(self) -> Mapping[str, Query]:
        """The queries that get a slot now, by the id that their entries will have."""
        return {self.targets[verdict.id]: self.queries[verdict.id] for verdict in self.plan.admitted}

    @property
    def provisions(self) -> tuple[Provision, ...]:
        """What the queries that get a slot now need, and no entry of R needs yet; by query."""
        admitted = {verdict.id: self.queries[verdict.id].setup for verdict in self.plan.admitted}
        return to_provision(admitted, self.platform.regression_set.setups)

    @property
    def cost_after(self) -> float:
        """The total cost of R once the admissions are in."""
        known = self.platform.regression_set
        items: dict[str, Entry | Query] = {**known.entries, **self.entering}
        return total(known.cost_of(item.turns, item.setup) for item in items.values())

    @cached_property
    def questions(self) -> tuple[tuple[Verdict, ...], tuple[Verdict, ...]]:
        """The verdicts that wait for a person, best first, and those beyond ``limits.questions`` of their eval set.

        Those that the classifier cannot judge are one question of their own.
        """
        waiting = {verdict.id: verdict for verdict in self.plan.waiting_for_review if verdict.facts.familiar}
        queries = [self.scored[id] for id in waiting]
        ordered = by_expected_detection(queries, self._standing, self.platform.config)
        asked: list[Verdict] = []
        later: list[Verdict] = []
        counts: Counter[str] = Counter()
        for id in ordered:
            folder = self.origins[id].folder
            counts[folder] += 1
            (asked if counts[folder] <= self.platform.config.limits.questions else later).append(waiting[id])
        return tuple(asked), tuple(later)

    def together(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Those of ``ids`` that enter if all of them are accepted in this order, each judged after the one before."""
        found = accept([self.scored[id] for id in ids], self._standing, self.platform.config)
        return tuple(verdict.id for verdict, _ in found)

    @cached_property
    def _standing(self) -> tuple[RatedEntry, ...]:
        """R and the waitlist with the direct admissions."""
        entered = [verdict for verdict in self.verdicts if verdict.admitted]
        new = (resident(self.scored[verdict.id], verdict, place) for place, verdict in enumerate(entered))
        return (*self.residents, *new)

    @property
    def shortfalls(self) -> Mapping[str, str]:
        """Query → why it has no verdict."""
        return {id: why for result in self.results for id, why in result.shortfalls.items()}

    @property
    def stopped(self) -> IncumbentError | None:
        """What stopped the classifier, if anything did."""
        return next((result.stopped for result in self.results if result.stopped is not None), None)

    def entry_id(self, name: str) -> str:
        """The id of the entry that the query called ``name`` has or would have."""
        return self.origins[name].entry_id(name)


def load_platform(
    snapshot: Snapshot, config_path: str = CONFIG_FILE, remembered: Remembered | None = None, *, is_past: bool = False
) -> Platform:
    """Taxonomy, config, regression set and corrections of ``snapshot``; raises one :class:`InputError` with all their
    faults.

    A link below their folders is no fault of theirs: it is left out.  ``remembered`` is a cache of earlier runs, for
    files on a user's own machine alone.  If the commit ``is_past``, only the schema of its taxonomy is checked.
    """
    refuse_other_folders(snapshot)
    problems: list[Problem] = []
    taxonomy = collect(lambda: load_taxonomy(snapshot, remembered, is_past=is_past), problems)
    known = None if taxonomy is None else frozenset(taxonomy.by_id)
    config = collect(lambda: load_config(snapshot, known, config_path), problems)
    regression_set = collect(lambda: load_regression_set(snapshot, taxonomy, remembered), problems)
    texts = collect(lambda: load_corrections(snapshot, taxonomy), problems)
    if taxonomy is None or config is None or regression_set is None or texts is None:
        raise InputError(problems)
    return Platform(
        taxonomy=taxonomy,
        config=config.under(taxonomy.uncombinable, taxonomy.trial, taxonomy.fill_from_any),
        regression_set=replace(regression_set, costs=corrected_costs(texts)),
        corrections=by_hand(texts),
        fixtures=fixtures_of(config, snapshot),
        left_out=link_problems(snapshot),
    )


def fixtures_of(config: Curation, snapshot: Snapshot) -> FixtureFolder | None:
    """The fixtures of ``snapshot``, if ``config`` names a folder for them."""
    return None if config.fixtures_folder is None else FixtureFolder.of(snapshot, config.fixtures_folder)


def refuse_other_folders(snapshot: Snapshot) -> None:
    """Raise :class:`InputError` if ``snapshot`` has no sign of a platform repository."""
    if not snapshot.exists(TAXONOMY_FILE) and not snapshot.exists(CONFIG_FILE):
        message = f"this is not a platform repository: there is no {TAXONOMY_FILE} and no {CONFIG_FILE}"
        fix = "name one with --repo DIR, or make this one with `incumbent init`"
        raise InputError([Problem(snapshot.name("").rstrip("/") or ".", None, message, fix)])


def review(platform: Platform, package: Package, backend: Backend, progress: Progress) -> Review:
    """Classify, rate and judge every undecided query of ``package`` against R; writes nothing."""
    return judge(platform, [classify_package(platform, package, backend, progress)], backend.identity)


def classify_package(
    platform: Platform,
    package: Package,
    backend: Backend,
    progress: Progress,
    known: Mapping[str, Classification] = MappingProxyType({}),
    *,
    line: bool = False,
) -> ClassifiedSubmission:
    """The facts about each undecided query of ``package`` alone: the capabilities that it exercises, with confidences.

    ``known`` are facts found earlier, by query; ``line`` adds entries that may leave the waitlist, as in `unsettled`.
    """
    queries = unsettled(platform, package.submission, line=line)
    missing = [query for query in queries if query.id not in known]
    result = classify(missing, package.specification, platform.taxonomy, backend, progress)
    found = {**known, **result.classifications}
    classifications = {query.id: found[query.id] for query in queries if query.id in found}
    return ClassifiedSubmission(
        submission=package.submission,
        result=replace(result, classifications=classifications),
    )


def under_corrections(platform: Platform, queries: Sequence[Query], result: ClassifierResult) -> ClassifierResult:
    """The ``result`` for ``queries`` with curators' corrections.

    Facts are stored uncorrected, so that a withdrawn correction leaves no trace.
    """
    if not platform.corrections:
        return result
    said = {query.id: values_of(platform.corrections_of(query.turns)) for query in queries}
    found = {id: corrected(item, platform.taxonomy, said[id]) for id, item in result.classifications.items()}
    return replace(result, classifications=found)


def unsettled(platform: Platform, submission: Submission, *, line: bool = False) -> tuple[Query, ...]:
    """The queries of ``submission`` that no entry and no tombstone decides.

    With ``line``, those whose entry may leave the waitlist are included.
    """
    known = platform.regression_set
    found = settle([submission], known)
    settled = found.settled.keys() - (in_line(found, known) if line else ())
    return tuple(query for query in submission.queries if query.id not in settled)


def judge(
    platform: Platform,
    classified: Sequence[ClassifiedSubmission],
    identity: Identity,
    answers: Sequence[Answer] = (),
    trust: Trust = doubt_text,
) -> Review:
    """Judge ``classified`` with curators' corrections, as one cycle against R, under people's ``answers``; pure."""
    classified = [
        replace(item, result=under_corrections(platform, item.submission.queries, item.result)) for item in classified
    ]
    submissions = tuple(item.submission for item in classified)
    found = settle(submissions, platform.regression_set)
    settled, edited = found.settled, found.edited
    queries = {query.id: query for submission in submissions for query in submission.queries}
    scored = {
        id: platform.rate(item, queries[id], each.submission.customer)
        for each in classified
        for id, item in each.result.classifications.items()
        if id not in settled
    }
    known = platform.regression_set
    entries, stale = known.residents(platform.taxonomy, identity)
    in_line, stale_in_line = known.in_line(platform.taxonomy, identity)
    own = set(found.targets.values())
    residents = tuple(item for item in (*entries, *in_line) if item.id not in own)
    derivation = derive(tuple(scored.values()), residents, answers, platform.config, trust)
    plan = plan_admissions(
        derivation.verdicts,
        len(known.entries),
        platform.config.ceiling,
        frozenset(edited),
        frozenset(answer.id for answer in derivation.accepted),
    )
    admitted = [scored[verdict.id] for verdict in plan.admitted]
    replaced = {edited[query.id].id for query in admitted if query.id in edited}
    remaining = tuple(item for item in entries if item.id not in replaced)
    return Review(
        platform=platform,
        submissions=submissions,
        identity=identity,
        results=tuple(item.result for item in classified),
        scored=scored,
        residents=residents,
        derivation=derivation,
        plan=plan,
        swaps=_swaps(
            plan,
            scored,
            queries,
            remaining,
            own,
            {item.id for item in stale} | known.kept_on_trial(platform.taxonomy).keys(),
            platform,
        ),
        settled=settled,
        edited=edited,
        targets=found.targets,
        stale=(*stale, *stale_in_line),
        coverage=_coverage(remaining, admitted, platform),
    )


def candidate_of(
    platform: Platform,
    submission: Submission,
    query: Query,
    scored: ScoredQuery,
    entry_id: str,
    commit: str | None,
    pull_request: int | None = None,
) -> AdmissionCandidate:
    """``query`` of ``submission`` as it may enter R, under the id ``entry_id``; ``commit`` has it, and
    ``pull_request`` brought it.
    """
    return AdmissionCandidate(
        query=query,
        scored=scored,
        source=Source(
            customer=submission.customer,
            agent=submission.agent,
            eval_set=query.file,
            item=submission.item(query.id),
            pull_request=pull_request,
            commit=commit,
        ),
        entry_id=entry_id,
        corrected=values_of(platform.corrections_of(query.turns)),
    )


def stage_admissions(
    outcome: Review, texts: Mapping[str, str], occasion: AuditStamp, pull_request: int | None = None
) -> Staging:
    """The effect of ``outcome`` on the regression set, as entries and file changes; pure.

    ``texts`` are the present files of the entries that it edits; ``pull_request`` brought the eval sets.
    """
    candidates = {
        name: candidate_of(
            outcome.platform,
            outcome.origins[name],
            outcome.queries[name],
            scored,
            outcome.targets[name],
            occasion.commit,
            pull_request,
        )
        for name, scored in outcome.scored.items()
    }
    known = outcome.platform.regression_set
    entered = [item.admitted for item in (*known.entries.values(), *known.waiting.values())]
    standing = SetState(
        ids={resident.id for resident in outcome.residents},
        edited=outcome.edited,
        texts=texts,
        waiting=known.waiting.keys(),
        tombstones=known.tombstones.keys(),
        order=first_place([(item.at, item.order) for item in entered], occasion.at),
    )
    return stage(
        outcome.plan,
        outcome.derivation.accepted,
        candidates,
        standing,
        outcome.platform.taxonomy,
        outcome.identity,
        occasion,
    )


def _swaps(
    plan: AdmissionPlan,
    scored: Mapping[str, ScoredQuery],
    queries: Mapping[str, Query],
    entries: Sequence[RatedEntry],
    own: Collection[str],
    stale: Collection[str],
    platform: Platform,
) -> tuple[Swap, ...]:
    """Swaps against R after the admissions, for the new queries that wait.

    Entries of the waitlist, without the queries' ``own`` ones, take part: of equal swaps theirs comes first.
    """
    if not plan.waiting_for_slot:
        return ()
    known, taxonomy, config = platform.regression_set, platform.taxonomy, platform.config
    present = [*entries, *(resident(scored[each.id], each, place) for place, each in enumerate(plan.admitted))]
    waiting = [resident(scored[each.id], each, len(present)) for each in plan.waiting_for_slot]
    before = [entry for entry in earning(known, present, taxonomy, config) if entry.id not in own]
    line = [*newcomers_of(before, known, taxonomy).values(), *waiting]
    names = {name for query in line for name in query.scores}
    removals = SafeRemovals(present, config, taxonomy.major, (), stale, names)
    removals.choose(known.restored)
    # By object: a customer may name a query as an entry of the waitlist is called.
    new = {id(query) for query in waiting}
    swaps = Exchanges(removals).swaps(line, len(present) - config.ceiling)
    return tuple(
        Swap(admit=each.query.id, remove=tuple(each.freed), rests_on=each.rests_on)
        for each in swaps
        if id(each.query) in new
    )


def _coverage(
    residents: Sequence[RatedEntry], admitted: Sequence[ScoredQuery], platform: Platform
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
