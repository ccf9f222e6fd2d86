"""Models of the answers of the judging tools: small by default, customer text marked.

Their shape differs from that of ``--json`` on purpose: untrusted text is marked, and long lists are counted, cut or
paged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Final, Generic, Literal, Self, TypeAlias, TypeVar

from pydantic import BaseModel, Field, PlainSerializer, WrapSerializer

from bot.classifier.model import (
    Basis,
    CalledTools,
    Classification,
    Contradiction,
    Identity,
    Judgement,
    LikelyTool,
    Unfamiliar,
)
from bot.curator.entry import Entry, Tombstone
from bot.errors import Problem
from bot.files.validation import Checked, Score
from bot.files.views import HowMany, View
from bot.intake.query import Query
from bot.mcp_server.untrusted import Marked, Name, mark, mark_text, mark_turns
from bot.pipeline.review import Review
from bot.rater.model import RelationalFacts
from bot.report.output import Spent

SHOWN: Final = 5
"""The most items that are listed beside a count."""


Item = TypeVar("Item")


class Counted(BaseModel, Generic[Item]):
    """A count, and the first items."""

    count: int = Field(ge=0)
    first: list[Item]

    @classmethod
    def of(cls, items: Collection[Any], row: Callable[[Any], Item], most: int = SHOWN) -> Self:
        """The count of ``items``, and a ``row`` for each of the first."""
        return cls(count=len(items), first=[row(item) for item in islice(items, most)])


class Ids(Counted[Marked]):
    """A count, and the first items."""


Combinations: TypeAlias = Annotated[
    Counted[list[str]],
    PlainSerializer(lambda found: {"count": len(found), "first": found[:SHOWN]}),
    Field(description="How many combinations, and the first of them."),
]
"""A list of the core as a count; a query of many capabilities has hundreds of combinations."""


class UnclassifiedRow(BaseModel):
    """A query without a verdict."""

    id: Marked
    why: Marked


Unclassified: TypeAlias = Annotated[
    Counted[UnclassifiedRow], Field(description="Queries without a verdict; a further call goes on with these.")
]


class SettledRow(BaseModel):
    """A query whose entry has the same text."""

    id: Marked
    entry: Marked = Field(description="the entry or tombstone that settles it")


KnownQueries: TypeAlias = Annotated[
    Counted[SettledRow], Field(description="Queries that an entry or a tombstone settles; they are not judged.")
]


def ids_of(ids: Collection[str], most: int = SHOWN) -> Ids:
    """``ids`` for output, at most ``most`` by name."""
    return Ids.of(ids, mark, most)


def unclassified(shortfalls: Mapping[str, str]) -> Unclassified:
    """The queries that could not be classified; ``shortfalls`` has the reason of each."""
    return Counted[UnclassifiedRow].of(
        shortfalls.items(), lambda item: UnclassifiedRow(id=mark(item[0]), why=mark_text(item[1]))
    )


def known_queries(settled: Mapping[str, Entry | Tombstone]) -> KnownQueries:
    """The queries that are already decided (``settled``), each with its entry."""
    return Counted[SettledRow].of(settled.items(), lambda item: SettledRow(id=mark(item[0]), entry=mark(item[1].id)))


Outcome: TypeAlias = Literal["admitted", "waiting-for-slot", "waiting-for-review", "excluded"]


class Page(BaseModel):
    """Which part of all requested rows an answer has."""

    total: int = Field(ge=0, description="rows on all pages")
    next_offset: int | None = Field(description="`offset` of the next page, if any")


def page(rows: Sequence[Item], offset: int, limit: int) -> tuple[list[Item], int, int | None]:
    """The rows of one page, the number on all pages, and where the next page begins."""
    end = offset + limit
    return list(rows[offset:end]), len(rows), end if end < len(rows) else None


UnreadInput: TypeAlias = Annotated[
    Ids,
    Field(description="Rows and files that could not be read, with line, fault and fix; the rest was read."),
]


def unread_input(problems: Sequence[Problem]) -> UnreadInput:
    """``problems`` for output."""
    return Ids.of(problems, lambda item: mark_text(str(item)))


CallsRow: TypeAlias = Annotated[
    CalledTools,
    View(
        "probability steps=likely first=likely",
        probability=Annotated[Score, Field(description="that it calls any")],
        steps=HowMany,
        first=Annotated[
            tuple[
                Annotated[
                    LikelyTool,
                    View(
                        "tool probability",
                        tool=Name,
                        probability=Annotated[Score, Field(description="if any is called")],
                    ),
                ],
                ...,
            ],
            WrapSerializer(lambda steps, write: write(steps[:SHOWN])),
        ],
    ),
]


class ContradictionRow(BaseModel):
    """The eval set expects other tool calls than the classifier; the eval set decides."""

    id: Marked
    expected: Ids = Field(description="by the eval set; none: no call")
    likeliest: Ids = Field(description="by the classifier, of each step")
    probability: float = Field(ge=0, le=1, description="of any call, by the classifier")

    @staticmethod
    def of(id: str, found: Contradiction) -> ContradictionRow:
        """What was ``found`` about the query ``id``, for output."""
        return ContradictionRow(
            id=mark(id),
            expected=ids_of(tuple(dict.fromkeys(found.expected))),
            likeliest=ids_of(tuple(dict.fromkeys(found.likeliest))),
            probability=found.probability,
        )


Contradictions: TypeAlias = Annotated[
    Counted[ContradictionRow],
    Field(description="Queries whose eval set contradicts the classifier; only=contradictions shows all."),
]


def contradictions_of(found: Mapping[str, Contradiction]) -> Contradictions:
    """``found`` for output."""
    return Counted[ContradictionRow].of(found.items(), lambda item: ContradictionRow.of(*item))


class ClassifiedRow(BaseModel):
    """What one query exercises."""

    id: Marked
    turns: list[Marked] | None = Field(description="null: not asked for")
    exercises: dict[str, float] = Field(description="confidence κ in [0, 1] by capability that is TRUE")
    values: dict[str, Checked[Judgement]] | None = Field(description="every capability, if asked for; κ in [0, 1]")
    off_taxonomy: list[str] = Field(description="exactly-one groups none of whose members fits")
    attempt: bool = Field(description="it argues with the classifier, or hides text")
    basis: Basis | None = Field(description="the weakest basis of an inferred confidence, if any")
    unfamiliar: Unfamiliar | None = Field(description="why the classifier cannot judge it, if it cannot")
    calls: CallsRow | None = Field(description="null: it was not asked")
    contradiction: ContradictionRow | None = Field(description="between eval set and classifier")

    @staticmethod
    def of(item: Classification, query: Query, *, texts: bool, every_value: bool) -> ClassifiedRow:
        """The classification ``item`` of ``query``, for output."""
        values = dict(item.judgements)
        return ClassifiedRow(
            id=mark(item.query_id),
            turns=mark_turns(query.turns) if texts else None,
            exercises={name: judged.confidence for name, judged in values.items() if judged.value},
            values=values if every_value else None,
            off_taxonomy=list(item.off_taxonomy),
            attempt=item.attempt,
            basis=item.basis,
            unfamiliar=item.unfamiliar,
            calls=item.calls,
            contradiction=None
            if item.contradiction is None
            else ContradictionRow.of(item.query_id, item.contradiction),
        )


class ClassifyAnswer(Page):
    """What the queries exercise."""

    taxonomy: str = Field(description="version of the taxonomy")
    queries: list[ClassifiedRow] = Field(description="in the order of the eval sets")
    unclassified: Unclassified
    unread: UnreadInput
    usage: Spent


class RatedRow(BaseModel):
    """The intrinsic half of the rating of one query."""

    id: Marked
    turns: list[Marked] | None = Field(description="null: not asked for")
    scores: dict[str, float] = Field(description="cs in [0, 1] by capability that the query exercises")
    arbitrated: list[str] = Field(description="capabilities of these that arbitration alone made TRUE")
    customer: Marked | None = Field(description="who brought it")
    doubts: dict[str, float] = Field(description="capability that it does not exercise: probability that it does")
    attempt: bool = Field(description="it argued with the classifier, or hides text")
    personal_data: dict[str, int] = Field(description="kind of it in the query: values")
    familiar: bool = Field(description="the classifier can judge this kind of text")
    entry: Marked | None = Field(description="the entry that it has or would have; null: it came with the call")
    content: str | None = Field(description="digest of what was rated, to compare the entry with; null: likewise")


class RateAnswer(Page):
    """Scores, as `consolidate` and `cs_to_verdict` take them: whole rows with their turns, taxonomy and classifier."""

    taxonomy: str = Field(description="version of the taxonomy")
    classifier: Checked[Identity]
    queries: list[RatedRow] = Field(description="in the order of the eval sets")
    unclassified: Unclassified
    unread: UnreadInput
    usage: Spent


FactsRow: TypeAlias = Annotated[
    RelationalFacts,
    View(
        "competent new_capabilities fills new_combinations wins max_similarity most_similar novel",
        competent=Annotated[tuple[str, ...], Field(description="capabilities at or above the competence bar")],
        fills=Annotated[dict[str, int], Field(description="capability with too few coverers: how many")],
        new_combinations=Combinations,
        wins=Annotated[dict[str, Name], Field(description="capability: the champion beaten")],
        max_similarity=Annotated[Score, Field(description="of its text to `most_similar`")],
        most_similar=Name | None,
    ),
    Field(description="What a verdict rests on, as of its turn in the cycle."),
]


def _is_none(value: object) -> bool:
    return value is None


def _is_empty(value: object) -> bool:
    return not value


class VerdictRow(BaseModel):
    """One verdict."""

    id: Marked
    outcome: Outcome
    attempt: bool = Field(description="it argues with the classifier, or hides text")
    decision: Literal["INCLUDE", "EXCLUDE", "REPLACE", "KEEP-BOTH"]
    route: Literal["direct", "review"]
    reasons: list[str] = Field(description="codes, in order (docs/verdicts.md)")
    why: str = Field(description="in plain words; names are marked")
    displaces: list[Marked] = Field(description="entries that may be evicted then")
    alternate_of: list[Marked] = Field(description="queries under review that offer the same")
    close_calls: dict[str, float] = Field(
        default_factory=dict,
        exclude_if=_is_empty,
        description="capability that would give it merit if exercised competently: its probability, which is too low",
    )
    turns: list[Marked] | None = Field(description="null: not asked for")
    facts: FactsRow | None = Field(description="null: not asked for")


class ReviewRow(VerdictRow):
    """A verdict of a review, with the remarks on its query, if any."""

    unfamiliar: Unfamiliar | None = Field(
        default=None, exclude_if=_is_none, description="why the classifier cannot judge it"
    )
    contradiction: ContradictionRow | None = Field(
        default=None, exclude_if=_is_none, description="between eval set and classifier"
    )

    @staticmethod
    def of(row: VerdictRow, unfamiliar: Unfamiliar | None, contradiction: ContradictionRow | None) -> ReviewRow:
        """``row`` with these remarks; an answer leaves out empty ones."""
        fields = {name: getattr(row, name) for name in VerdictRow.model_fields}
        return ReviewRow(**fields, unfamiliar=unfamiliar, contradiction=contradiction)


class VerdictCounts(BaseModel):
    """The number of queries for each outcome."""

    admitted: int = Field(ge=0, description="enter without a person")
    waiting_for_slot: int = Field(ge=0, description="deserve a slot and the set is full")
    waiting_for_review: int = Field(ge=0, description="enter if a person accepts them")
    excluded: int = Field(ge=0)
    reasons: dict[str, int] = Field(description="reason code: queries that have it")

    @staticmethod
    def of(rows: Sequence[VerdictRow]) -> VerdictCounts:
        """The counts over all ``rows``."""
        found = Counter(row.outcome for row in rows)
        return VerdictCounts(
            admitted=found["admitted"],
            waiting_for_slot=found["waiting-for-slot"],
            waiting_for_review=found["waiting-for-review"],
            excluded=found["excluded"],
            reasons=dict(sorted(Counter(reason for row in rows for reason in row.reasons).items())),
        )


class ConsolidateAnswer(Page):
    """Verdicts on scored queries."""

    counts: VerdictCounts
    verdicts: list[VerdictRow] = Field(description="in the cycle's order")
    settled: KnownQueries
    lagging: int = Field(ge=0, description="entries without comparable scores: they count for nothing")


class TurnedRow(BaseModel):
    """A query whose verdict against the present set is another."""

    id: Marked
    now: Outcome = Field(description="its outcome against the present set")
    then: Outcome = Field(description="its outcome against the set as it would be")


class CsToVerdictAnswer(ConsolidateAnswer):
    """Verdicts on scored queries against an updated regression set."""

    without: Ids = Field(description="entries that were taken for gone")
    turned: Counted[TurnedRow] = Field(
        description="Queries whose outcome the entries decide that were taken for gone; only=turned shows all verdicts"
    )


class ClassifyToVerdictAnswer(Page):
    """The judging of an eval set, from classification to verdicts."""

    headline: str
    size: int = Field(ge=0, description="entries before the review")
    ceiling: int = Field(ge=0, description="most entries that it may hold")
    counts: VerdictCounts
    verdicts: list[ReviewRow] = Field(description="direct admissions first, then the others; both in the cycle's order")
    settled: KnownQueries
    attempts: Ids = Field(description="that argue with the classifier, or hide text; only=attempts shows all")
    contradictions: Contradictions
    unfamiliar: Ids = Field(description="whose kind of text the classifier cannot judge; only=unfamiliar shows all")
    coverage_gained: dict[str, str] = Field(description="capability: competent coverers before → after")
    unclassified: Unclassified
    unread: UnreadInput
    lagging: int = Field(ge=0, description="entries without comparable scores: they count for nothing")
    usage: Spent


def coverage_gained(review: Review) -> dict[str, str]:
    """The capabilities whose number of covering entries changes with the direct admissions."""
    return {item.capability: f"{item.before} → {item.after}" for item in review.coverage if item.before != item.after}
