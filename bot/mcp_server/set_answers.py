"""Models of the answers about the regression set: counts first, then the rows that matter.

Their shape differs from that of ``--json`` on purpose: untrusted text is marked, and long lists are counted, cut or
paged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field, PlainSerializer

from bot.agreement.agreement import ReasonCount
from bot.curator.entry import Entry
from bot.curator.losses import Loss
from bot.curator.prune import Suggestion
from bot.curator.suggestions import Swap
from bot.files.views import HowMany, View
from bot.mcp_server.answers import Combinations, Ids, Page, ids_of, page
from bot.mcp_server.untrusted import Marked, Name, Quoted, mark, mark_text, mark_turns
from bot.rater.pair_coverage import MissingPair, PairCoverage
from bot.report.agreement import AgreementOutput, MonthOutput, OverriddenOutput, ReversedOutput, RowOutput
from bot.report.output import CapabilityStatus, PruneOutput, StatusOutput
from bot.report.results import ReleaseOutput, ResultsOutput
from bot.results.history import CapabilityEvidence, EntryHistory

CapabilityRow: TypeAlias = Annotated[
    CapabilityStatus,
    View(
        "id coverers floor champion champion_score",
        coverers=Annotated[HowMany, Field(description="entries that cover it competently")],
        floor=Annotated[int, Field(ge=0, description="coverers that there should be")],
        champion=Name | None,
        champion_score=Annotated[float | None, Field(description="cs of the champion, in [0, 1]")],
    ),
]


_Count: TypeAlias = Annotated[int, Field(ge=0)]
MissingPairRow: TypeAlias = Annotated[
    MissingPair,
    View(
        "capabilities agents first_agents waiting",
        agents=_Count,
        first_agents=tuple[Name, ...],
        waiting=Annotated[Ids, PlainSerializer(lambda found: ids_of(found).model_dump())],
    ),
]


PairsRow: TypeAlias = Annotated[
    PairCoverage, View("agents possible carried", agents=_Count, possible=_Count, carried=_Count)
]


class StatusAnswer(Page):
    """The state of the regression set."""

    size: int = Field(ge=0, description="entries in the set")
    ceiling: int = Field(ge=0, description="most entries that it may hold")
    cost: float = Field(ge=0, description="total cost of the entries' set-ups")
    taxonomy: str = Field(description="version of the taxonomy")
    capabilities_covered: int = Field(ge=0, description="capabilities with at least one competent coverer")
    capabilities_short: int = Field(ge=0, description="capabilities with fewer coverers than their floor")
    combinations: int = Field(ge=0, description="distinct combinations that the set carries")
    pairs: PairsRow | None = Field(description="`agents` decide what is possible; 0: the taxonomy alone")
    missing_pairs: list[MissingPairRow] = Field(description="possible - carried; empty unless `pairs` is true")
    capabilities: list[CapabilityRow] = Field(description="in the taxonomy's order")
    pinned: Ids = Field(description="entries that may not go; `find_entries` with role=pinned has them all")
    waiting: Ids = Field(description="entries that wait for a slot; role=waiting has them all")
    evicted: Ids = Field(description="role=evicted has them all")
    lagging: Ids = Field(description="entries without comparable scores: `incumbent reclassify` fixes that")

    @staticmethod
    def of(output: StatusOutput, only: Literal["short", "uncovered", "all"], offset: int, limit: int) -> StatusAnswer:
        """``output`` of the command, with one page of the requested capabilities."""
        asked = [
            item
            for item in output.capabilities
            if only == "all" or (not item.floor_met if only == "short" else not item.coverers)
        ]
        rows, total, after = page(asked, offset, limit)
        missing, _, after_missing = page(output.missing_pairs or [], offset, limit)
        return StatusAnswer(
            total=total,
            next_offset=after or after_missing,
            size=output.size,
            ceiling=output.ceiling,
            cost=output.cost,
            taxonomy=output.taxonomy,
            capabilities_covered=sum(bool(item.coverers) for item in output.capabilities),
            capabilities_short=sum(not item.floor_met for item in output.capabilities),
            combinations=output.combinations,
            pairs=output.pairs,
            missing_pairs=missing,
            capabilities=rows,
            pinned=ids_of(list(output.pinned)),
            waiting=ids_of(output.waiting),
            evicted=ids_of(output.evicted),
            lagging=ids_of([item.id for item in output.lagging]),
        )


class EntryRow(BaseModel):
    """One entry."""

    id: Marked
    customer: Marked | None
    agent: Marked | None
    admitted: str = Field(description="when, UTC")
    exercises: int = Field(ge=0, description="capabilities that it exercises")
    champion_of: list[str] = Field(description="capabilities whose champion it is")
    pinned: list[Marked] = Field(description="what keeps it: champion:CAPABILITY or person:REASON")
    score: float | None = Field(description="cs in the capability that was asked for, in [0, 1]; null: none was")
    scores: dict[str, float] | None = Field(description="cs in [0, 1] by capability; null: not asked for")
    turns: list[Marked] | None = Field(description="null: not asked for")

    @staticmethod
    def of(
        entry: Entry,
        champion_of: Sequence[str],
        pinned: Sequence[str],
        capability: str | None,
        *,
        scores: bool,
        texts: bool,
    ) -> EntryRow:
        """``entry`` for output."""
        return EntryRow(
            id=mark(entry.id),
            customer=None if entry.source is None else mark(entry.source.customer),
            agent=None if entry.source is None else mark(entry.source.agent),
            admitted=entry.admitted.at,
            exercises=len(entry.scores),
            champion_of=list(champion_of),
            pinned=[mark_text(reason) for reason in pinned],
            score=None if capability is None else entry.scores.get(capability),
            scores=dict(entry.scores) if scores else None,
            turns=mark_turns(entry.turns) if texts else None,
        )


class EntriesAnswer(Page):
    """The entries that match."""

    entries: list[EntryRow]


SuggestionRow: TypeAlias = Annotated[
    Suggestion,
    View(
        "id kind=grounds.kind yields_to=grounds.yields_to remaining",
        id=Name,
        kind=Literal["displaced", "redundant"],
        yields_to=Annotated[tuple[Name, ...], Field(description="entries that displace it")],
    ),
]
SwapRow: TypeAlias = Annotated[Swap, View("admit remove", admit=Name, remove=tuple[Name, ...])]
LossRow: TypeAlias = Annotated[
    Loss, View("admit id capabilities combinations", admit=Name, id=Name, combinations=Combinations)
]


class SuggestionsAnswer(Page):
    """What could be evicted, in three lists; a page has the same part of each."""

    total: int = Field(ge=0, description="suggestions, on all pages")
    suggestions: list[SuggestionRow]
    all_swaps: int = Field(ge=0, description="swaps, on all pages")
    swaps: list[SwapRow]
    all_least_loss: int = Field(ge=0, description="entries of `least_loss`, on all pages")
    least_loss: list[LossRow] = Field(description="for people, when entries wait and nothing can go safely")
    pinned: int = Field(ge=0, description="entries that may not go")
    over_ceiling: int = Field(ge=0, description="by how many entries the set exceeds its ceiling")

    @staticmethod
    def of(output: PruneOutput, offset: int, limit: int) -> SuggestionsAnswer:
        """``output`` of the command, with one page of each list."""
        rows, total, after = page(output.suggestions, offset, limit)
        swaps, all_swaps, after_swaps = page(output.swaps, offset, limit)
        losses, all_losses, after_losses = page(output.least_loss, offset, limit)
        return SuggestionsAnswer(
            total=total,
            next_offset=after or after_swaps or after_losses,
            all_swaps=all_swaps,
            all_least_loss=all_losses,
            suggestions=rows,
            swaps=swaps,
            least_loss=losses,
            pinned=len(output.pinned),
            over_ceiling=output.over_ceiling,
        )


SaidRow: TypeAlias = Annotated[
    ReasonCount,
    View(
        "text count overrides",
        text=Quoted,
        count=Annotated[int, Field(ge=1, description="responses with this reason, case and white space aside")],
        overrides=Annotated[int, Field(ge=0, description="those of them that want something else than was decided")],
    ),
]


ReleaseRow: TypeAlias = Annotated[
    ReleaseOutput,
    View(
        "release at passed failed errors",
        release=Name,
        passed=Annotated[int, Field(ge=0, description="runs")],
        failed=Annotated[int, Field(ge=0, description="runs")],
        errors=Annotated[int, Field(ge=0, description="runs")],
    ),
]
HistoryRow: TypeAlias = Annotated[
    EntryHistory,
    View(
        "entry releases failing mixed flips flapping failure_rate hidden last_failure seconds",
        entry=Name,
        last_failure=Name | None,
        failure_rate=Annotated[float, Field(description="expected share of failing releases, in [0, 1]")],
        hidden=Annotated[float | None, Field(description="chance of a defect that never showed, in [0, 1]")],
        seconds=Annotated[float | None, Field(description="mean duration of a run")],
    ),
]
EvidenceRow: TypeAlias = Annotated[
    CapabilityEvidence,
    View(
        "capability coverers ran failed flapping releases",
        coverers=Annotated[HowMany, Field(description="entries that cover it competently")],
    ),
]


class ResultsAnswer(Page):
    """What release runs said of entries and capabilities; no verdict rests on it."""

    ledger: bool = Field(description="whether there is a ledger here at all: without, there is no result")
    to_do: Marked | None = Field(description="without a ledger: how to get it")
    releases: list[ReleaseRow] = Field(description="as many of the last releases as rows, oldest first")
    never_failed: int = Field(ge=0, description="entries that ran and never failed")
    flapping: int = Field(ge=0, description="entries that pass and fail without a reason in the agent")
    never_ran: int = Field(ge=0, description="entries that no release says anything of")
    entries: list[HistoryRow] = Field(description="the requested entries; those that flap first")
    capabilities: list[EvidenceRow] = Field(description="covered ones whose tests never failed, or all flap")

    @staticmethod
    def of(
        output: ResultsOutput, to_do: str | None, only: Literal["flapping", "failed", "all"], offset: int, limit: int
    ) -> ResultsAnswer:
        """``output`` of the command, with one page of the requested entries."""
        asked = [
            item
            for item in output.entries
            if only == "all" or (item.flapping if only == "flapping" else item.failing > 0)
        ]
        rows, total, after = page(sorted(asked, key=lambda item: (not item.flapping, item.entry)), offset, limit)
        doubtful = [item for item in output.capabilities if item.coverers and not (item.failed and item.in_effect)]
        capabilities, _, after_capabilities = page(doubtful, offset, limit)
        return ResultsAnswer(
            total=total,
            next_offset=after or after_capabilities,
            ledger=output.ledger,
            to_do=None if to_do is None else mark_text(to_do),
            releases=output.releases[-limit:],
            never_failed=sum(1 for item in output.entries if item.releases and not item.failing),
            flapping=sum(1 for item in output.entries if item.flapping),
            never_ran=sum(1 for item in output.entries if not item.releases),
            entries=rows,
            capabilities=capabilities,
        )


class AgreementAnswer(BaseModel):
    """How far people agree with the verdicts and suggestions that they saw."""

    ledger: bool = Field(description="whether there is a ledger here at all: without, all counts are 0")
    to_do: Marked | None = Field(description="without a ledger: how to get it")
    people: int = Field(ge=0, description="people whose responses count")
    overall: RowOutput
    decisions: dict[str, RowOutput]
    reasons: dict[str, RowOutput] = Field(description="reason codes of verdicts, and kinds of suggestions")
    months: dict[str, MonthOutput] | None = Field(description="calendar month in UTC; null: not asked for")
    all_said: int = Field(ge=0, description="reasons that people gave, on all pages")
    said: list[SaidRow] = Field(description="the most frequent first")
    all_overridden: int = Field(ge=0, description="capabilities that were overridden, on all pages")
    overridden: list[OverriddenOutput] = Field(description="capabilities, the surest to be overridden first")
    next_offset: int | None = Field(description="`offset` of the next part of `said` and `overridden`; null: no more")
    reversed: ReversedOutput
    unread: int = Field(ge=0, description="faults of lines of the ledger that cannot be read and count for nothing")

    @staticmethod
    def of(output: AgreementOutput, to_do: str | None, *, months: bool, offset: int, limit: int) -> AgreementAnswer:
        """``output`` of the command, with one page of each list.

        ``to_do`` says how to get a ledger if there is none.
        """
        said, all_said, after_said = page(output.said, offset, limit)
        overridden, all_overridden, after_overridden = page(output.overridden, offset, limit)
        return AgreementAnswer(
            ledger=output.ledger,
            to_do=None if to_do is None else mark_text(to_do),
            people=output.people,
            overall=output.overall,
            decisions=output.decisions,
            reasons=output.reasons,
            months=output.months if months else None,
            all_said=all_said,
            said=said,
            all_overridden=all_overridden,
            overridden=overridden,
            next_offset=after_said or after_overridden,
            reversed=output.reversed,
            unread=output.unread,
        )
