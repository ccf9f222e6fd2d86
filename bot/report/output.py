"""What ``--json`` prints, as models: the documented, stable schemas (``incumbent schema NAME``)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, JsonValue

from bot.classifier.classify import ClassifierResult
from bot.consolidator.verdict import Verdict
from bot.curator.entry import Lag
from bot.curator.prune import Pruning
from bot.curator.staging import Staging
from bot.errors import Problem
from bot.intake.query import Query
from bot.pipeline import Review
from bot.report.voices import PlainVoice
from bot.report.wording import headline, why
from bot.taxonomy.model import Taxonomy


class ProblemOutput(BaseModel):
    """One fault of the input."""

    file: str
    line: int | None = Field(description="counts from 1; null where the fault has no line")
    message: str
    fix: str

    @staticmethod
    def of(problem: Problem) -> ProblemOutput:
        """``problem`` for output."""
        return ProblemOutput(file=problem.file, line=problem.line, message=problem.message, fix=problem.fix)


class ValueOutput(BaseModel):
    """What the classifier says of one capability."""

    value: bool
    confidence: float = Field(ge=0, le=1, description="κ")
    path: Literal["specification", "inference", "arbitration", "undeclared"]


class ClassifiedQueryOutput(BaseModel):
    """One classified query."""

    id: str
    turns: list[str]
    values: dict[str, ValueOutput] = Field(description="by capability, in the taxonomy's order")
    off_taxonomy: list[str] = Field(description="exactly-one groups none of whose members fits")


class ClassifyOutput(BaseModel):
    """`incumbent classify --json`."""

    taxonomy: str = Field(description="version of the taxonomy")
    queries: list[ClassifiedQueryOutput]
    unclassified: list[str] = Field(description="queries with too few valid samples")

    @staticmethod
    def of(result: ClassifierResult, queries: tuple[Query, ...], taxonomy: Taxonomy) -> ClassifyOutput:
        """``result`` for output."""
        turns = {query.id: list(query.turns) for query in queries}
        return ClassifyOutput(
            taxonomy=taxonomy.version,
            queries=[
                ClassifiedQueryOutput(
                    id=item.query_id,
                    turns=turns[item.query_id],
                    values={
                        name: ValueOutput(value=judged.value, confidence=judged.confidence, path=judged.path)
                        for name, judged in item.judgements.items()
                    },
                    off_taxonomy=list(item.off_taxonomy),
                )
                for item in result.classifications
            ],
            unclassified=list(result.unclassified),
        )


class FactsOutput(BaseModel):
    """The relational facts a verdict rests on, as of its own turn in the cycle."""

    competent: list[str] = Field(description="capabilities covered at or above the competence bar")
    new_capabilities: list[str]
    new_combinations: list[list[str]]
    wins: dict[str, str] = Field(description="capability: the champion beaten")
    max_similarity: float = Field(ge=0, le=1)
    most_similar: str | None
    novel: bool


class VerdictOutput(BaseModel):
    """One verdict."""

    id: str
    decision: Literal["INCLUDE", "EXCLUDE", "REPLACE", "KEEP-BOTH"]
    route: Literal["direct", "review"]
    reasons: list[str]
    displaces: list[str]
    alternate_of: list[str]
    facts: FactsOutput

    @staticmethod
    def of(verdict: Verdict) -> VerdictOutput:
        """``verdict`` for output."""
        facts = verdict.facts
        return VerdictOutput(
            id=verdict.id,
            decision=verdict.decision.value,
            route=verdict.route.value,
            reasons=[reason.value for reason in verdict.reasons],
            displaces=list(verdict.displaces),
            alternate_of=list(verdict.alternate_of),
            facts=FactsOutput(
                competent=list(facts.competent),
                new_capabilities=list(facts.new_capabilities),
                new_combinations=[list(combination) for combination in facts.new_combinations],
                wins=dict(facts.wins),
                max_similarity=facts.max_similarity,
                most_similar=facts.most_similar,
                novel=facts.novel,
            ),
        )


class ConsolidateOutput(BaseModel):
    """`incumbent consolidate --json`: verdicts in the cycle's order."""

    verdicts: list[VerdictOutput]


class SuggestionOutput(BaseModel):
    """One eviction for a person to confirm."""

    id: str
    grounds: dict[str, JsonValue] = Field(description="kind, yields_to, content, taxonomy_major and their digest")
    remaining: dict[str, int] = Field(description="capability: coverers left once all suggestions are confirmed")


class SwapOutput(BaseModel):
    """Admit one waiting entry and remove others together."""

    admit: str
    remove: list[str]


class LossOutput(BaseModel):
    """What would be lost with an entry that cannot go safely."""

    id: str
    capabilities: list[str]
    combinations: list[list[str]]


class PruneOutput(BaseModel):
    """`incumbent prune --json`."""

    pinned: dict[str, list[str]] = Field(description="entry: champion:CAPABILITY or person:REASON")
    suggestions: list[SuggestionOutput]
    swaps: list[SwapOutput]
    least_loss: list[LossOutput] = Field(description="for people, when entries wait and nothing can go safely")
    over_ceiling: int = Field(ge=0, description="by how many entries the set exceeds its ceiling")


class AdmissionOutput(BaseModel):
    """`incumbent admit --json`: entry ids, in order."""

    admitted: list[str]
    waiting: list[str] = Field(description="entries that wait for a slot")
    leaving: list[str] = Field(description="entries that waited and no longer earn a slot")
    files: dict[str, Literal["write", "delete"]]
    dry_run: bool

    @staticmethod
    def of(staging: Staging, dry_run: bool) -> AdmissionOutput:
        """``staging`` for output."""
        return AdmissionOutput(
            admitted=[entry.id for entry in staging.admitted],
            waiting=[entry.id for entry in staging.waiting],
            leaving=[entry.id for entry in staging.leaving],
            files={change.path: "delete" if change.content is None else "write" for change in staging.file_changes},
            dry_run=dry_run,
        )


class LagOutput(BaseModel):
    """An entry without a comparable score for some of its capabilities."""

    id: str
    capabilities: list[str]
    reason: str

    @staticmethod
    def of(lag: Lag) -> LagOutput:
        """``lag`` for output."""
        return LagOutput(id=lag.id, capabilities=list(lag.capabilities), reason=lag.reason)


class ReviewedQueryOutput(VerdictOutput):
    """One verdict of a review, in words too."""

    outcome: Literal["admitted", "waiting-for-slot", "waiting-for-review", "excluded"]
    why: str = Field(description="the reason in plain words")
    entry: str = Field(description="id of the entry that the query has or would have")
    turns: list[str]
    scores: dict[str, float] = Field(description="cs by TRUE capability")
    file: str
    line: int | None


class CoverageOutput(BaseModel):
    """Competent coverers of a capability before and after the direct admissions."""

    capability: str
    before: int
    after: int
    floor: int


class IdentityOutput(BaseModel):
    """The classifier identity under which scores are comparable."""

    backend: str
    model: str
    prompt: str
    samples: int


class ReviewOutput(BaseModel):
    """`incumbent review --format json`."""

    headline: str
    customer: str
    agent: str
    folder: str
    taxonomy: str
    classifier: IdentityOutput
    size: int = Field(description="entries in the regression set before the review")
    ceiling: int
    verdicts: list[ReviewedQueryOutput] = Field(description="in the cycle's order")
    swaps: list[SwapOutput]
    settled: dict[str, str] = Field(description="query: the entry or tombstone that settles it")
    edited: dict[str, str] = Field(description="query: its entry in the set, which it was judged without")
    unclassified: list[str]
    off_taxonomy: dict[str, list[str]] = Field(description="query: exactly-one groups none of whose members fits")
    coverage: list[CoverageOutput] = Field(description="in the taxonomy's order")
    lagging: list[LagOutput]
    problems: list[ProblemOutput] = Field(description="rows that could not be read")
    notes: list[ProblemOutput] = Field(description="remarks on the agent specification")

    @staticmethod
    def of(review: Review) -> ReviewOutput:
        """``review`` for output."""
        submission, identity = review.submission, review.identity
        return ReviewOutput(
            headline=headline(review),
            customer=submission.customer,
            agent=submission.agent,
            folder=submission.folder,
            taxonomy=review.platform.taxonomy.version,
            classifier=IdentityOutput(
                backend=identity.backend, model=identity.model, prompt=identity.prompt, samples=identity.samples
            ),
            size=len(review.platform.regression_set.entries),
            ceiling=review.platform.config.ceiling,
            verdicts=_reviewed(review),
            swaps=[SwapOutput(admit=swap.admit, remove=list(swap.remove)) for swap in review.swaps],
            settled={query: record.id for query, record in review.settled.items()},
            edited={query: entry.id for query, entry in review.edited.items()},
            unclassified=list(review.unclassified),
            off_taxonomy={
                item.query_id: list(item.off_taxonomy) for item in review.result.classifications if item.off_taxonomy
            },
            coverage=[
                CoverageOutput(capability=item.capability, before=item.before, after=item.after, floor=item.floor)
                for item in review.coverage
            ],
            lagging=[LagOutput.of(lag) for lag in review.lags],
            problems=[
                ProblemOutput.of(problem) for problem in sorted(submission.problems, key=lambda item: item.order)
            ],
            notes=[ProblemOutput.of(note) for note in submission.specification.notes],
        )


def _reviewed(review: Review) -> list[ReviewedQueryOutput]:
    queries = {query.id: query for query in review.submission.queries}
    full = {verdict.id for verdict in review.plan.waiting_for_slot}
    voice = PlainVoice(review.platform.taxonomy)
    outputs = []
    for verdict in review.verdicts:
        query = queries[verdict.id]
        outcome: Literal["admitted", "waiting-for-slot", "waiting-for-review", "excluded"] = "excluded"
        if verdict.id in full:
            outcome = "waiting-for-slot"
        elif verdict.decision.admits:
            outcome = "admitted" if verdict.admitted else "waiting-for-review"
        outputs.append(
            ReviewedQueryOutput(
                **VerdictOutput.of(verdict).model_dump(),
                outcome=outcome,
                why=why(verdict, review, voice),
                entry=review.submission.entry_id(verdict.id),
                turns=list(query.turns),
                scores=dict(review.scored[verdict.id].scores),
                file=query.file,
                line=query.line,
            )
        )
    return outputs


class CapabilityStatus(BaseModel):
    """Coverage of one capability by the regression set."""

    id: str
    champion: str | None
    champion_score: float | None = Field(description="cs of the champion, in [0, 1]")
    coverers: list[str] = Field(description="competent coverers, sorted")
    floor: int
    floor_met: bool


class StatusOutput(BaseModel):
    """`incumbent status --json`."""

    size: int
    ceiling: int
    taxonomy: str
    capabilities: list[CapabilityStatus] = Field(description="in the taxonomy's order")
    combinations: int = Field(description="distinct combinations that the set carries")
    pinned: dict[str, list[str]]
    waiting: list[str]
    evicted: list[str]
    lagging: list[LagOutput]


class ValidateOutput(BaseModel):
    """`incumbent validate --json`."""

    problems: list[ProblemOutput]
    notes: list[ProblemOutput] = Field(description="remarks of the readers; they stop nothing")


class ReclassifyOutput(BaseModel):
    """`incumbent reclassify --json`."""

    changed: dict[str, dict[str, float]] = Field(description="entry: its new scores, where they differ")
    kept: dict[str, str] = Field(description="entry: why it could not be classified again")
    dry_run: bool


def grounds_output(pruning: Pruning) -> list[SuggestionOutput]:
    """The suggestions of ``pruning`` for output."""
    return [
        SuggestionOutput(
            id=suggestion.id,
            grounds={
                "kind": suggestion.grounds.kind.value,
                "yields_to": list(suggestion.grounds.yields_to),
                "content": suggestion.grounds.content,
                "taxonomy_major": suggestion.grounds.taxonomy_major,
                "digest": suggestion.grounds.digest,
            },
            remaining=dict(suggestion.remaining),
        )
        for suggestion in pruning.suggestions
    ]
