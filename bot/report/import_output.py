"""What ``incumbent import --json`` prints, as a model (``incumbent schema import-output``), and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, Field

from bot.classifier.model import Classification
from bot.classifier.usage import Usage
from bot.consolidator.verdict import Decision, Route
from bot.errors import Problem
from bot.pipeline.importing.plan import Appraisal, Item, Plan, Standing
from bot.pipeline.importing.reading import Bundle
from bot.pipeline.review import Platform
from bot.report.output import (
    CapabilityStatus,
    ProblemOutput,
    Spent,
    SuggestionOutput,
    UsageOutput,
    VerdictOutput,
)
from bot.report.overview import prune_overview, status_overview
from bot.report.remarks import RemarksOutput, remarks_on
from bot.report.voices import PlainVoice
from bot.report.wording import why
from bot.text.compare import rounded


class ImportedAgentOutput(BaseModel):
    """The set of one agent."""

    customer: str
    agent: str
    queries: int
    eval_sets: list[str] = Field(description="the files as entries record them")
    specifications: list[str] = Field(description="the folders of the agent's specification; none: nothing is declared")
    undeclared: int = Field(description="queries that no specification speaks for")


class AppraisedOutput(VerdictOutput):
    """What the rules would have said of one imported entry, which is in the set whatever they say; `id` is its id."""

    why: str = Field(description="the reason in plain words")
    turns: list[str] = Field(description="what looks like a secret is left out")
    file: str
    line: int | None


class CustomerShareOutput(BaseModel):
    """A customer whose entries hold more of the ceiling than `limits.customer_share`."""

    customer: str
    entries: int
    share: float = Field(ge=0, description="of the ceiling; above 1 where the set exceeds it")


class ImportOutput(RemarksOutput):
    """`incumbent import --json`."""

    agents: list[ImportedAgentOutput]
    added: list[str] = Field(description="entries that are new, in the order of the files")
    updated: list[str] = Field(description="entries whose query was imported before, and has changed")
    unchanged: list[str] = Field(description="entries that were there already")
    evicted: list[str] = Field(description="tombstones of queries that people evicted: they are not brought back")
    waiting: list[str] = Field(description="entries that wait for a slot, and go on waiting")
    gone: list[str] = Field(description="entries imported from these files before, whose query is in them no more")
    size: int = Field(description="entries in the set after the import")
    ceiling: int
    over_ceiling: int = Field(ge=0, description="by how many entries the set exceeds its ceiling after the import")
    verdicts: list[AppraisedOutput] = Field(
        description="what one cycle over the import against the set without it would have said, in the cycle's order"
    )
    left_out: list[str] = Field(description="entries with the verdict EXCLUDE")
    needed_person: list[str] = Field(description="entries that would have gone to a person")
    attempts: list[str] = Field(description="entries that argue with the classifier, or hide text from people")
    short: list[CapabilityStatus] = Field(description="covered capabilities below their floor after the import")
    uncovered: list[str] = Field(description="capabilities of the taxonomy that no entry covers after the import")
    suggestions: list[SuggestionOutput] = Field(description="what `incumbent prune` would suggest after the import")
    customer_share: float = Field(description="the share of the ceiling above which a customer is listed")
    concentrated: list[CustomerShareOutput]
    files: dict[str, Literal["write", "delete"]]
    notes: list[ProblemOutput] = Field(description="remarks on specifications")
    dry_run: bool
    usage: Spent


def import_overview(
    bundles: Sequence[Bundle],
    items: Sequence[Item],
    gone: Sequence[str],
    plan: Plan,
    appraisal: Appraisal,
    classified: Sequence[Classification],
    notes: Sequence[Problem],
    dry_run: bool,
    usage: Usage | None,
) -> ImportOutput:
    """The report of an import: what it does, what the rules would have said, and how R stands then."""
    before = appraisal.platform
    after = replace(before, regression_set=plan.after)
    status, pruning = status_overview(after), prune_overview(after)
    verdicts = appraisal.verdicts
    return ImportOutput(
        **dict(remarks_on(classified)),
        agents=[_agent(bundle) for bundle in bundles],
        **{standing.value: [item.id for item in items if item.standing is standing] for standing in Standing},
        gone=list(gone),
        size=status.size,
        ceiling=status.ceiling,
        over_ceiling=pruning.over_ceiling,
        verdicts=_verdicts(items, appraisal),
        left_out=[verdict.id for verdict in verdicts if verdict.decision is Decision.EXCLUDE],
        needed_person=[verdict.id for verdict in verdicts if verdict.decision.admits and verdict.route is Route.REVIEW],
        attempts=[item.query_id for item in classified if item.attempt],
        short=[item for item in status.capabilities if item.coverers and not item.floor_met],
        uncovered=[item.id for item in status.capabilities if not item.coverers],
        suggestions=pruning.suggestions,
        customer_share=before.config.limits.customer_share,
        concentrated=_concentrated(after),
        files={change.path: "delete" if change.content is None else "write" for change in plan.file_changes},
        notes=[ProblemOutput.of(note) for note in notes],
        dry_run=dry_run,
        usage=UsageOutput.of(usage),
    )


def _agent(bundle: Bundle) -> ImportedAgentOutput:
    spoken = [origin.spoken for origin in bundle.origins.values()]
    return ImportedAgentOutput(
        customer=bundle.submission.customer,
        agent=bundle.submission.agent,
        queries=len(bundle.submission.queries),
        eval_sets=list(bundle.eval_sets),
        specifications=sorted({item.shown for item in spoken if item.shown is not None}),
        undeclared=sum(item.shown is None for item in spoken),
    )


def _verdicts(items: Sequence[Item], appraisal: Appraisal) -> list[AppraisedOutput]:
    voice = PlainVoice(appraisal.platform.taxonomy)
    queries: Mapping[str, Item] = {item.id: item for item in items}
    return [
        AppraisedOutput(
            **VerdictOutput.of(verdict).model_dump(),
            why=why(verdict, appraisal, voice),
            turns=list(queries[verdict.id].query.turns),
            file=queries[verdict.id].query.file,
            line=queries[verdict.id].query.line,
        )
        for verdict in appraisal.verdicts
    ]


def _concentrated(platform: Platform) -> list[CustomerShareOutput]:
    """The customers above the share, most first."""
    config, held = platform.config, platform.regression_set.held
    most = rounded(config.limits.customer_share * config.ceiling)
    return [
        CustomerShareOutput(customer=name, entries=count, share=rounded(count / config.ceiling))
        for name, count in sorted(held.items(), key=lambda item: (-item[1], item[0]))
        if count > most
    ]
