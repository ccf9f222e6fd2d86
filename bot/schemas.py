"""The JSON schemas: of files that people write, of those that the bot writes, and of what ``--json`` prints.

Those of ``WRITTEN_BY_PEOPLE`` are files in ``schemas/``, for editors; all of them are attached to a release.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from bot.config import Curation
from bot.curator.corrections import CorrectedText
from bot.curator.entry import Entry, Tombstone
from bot.doctor.findings import DoctorOutput
from bot.evaluation.labels import LabelsFile
from bot.evaluation.measures import Predictions
from bot.extension.draft import RefusedCandidates
from bot.github.facts import Analysis
from bot.github.publication import CiOutput
from bot.intake.agents.agent_yaml import AgentFile
from bot.intake.eval_sets.columns import FormatsFile
from bot.intake.eval_sets.formats.incumbent import EvalSetFile
from bot.ledger.classifications import Shard
from bot.ledger.counted import AgreementRecord, CountedFiles
from bot.ledger.model import (
    AbilityRecord,
    CandidateRecord,
    CorrectionRecord,
    FolderIndex,
    FolderRecord,
    ModelRecord,
    PullRequestRecord,
    QuarantineRecord,
    Reconciled,
    RequestRecord,
    RunRecord,
    SuggestionRecord,
)
from bot.pipeline.impact.model import Impact
from bot.rater.scores import ScoresFile
from bot.reconcile.inventory import Inventory
from bot.report.agreement import AgreementOutput
from bot.report.calibration import CalibrateOutput
from bot.report.candidates import CandidatesOutput
from bot.report.classify import ClassifyOutput
from bot.report.effective_config import EffectiveConfig
from bot.report.entries import ListOutput, ShowOutput
from bot.report.evaluation import EvaluateOutput
from bot.report.explanation import ExplainOutput
from bot.report.imports import ImportOutput
from bot.report.output import (
    AdmissionOutput,
    ConsolidateOutput,
    CorrectOutput,
    ExportOutput,
    FormatsOutput,
    MigrateOutput,
    PruneOutput,
    ReclassifyOutput,
    RepackOutput,
    StatusOutput,
    ValidateOutput,
)
from bot.report.results import AddedOutput, ResultsOutput
from bot.report.review_json import ReviewOutput
from bot.report.scan_output import ScanOutput
from bot.results.record import ReleaseRecord
from bot.taxonomy.model import Taxonomy
from bot.triage.outcome import TriageOutput

WRITTEN_BY_PEOPLE = (
    "taxonomy",
    "config",
    "entry",
    "tombstone",
    "correction",
    "agent",
    "eval-set",
    "formats",
    "scores",
    "labels",
    "refused-candidates",
)

SCHEMAS: dict[str, Any] = {
    "taxonomy": Taxonomy,
    "config": Curation,
    "entry": Entry,
    "tombstone": Tombstone,
    "correction": CorrectedText,
    "agent": AgentFile,
    "eval-set": EvalSetFile,
    "formats": FormatsFile,
    "scores": ScoresFile,
    "labels": LabelsFile,
    "refused-candidates": RefusedCandidates,
    "predictions": Predictions,
    "analysis": Analysis,
    "inventory": Inventory,
    "ledger-record": PullRequestRecord,
    "ledger-abilities": AbilityRecord,
    "ledger-models": ModelRecord,
    "ledger-agreement": AgreementRecord,
    "ledger-agreement-files": CountedFiles,
    "ledger-classifications": Shard,
    "ledger-folder": FolderRecord,
    "ledger-folders": FolderIndex,
    "ledger-reconciled": Reconciled,
    "ledger-suggestions": SuggestionRecord,
    "ledger-requests": RequestRecord,
    "ledger-runs": RunRecord,
    "ledger-corrections": CorrectionRecord,
    "ledger-candidates": CandidateRecord,
    "ledger-quarantines": QuarantineRecord,
    "ledger-results": ReleaseRecord,
    "review-output": ReviewOutput,
    "explain-output": ExplainOutput,
    "classify-output": ClassifyOutput,
    "candidates-output": CandidatesOutput,
    "evaluate-output": EvaluateOutput,
    "agreement-output": AgreementOutput,
    "calibrate-output": CalibrateOutput,
    "consolidate-output": ConsolidateOutput,
    "correct-output": CorrectOutput,
    "import-output": ImportOutput,
    "admit-output": AdmissionOutput,
    "evict-output": AdmissionOutput,
    "accept-output": AdmissionOutput,
    "restore-output": AdmissionOutput,
    "list-output": ListOutput,
    "show-output": ShowOutput,
    "pin-output": AdmissionOutput,
    "unpin-output": AdmissionOutput,
    "quarantine-output": AdmissionOutput,
    "prune-output": PruneOutput,
    "repack-output": RepackOutput,
    "reclassify-output": ReclassifyOutput,
    "migrate-output": MigrateOutput,
    "impact-output": Impact,
    "triage-output": TriageOutput,
    "export-output": ExportOutput,
    "status-output": StatusOutput,
    "results-output": ResultsOutput,
    "results-add-output": AddedOutput,
    "scan-output": ScanOutput,
    "config-output": EffectiveConfig,
    "validate-output": ValidateOutput,
    "formats-output": FormatsOutput,
    "ci-output": CiOutput,
    "doctor-output": DoctorOutput,
}


def schema(name: str) -> dict[str, Any]:
    """The JSON schema (draft 2020-12) called ``name``."""
    mode: JsonSchemaMode = "serialization" if name.endswith("-output") else "validation"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **TypeAdapter(SCHEMAS[name]).json_schema(mode=mode),
    }
