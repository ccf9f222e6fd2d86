"""The document of facts that the analyse job hands to the publish job, checked on both sides.

It contains no verdicts: the publish job derives these from reviewed files and from these facts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from incumbent.classifier.classify import ClassifierResult
from incumbent.classifier.model import Classification, Findings, Identity
from incumbent.classifier.usage import Usage
from incumbent.curator.entry import EntryId, Evicted
from incumbent.curator.store import RegressionSet
from incumbent.errors import IncompleteError, IncumbentError, Problem, UnreadyError
from incumbent.files.git import ChangedFile
from incumbent.files.snapshot import ReadingLimits
from incumbent.files.validation import Checked, ConstraintError, Digest, FileModel, Text, Timestamp, Tuple
from incumbent.intake.expectation import ExpectedTools
from incumbent.intake.query import Query
from incumbent.ledger.keys import content_key
from incumbent.ledger.model import CommitId, Learnt
from incumbent.pipeline.impact.model import Impact
from incumbent.pipeline.matching import in_line, settle
from incumbent.pipeline.review import ClassifiedSubmission
from incumbent.pipeline.submission import Submission
from incumbent.taxonomy.model import Identifier
from incumbent.text.digests import digest
from incumbent.text.masking import masked

LONGEST = 4096
LONGEST_CONFIG: Final = 100_000
"""The most characters of a config that is handed over; a longer one counts as one that changes who decides."""
DOCUMENT_LIMITS = ReadingLimits(file_bytes=256_000_000, nesting_depth=100, nodes=50_000_000)
"""The limits of the document: the bot writes it, and it is as large as all that a pull request may bring."""


def whole(text: str) -> str:
    """``text`` so that any document can contain it: bytes of a path that are not UTF-8 are replaced, and it is cut."""
    return text.encode("utf-8", "replace").decode("utf-8")[:LONGEST]


def _counted(problem: Problem) -> Problem:
    if problem.line is not None and problem.line < 1:
        raise ConstraintError("at a line that counts from 1", "give the number of the line, or null")
    return problem


Fault = Annotated[Checked[Problem], AfterValidator(_counted)]
"""A fault or remark about the head's files, without secrets (:func:`without_secrets`)."""


def without_secrets(problem: Problem) -> Problem:
    """``problem`` for the document, without secrets."""
    message, fix = (masked(whole(text)) for text in (problem.message, problem.fix))
    return Problem(whole(problem.file), problem.line, message, fix)


class QueryFacts(FileModel):
    """One query and its classification, in one mapping.

    ``key`` is the ledger's key of the classification.  An already decided query has neither, unless its entry
    ``waits``; a query that could not be classified has the key alone.
    """

    query: Checked[Query]
    key: Digest | None
    classification: Checked[Classification] | None
    waits: bool = Field(
        default=False,
        exclude_if=lambda value: not value,
        description="already decided as long as its entry waits for a slot, since that may leave the waitlist again",
    )
    shortfall: str | None = Field(default=None, description="why it could not be classified")
    expected_tools: Checked[ExpectedTools] | None = Field(
        default=None, description="declared tools that the eval set expects to be called; null: it does not say"
    )

    @property
    def settled(self) -> bool:
        """Whether it is already decided, by an entry or a tombstone."""
        return self.key is None or self.waits

    @property
    def unclassified(self) -> bool:
        """Whether it is undecided and could not be classified."""
        return not self.settled and self.classification is None


def _counted_in(submission: Submission) -> Submission:
    for problem in (*submission.problems, *submission.notes):
        _counted(problem)
    return submission


class SubmissionFacts(FileModel):
    """One agent of one customer: its submission, and the facts of its specification and queries."""

    about: Annotated[Checked[Submission], AfterValidator(_counted_in)] = Field(description="without its queries")
    specification: Text = Field(description="digest of the agent's specification")
    queries: Tuple[QueryFacts]
    ruled_out: Tuple[Identifier] = Field(
        default=(),
        exclude_if=lambda value: not value,
        description="capabilities that the specification rules out for every query",
    )

    @property
    def submission(self) -> Submission:
        """The submission with its queries."""
        return replace(self.about, queries=tuple(item.query for item in self.queries))

    @property
    def contents(self) -> dict[str, str]:
        """Query → digest of its text, attachments, expected tools and agent: a decision is bound to it."""
        return {
            item.query.id: content_key(item.query.classified_turns, self.specification, item.expected_tools)
            for item in self.queries
        }

    @property
    def unclassified(self) -> tuple[str, ...]:
        """The undecided queries that could not be classified."""
        return tuple(item.query.id for item in self.queries if item.unclassified)

    def entry_of(self, item: QueryFacts) -> str:
        """The id that the entry of the query has by its source."""
        return self.about.entry_id(item.query.id)


def refuse_doubles(submissions: Sequence[SubmissionFacts]) -> None:
    """Raise :class:`ConstraintError` for queries or agents with the same name, which would be ambiguous."""
    ids = [item.query.id for facts in submissions for item in facts.queries]
    agents = [(facts.about.customer, facts.about.agent) for facts in submissions]
    entries = {facts.entry_of(item) for facts in submissions for item in facts.queries}
    if len(set(ids)) < len(ids) or len(set(agents)) < len(agents) or len(entries) < len(ids):
        raise ConstraintError("queries and agents whose names differ", "name each of them once")


class StoppedFacts(FileModel):
    """Why the classifier stopped: a budget that is used up, an endpoint that failed, or weights that are missing."""

    message: Text
    exit_code: Literal[3, 4]
    lacks: Literal["weights", "model"] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="what the classifier lacks, so that the platform has to act, not who brought the queries",
    )

    @staticmethod
    def of(error: IncumbentError | None) -> StoppedFacts | None:
        """``error`` for the document; ``None`` for none."""
        if error is None:
            return None
        lacks = error.lacks if isinstance(error, UnreadyError) else None
        return StoppedFacts(message=whole(error.brief), exit_code=_exit_code(error), lacks=lacks)


def _exit_code(error: IncumbentError) -> Literal[3, 4]:
    return 3 if isinstance(error, IncompleteError) else 4


class EvictionFacts(FileModel):
    """The eviction in a tombstone of the head."""

    entry: EntryId
    evicted: Evicted


class ChangedEntryFile(FileModel):
    """A file of the regression set that the head changes."""

    file: Checked[ChangedFile]
    buried: bool = Field(description="for a deleted entry: whether its tombstone is in the head")
    eviction: EvictionFacts | None = Field(default=None, description="of a tombstone that the head adds")


@dataclass(frozen=True, kw_only=True)
class JudgedFacts:
    """The facts of a judgement: from the :class:`Analysis` of a head, or from reconcile for a merge.

    A head may also have faults, because of which something was not read; changes of the regression set; and entries
    whose queries it removes from the eval sets.
    """

    pull_request: int | None
    base: Annotated[
        CommitId, Field(description="the reviewed commit with the taxonomy, config and regression set of the facts")
    ]
    head: CommitId
    identity: Identity
    submissions: tuple[SubmissionFacts, ...]
    problems: Annotated[
        tuple[Fault, ...], Field(description="faults that left a folder or a reviewed file unread")
    ] = ()
    set_changes: tuple[ChangedEntryFile, ...] = ()
    departing: Annotated[
        Mapping[EntryId, Literal["source-deleted", "customer-left"]],
        Field(description="entries whose queries the head takes out of the eval sets"),
    ] = field(default_factory=dict)

    @property
    def contents(self) -> dict[str, str]:
        """Query → digest of its text and its agent: a decision is bound to it."""
        return {name: content for submission in self.submissions for name, content in submission.contents.items()}

    @property
    def text_digests(self) -> dict[str, str]:
        """Entry → digest of its text, as the ledger keeps it."""
        return {facts.entry_of(item): digest(item.query.turns) for facts in self.submissions for item in facts.queries}


class ClassifierWork(FileModel):
    """What the classifier did in the first job, and what it cost."""

    reused: Annotated[int, Field(ge=0)] = Field(description="classifications that the ledger knew")
    classified: Annotated[int, Field(ge=0)] = Field(description="classifications that were made")
    stopped: StoppedFacts | None = Field(default=None, description="why not every query was asked about")
    usage: Checked[Usage] | None = Field(default=None, description="what asking has cost; null: nothing that costs")
    abilities: Learnt = Field(
        default_factory=dict, description="what was found out of the endpoint of a language model; null: forget it"
    )


FORMAT: Final = 3
"""The version of the document; both jobs of a run have the same one."""
Touched: TypeAlias = Literal["eval_sets", "regression_set", "taxonomy", "config"]


def _whole_number(value: object) -> object:
    if type(value) is not int:
        raise ConstraintError("a whole number", "give the version of the document")
    return value


Format: TypeAlias = Annotated[Literal[3], BeforeValidator(_whole_number)]
"""The version of a document; nothing that only equals it, such as 3.0, and no document without one."""


class MigrationFacts(FileModel):
    """What a change of the taxonomy does to the ids and definitions of the regression set (docs/taxonomy.md).

    It is only a claim: what it makes of the reviewed set is worked out again, and compared with the head's files.
    """

    renames: dict[Identifier, Identifier]
    splits: dict[Identifier, Tuple[Identifier]]
    definitions: dict[Identifier, Text] = Field(description="of the new taxonomy, by the ids of the reviewed one")


class Analysis(FileModel):
    """The document that `incumbent ci analyse` writes and `incumbent ci publish` reads."""

    format: Format
    repository: str
    at: Timestamp = Field(description="the time of the head")
    held: bool = Field(description="whether a first contribution waits for a curator, and nothing was classified")
    touches: Tuple[Touched]
    judged: Checked[JudgedFacts]
    work: ClassifierWork
    impact: Impact | None = Field(default=None, description="what a change of taxonomy or config would do")
    follows: MigrationFacts | None = Field(default=None, description="how the set may follow a change of taxonomy")
    config: Annotated[str, Field(max_length=LONGEST_CONFIG)] | None = Field(
        default=None, description="the head's config as a text, if it differs: to tell whether it changes who decides"
    )
    remembered: dict[Digest, Checked[Classification]] = Field(
        default_factory=dict, description="what a language model said to find that out, so that it is not asked twice"
    )

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Analysis:
        refuse_doubles(self.judged.submissions)
        return self


class Quiet(FileModel):
    """The document in the place of the facts if the first job ended early: ``quiet`` is the head that it looked at.

    It comes from the job that reads hostile data, so it proves nothing: no check passes because of it.
    """

    quiet: CommitId


Absence: TypeAlias = Literal["unfinished", "quiet", "other-version"]
"""Why there are no facts: the first job did not finish, or found nothing to look at, or ran another version.

The last is so if only the second job is run again after an upgrade.
"""


def facts_of(
    item: ClassifiedSubmission,
    specification: str,
    keys: Mapping[str, str],
    findings: Mapping[str, Mapping[str, Findings]],
    expected: Mapping[str, ExpectedTools | None] = MappingProxyType({}),
    waits: Collection[str] = (),
    ruled_out: Sequence[str] = (),
) -> SubmissionFacts:
    """``item`` for the document; ``keys`` has the ledger's key of every query that is undecided or ``waits``.

    ``specification`` is the digest of the agent's specification, ``ruled_out`` the capabilities that it rules out;
    ``findings`` are a language model's, by query; ``expected`` are the tools that the eval set expects a query to call.
    """
    submission = item.submission
    found = {id: replace(said, findings=findings.get(id, {})) for id, said in item.result.classifications.items()}
    return SubmissionFacts(
        about=replace(
            submission,
            queries=(),
            problems=tuple(map(without_secrets, submission.problems)),
            notes=tuple(map(without_secrets, submission.notes)),
        ),
        specification=specification,
        queries=tuple(
            QueryFacts(
                query=query,
                key=keys.get(query.id),
                classification=found.get(query.id),
                waits=query.id in waits,
                shortfall=item.result.shortfalls.get(query.id),
                expected_tools=expected.get(query.id),
            )
            for query in submission.queries
        ),
        ruled_out=tuple(ruled_out),
    )


def classified_of(facts: SubmissionFacts) -> ClassifiedSubmission:
    """The submission with the classifications of undecided queries, for :func:`incumbent.pipeline.review.judge`."""
    return ClassifiedSubmission(
        submission=facts.submission,
        result=ClassifierResult(
            classifications={
                item.query.id: item.classification
                for item in facts.queries
                if item.classification is not None and not item.settled
            },
            shortfalls={item.query.id: item.shortfall or "" for item in facts.queries if item.unclassified},
        ),
    )


def as_in(facts: SubmissionFacts, regression_set: RegressionSet) -> SubmissionFacts:
    """``facts`` in which only those queries wait that are on the waitlist of ``regression_set``."""
    line = in_line(settle([facts.submission], regression_set), regression_set)
    queries = tuple(item.model_copy(update={"waits": item.waits and item.query.id in line}) for item in facts.queries)
    return facts.model_copy(update={"queries": queries})
