"""What the tools answer that look at the regression set, as models: counts first, then the rows that matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from bot.curator.entry import Entry
from bot.mcp_server.answers import Page, page
from bot.mcp_server.untrusted import Marked, mark, mark_text
from bot.report.agreement_output import AgreementOutput, MonthOutput, OverriddenOutput, ReversedOutput, RowOutput
from bot.report.output import PruneOutput, StatusOutput

SHOWN_IDS = 5
"""Ids that stand beside a count; `find_entries` has them all."""


class CapabilityRow(BaseModel):
    """Coverage of one capability by the regression set."""

    id: str
    coverers: int = Field(ge=0, description="entries that cover it competently")
    floor: int = Field(ge=0, description="coverers that there should be")
    champion: Marked | None
    champion_score: float | None = Field(description="cs of the champion, in [0, 1]")


class Ids(BaseModel):
    """How many entries, and the first of them."""

    count: int = Field(ge=0)
    first: list[Marked] = Field(description="`find_entries` has them all")

    @staticmethod
    def of(ids: Sequence[str]) -> Ids:
        """``ids`` for output."""
        return Ids(count=len(ids), first=[mark(id) for id in ids[:SHOWN_IDS]])


class StatusAnswer(Page):
    """What the regression set holds."""

    size: int = Field(ge=0, description="entries in the set")
    ceiling: int = Field(ge=0, description="most entries that it may hold")
    taxonomy: str = Field(description="version of the taxonomy")
    capabilities_covered: int = Field(ge=0, description="capabilities with at least one competent coverer")
    capabilities_short: int = Field(ge=0, description="capabilities with fewer coverers than their floor")
    combinations: int = Field(ge=0, description="distinct combinations that the set carries")
    capabilities: list[CapabilityRow] = Field(description="in the taxonomy's order")
    pinned: Ids
    waiting: Ids = Field(description="entries that wait for a slot")
    evicted: Ids
    lagging: Ids = Field(description="entries without comparable scores: `incumbent reclassify` mends that")

    @staticmethod
    def of(output: StatusOutput, only: Literal["short", "uncovered", "all"], offset: int, limit: int) -> StatusAnswer:
        """``output``, what the command prints, with one page of the capabilities that were asked for."""
        asked = [
            item
            for item in output.capabilities
            if only == "all" or (not item.floor_met if only == "short" else not item.coverers)
        ]
        rows, total, after = page(asked, offset, limit)
        return StatusAnswer(
            total=total,
            next_offset=after,
            size=output.size,
            ceiling=output.ceiling,
            taxonomy=output.taxonomy,
            capabilities_covered=sum(bool(item.coverers) for item in output.capabilities),
            capabilities_short=sum(not item.floor_met for item in output.capabilities),
            combinations=output.combinations,
            capabilities=[
                CapabilityRow(
                    id=item.id,
                    coverers=len(item.coverers),
                    floor=item.floor,
                    champion=None if item.champion is None else mark(item.champion),
                    champion_score=item.champion_score,
                )
                for item in rows
            ],
            pinned=Ids.of(list(output.pinned)),
            waiting=Ids.of(output.waiting),
            evicted=Ids.of(output.evicted),
            lagging=Ids.of([item.id for item in output.lagging]),
        )


class EntryRow(BaseModel):
    """One entry."""

    id: Marked
    customer: Marked | None
    agent: Marked | None
    admitted: str = Field(description="when, UTC")
    exercises: int = Field(ge=0, description="capabilities that it exercises")
    champion_of: list[str] = Field(description="capabilities of which it is the champion")
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
            turns=[mark_text(turn) for turn in entry.turns] if texts else None,
        )


class EntriesAnswer(Page):
    """Entries that were found."""

    entries: list[EntryRow]


class SuggestionRow(BaseModel):
    """One eviction for a person to confirm."""

    id: Marked
    kind: Literal["displaced", "redundant"]
    yields_to: list[Marked] = Field(description="entries that displace it")
    remaining: dict[str, int] = Field(description="capability: coverers left once all suggestions are confirmed")


class SwapRow(BaseModel):
    """Admit one waiting entry and remove others together."""

    admit: Marked
    remove: list[Marked]


class LossRow(BaseModel):
    """What would be lost with an entry that cannot go safely."""

    id: Marked
    capabilities: list[str]
    combinations: list[list[str]]


class SuggestionsAnswer(Page):
    """What could go."""

    suggestions: list[SuggestionRow]
    swaps: list[SwapRow]
    least_loss: list[LossRow] = Field(description="for people, when entries wait and nothing can go safely")
    pinned: int = Field(ge=0, description="entries that may not go")
    over_ceiling: int = Field(ge=0, description="by how many entries the set exceeds its ceiling")

    @staticmethod
    def of(output: PruneOutput, offset: int, limit: int) -> SuggestionsAnswer:
        """``output``, what the command prints, with one page of the suggestions."""
        rows, total, after = page(output.suggestions, offset, limit)
        return SuggestionsAnswer(
            total=total,
            next_offset=after,
            suggestions=[
                SuggestionRow.model_validate(
                    {
                        "id": mark(item.id),
                        "kind": item.grounds["kind"],
                        "yields_to": [mark(id) for id in _ids(item.grounds["yields_to"])],
                        "remaining": item.remaining,
                    }
                )
                for item in rows
            ],
            swaps=[SwapRow(admit=mark(item.admit), remove=[mark(id) for id in item.remove]) for item in output.swaps],
            least_loss=[
                LossRow(id=mark(item.id), capabilities=item.capabilities, combinations=item.combinations)
                for item in output.least_loss
            ],
            pinned=len(output.pinned),
            over_ceiling=output.over_ceiling,
        )


def _ids(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


class SaidRow(BaseModel):
    """A reason that people gave."""

    text: Marked
    count: int = Field(ge=1, description="responses with this reason, case and white space aside")
    overrides: int = Field(ge=0, description="those of them that want something else than was decided")


class AgreementAnswer(BaseModel):
    """How far people agree with what they were shown."""

    ledger: bool = Field(description="whether there is a ledger here at all: without, all counts are 0")
    to_do: Marked | None = Field(description="without a ledger: how to get it")
    people: int = Field(ge=0, description="people whose responses count")
    overall: RowOutput
    decisions: dict[str, RowOutput]
    reasons: dict[str, RowOutput] = Field(description="reason codes of verdicts, and kinds of suggestions")
    months: dict[str, MonthOutput] | None = Field(description="calendar month in UTC; null: not asked for")
    said: list[SaidRow] = Field(description="the most frequent first")
    overridden: list[OverriddenOutput] = Field(description="capabilities, the surest to be overridden first")
    left_out: int = Field(ge=0, description="reasons and capabilities that `most` cut off")
    reversed: ReversedOutput
    unread: int = Field(ge=0, description="faults of lines of the ledger that cannot be read and count for nothing")

    @staticmethod
    def of(output: AgreementOutput, to_do: str | None, *, months: bool, most: int) -> AgreementAnswer:
        """``output``, what the command prints, shortened; ``to_do`` is how to get a ledger where there is none."""
        return AgreementAnswer(
            ledger=output.ledger,
            to_do=None if to_do is None else mark_text(to_do),
            people=output.people,
            overall=output.overall,
            decisions=output.decisions,
            reasons=output.reasons,
            months=output.months if months else None,
            said=[
                SaidRow(text=mark_text(item.text), count=item.count, overrides=item.overrides)
                for item in output.said[:most]
            ],
            overridden=output.overridden[:most],
            left_out=max(0, len(output.said) - most) + max(0, len(output.overridden) - most),
            reversed=output.reversed,
            unread=output.unread,
        )
