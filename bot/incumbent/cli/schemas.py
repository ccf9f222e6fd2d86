"""The JSON schemas: of files that people write, of those that the bot writes, and of what ``--json`` prints.

Those of ``WRITTEN_BY_PEOPLE`` are files in ``schemas/``, for editors; all of them are attached to a release.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from incumbent.classifier.evaluation.labels import LabelsFile
from incumbent.classifier.evaluation.measures import Predictions
from incumbent.curator.corrections import CorrectedText
from incumbent.curator.entry import Entry, Tombstone
from incumbent.doctor.findings import DoctorOutput
from incumbent.extension.draft import RefusedCandidates
from incumbent.github.facts import Analysis
from incumbent.github.publication import CiOutput
from incumbent.intake.agents.agent_yaml import AgentFile
from incumbent.intake.eval_sets.columns import FormatsFile
from incumbent.intake.eval_sets.formats.incumbent import EvalSetFile
from incumbent.ledger.classifications import Shard
from incumbent.ledger.counted import AgreementRecord, CountedFiles
from incumbent.ledger.model import (
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
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.pipeline.impact.model import Impact
from incumbent.rater.scores import ScoresFile
from incumbent.reconcile.inventory import Inventory
from incumbent.report.agreement import AgreementOutput
from incumbent.report.calibration import CalibrateOutput
from incumbent.report.candidates import CandidatesOutput
from incumbent.report.classify import ClassifyOutput
from incumbent.report.effective_config import EffectiveConfig
from incumbent.report.entries import ListOutput, ShowOutput
from incumbent.report.evaluation import EvaluateOutput
from incumbent.report.explanation import ExplainOutput
from incumbent.report.imports import ImportOutput
from incumbent.report.output import (
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
from incumbent.report.results import AddedOutput, ResultsOutput
from incumbent.report.review_json import ReviewOutput
from incumbent.report.scan_output import ScanOutput
from incumbent.taxonomy.config import Curation
from incumbent.taxonomy.model import Taxonomy
from incumbent.triage.outcome import TriageOutput

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
