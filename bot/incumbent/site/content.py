"""What a site shows, as values: from the platform in a working tree, its commits and its ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final

from incumbent.curator.entry import Entry
from incumbent.curator.growth import GrowthPoint
from incumbent.curator.store import State, entry_path, tombstone_path, waiting_path
from incumbent.errors import Problem
from incumbent.files.git.file_history import CHANGES, FileCommit
from incumbent.files.git.working_copy import read_changed, read_head, read_top
from incumbent.ledger.calibration.calibrate import CalibrationFinding
from incumbent.ledger.clone import calibration_finding, recorded_releases, recorded_scores, refused_in
from incumbent.ledger.releases.history import EntryHistory, ReleaseOutcome, outcomes_of
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.pipeline.declared_agents import declared_agents
from incumbent.pipeline.matching import settle
from incumbent.pipeline.review import Platform
from incumbent.pipeline.workspace import read_packages, set_history
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.pair_coverage import RuledOut, possible_pairs
from incumbent.rater.similarity import most_similar_few
from incumbent.report.agreement import AgreementReport, agreement_overview
from incumbent.report.entries import ShowOutput, show_all
from incumbent.report.output import CapabilityStatus, PruneOutput, StatusOutput
from incumbent.report.results import ResultsOutput, results_overview
from incumbent.report.status import prune_overview, status_overview
from incumbent.site.folder import is_in_site
from incumbent.text.compare import normalise

NEIGHBOURS: Final = 5
"""How many of the most similar entries a page names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A similar entry, and the similarity of the texts in [0, 1]."""

    id: str
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteEntry:
    """An entry in R, on the waitlist or evicted, with all that a page says of it.

    ``changes`` are the commits that changed its file, newest first.  ``outcomes`` are what releases said of it, oldest
    first, and ``history`` sums them up.
    """

    shown: ShowOutput
    neighbours: tuple[Neighbour, ...]
    changes: tuple[FileCommit, ...]
    outcomes: tuple[ReleaseOutcome, ...]
    history: EntryHistory | None

    @property
    def id(self) -> str:
        return self.shown.entry.id

    @property
    def entry(self) -> Entry:
        return self.shown.entry

    @property
    def state(self) -> State:
        return self.shown.state

    @property
    def customer(self) -> str | None:
        """Its customer; ``None``: it names no source."""
        return None if self.entry.source is None else self.entry.source.customer


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBrought:
    """What became of the queries in the eval sets of one agent: how many there are, and how many are where."""

    agent: str
    queries: int
    states: Mapping[State, int]

    @property
    def not_admitted(self) -> int:
        """The queries that are in no part of the set."""
        return self.queries - sum(self.states.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteCustomer:
    """A customer: its agents with eval sets here, and its entries by state."""

    name: str
    agents: tuple[AgentBrought, ...]
    entries: Mapping[State, tuple[str, ...]]

    @property
    def queries(self) -> int:
        return sum(agent.queries for agent in self.agents)

    @property
    def not_admitted(self) -> int:
        return sum(agent.not_admitted for agent in self.agents)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTable:
    """Pairs of capabilities: which could be carried, and by which entries those are that are.

    ``names`` are the capabilities that take part in pairs, in the taxonomy's order.
    """

    names: tuple[str, ...]
    possible: frozenset[frozenset[str]]
    carriers: Mapping[frozenset[str], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class SiteContent:
    """Everything that a site can show; what its readers do not see is left out when the pages are made.

    ``commit`` is the commit that is checked out (``None``: without git), ``at`` its time; ``is_changed``: the
    working tree differs from it, sites that were written into it apart.  ``agents`` are those with a declared
    specification, and what these rule out.  ``problems`` are what could not be read; the rest is shown.
    """

    name: str
    commit: str | None
    at: str | None
    is_changed: bool
    platform: Platform
    status: StatusOutput
    suggestions: PruneOutput
    entries: Mapping[str, SiteEntry]
    customers: tuple[SiteCustomer, ...]
    agents: RuledOut
    pairs: PairTable | None
    results: ResultsOutput | None
    agreement: AgreementReport | None
    calibration: CalibrationFinding | None
    problems: tuple[Problem, ...] = field(default=())

    @property
    def points(self) -> tuple[GrowthPoint, ...]:
        """The set over time."""
        return () if self.status.growth is None else self.status.growth.points

    def able(self, capability: str) -> tuple[str, ...]:
        """The agents whose declared specification allows ``capability``, sorted."""
        return tuple(sorted(name for name, ruled_out in self.agents.items() if capability not in ruled_out))

    @property
    def short(self) -> tuple[CapabilityStatus, ...]:
        """The capabilities with fewer coverers than their floor, those with fewest first; none on trial."""
        found = [item for item in self.status.capabilities_short if not item.on_trial]
        return tuple(sorted(found, key=lambda item: len(item.coverers) - item.floor))


def read_site(platform: Platform, repo: Path, name: str, config_path: str) -> SiteContent:
    """The content of a site of the ``platform`` in the working tree ``repo``, called ``name``."""
    problems: list[Problem] = []
    agents = declared_agents(platform, repo)
    records, faults, without = recorded_releases(repo, platform.config.results.window)
    problems += faults
    results = results_overview(platform, records, ledger=without is None) if records else None
    histories = {} if results is None else {item.entry: item for item in results.entries if item.releases}
    agreement = agreement_overview(repo)
    problems += agreement.problems
    calibration = calibration_finding(
        repo, platform.taxonomy, platform.config, config_path, platform.regression_set.identity
    )
    head = None if read_top(repo) is None else read_head(repo)
    history = set_history(repo, CHANGES)
    customers = _customers(platform, repo, problems)
    refused = refused_in(repo)
    return SiteContent(
        name=name,
        commit=None if head is None else head.commit,
        at=None if head is None else head.at,
        is_changed=head is not None and _is_changed(repo),
        platform=platform,
        status=status_overview(
            platform,
            agents,
            results,
            over_time=True,
            history=history,
            on_record=recorded_scores(repo, platform.taxonomy),
        ),
        suggestions=prune_overview(
            platform,
            refused.suggestions(platform.regression_set, platform.taxonomy, platform.config),
            refused,
            histories,
        ),
        entries=_entries(platform, {} if history is None else history.changes, records, histories),
        customers=customers,
        agents=agents,
        pairs=_pairs(platform, agents),
        results=results,
        agreement=agreement.output if agreement.without is None else None,
        calibration=calibration.output if calibration.without is None else None,
        problems=tuple(problems),
    )


def _is_changed(repo: Path) -> bool:
    """Whether the working tree differs from its commit, other than by sites that were written into it."""
    return not all(is_in_site(PurePath(file), repo) for file in read_changed(repo, "HEAD"))


def _entries(
    platform: Platform,
    changes: Mapping[str, tuple[FileCommit, ...]],
    records: Sequence[ReleaseRecord],
    histories: Mapping[str, EntryHistory],
) -> dict[str, SiteEntry]:
    shown = show_all(platform)
    near = _neighbours(platform.regression_set.entries, [item.entry for item in shown.values()])
    found = {}
    for id, item in shown.items():
        places = (entry_path(id), waiting_path(id), tombstone_path(id))
        own = [change for place in places for change in changes.get(place, ())]
        # A move from one folder to another is two changes of one commit.
        latest = {change.commit: change for change in sorted(own, key=lambda change: change.change == "A")}
        found[id] = SiteEntry(
            shown=item,
            neighbours=near[id],
            changes=tuple(sorted(latest.values(), key=lambda change: (change.at, change.commit), reverse=True)),
            outcomes=outcomes_of(item.entry, records),
            history=histories.get(id),
        )
    return found


def _neighbours(residents: Mapping[str, Entry], entries: Sequence[Entry]) -> dict[str, tuple[Neighbour, ...]]:
    """Entry → the residents whose texts are most like its own, the most similar first (ties: smaller id)."""
    ids = sorted(residents)
    # One more, since most are their own most similar.
    nearest = most_similar_few(
        [normalise(entry.turns) for entry in entries], [normalise(residents[id].turns) for id in ids], NEIGHBOURS + 1
    )
    return {
        entry.id: tuple(
            [Neighbour(id=ids[place], similarity=value) for place, value in near if ids[place] != entry.id][:NEIGHBOURS]
        )
        for entry, near in zip(entries, nearest, strict=True)
    }


def _customers(platform: Platform, repo: Path, problems: list[Problem]) -> tuple[SiteCustomer, ...]:
    known = platform.regression_set
    agents: dict[str, list[AgentBrought]] = {}
    for package in read_packages(platform, repo, problems):
        submission = package.submission
        settled = settle([submission], known).settled.values()
        states: dict[State, int] = {
            state: sum(1 for record in settled if record.id in entries) for state, entries in known.parts.items()
        }
        agents.setdefault(submission.customer, []).append(
            AgentBrought(agent=submission.agent, queries=len(submission.queries), states=states)
        )
    entries: dict[str, dict[State, list[str]]] = {name: {} for name in agents}
    for state, part in known.parts.items():
        for id, entry in part.items():
            if entry.source is not None:
                entries.setdefault(entry.source.customer, {}).setdefault(state, []).append(id)
    return tuple(
        SiteCustomer(
            name=name,
            agents=tuple(agents.get(name, ())),
            entries={state: tuple(sorted(ids)) for state, ids in entries[name].items()},
        )
        for name in sorted(entries)
    )


def _pairs(platform: Platform, agents: RuledOut) -> PairTable | None:
    """The pairs; ``None`` where a combination is not of two capabilities."""
    if platform.config.options.novelty != 2:
        return None
    residents = platform.regression_set.residents(platform.taxonomy)[0]
    pairs = possible_pairs(residents, platform.taxonomy, platform.config, agents)
    if pairs is None:
        return None
    live = LiveSet(residents, (), platform.config)
    carriers = {
        frozenset(live.capabilities.named(mask)): tuple(sorted(ids))
        for mask, ids in live.carriers().items()
        if mask.bit_count() == 2
    }
    possible = pairs.named
    taking_part = frozenset().union(*possible, *carriers)
    return PairTable(
        names=tuple(name for name in platform.taxonomy.by_id if name in taking_part),
        possible=possible,
        carriers=carriers,
    )
