"""The files of the ledger branch as models; their JSON schema is generated from here (docs/ledger.md).

They contain hashes and facts, never texts of queries.  The reason that a person wrote for a decision is kept, since it
is theirs.  Readers keep the keys that they do not know; what is derived from other files (shards, the index of folders,
counts) is made anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from incumbent.classifier.language_model.abilities import KeptAbilities
from incumbent.classifier.model import Classification
from incumbent.curator.entry import EntryId
from incumbent.files.validation import Checked, Digest, FileFormat, FileModel, LenientModel, Text, Timestamp, Tuple
from incumbent.taxonomy.model import Identifier
from incumbent.text.digests import digest

BRANCH = "incumbent/ledger"
FORMAT = "format.json"
DAMAGED = "damaged"
"""The folder of files that could not be read, each as it was when a new one took its place."""
FOLDER = "pull_requests"
RECONCILED = "reconciled.json"
SUGGESTIONS = "suggestions.json"
RUNS = "runs.json"
REQUESTS = "requests.json"
CORRECTIONS = "corrections.json"
CANDIDATES = "candidates.json"
QUARANTINES = "quarantines.json"
INDEX = "folders.json"
FOLDER_RECORDS = "folders"
AGREEMENT = "agreement.json"
ABILITIES = "abilities.json"
MODELS = "models.json"
COUNTED_FILES = "agreement"
FILES = (
    *(RECONCILED, SUGGESTIONS, RUNS, REQUESTS, CORRECTIONS, CANDIDATES, QUARANTINES, INDEX, AGREEMENT),
    *(ABILITIES, MODELS, FORMAT),
)
"""The files at the top of the branch."""

Grounds = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
"""The digest of the grounds of a suggestion."""
CommitId = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
CommentKey: TypeAlias = (
    Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern=r"^(review|inline):[1-9][0-9]{0,17}:[1-9][0-9]{0,17}$")]
)
"""A comment on the conversation by its id; a review, or a review comment on a line, with its pull request, too."""
Login = Annotated[str, Field(min_length=1, max_length=100)]


Classifications: TypeAlias = Annotated[
    dict[Digest, Checked[Classification]],
    Field(exclude=True, description="of format 1 alone: by now they are in shards (`ledger-classifications`)"),
]
"""Classifications by the key of their content: read with a file, and written as its shards."""


class LedgerFormat(LenientModel):
    """``format.json``: the format of the whole ledger; without this file it is 1.

    Of format 1, a file has its classifications inside; of format 2, they are in shards.
    """

    format: FileFormat[Literal[1, 2]] = 1


class LedgerFile(LenientModel):
    """A file of the ledger: keys that are not known survive a rewrite."""

    @model_validator(mode="before")
    @classmethod
    def _without_own_format(cls, data: Any) -> Any:
        """Earlier versions gave each file a number of its own."""
        return {key: item for key, item in data.items() if key != "format"} if isinstance(data, dict) else data


class CitedComment(LenientModel):
    """What a person said in a comment: it counts as long as the comment is there as it was read."""

    by: Login
    comment: CommentKey
    said: Digest = Field(description="digest of the comment as it was read")


class DisplayedVerdict(LenientModel):
    """A query's verdict as the comment shows it, and the content that it is on."""

    content: Digest | None = Field(
        default=None,
        description="digest of text, attachments and agent; null: an earlier version did not record it",
    )
    verdict: Digest = Field(description="digest of the verdict with the names that it rests on")
    codes: Text = Field(description="the verdict in codes, as `INCLUDE direct NEW_COVERAGE`")


class Displayed(DisplayedVerdict):
    """A query's verdict as the comment shows it, and since when (GitHub's time)."""

    since: Timestamp


class Showing(LenientModel):
    """What the comment was about to show when the ledger was written; the run may have ended before."""

    digest: Digest
    verdicts: dict[str, DisplayedVerdict] = Field(description="entry: what is shown of it")


class QueryVerdict(DisplayedVerdict):
    """The verdict on a query with this content."""

    entry: EntryId
    content: Digest = Field(description="digest of text, attachments and agent, as decisions are bound to it")


DecisionAction: TypeAlias = Literal["accept", "reject", "pin", "unpin"]
"""What a curator may decide on a query."""


class PersonDecision(QueryVerdict):
    """A curator's decision on a query, for the verdict that was displayed."""

    action: DecisionAction
    by: Login
    comment: CommentKey
    reason: Text | None = None
    all: bool = Field(default=False, description="said of `all` that waited, not of this one by name")


class DecisionRecord(PersonDecision):
    """A curator's decision as a record keeps it: said of `all`, it overrides no EXCLUDE."""

    at: Timestamp
    said: Digest = Field(description="digest of the comment as it was read")


class Merged(LenientModel):
    """The commit of the default branch that brought a pull request, and its time."""

    commit: CommitId
    at: Timestamp
    seen: dict[EntryId, Digest] = Field(
        default_factory=dict, description="entry that the comment showed as admitted without a person: its content then"
    )

    @field_validator("seen", mode="before")
    @classmethod
    def _without_bare_names(cls, seen: Any) -> Any:
        """Earlier versions recorded names alone, which may stand for another text by now: nothing was seen."""
        return {} if isinstance(seen, list | tuple) else seen


class PullRequestRecord(LedgerFile):
    """``pull_requests/<number>.json``: the record of an open pull request, replaced at each push."""

    pull_request: Annotated[int, Field(ge=1)]
    head: CommitId
    classifications: Classifications = Field(default_factory=dict)
    version: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        default=None, description="of the code of Incumbent that classified; another version may say something else"
    )
    texts: dict[str, Digest] = Field(
        default_factory=dict, description="entry: digest of its text, also of one that was taken out"
    )
    changes: dict[str, int] = Field(
        default_factory=dict, description="entry: how often this pull request changed its text"
    )
    displayed: dict[str, Displayed] = Field(default_factory=dict, description="entry: the verdict displayed")
    showing: Showing | None = None
    decisions: Tuple[DecisionRecord] = ()
    void: Tuple[DecisionRecord] = Field(default=(), description="decisions that ended with their comment")
    released: CitedComment | None = Field(default=None, description="a curator's release of a held pull request")
    merged: Merged | None = Field(default=None, description="how it was merged, while a query of it needs a person")
    disputed: dict[Digest, str] = Field(
        default_factory=dict,
        exclude_if=lambda value: not value,
        description="key of a query that two jobs said different things of: the page of the run that found it first",
    )
    cursor: Annotated[int, Field(ge=0)] = Field(default=0, description="id of the last comment that was read")
    reviews: Tuple[CommentKey] = Field(
        default=(), description="reviews, and comments of theirs, whose commands were read: they come in no order"
    )

    def known_to(self, version: str | None) -> dict[str, Classification]:
        """The classifications that this ``version`` made, or a language model, which is not asked twice."""
        return {key: item for key, item in self.classifications.items() if item.findings or self.version == version}


class QueryAtCommit(LenientModel):
    """The text of a query outside of the set, and the commit of the default branch that it was found in."""

    text: Digest = Field(description="digest of its text")
    commit: CommitId
    at: Timestamp = Field(description="the time of the commit")


class LeftQuery(QueryAtCommit):
    """A query that was merged and did not enter, and its merge (without pull request: it was pushed)."""

    pull_request: Annotated[int, Field(ge=1)] | None
    waits: bool = Field(
        default=False,
        exclude_if=lambda value: not value,
        description="it waited for a slot when it was looked at last, as was reported to people",
    )


class Rejection(LenientModel):
    """A rejection that outlasts its pull request: it applies to its content in every pull request."""

    pull_request: Annotated[int, Field(ge=1)]
    decision: DecisionRecord


class Reconciled(LedgerFile):
    """``reconciled.json``: up to which commit the default branch was reconciled, and what is known of its queries.

    The classifications are those of entries that are to be scored anew, and what was known before.
    """

    commit: CommitId
    classifications: Classifications = Field(default_factory=dict)
    left: dict[EntryId, LeftQuery] = Field(
        default_factory=dict,
        description="as in the records of folders; from before there were any",
    )
    rejections: Tuple[Rejection] = Field(default=(), description="of queries that are not decided yet")
    moves: dict[Text, Annotated[Tuple[Text], Field(min_length=2, max_length=2)]] = Field(
        default_factory=dict, description="folder: customer and agent that it was, while entries still say so"
    )


class ReconciledFolder(FileModel, extra="ignore"):
    """An agent's eval sets without anything to do; they need not be read until something changes."""

    tree: CommitId = Field(description="git's id of the folder")
    pull_requests: Tuple[Annotated[int, Field(ge=1)]] = Field(
        default=(), description="those that brought what was merged and did not enter"
    )
    pushed: Annotated[int, Field(ge=0)] = Field(default=0, description="queries that did not enter, of no pull request")
    rejected: Tuple[Digest] = Field(default=(), description="contents of its queries that curators rejected")
    uncarried: Tuple[Identifier] = Field(
        default=(), description="capabilities of what was left that no entry has: they may beat the first one that does"
    )
    ruled_out: Tuple[Identifier] = Field(
        default=(),
        exclude_if=lambda value: not value,
        description="capabilities that the agent's specification rules out",
    )


class FolderIndex(LedgerFile, extra="ignore"):
    """``folders.json``: the folders of the default branch that need not be read, and the conditions for that."""

    conditions: Digest = Field(description="of the taxonomy, the config, the classifier, corrections and the product")
    entries: dict[EntryId, Digest] = Field(
        default_factory=dict,
        description="what is in the set, on the waitlist or evicted: more may come, none may change",
    )
    folders: dict[Text, ReconciledFolder] = Field(default_factory=dict)


class FolderRecord(LedgerFile):
    """``folders/<digest>.json``: the record of an agent's undecided queries."""

    folder: Text
    classifications: Classifications = Field(default_factory=dict)
    left: dict[EntryId, LeftQuery] = Field(
        default_factory=dict, description="queries that were merged and did not enter: judged again as the set changes"
    )


class Refusal(LenientModel):
    """A suggestion that people closed; the name of its branch has the grounds.

    Of a group, the description of the pull request has the grounds.
    """

    pull_request: Annotated[int, Field(ge=1)]
    branch: Text
    entries: dict[EntryId, Grounds] = Field(
        default_factory=dict,
        exclude_if=lambda value: not value,
        description="of a group: entry that was refused or kept: digest of the grounds",
    )


class ArchivedQuery(QueryAtCommit):
    """An excluded query of an eval set that a repack or a top-up would admit, or that people refused to admit so."""

    folder: Text = Field(description="folder of the agent whose eval set has it")


class SuggestionRecord(LedgerFile):
    """``suggestions.json``: the record of the bot's pull requests."""

    heads: dict[str, CommitId] = Field(
        default_factory=dict, description="branch of an open one: its commit when it held what was suggested"
    )
    refusals: Tuple[Refusal] = Field(default=(), description="looked up again before they hold anything back")
    takes_no_commits: bool = Field(default=False, description="whether the default branch refused the last commits")
    offers: dict[str, Tuple[Digest]] = Field(
        default_factory=dict, description="branch that offers admissions, open or refused: digests of what it offers"
    )
    archived: dict[EntryId, ArchivedQuery] = Field(
        default_factory=dict,
        exclude_if=lambda value: not value,
        description="entry that a repack or a top-up would admit: where its query is, so that not all eval sets are "
        "read again",
    )


RequestAction: TypeAlias = Literal["undo", "restore", "keep", "suggest"]
"""What a curator may ask of an entry."""


class EntryRequest(LenientModel):
    """What is asked of an entry."""

    entry: EntryId
    action: RequestAction


class Request(EntryRequest, CitedComment):
    """A curator's request about an entry, and its comment."""

    comment: int
    grounds: Grounds | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="digest of the grounds on which the entry to keep, or to suggest, is suggested",
    )
    at: Timestamp | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="when it was asked to suggest the entry: what is refused later is refused",
    )
    pull_request: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="the pull request that suggested to evict the entry to keep, or on which it was refused last",
    )


class RequestRecord(LedgerFile):
    """``requests.json``: open requests about entries, and which comments were read."""

    since: Timestamp = Field(description="comments that did not change since then were read")
    cursor: Annotated[int, Field(ge=0)] = Field(default=0, description="id of the last comment that was read")
    requests: Tuple[Request] = Field(default=(), description="looked up again before they are followed")


class CandidateRecord(LedgerFile):
    """``candidates.json``: the extension candidates that were raised, however they ended."""

    raised: dict[Text, Annotated[Tuple[Digest], Field(min_length=1)]] = Field(
        default_factory=dict, description="branch of its pull request: digests of its most central texts"
    )
    heads: dict[Text, CommitId] = Field(
        default_factory=dict, description="branch: the commit that held what was drafted; another is somebody else's"
    )
    answered: Tuple[Annotated[int, Field(ge=1)]] = Field(
        default=(), description="pull requests of theirs that people merged or closed, so that no one is asked again"
    )


class QuarantineRecord(LedgerFile):
    """``quarantines.json``: the pull requests that offer to quarantine entries, or to end that."""

    heads: dict[Text, CommitId] = Field(
        default_factory=dict, description="branch of an open one: its commit when it held what was offered"
    )
    refusals: Tuple[Refusal] = Field(default=(), description="looked up again before they hold anything back")


class Run(LenientModel):
    """A run that changed something that people see."""

    at: Timestamp
    commit: CommitId
    did: Text
    run: Text | None


class RunRecord(LedgerFile):
    """``runs.json``: the last runs for the dashboard, latest first."""

    runs: Tuple[Run] = ()
    noted: CommitId | None = Field(
        default=None, description="the commit up to which changes of the set by hand were noted, at the last run"
    )


class StoredCorrection(CitedComment):
    """A person's correction of one capability of a text, and its comment."""

    value: bool | None = Field(description="whether the text exercises the capability; null: unknown")
    at: Timestamp | None = Field(default=None, description="when it was said")


class CorrectionRecord(LedgerFile):
    """``corrections.json``: corrected tags by the digest of a query's text, for all agents.

    The comment of each is looked up again before it counts.
    """

    texts: dict[Digest, dict[Identifier, StoredCorrection]] = Field(
        default_factory=dict, description="digest of normalised turns: capability: the last word on it"
    )


def comment_order(comment: CommentKey) -> tuple[int, str]:
    """A sort key for comments that were written in the same second."""
    return (comment, "") if isinstance(comment, int) else (0, comment)


def folder_path(folder: str) -> str:
    """The path of the record of ``folder`` on the branch, whatever characters its name has."""
    return f"{FOLDER_RECORDS}/{digest(folder)}.json"


def record_path(number: int) -> str:
    """The path of the record of pull request ``number`` on the branch."""
    return f"{FOLDER}/{number}.json"


MOST_ENDPOINTS = 20
"""The abilities of at most this many endpoints and models are kept; those found longest ago are dropped first."""

Learnt: TypeAlias = Annotated[dict[Digest, KeptAbilities | None], Field(max_length=MOST_ENDPOINTS)]
"""What a run learnt about endpoints; ``None``: the known abilities turned out to be wrong."""


class AbilityRecord(LedgerFile):
    """``abilities.json``: which endpoints have all abilities, so that not every run probes them; no address and no key.

    Others may write this file, so no lesser abilities are taken from it: an endpoint refuses what it cannot do, and is
    probed again, whereas a false lesser ability would raise costs and change answers.
    """

    endpoints: Annotated[dict[Digest, KeptAbilities], Field(max_length=MOST_ENDPOINTS)] = Field(
        default_factory=dict, description="digest of endpoint, version of its API, model and samples: what it can do"
    )

    def until(self, now: float) -> AbilityRecord:
        """The part that can be relied on at ``now`` (seconds since 1970): full abilities that were not found in the
        future.
        """
        kept = {key: item for key, item in self.endpoints.items() if item.abilities.is_all and item.found <= now}
        return self.model_copy(update={"endpoints": kept})

    def after(self, learnt: Mapping[str, KeptAbilities | None]) -> AbilityRecord:
        """The record updated by what a run has ``learnt``."""
        known = {**self.endpoints, **learnt}
        found = {key: item for key, item in known.items() if item is not None and item.abilities.is_all}
        latest = sorted(found, key=lambda key: (-found[key].found, key))[:MOST_ENDPOINTS]
        return self.model_copy(update={"endpoints": {key: found[key] for key in sorted(latest)}})


NO_ABILITIES = AbilityRecord()
"""A record of no endpoint."""


MOST_MODELS = 5
"""The fitted models of at most this many states of taxonomy and settings are recorded; the latest stay."""


class StoredModel(LenientModel):
    """A fitted model of the platform's own taxonomy, and the commit of the default branch that it was fitted on."""

    key: Annotated[str, Field(pattern=r"^[0-9a-f-]{8,64}$")] = Field(
        description="digest of what it rests on: exemplars, patterns, settings and method"
    )
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = Field(description="SHA-256 of its arrays")
    commit: CommitId
    at: Timestamp = Field(description="the time of the commit")


class ModelRecord(LedgerFile):
    """``models.json``: the fitted models that count on GitHub, latest first; none where the shipped one serves.

    Only the job that fits writes it, which reads the taxonomy and the config of the default branch, and nothing else.
    """

    models: Annotated[Tuple[StoredModel], Field(max_length=MOST_MODELS)] = ()

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each model, by key."""
        return {item.key: item.digest for item in self.models}

    def after(self, fitted: StoredModel) -> ModelRecord:
        """The record with ``fitted`` as the latest; unchanged if it has that model already."""
        if self.digests.get(fitted.key) == fitted.digest:
            return self
        others = [item for item in self.models if item.key != fitted.key]
        return self.model_copy(update={"models": (fitted, *others)[:MOST_MODELS]})


NO_MODELS = ModelRecord()
"""A record of no model."""
