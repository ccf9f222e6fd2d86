"""An import: what ``incumbent import`` prints, as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from incumbent.classifier.model import Classification
from incumbent.classifier.usage import Usage
from incumbent.consolidator.verdict import Decision, Route
from incumbent.curator.prune import Suggestion
from incumbent.errors import Problem
from incumbent.files.validation import Checked
from incumbent.files.views import HowMany, View
from incumbent.ledger.clone import LocalRefusals
from incumbent.pipeline.import_files import ARCHIVE_FILE
from incumbent.pipeline.import_plan import Bundle, ImportItem, ImportPlan, ImportStatus, ImportVerdicts
from incumbent.pipeline.review import Platform
from incumbent.report.console import Printer
from incumbent.report.output import (
    OF_JUDGED,
    VERDICT_TYPES,
    CapabilityStatus,
    JudgedQuery,
    LeftOut,
    Spent,
    SuggestionOutput,
)
from incumbent.report.query_context import RemarksOutput, remarks_on
from incumbent.report.refusals import left_out_words
from incumbent.report.status import prune_overview, status_overview, view
from incumbent.report.verdict_text import PlainStyle, counted, figure, first_turn, why
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import rounded

ImportedAgentOutput: TypeAlias = Annotated[
    Bundle,
    View(
        "customer=submission.customer agent=submission.agent queries=submission.queries eval_sets specifications "
        "undeclared",
        queries=HowMany,
    ),
]
"""The set of one agent."""


AppraisedOutput: TypeAlias = Annotated[
    JudgedQuery,
    View(f"{OF_JUDGED} why turns=query.turns file=query.file line=query.line", **VERDICT_TYPES),
]
"""The verdict of the rules on an imported entry, which is in the set in any case; `id` is its id."""


class CustomerShareOutput(BaseModel):
    """A customer whose entries take more of the ceiling than `limits.customer_share`."""

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
    archived: list[str] = Field(description="queries that the set can do without: they go to an archived eval set")
    gone: list[str] = Field(description="entries imported from these files before, whose query is in them no more")
    size: int = Field(description="entries in the set after the import")
    ceiling: int
    cost: float = Field(description="total cost of the set after the import")
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
    refused: LeftOut
    customer_share: float = Field(description="the share of the ceiling above which a customer is listed")
    concentrated: list[CustomerShareOutput]
    files: dict[str, Literal["write", "delete"]]
    notes: list[Checked[Problem]] = Field(description="remarks on specifications")
    dry_run: bool
    usage: Spent


def import_overview(
    bundles: Sequence[Bundle],
    items: Sequence[ImportItem],
    gone: Sequence[str],
    plan: ImportPlan,
    appraisal: ImportVerdicts,
    classified: Mapping[str, Classification],
    notes: Sequence[Problem],
    dry_run: bool,
    usage: Usage | None,
    refused: LocalRefusals,
) -> ImportOutput:
    """The report of an import: what it does, what the rules would have said, and how R stands then.

    What could go comes without what people ``refused``.
    """
    before = appraisal.platform
    after = replace(before, regression_set=plan.after)
    status = status_overview(after)
    pruning = prune_overview(after, refused.suggestions(after.regression_set, after.taxonomy, after.config), refused)
    verdicts = appraisal.verdicts
    return ImportOutput(
        **dict(remarks_on(classified)),
        agents=list(bundles),
        **{standing.value: [item.id for item in items if item.standing is standing] for standing in ImportStatus},
        gone=list(gone),
        size=status.size,
        ceiling=status.ceiling,
        cost=status.cost,
        over_ceiling=pruning.over_ceiling,
        verdicts=_verdicts(items, appraisal),
        left_out=[verdict.id for verdict in verdicts if verdict.decision is Decision.EXCLUDE],
        needed_person=[verdict.id for verdict in verdicts if verdict.decision.admits and verdict.route is Route.REVIEW],
        attempts=[id for id, item in classified.items() if item.attempt],
        short=[item for item in status.capabilities if item.coverers and not item.floor_met],
        uncovered=[item.id for item in status.capabilities if not item.coverers],
        suggestions=pruning.suggestions,
        refused=pruning.refused,
        customer_share=before.config.limits.customer_share,
        concentrated=_concentrated(after),
        files={item.path: item.change for item in plan.file_changes},
        notes=list(notes),
        dry_run=dry_run,
        usage=usage,
    )


def _verdicts(items: Sequence[ImportItem], appraisal: ImportVerdicts) -> list[JudgedQuery]:
    style = PlainStyle(appraisal.platform.taxonomy)
    queries = {item.id: item.query for item in items}
    return [
        JudgedQuery(verdict=verdict, query=queries[verdict.id], why=why(verdict, appraisal, style))
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


def print_import(output: ImportOutput, taxonomy: Taxonomy, out: Printer | None = None) -> None:
    """Print the report; a terminal gets tables, anything else lines whose cells are parted by tabs."""
    out = out or Printer()
    style = PlainStyle(taxonomy)
    out.line(_headline(output), "bold")
    for agent in output.agents:
        out.line(_agent_text(agent, style))
    out.line(f"{_size(output)}; total cost {figure(output.cost)}")
    if output.archived:
        archives = sorted(path for path in output.files if path.endswith(f"/{ARCHIVE_FILE}"))
        where = ", ".join(style.quote(path) for path in archives) or "eval sets that hold them already"
        out.line(f"The set can do without {counted(len(output.archived), 'query', 'queries')}; archived in {where}")
    asked = "what the rules would have sent to review; it is kept"
    out.table(f"Needed review ({len(output.needed_person)}): {asked}", *_appraised(output, output.needed_person, style))
    short = [(style.capability(item.id), str(len(item.coverers)), str(item.floor)) for item in output.short]
    out.table(f"Below their floor ({len(short)})", ("capability", "coverers", "floor"), short)
    uncovered = [(style.capability(id), id) for id in output.uncovered]
    out.table(f"Covered by no entry ({len(uncovered)})", ("capability", "id"), uncovered)
    held = [(style.name(item.customer), str(item.entries), f"{item.share:.0%}") for item in output.concentrated]
    share = f"{output.customer_share:.0%}"
    title = f"More than {share} of all slots ({len(held)}): the next query of these customers needs a person"
    out.table(title, ("customer", "entries", "of all slots"), held)
    known = len(taxonomy.by_id)
    if output.suggestions:
        out.table(_path_back(output), ("entry", "grounds"), [_suggested(item) for item in output.suggestions])
        out.line(view(known - len(output.uncovered), known, output.size))
    if output.refused:
        out.line(left_out_words(output.refused))
    kept = "what the rules would not have admitted; it is kept"
    out.table(f"Left out ({len(output.left_out)}): {kept}", *_appraised(output, output.left_out, style))
    out.lines("Remarks", _remarks(output, style))


def _headline(output: ImportOutput) -> str:
    verb = "Would import" if output.dry_run else "Imported"
    total = sum(len(agent.submission.queries) for agent in output.agents)
    parts = [f"{len(output.added)} added", f"{len(output.updated)} updated", f"{len(output.unchanged)} unchanged"]
    if output.archived:
        parts.append(f"{len(output.archived)} archived")
    left = len(output.evicted) + len(output.waiting)
    if left:
        parts.append(f"{left} left as they are")
    return f"{verb} {counted(total, 'query', 'queries')}: {', '.join(parts)}"


def _agent_text(bundle: Bundle, style: PlainStyle) -> str:
    agent, specifications = bundle.submission, bundle.specifications
    queries = counted(len(agent.queries), "query", "queries")
    name = f"{style.name(agent.customer)} / {style.name(agent.agent)}: {queries}"
    declared = f"specification in {', '.join(style.quote(folder) for folder in specifications)}"
    nothing = "no specification, so that nothing is declared and all is inferred from the texts (--agent-folder)"
    if not specifications:
        return f"{name}; {nothing}"
    if bundle.undeclared:
        return f"{name}; {declared}; {bundle.undeclared} of them have {nothing}"
    return f"{name}; {declared}"


def _size(output: ImportOutput) -> str:
    taken = f"Regression set: {output.size} of {counted(output.ceiling, 'slot', 'slots')} taken"
    free = output.ceiling - output.size
    if free > 0:
        return f"{taken}, {free} free"
    if free == 0:
        return f"{taken}: what is admitted waits until an entry goes"
    return f"{taken}, {-free} over the ceiling: what is admitted waits until {1 - free} have gone"


def _path_back(output: ImportOutput) -> str:
    """What prune would suggest, and how far that leads."""
    count = len(output.suggestions)
    title = f"Could go without losing anything ({count}): `incumbent prune`"
    if not output.over_ceiling:
        return title
    left = output.over_ceiling - count
    if left <= 0:
        return f"{title}; with these the set is back under its ceiling"
    return f"{title}; with these it is still {left} over its ceiling, and people choose what else goes, or raise it"


def _appraised(
    output: ImportOutput, ids: Sequence[str], style: PlainStyle
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    found = {item.verdict.id: item for item in output.verdicts}
    rows = [
        (style.name(id), first_turn(item.query.turns, style), " ".join(item.verdict.reasons), item.why)
        for id, item in ((id, found[id]) for id in ids)
    ]
    return ("entry", "query", "codes", "why"), list(rows)


def _suggested(item: Suggestion) -> tuple[str, str]:
    return item.id, item.grounds.kind


def _remarks(output: ImportOutput, style: PlainStyle) -> list[str]:
    remarks = [
        f"{style.name(id)} was evicted, and stays so: `incumbent restore` brings it back" for id in output.evicted
    ]
    remarks += [f"{style.name(id)} waits for a slot" for id in output.waiting]
    remarks += [f"{style.name(id)} is no longer in its file: evict it if it is not wanted" for id in output.gone]
    remarks += [f"{style.name(id)} argues with the classifier, or hides text from people" for id in output.attempts]
    remarks += output.lines(style)
    return remarks + [
        style.quote(f"{note.file if note.line is None else f'{note.file}:{note.line}'}: {note.message}")
        for note in output.notes
    ]
