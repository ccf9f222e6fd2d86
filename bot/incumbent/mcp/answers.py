"""What the tools answer: the documents of ``--json``, and values of the core, as assistants see them.

Answers are views (:mod:`incumbent.files.views`): they mark untrusted text, and count, cut or page long lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, Field, PlainSerializer, WrapSerializer

from incumbent.classifier.model import (
    Basis,
    CalledTools,
    Classification,
    Contradiction,
    Identity,
    Judgement,
    LikelyTool,
    Unfamiliar,
)
from incumbent.consolidator.counterfactuals import Absence
from incumbent.consolidator.explanation import CapabilityStanding
from incumbent.consolidator.verdict import CloseCall, Verdict
from incumbent.curator.entry import Entry
from incumbent.curator.file_changes import FileChange
from incumbent.curator.losses import Coverage, Loss
from incumbent.curator.prune import Suggestion
from incumbent.curator.suggestions import Swap
from incumbent.files.validation import Checked, Score
from incumbent.files.views import HowMany, View
from incumbent.ledger.agreement.agreement import ReasonCount
from incumbent.ledger.releases.history import CapabilityEvidence, EntryHistory
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.mcp.untrusted import Marked, Name, Quoted, mark, mark_text, mark_turns
from incumbent.pipeline.admit import Admission
from incumbent.pipeline.consolidate import Consolidation
from incumbent.pipeline.review import Review
from incumbent.rater.model import RelationalFacts
from incumbent.rater.pair_coverage import MissingPair, PairCoverage
from incumbent.rater.scores import ScoredQueryFile, ScoresFile
from incumbent.report.agreement import (
    AgreementReport,
    MonthsOutput,
    OverriddenOutput,
    ReversedOutput,
    RowOutput,
    RowsOutput,
)
from incumbent.report.classify import ClassifiedQuery, ClassifyOutput
from incumbent.report.explanation import ExplainOutput, InCycleOutput, RulingOutput
from incumbent.report.output import CapabilityStatus, PruneOutput, Spent, StatusOutput
from incumbent.report.results import ResultsOutput
from incumbent.report.review_json import Outcome

SHOWN: Final = 5
"""The most items that are listed beside a count."""

Item = TypeVar("Item")
Whole = TypeVar("Whole")


class Counted(BaseModel, Generic[Item]):
    """A count, and the first items."""

    count: int = Field(ge=0)
    first: list[Item]


class FirstNames(Counted[Marked]):
    """A count, and the first items."""


def _cut(items: Collection[Any], show: Callable[[Any], Any], most: int = SHOWN) -> dict[str, Any]:
    return {"count": len(items), "first": [show(item) for item in islice(items, most)]}


def _first(show: Callable[[Any], Any], most: int = SHOWN) -> PlainSerializer:
    """Writes items as their number, and what ``show`` returns for the first of them."""
    return PlainSerializer(lambda items: _cut(items, show, most))


Names: TypeAlias = Annotated[FirstNames, _first(mark)]
ToolNames: TypeAlias = Annotated[FirstNames, PlainSerializer(lambda names: _cut(dict.fromkeys(names), mark))]
Combinations: TypeAlias = Annotated[
    Counted[list[str]], _first(list), Field(description="How many combinations, and the first of them.")
]
"""A query of many capabilities has hundreds of combinations."""
Turns: TypeAlias = Annotated[list[Marked], PlainSerializer(mark_turns)]
WholeTurns: TypeAlias = Annotated[
    list[Marked], PlainSerializer(lambda turns: mark_turns(turns, max(map(len, turns), default=0)))
]
"""In full: similarity is computed on them when they are given back."""


class UnclassifiedRow(BaseModel):
    """A query without a verdict."""

    id: Marked
    why: Marked


Unclassified: TypeAlias = Annotated[
    Counted[UnclassifiedRow],
    PlainSerializer(lambda why: _cut(why.items(), lambda item: {"id": mark(item[0]), "why": mark_text(item[1])})),
    Field(description="Queries without a verdict; a further call goes on with these."),
]


class SettledRow(BaseModel):
    """A query whose entry has the same text."""

    id: Marked
    entry: Marked = Field(description="the entry or tombstone that settles it")


KnownQueries: TypeAlias = Annotated[
    Counted[SettledRow],
    PlainSerializer(lambda known: _cut(known.items(), lambda item: {"id": mark(item[0]), "entry": mark(item[1].id)})),
    Field(description="Queries that an entry or a tombstone settles; they are not judged."),
]
UnreadInput: TypeAlias = Annotated[
    FirstNames,
    _first(lambda problem: mark_text(str(problem))),
    Field(description="Rows and files that could not be read, with line, fault and fix; the rest was read."),
]


@dataclass(frozen=True, kw_only=True)
class Page(Generic[Whole]):
    """A part of the rows of ``whole``: ``rows`` has one page of each list, and ``more`` what else is said."""

    whole: Whole
    rows: dict[str, Sequence[Any]]
    total: Annotated[int, Field(ge=0, description="rows on all pages")]
    next_offset: Annotated[int | None, Field(description="`offset` of the next page, if any")]
    more: dict[str, Any]


def page(whole: Whole, offset: int, limit: int, rows: Mapping[str, Sequence[Any]], **more: Any) -> Page[Whole]:
    """The same part of each list of ``rows``; the total is that of the first list."""
    end = offset + limit
    return Page(
        whole=whole,
        rows={name: items[offset:end] for name, items in rows.items()},
        total=len(next(iter(rows.values()))),
        next_offset=end if any(end < len(items) for items in rows.values()) else None,
        more=more,
    )


_Count: TypeAlias = Annotated[int, Field(ge=0)]
_ToDo: TypeAlias = Annotated[Quoted | None, Field(description="without a ledger: how to get it")]

# What the pipeline says of queries.

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
ContradictionRow: TypeAlias = Annotated[
    Contradiction,
    View(
        "expected likeliest probability",
        expected=Annotated[ToolNames, Field(description="by the eval set; none: no call")],
        likeliest=Annotated[ToolNames, Field(description="by the classifier, of each step")],
        probability=Annotated[Score, Field(description="of any call, by the classifier")],
    ),
    Field(description="The eval set expects other tool calls than the classifier; the eval set decides."),
]
ClassifiedRow: TypeAlias = Annotated[
    ClassifiedQuery,
    View(
        "id turns? exercises values?=said.judgements off_taxonomy=said.off_taxonomy attempt=said.attempt "
        "basis=said.basis unfamiliar=said.unfamiliar calls=said.calls contradiction=said.contradiction",
        id=Name,
        turns=Annotated[Turns, Field(description="if asked for")],
        values=Annotated[
            Mapping[str, Checked[Judgement]], Field(description="every capability, if asked for; κ in [0, 1]")
        ],
        off_taxonomy=Annotated[tuple[str, ...], Field(description="exactly-one groups none of whose members fits")],
        attempt=Annotated[bool, Field(description="it argues with the classifier, or hides text")],
        basis=Annotated[Basis | None, Field(description="the weakest basis of an inferred confidence, if any")],
        unfamiliar=Annotated[Unfamiliar | None, Field(description="why the classifier cannot judge it, if it cannot")],
        calls=Annotated[CallsRow | None, Field(description="null: it was not asked")],
        contradiction=ContradictionRow | None,
    ),
]
ClassifyAnswer: TypeAlias = Annotated[
    Page[ClassifyOutput],
    View(
        "total next_offset taxonomy=whole.taxonomy queries=rows.queries unclassified=whole.shortfalls "
        "unread=more.unread usage=whole.usage",
        queries=Annotated[list[ClassifiedRow], Field(description="in the order of the eval sets")],
        unclassified=Unclassified,
        unread=UnreadInput,
    ),
]
"""What the queries exercise."""

RatedRow: TypeAlias = Annotated[
    ScoredQueryFile,
    View(
        "id turns? scores by_rule arbitrated customer doubts attempt personal_data familiar setup_cost entry content",
        id=Name,
        turns=Annotated[WholeTurns, Field(description="if asked for")],
        customer=Annotated[Name | None, Field(description="who brought it")],
        personal_data=Annotated[dict[str, int], Field(description="kind of it in the query: values")],
        entry=Annotated[
            Name | None, Field(description="the entry that it has or would have; null: it came with the call")
        ],
    ),
]
RateAnswer: TypeAlias = Annotated[
    Page[ScoresFile],
    View(
        "total next_offset taxonomy=whole.taxonomy classifier=whole.classifier queries=rows.queries "
        "unclassified=more.shortfalls unread=more.unread usage=more.usage",
        taxonomy=str,
        classifier=Checked[Identity],
        queries=Annotated[list[RatedRow], Field(description="in the order of the eval sets")],
        unclassified=Unclassified,
        unread=UnreadInput,
        usage=Spent,
    ),
]
"""Scores, as `consolidate` and `cs_to_verdict` take them: whole rows with their turns, taxonomy and classifier."""

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


@dataclass(frozen=True, kw_only=True)
class JudgedRow:
    """One verdict; ``said`` is the classifier's, unless the query came with its scores."""

    verdict: Verdict
    outcome: Outcome
    why: Annotated[str, Field(description="in plain words; names are marked")]
    turns: Sequence[str]
    attempt: Annotated[bool, Field(description="it argues with the classifier, or hides text")]
    said: Classification | None = None


VerdictRow: TypeAlias = Annotated[
    JudgedRow,
    View(
        "id=verdict.id outcome attempt decision=verdict.decision route=verdict.route reasons=verdict.reasons why "
        "displaces=verdict.displaces alternate_of=verdict.alternate_of close_call?=verdict.close_call turns? "
        "facts?=verdict.facts unfamiliar?=said.unfamiliar contradiction?=said.contradiction",
        id=Name,
        decision=Literal["INCLUDE", "EXCLUDE", "REPLACE", "KEEP-BOTH"],
        route=Literal["direct", "review"],
        reasons=Annotated[tuple[str, ...], Field(description="codes, in order (docs/verdicts.md)")],
        displaces=Annotated[tuple[Name, ...], Field(description="entries that may be evicted then")],
        alternate_of=Annotated[tuple[Name, ...], Field(description="queries under review that offer the same")],
        close_call=Annotated[
            CloseCall,
            View("capabilities likelihood"),
            Field(description="what it may bring after all"),
        ],
        turns=Annotated[Turns, Field(description="if asked for")],
        facts=FactsRow,
        unfamiliar=Annotated[Unfamiliar, Field(description="why the classifier cannot judge it")],
        contradiction=ContradictionRow,
    ),
]


def outcomes(rows: Iterable[JudgedRow]) -> dict[Outcome, int]:
    """The number of ``rows`` for each outcome."""
    found = Counter(row.outcome for row in rows)
    every: tuple[Outcome, ...] = ("admitted", "waiting-for-slot", "waiting-for-review", "excluded")
    return {outcome: found[outcome] for outcome in every}


def reasons(rows: Iterable[JudgedRow]) -> dict[str, int]:
    """Reason code → how many of ``rows`` have it."""
    return dict(sorted(Counter(str(reason) for row in rows for reason in row.verdict.reasons).items()))


_JUDGED: Final = (
    "total next_offset counts=more.counts reasons=more.reasons verdicts=rows.verdicts settled=whole.settled"
)
_JUDGED_TYPES: Final[Mapping[str, Any]] = {
    "counts": Annotated[
        dict[Outcome, _Count],
        Field(
            description="queries: admitted enter without a person; waiting-for-slot deserve a slot, and the set is "
            "full; waiting-for-review enter if a person accepts them"
        ),
    ],
    "reasons": Annotated[dict[str, _Count], Field(description="reason code: queries that have it")],
    "settled": KnownQueries,
    "stale": Annotated[HowMany, Field(description="entries without comparable scores: they count for nothing")],
}
ConsolidateAnswer: TypeAlias = Annotated[
    Page[Consolidation],
    View(
        f"{_JUDGED} stale=whole.stale",
        verdicts=Annotated[list[VerdictRow], Field(description="in the cycle's order")],
        **_JUDGED_TYPES,
    ),
]
"""Verdicts on scored queries."""


class TurnedRow(BaseModel):
    """A query whose verdict against the present set is another."""

    id: Marked
    now: Outcome = Field(description="its outcome against the present set")
    then: Outcome = Field(description="its outcome against the set as it would be")


CsToVerdictAnswer: TypeAlias = Annotated[
    Page[Consolidation],
    View(
        f"{_JUDGED} stale=whole.stale without=more.without turned=more.turned",
        verdicts=Annotated[list[VerdictRow], Field(description="in the cycle's order")],
        without=Annotated[Names, Field(description="entries that were taken for gone")],
        turned=Annotated[
            Counted[TurnedRow],
            _first(lambda row: row.model_dump()),
            Field(
                description="Queries whose outcome the entries decide that were taken for gone; only=turned shows all "
                "verdicts"
            ),
        ],
        **_JUDGED_TYPES,
    ),
]
"""Verdicts on scored queries against an updated regression set."""


def _gained(coverage: Iterable[Coverage]) -> dict[str, str]:
    return {item.capability: f"{item.before} → {item.after}" for item in coverage if item.before != item.after}


ClassifyToVerdictAnswer: TypeAlias = Annotated[
    Page[Review],
    View(
        f"headline=more.headline size=whole.platform.regression_set.entries ceiling=whole.platform.config.ceiling "
        f"{_JUDGED} attempts=whole.attempts contradictions=whole.contradictions unfamiliar=whole.unfamiliar "
        "coverage_gained=whole.coverage unclassified=whole.shortfalls unread=whole.problems stale=whole.stale "
        "usage=more.usage",
        headline=str,
        size=Annotated[HowMany, Field(description="entries before the review")],
        ceiling=Annotated[int, Field(ge=0, description="most entries that it may hold")],
        verdicts=Annotated[
            list[VerdictRow],
            Field(description="direct admissions first, then the others; both in the cycle's order"),
        ],
        attempts=Annotated[
            Names, Field(description="that argue with the classifier, or hide text; only=attempts shows all")
        ],
        contradictions=Annotated[
            Names,
            Field(description="whose eval set contradicts the classifier; only=contradictions shows all"),
        ],
        unfamiliar=Annotated[
            Names, Field(description="whose kind of text the classifier cannot judge; only=unfamiliar shows all")
        ],
        coverage_gained=Annotated[
            dict[str, str],
            PlainSerializer(_gained),
            Field(description="capability: competent coverers before → after"),
        ],
        unclassified=Unclassified,
        unread=UnreadInput,
        usage=Spent,
        **_JUDGED_TYPES,
    ),
]
"""The judging of an eval set, from classification to verdicts."""

ExplainAnswer: TypeAlias = Annotated[
    ExplainOutput,
    View(
        "kind id=verdict.id outcome ruling=verdict.ruling why displaces=verdict.displaces "
        "alternate_of=verdict.alternate_of facts=verdict.facts pinned contradiction unfamiliar contests scores "
        "absences knobs left_out usage",
        id=Name,
        ruling=RulingOutput,
        why=Annotated[str, Field(description="the reason in plain words; names in it are marked")],
        displaces=Annotated[tuple[Name, ...], Field(description="entries that become candidates for eviction")],
        alternate_of=Annotated[tuple[Name, ...], Field(description="queries waiting for a person that offer the same")],
        facts=FactsRow,
        pinned=Annotated[list[Quoted], Field(description="what keeps an entry: champion:CAPABILITY or person:REASON")],
        contradiction=ContradictionRow | None,
        contests=Annotated[
            list[
                Annotated[
                    CapabilityStanding,
                    View(
                        "capability score competence_bar=bar champion champion_score=held winning_margin=margin path",
                        champion=Annotated[Name | None, Field(description="who holds it; null: no entry")],
                    ),
                ]
            ],
            Field(description="by capability that the query exercises"),
        ],
        absences=Annotated[
            list[
                Annotated[Absence, View("id then=ruling in_cycle", id=Name, then=RulingOutput, in_cycle=InCycleOutput)]
            ],
            Field(description="each suffices alone; sorted by id"),
        ],
    ),
]

# What the regression set holds.

StatusAnswer: TypeAlias = Annotated[
    Page[StatusOutput],
    View(
        "total next_offset size=whole.size ceiling=whole.ceiling cost=whole.cost detection=whole.detection "
        "taxonomy=whole.taxonomy capabilities_covered=whole.capabilities_covered "
        "capabilities_short=whole.capabilities_short combinations=whole.combinations "
        "pairs=whole.pairs missing_pairs=rows.missing_pairs capabilities=rows.capabilities pinned=whole.pinned "
        "quarantined=whole.quarantined waiting=whole.waiting evicted=whole.evicted stale=whole.stale",
        size=Annotated[int, Field(ge=0, description="entries in the set")],
        ceiling=Annotated[int, Field(ge=0, description="most entries that it may hold")],
        taxonomy=Annotated[str, Field(description="version of the taxonomy")],
        capabilities_covered=Annotated[HowMany, Field(description="capabilities with at least one competent coverer")],
        capabilities_short=Annotated[HowMany, Field(description="capabilities with fewer coverers than their floor")],
        pairs=Annotated[
            Annotated[PairCoverage, View("agents possible carried", agents=_Count, possible=_Count, carried=_Count)]
            | None,
            Field(description="`agents` decide what is possible; 0: the taxonomy alone"),
        ],
        missing_pairs=Annotated[
            list[
                Annotated[
                    MissingPair,
                    View(
                        "capabilities agents first_agents waiting",
                        agents=_Count,
                        first_agents=tuple[Name, ...],
                        waiting=Names,
                    ),
                ]
            ],
            Field(description="possible - carried; empty unless `pairs` is true"),
        ],
        capabilities=Annotated[
            list[
                Annotated[
                    CapabilityStatus,
                    View(
                        "id coverers floor champion champion_score",
                        coverers=Annotated[HowMany, Field(description="entries that cover it competently")],
                        floor=Annotated[int, Field(ge=0, description="coverers that there should be")],
                        champion=Name | None,
                    ),
                ]
            ],
            Field(description="in the taxonomy's order"),
        ],
        pinned=Annotated[Names, Field(description="entries that may not go; role=pinned of `find_entries` has them")],
        quarantined=Annotated[
            Names, Field(description="entries that exports leave out; role=quarantined has them all")
        ],
        waiting=Annotated[Names, Field(description="entries that wait for a slot; role=waiting has them all")],
        evicted=Annotated[Names, Field(description="role=evicted has them all")],
        stale=Annotated[
            FirstNames,
            _first(lambda entry: mark(entry.id)),
            Field(description="entries without comparable scores: `incumbent reclassify` fixes that"),
        ],
    ),
]


@dataclass(frozen=True, kw_only=True)
class FoundEntry:
    """One entry."""

    entry: Entry
    champion_of: Annotated[Sequence[str], Field(description="capabilities whose champion it is")]
    pinned: Sequence[str]
    score: Annotated[
        float | None, Field(description="cs in the capability that was asked for, in [0, 1]; null: none was")
    ]


EntriesAnswer: TypeAlias = Annotated[
    Page[None],
    View(
        "total next_offset entries=rows.entries",
        entries=list[
            Annotated[
                FoundEntry,
                View(
                    "id=entry.id customer=entry.source.customer agent=entry.source.agent admitted=entry.admitted.at "
                    "exercises=entry.scores champion_of pinned score scores?=entry.scores turns?=entry.turns",
                    id=Name,
                    customer=Name | None,
                    agent=Name | None,
                    admitted=Annotated[str, Field(description="when, UTC")],
                    exercises=Annotated[HowMany, Field(description="capabilities that it exercises")],
                    pinned=Annotated[
                        tuple[Quoted, ...],
                        Field(description="what keeps it: champion:CAPABILITY or person:REASON"),
                    ],
                    scores=Annotated[dict[str, float], Field(description="cs in [0, 1] by capability, if asked for")],
                    turns=Annotated[Turns, Field(description="if asked for")],
                ),
            ]
        ],
    ),
]
"""The entries that match."""

SuggestionsAnswer: TypeAlias = Annotated[
    Page[PruneOutput],
    View(
        "total next_offset suggestions=rows.suggestions all_swaps=whole.swaps swaps=rows.swaps "
        "all_least_loss=whole.least_loss least_loss=rows.least_loss pinned=whole.pinned "
        "over_ceiling=whole.over_ceiling refused=whole.refused",
        total=Annotated[int, Field(ge=0, description="suggestions, on all pages")],
        refused=Annotated[int | None, Field(description="left out since refused; null: not known")],
        suggestions=list[
            Annotated[
                Suggestion,
                View(
                    "id kind=grounds.kind yields_to=grounds.yields_to remaining",
                    id=Name,
                    kind=Literal["displaced", "redundant"],
                    yields_to=Annotated[tuple[Name, ...], Field(description="entries that displace it")],
                ),
            ]
        ],
        all_swaps=Annotated[HowMany, Field(description="swaps, on all pages")],
        swaps=list[Annotated[Swap, View("admit remove", admit=Name, remove=tuple[Name, ...])]],
        all_least_loss=Annotated[HowMany, Field(description="entries of `least_loss`, on all pages")],
        least_loss=Annotated[
            list[
                Annotated[
                    Loss,
                    View("admit id capabilities combinations", admit=Name, id=Name, combinations=Combinations),
                ]
            ],
            Field(description="for people, when entries wait and nothing can go safely"),
        ],
        pinned=Annotated[HowMany, Field(description="entries that may not go")],
    ),
]
"""What could be evicted, in three lists; a page has the same part of each."""

ResultsAnswer: TypeAlias = Annotated[
    Page[ResultsOutput],
    View(
        "total next_offset ledger=whole.ledger to_do=more.to_do releases=more.releases never_failed=whole.never_failed "
        "flapping=whole.flapping never_ran=whole.never_ran entries=rows.entries capabilities=rows.capabilities",
        to_do=_ToDo,
        releases=Annotated[
            list[
                Annotated[
                    ReleaseRecord,
                    View(
                        "release at passed failed errors",
                        release=Name,
                        passed=Annotated[int, Field(ge=0, description="runs")],
                        failed=Annotated[int, Field(ge=0, description="runs")],
                        errors=Annotated[int, Field(ge=0, description="runs")],
                    ),
                ]
            ],
            Field(description="as many of the last releases as rows, oldest first"),
        ],
        never_failed=Annotated[HowMany, Field(description="entries that ran and never failed")],
        flapping=Annotated[HowMany, Field(description="entries that pass and fail without a reason in the agent")],
        never_ran=Annotated[HowMany, Field(description="entries that no release says anything of")],
        entries=Annotated[
            list[
                Annotated[
                    EntryHistory,
                    View(
                        "entry releases failing mixed flips flapping steady quarantined failure_rate hidden "
                        "last_failure seconds",
                        entry=Name,
                        last_failure=Name | None,
                        failure_rate=Annotated[
                            float, Field(description="expected share of failing releases, in [0, 1]")
                        ],
                        hidden=Annotated[
                            float | None, Field(description="chance of a defect that never showed, in [0, 1]")
                        ],
                        seconds=Annotated[float | None, Field(description="mean duration of a run")],
                    ),
                ]
            ],
            Field(description="the requested entries; those that flap first"),
        ],
        capabilities=Annotated[
            list[
                Annotated[
                    CapabilityEvidence,
                    View(
                        "capability coverers ran failed flapping ineffective releases",
                        coverers=Annotated[HowMany, Field(description="entries that cover it competently")],
                    ),
                ]
            ],
            Field(description="covered ones whose tests never failed, or all flap or are quarantined"),
        ],
    ),
]
"""What release runs said of entries and capabilities; no verdict rests on it."""

AgreementAnswer: TypeAlias = Annotated[
    Page[AgreementReport],
    View(
        "ledger=whole.ledger to_do=more.to_do people=whole.agreement.people overall=whole.agreement.overall "
        "decisions=whole.agreement.decisions reasons=whole.agreement.reasons months?=whole.agreement.months "
        "all_said=whole.agreement.said said=rows.said all_overridden=whole.agreement.overridden "
        "overridden=rows.overridden next_offset reversed=whole.agreement unread=whole.unread",
        to_do=_ToDo,
        people=Annotated[int, Field(ge=0, description="people whose responses count")],
        overall=RowOutput,
        decisions=RowsOutput,
        reasons=Annotated[RowsOutput, Field(description="reason codes of verdicts, and kinds of suggestions")],
        months=Annotated[MonthsOutput, Field(description="calendar month in UTC; if asked for")],
        reversed=ReversedOutput,
        all_said=Annotated[HowMany, Field(description="reasons that people gave, on all pages")],
        said=Annotated[
            tuple[
                Annotated[
                    ReasonCount,
                    View(
                        "text count overrides",
                        text=Quoted,
                        count=Annotated[
                            int,
                            Field(ge=1, description="responses with this reason, case and white space aside"),
                        ],
                        overrides=Annotated[
                            int,
                            Field(ge=0, description="those of them that want something else than was decided"),
                        ],
                    ),
                ],
                ...,
            ],
            Field(description="the most frequent first"),
        ],
        all_overridden=Annotated[HowMany, Field(description="capabilities that were overridden, on all pages")],
        overridden=Annotated[
            tuple[OverriddenOutput, ...], Field(description="capabilities, the surest to be overridden first")
        ],
    ),
]
"""How far people agree with the verdicts and suggestions that they saw."""

# What is written.

_STAGED: Final = 20
"""The most entries and files of a staging that an answer names; people see all in `git diff` or on GitHub."""
_Entries: TypeAlias = Annotated[FirstNames, _first(lambda entry: mark(entry.id), _STAGED)]


@dataclass(frozen=True, kw_only=True)
class StagedAdmission:
    """What enters the regression set."""

    admission: Admission
    written: Literal["nothing", "working tree", "pull request"]
    pull_request: Annotated[int | None, Field(description="its number; null: none was opened")]
    to_do: Annotated[str, Field(description="what is left for the person")]


StageAnswer: TypeAlias = Annotated[
    StagedAdmission,
    View(
        "admitted=admission.staging.admitted waiting=admission.staging.waiting leaving=admission.staging.leaving "
        "files=admission.staging.file_changes written pull_request to_do unclassified=admission.shortfalls "
        "unread=admission.problems usage=admission.usage",
        admitted=Annotated[
            _Entries,
            Field(description="entries, in order, the first 20; `classify_to_verdict` shows their queries"),
        ],
        waiting=Annotated[_Entries, Field(description="entries that wait for a slot, the first 20")],
        leaving=Annotated[_Entries, Field(description="entries that waited and no longer earn a slot, the first 20")],
        files=Annotated[
            Counted[
                Annotated[
                    FileChange,
                    View(
                        "path change",
                        path=Annotated[Name, Field(description="relative to the platform repository")],
                    ),
                ]
            ],
            _first(lambda file: {"path": mark(file.path), "change": file.change}, _STAGED),
            Field(description="that were changed, or would be; the first 20"),
        ],
        unclassified=Annotated[Unclassified, Field(description="queries without a verdict, which hold up no other")],
        unread=UnreadInput,
        usage=Spent,
    ),
]


class DecisionAnswer(BaseModel):
    """The recorded decision."""

    recorded: Literal["comment", "working tree"]
    by: Marked = Field(description="whose decision it is")
    said: Marked = Field(description="the comment, or the file that was changed")
    to_do: str = Field(description="what is left for the person")
