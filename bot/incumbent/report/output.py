"""What ``--json`` prints, as models: the documented, stable schemas (``incumbent schema NAME``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from incumbent.classifier.model import Classification
from incumbent.classifier.usage import Usage
from incumbent.consolidator.verdict import Verdict
from incumbent.curator.entry import StaleEntry
from incumbent.curator.growth import Growth
from incumbent.curator.losses import Loss
from incumbent.curator.provisions import Provision
from incumbent.curator.prune import Suggestion
from incumbent.curator.roles import Grounds
from incumbent.curator.staging import Staging
from incumbent.curator.suggestions import Swap
from incumbent.errors import Problem
from incumbent.files.validation import Checked
from incumbent.files.views import View
from incumbent.intake.eval_sets.reader import EvalSetReader
from incumbent.intake.query import Query
from incumbent.ledger.releases.selection import Measure, RunPart
from incumbent.pipeline.correct import CorrectionPlan
from incumbent.pipeline.impact.model import CapabilityImpact, Impact
from incumbent.rater.model import RelationalFacts
from incumbent.rater.pair_coverage import MissingPair, PairCoverage
from incumbent.report.detection import Detection
from incumbent.report.query_context import RemarksOutput, remarks_on
from incumbent.report.verdict_text import codes
from incumbent.runners.export.item import ExportRemark
from incumbent.runners.export.plan import Export
from incumbent.taxonomy.changes import TaxonomyChange

UsageOutput: TypeAlias = Annotated[Usage, View("requests probing tokens_in tokens_cached tokens_out cost currency")]
Spent: TypeAlias = Annotated[UsageOutput | None, Field(description="by classifying, now; null: nothing that costs")]
PreviewNote: TypeAlias = Annotated[
    str | None, Field(description="why a quick model judged in place of a fitted one; null: it did not")
]
FactsOutput: TypeAlias = Annotated[
    RelationalFacts, View("competent new_capabilities fills new_combinations wins max_similarity most_similar novel")
]
"""Those that people can check."""


class Output(BaseModel):
    """A document that a command prints; its serializer is built when it is first used, as that of a file."""

    model_config = ConfigDict(defer_build=True)


VERDICT_FIELDS: Final = "id decision route reasons displaces alternate_of close_call facts"
VERDICT_TYPES: Final[Mapping[str, Any]] = {"facts": FactsOutput}
VerdictOutput: TypeAlias = Annotated[Verdict, View(VERDICT_FIELDS, **VERDICT_TYPES)]


@dataclass(frozen=True, kw_only=True)
class JudgedQuery:
    """A query and its verdict, also in words."""

    verdict: Verdict
    query: Query
    why: Annotated[str, Field(description="the reason in plain words")]


OF_JUDGED: Final = " ".join(f"{name}=verdict.{name}" for name in VERDICT_FIELDS.split())
"""The fields of the verdict, beside others of its query."""


class ConsolidateOutput(Output):
    """`incumbent consolidate --json`: verdicts in the cycle's order."""

    verdicts: list[VerdictOutput]
    settled: dict[str, str] = Field(description="query: the entry or tombstone that settles it; it has no verdict")


SuggestionOutput: TypeAlias = Annotated[
    Suggestion,
    View("id grounds remaining", grounds=Annotated[Grounds, View("kind yields_to content taxonomy_major digest")]),
]


LeftOut = Annotated[
    int | None,
    Field(
        ge=0, description="suggestions that are left out since people refused them; null: what they refused is unknown"
    ),
]
"""What people refused on GitHub, as far as the ledger in the clone tells."""


class PruneOutput(Output):
    """`incumbent prune --json`."""

    pinned: dict[str, list[str]] = Field(description="entry: champion:CAPABILITY or person:REASON")
    suggestions: list[SuggestionOutput]
    swaps: list[Checked[Swap]]
    least_loss: list[Checked[Loss]] = Field(description="for people, when entries wait and nothing can go safely")
    over_ceiling: int = Field(ge=0, description="by how many entries the set exceeds its ceiling")
    refused: LeftOut
    only_failing: dict[str, list[str]] = Field(
        description="of the entries that could go, those that alone ever failed in a release run among all that cover "
        "these capabilities"
    )


class Repack(BaseModel):
    """An excluded query that could enter for the entries that it makes needless."""

    admit: str = Field(description="the id that its entry would have")
    remove: tuple[str, ...] = Field(description="entries that R needs only without it")
    rests_on: tuple[str, ...] = Field(description="those that enter before it; without them it is derived again")
    cost_needed: float = Field(description="cost of its set-up")
    cost_freed: float = Field(description="cost of theirs")


class TopUp(BaseModel):
    """An excluded query that could enter a free slot, since it raises expected detection."""

    admit: str = Field(description="the id that its entry would have")
    rests_on: tuple[str, ...] = Field(description="those that enter before it; without them it is derived again")
    gain: float = Field(description="how much it adds to expected detection, summed over what it tests")
    cost_needed: float = Field(description="cost of its set-up")


class RepackOutput(Output):
    """`incumbent repack --json`."""

    repacks: list[Repack] = Field(description="what saves most first; with ids: those that are carried out")
    top_ups: list[TopUp] = Field(
        description="what adds most first, with `fill_to`; with ids: those that are carried out"
    )
    provisions: list[Checked[Provision]] = Field(
        description="with ids: what the admitted entries need and no entry in the set needs yet"
    )
    files: dict[str, Literal["write", "delete"]]
    dry_run: bool


class AdmissionOutput(RemarksOutput):
    """`incumbent admit --json`: entry ids, in order."""

    admitted: list[str]
    waiting: list[str] = Field(description="entries that wait for a slot")
    leaving: list[str] = Field(description="entries that waited and no longer earn a slot")
    provisions: list[Checked[Provision]] = Field(
        description="what the admitted entries need and no entry in the set needs yet"
    )
    files: dict[str, Literal["write", "delete"]]
    dry_run: bool
    usage: Spent

    @staticmethod
    def of(
        staging: Staging,
        dry_run: bool,
        usage: Usage | None = None,
        classified: Mapping[str, Classification] = MappingProxyType({}),
        provisions: Iterable[Provision] = (),
    ) -> AdmissionOutput:
        """``staging`` for output; ``usage`` is what classifying has cost now, ``classified`` what it said."""
        return AdmissionOutput(
            **dict(remarks_on(classified)),
            admitted=[entry.id for entry in staging.admitted],
            waiting=[entry.id for entry in staging.waiting],
            leaving=[entry.id for entry in staging.leaving],
            provisions=list(provisions),
            files={item.path: item.change for item in staging.file_changes},
            dry_run=dry_run,
            usage=usage,
        )


class CapabilityStatus(Output):
    """Coverage of one capability by the regression set."""

    id: str
    champion: str | None
    champion_score: float | None = Field(description="cs of the champion, in [0, 1]")
    coverers: list[str] = Field(description="competent coverers, sorted")
    floor: int
    floor_met: bool
    on_trial: bool = Field(description="no verdict rests on it yet, so that it has no coverers")


PairCounts: TypeAlias = Annotated[PairCoverage, View("strength agents possible carried")]


class StatusOutput(Output):
    """`incumbent status --json`."""

    size: int
    ceiling: int
    cost: float = Field(description="total cost of the entries' set-ups")
    detection: Detection = Field(description="expected detection")
    taxonomy: str
    capabilities: list[CapabilityStatus] = Field(description="in the taxonomy's order")
    in_name_alone: list[str] | None = Field(
        default=None,
        description="capabilities whose entries all flap in release runs, or are quarantined; null: there are no "
        "results here, and no entry is quarantined",
    )
    combinations: int = Field(description="distinct combinations that the set carries")
    pairs: PairCounts | None = Field(description="null: under `novelty: signature`, which has no pairs")
    missing_pairs: list[Checked[MissingPair]] | None = Field(
        description="possible and carried by no entry; null: not asked for (`--pairs`)"
    )
    unexpected_pairs: list[tuple[str, ...]] | None = Field(
        description="carried, though counted as impossible; null: not asked for (`--pairs`)"
    )
    growth: Checked[Growth] | None = Field(description="the set over time; null: not asked for (`--growth`)")
    pinned: dict[str, list[str]]
    quarantined: list[str] = Field(description="entries that exports leave out, so that they block no release")
    waiting: list[str]
    evicted: list[str]
    stale: list[Checked[StaleEntry]]

    @property
    def capabilities_covered(self) -> list[CapabilityStatus]:
        """The capabilities with at least one competent coverer."""
        return [item for item in self.capabilities if item.coverers]

    @property
    def capabilities_short(self) -> list[CapabilityStatus]:
        """The capabilities with fewer coverers than their floor."""
        return [item for item in self.capabilities if not item.floor_met]


class ValidateOutput(Output):
    """`incumbent validate --json`."""

    problems: list[Checked[Problem]]
    notes: list[Checked[Problem]] = Field(description="remarks of the readers; they stop nothing")
    appraisals: list[CapabilityImpact] = Field(
        description="of new and changed capabilities, where --from names a commit"
    )


@dataclass(frozen=True)
class PrintedCorrection:
    """`incumbent correct --json`."""

    plan: CorrectionPlan
    dry_run: bool


def _codes(place: int) -> PlainSerializer:
    """Writes verdicts as the codes of the one at ``place``."""
    return PlainSerializer(lambda found: None if found is None else codes(found[place]), return_type=str | None)


def _others(found: Iterable[tuple[Verdict, Verdict]]) -> dict[str, list[str]]:
    return {after.id: [codes(before), codes(after)] for before, after in found}


CorrectOutput: TypeAlias = Annotated[
    PrintedCorrection,
    View(
        "query=plan.query.id tags=plan.values cost=plan.cost.value written=plan.file_change.path entry=plan.entry "
        "before=plan.verdicts after=plan.verdicts others=plan.others dry_run",
        tags=Annotated[Mapping[str, bool], Field(description="capability: whether the query exercises it")],
        cost=Annotated[float | None, Field(description="what its set-up costs; null: tags were corrected")],
        written=Annotated[str, Field(description="the file that holds the correction")],
        entry=Annotated[str | None, Field(description="the entry or tombstone that has this text, if one has")],
        before=Annotated[str | None, _codes(0), Field(description="the verdict in codes; null: it has none")],
        after=Annotated[str | None, _codes(1), Field(description="the verdict under the correction")],
        others=Annotated[
            dict[str, list[str]],
            PlainSerializer(_others),
            Field(description="other queries whose verdicts change: their codes before and after"),
        ],
    ),
]


class ReclassifyOutput(RemarksOutput):
    """`incumbent reclassify --json`."""

    changed: dict[str, dict[str, float]] = Field(description="entry: its new scores, where they differ")
    kept: dict[str, str] = Field(description="entry: why it could not be classified again")
    dry_run: bool
    usage: Spent


class PartOutput(Output):
    """The part of the set that an export chose."""

    measure: Measure | None = Field(description="what the prices are: measured seconds or costs; null: each entry is 1")
    budget: float | None = Field(description="the most that a run may take; null: no limit")
    changed: list[str] | None = Field(description="the capabilities that count alone; null: all")
    part: Checked[RunPart]
    estimated: list[str] = Field(
        description="chosen entries that no run measured: they count as the mean of the others"
    )
    not_chosen: list[str] = Field(description="entries that could be run, and are not in the part")


class ExportOutput(Output):
    """`incumbent export --json`."""

    to: str = Field(description="the target")
    exported: list[str] = Field(description="entries, in the order of the files")
    left_out: list[Checked[ExportRemark]] = Field(description="entries that are not ready to run there, and why")
    quarantined: list[Checked[ExportRemark]] = Field(description="entries that are left out in quarantine, and why")
    remarks: list[Checked[ExportRemark]] = Field(description="exported entries that the runner does not use in full")
    files: list[str] = Field(description="the files written, or that would be")
    dry_run: bool
    chosen: PartOutput | None = Field(description="the part for a budget or a change; null: the export is of all")

    @staticmethod
    def of(export: Export, to: str, files: list[str], *, dry_run: bool, chosen: PartOutput | None) -> ExportOutput:
        """``export`` for output."""
        return ExportOutput(
            to=to,
            exported=list(export.ids),
            left_out=list(export.left_out),
            quarantined=list(export.quarantined),
            remarks=list(export.written.remarks),
            files=files,
            dry_run=dry_run,
            chosen=chosen,
        )


class AgentFormat(Output):
    """A format of agent specifications."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    name: str
    looked_for: str = Field(description="what is looked for in the folder")


class FormatsOutput(Output):
    """The formats that are read, each by name."""

    model_config = ConfigDict(frozen=True)

    eval_sets: tuple[Annotated[EvalSetReader, View("name title endings plain")], ...]
    agents: tuple[AgentFormat, ...]

    @classmethod
    def known(cls) -> FormatsOutput:
        """Those of this version."""
        # Imported here: one command lists them, and they are slow to load.
        from incumbent.intake.agents.reader import bare_readers, whole_readers
        from incumbent.intake.eval_sets.reader import readers

        agents = tuple(map(AgentFormat.model_validate, (*whole_readers(), *bare_readers())))
        return cls(eval_sets=readers(), agents=agents)


class MigrateOutput(Output):
    """`incumbent migrate --json`."""

    commit: str = Field(description="whose taxonomy that of the working tree was compared with")
    from_version: str
    to_version: str
    changes: list[Checked[TaxonomyChange]] = Field(description="the weightiest first")
    renames: dict[str, str] = Field(description="old id: new id")
    splits: dict[str, list[str]] = Field(description="old id: its parts")
    files: list[str] = Field(description="the files written, or that would be")
    stale: list[Checked[StaleEntry]] = Field(description="entries to classify again, those that wait for a slot too")
    weights: list[str] = Field(description="configs in which a digest replaces `auto`; no verdict changes by that")
    updates_config: bool = Field(description="whether the config gets the newest format")
    impact: Impact | None = Field(
        description="what its new values change; null: nothing, or the classifier cannot judge here"
    )
    dry_run: bool
