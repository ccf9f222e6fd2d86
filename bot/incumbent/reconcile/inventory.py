"""The facts of the default branch: what the job that reads hostile data hands to the job that writes.

Like the analysis of a pull request it holds no verdicts; these are derived where they take effect.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from incumbent.classifier.model import Identity
from incumbent.curator.entry import EntryId
from incumbent.curator.store import RegressionSet
from incumbent.extension.model import ExtensionCandidate
from incumbent.files.validation import Checked, Digest, FileModel, Text, Timestamp, Tuple
from incumbent.github.facts import (
    ClassifierWork,
    Fault,
    Format,
    StoppedFacts,
    SubmissionFacts,
    as_in,
    refuse_doubles,
)
from incumbent.github.reclassified_entries import RenewalFacts
from incumbent.ledger.model import CommitId, ReconciledFolder
from incumbent.pipeline.matching import settle
from incumbent.pipeline.submission import agent_name


class MergeFacts(FileModel):
    """A commit on the line of first parents that changed eval sets; ``brought`` maps entry ids to digests of turns."""

    commit: CommitId
    at: Timestamp
    brought: dict[EntryId, Digest]


class Inventory(FileModel):
    """The document of `incumbent ci analyse` for reconcile, after the default branch has moved.

    ``since`` is the last reconciled commit: only later merges may be admitted without a person.
    """

    format: Format
    repository: str
    base: CommitId = Field(description="the commit of the default branch that the facts are of")
    at: Timestamp = Field(description="the time of that commit")
    since: CommitId | None
    identity: Checked[Identity]
    merges: Tuple[MergeFacts] = Field(description="oldest first")
    submissions: Tuple[SubmissionFacts] = Field(description="eval sets that were read, decided queries included")
    unchanged: dict[Text, ReconciledFolder] = Field(
        default_factory=dict, description="folders that were not read, as the ledger's index has them"
    )
    trees: dict[Text, CommitId] = Field(default_factory=dict, description="git's ids of the folders that were read")
    conditions: Digest | None = Field(
        default=None, description="what rests on no folder, and must not change either; null: all are read each time"
    )
    departed: dict[EntryId, Literal["source-deleted", "customer-left"]] = Field(
        description="entries, also on the waitlist, whose query was in an eval set here once, and is in none now"
    )
    unread: Tuple[str] = Field(description="folders of agents whose files could not be read")
    problems: Tuple[Fault]
    work: ClassifierWork
    candidates: Tuple[Checked[ExtensionCandidate]] = Field(
        default=(), description="capabilities that the taxonomy may lack, without those that were raised before"
    )
    renewals: Tuple[RenewalFacts] = Field(
        default=(), description="entries, also on the waitlist, that a change of taxonomy or classifier concerns"
    )

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Inventory:
        refuse_doubles(self.submissions)
        return self

    @property
    def agents(self) -> dict[str, tuple[str, ...]]:
        """Agent, as ``customer/agent`` → the capabilities that its specification rules out."""
        found = {facts.about.folder: facts.ruled_out for facts in self.submissions}
        found |= {folder: item.ruled_out for folder, item in self.unchanged.items()}
        return {agent_name(folder): names for folder, names in sorted(found.items())}

    @property
    def incomplete(self) -> StoppedFacts | None:
        """Why not every query that is not settled could be classified, if any could not."""
        names = [name for facts in self.submissions for name in facts.unclassified]
        entries = [item.entry for item in self.renewals if item.missing]
        if self.work.stopped is not None or not (names or entries):
            return self.work.stopped
        subjects = [f"{len(names)} of the merged queries"] if names else []
        subjects += [f"{len(entries)} of the entries"] if entries else []
        return StoppedFacts(message=f"{' and '.join(subjects)} could not be classified", exit_code=3)

    def as_in(self, regression_set: RegressionSet) -> Inventory:
        """The same where those queries do not wait any more that have left the line of ``regression_set``."""
        submissions = tuple(as_in(facts, regression_set) for facts in self.submissions)
        return self.model_copy(update={"submissions": submissions})

    def departed_from(self, regression_set: RegressionSet) -> dict[str, Literal["source-deleted", "customer-left"]]:
        """Those that ``departed`` and are still in ``regression_set``: the same id may hold another query by now."""
        if not self.departed:
            return {}
        found = settle([facts.submission for facts in self.submissions], regression_set)
        present = {item.id for item in found.settled.values()}
        return {id: kind for id, kind in self.departed.items() if id not in present}
