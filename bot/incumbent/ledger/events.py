"""What the bot showed and what people answered, as lines that are only ever appended (docs/ledger.md).

An event says who, when, on which content and which verdict; the facts of a verdict are in the event that showed it.
Times are GitHub's, or those of commits.  Bots never count as people: where a bot acted, ``by_bot`` says so.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from incumbent.curator.entry import EntryId
from incumbent.files.validation import ConstraintError, Digest, FileModel, Score, Text, Timestamp, Tuple
from incumbent.ledger.model import (
    CommentKey,
    CommitId,
    DecisionAction,
    EntryRequest,
    Grounds,
    Login,
    PersonDecision,
    QueryVerdict,
)
from incumbent.taxonomy.model import Identifier
from incumbent.text.digests import digest

EVENTS = "events"
SET_EVENTS = f"{EVENTS}/regression_set.jsonl"
"""The file of events that are on no reviewed pull request: suggestions and the answers to them, requests, changes."""

ADMISSION = "admission"
"""The kind of a suggestion that offers admissions, used if the bot may not push to the default branch."""

Number = Annotated[int, Field(ge=1)]

MOST: Final = 1_000_000_000
"""An upper bound that no count of queries or entries reaches; larger numbers could exhaust time or memory."""

Amount = Annotated[int, Field(ge=0, le=MOST)]


class VerdictFacts(FileModel, extra="ignore"):
    """The facts that a verdict rested on, without the text: the query's scores, and its relation to R when it was
    judged.

    ``won`` maps capabilities to the score of the champion that the query beat; ``displaces`` are those champions.
    ``by_rule``, ``arbitrated``, ``new``, ``fills`` and ``won`` are among those of ``scores``.
    """

    taxonomy: Text = Field(description="version of the taxonomy")
    classifier: Digest | None = Field(default=None, description="digest of the classifier identity of the scores")
    scores: dict[Identifier, Score] = Field(description="cs(q, c) of the capabilities that are TRUE")
    by_rule: Tuple[Identifier] = Field(default=(), description="those that a rule decided")
    arbitrated: Tuple[Identifier] = Field(default=(), description="those that arbitration alone made TRUE")
    corrected: Tuple[Identifier] = Field(
        default=(), description="capabilities, TRUE or not, that a curator's correction decided"
    )
    attempt: bool = Field(default=False, description="whether the query argued with the classifier")
    familiar: bool = Field(default=True, description="whether the classifier could judge this kind of text")
    customer: Digest | None = Field(default=None, description="digest of who brought the query")
    new: Tuple[Identifier] = Field(default=(), description="newCaps(q)")
    fills: dict[Identifier, int] = Field(default_factory=dict, description="fills(q), each with its competent coverers")
    won: dict[Identifier, Score] = Field(default_factory=dict)
    similarity: Score
    most_similar: EntryId | None = None
    displaces: Tuple[EntryId] = ()

    @model_validator(mode="after")
    def _rests_on_scores(self) -> Self:
        for name in ("by_rule", "arbitrated", "new", "fills", "won"):
            if not self.scores.keys() >= set(getattr(self, name)):
                wanted = f"given with a score for each capability of `{name}`"
                raise ConstraintError(wanted, "add the scores that are missing, or take the line out")
        return self


class _Event(FileModel, extra="ignore"):
    """The fields of all events; two events with the same ``key`` are the same event.

    Lines of events are never rewritten, so that what a later version says in other keys stays there.
    """

    at: Timestamp

    @property
    def key(self) -> str:
        """A digest of what happened, so that an event that is recorded twice counts once."""
        return digest(self.model_dump(mode="json", exclude={"at"}))


class _OnPullRequest(_Event):
    """An event on a pull request."""

    pull_request: Number


class _OnQuery(_OnPullRequest):
    """An event on a query of a pull request, whatever its verdict was."""

    entry: EntryId
    content: Digest


class _OnTag(_Event):
    """An event on a curator's correction of a tag."""

    text: Digest = Field(description="digest of the text, to which the correction is bound")
    capability: Identifier
    comment: CommentKey


class _ByAccount(_Event):
    """An event that anyone may cause, also a bot."""

    by: Login
    by_bot: bool


class Shown(_OnPullRequest, QueryVerdict, extra="ignore"):
    """A verdict was shown to people, in the comment on the pull request."""

    kind: Literal["shown"] = "shown"
    base: CommitId = Field(description="the commit of the default branch that it was judged against")
    head: CommitId
    place: Amount = Field(description="its place in the cycle's order, from 0")
    author: Login = Field(description="who brings the pull request")
    facts: VerdictFacts | None = Field(description="null: there was no verdict, as of what a person rejected")


class Decided(_OnPullRequest, PersonDecision, extra="ignore"):
    """A curator decided by a command: always explicit. The time is that of the comment."""

    kind: Literal["decided"] = "decided"


class _DecisionEnd(_OnQuery):
    """The end of a decision."""

    action: DecisionAction
    comment: CommentKey


class Withdrawn(_DecisionEnd):
    """A decision ended: its comment was deleted or edited, or its author may no longer decide."""

    kind: Literal["withdrawn"] = "withdrawn"


class Applied(_DecisionEnd):
    """A curator's decision to pin or unpin is carried out: it is in the entry."""

    kind: Literal["applied"] = "applied"


class Corrected(_OnQuery, _OnTag):
    """A curator corrected a tag of a query by a command: whether its text exercises the capability, for any agent."""

    kind: Literal["corrected"] = "corrected"
    value: bool = Field(description="whether the text exercises the capability")
    by: Login
    reason: Text | None = None


class CorrectionEnded(_OnTag):
    """A correction ended: its comment was deleted or edited, or its author may no longer correct."""

    kind: Literal["correction-ended"] = "correction-ended"


class Passed(_OnPullRequest, QueryVerdict, _ByAccount, extra="ignore"):
    """A pull request was merged while it showed this verdict, an admission or an EXCLUDE, which needed no one's
    consent.

    It is implicit agreement of the person who merged.
    """

    kind: Literal["passed"] = "passed"


class Closed(_OnPullRequest):
    """A pull request with an eval set was closed: ``commit`` is its merge, ``None``: it was closed unmerged."""

    kind: Literal["closed"] = "closed"
    commit: CommitId | None


class Forgotten(_OnPullRequest):
    """A closed pull request is no longer needed: its record was deleted, and its decisions no longer apply there."""

    kind: Literal["forgotten"] = "forgotten"
    record: Digest = Field(description="digest of the record's file as it was")


class _OnSuggestion(_OnPullRequest):
    """An event on a pull request that suggests a change of the set."""

    branch: Text
    suggestion: Text = Field(
        description="kind: displaced, redundant, source-deleted, customer-left, undone, swap, repack, top-up, admission"
    )


class Suggested(_OnSuggestion):
    """The bot opened a pull request that suggests to evict ``entries`` (a swap or a repack admits ``admits``).

    One of kind ``admission`` offers admissions: ``entries`` are added or changed.  A ``top-up`` admits the one in
    ``entries``, which is ``admits`` as well.  A group has an event for each entry,
    whose ``branch`` is the one that the entry alone would have; so has an answer to it.
    """

    kind: Literal["suggested"] = "suggested"
    entries: Tuple[EntryId]
    admits: EntryId | None = None
    remaining: dict[Identifier, Amount] = Field(
        default_factory=dict, description="capability that it covers: competent coverers that would stay"
    )


class Answered(_OnSuggestion, _ByAccount):
    """A suggestion was merged or closed: always explicit, but a bot that closes it refuses nothing."""

    kind: Literal["answered"] = "answered"
    entries: Tuple[EntryId]
    agrees: bool = Field(description="true: merged; false: closed unmerged")

    @property
    def key(self) -> str:
        # A person who reopens a suggestion and closes it again refuses it twice: the time tells the two apart.
        return digest(self.model_dump(mode="json"))


class Reopened(_OnPullRequest):
    """A person reopened a suggestion that people had closed: it is no longer refused."""

    kind: Literal["reopened"] = "reopened"
    branch: Text
    answers: Annotated[int, Field(ge=1)] = Field(description="how often it had been answered by then")


class _OnRequest(_Event, EntryRequest, extra="ignore"):
    """An event on what a curator asks of an entry in a comment."""

    comment: int


class Requested(_OnRequest):
    """A curator requested by a command that an entry be kept, suggested or restored, or its admission undone."""

    kind: Literal["requested"] = "requested"
    by: Login


class Ticked(_Event):
    """A person ticked boxes, and the bot records the commands that they stand for in a comment.

    It is noted before the comment is written, and again with the comment: from then on that one alone has the person's
    words, as long as it is unchanged.
    """

    kind: Literal["ticked"] = "ticked"
    thread: Number = Field(description="the issue or pull request that the comment is on")
    by: Login
    edit: Grounds = Field(description="digest of the edit that ticked the boxes")
    comment: int | None = Field(default=None, description="null: it is about to be written")
    said: Digest = Field(description="digest of the comment")


class Settled(_OnRequest):
    """A request was carried out, or no longer applies: its comment is gone, or its author may not ask."""

    kind: Literal["settled"] = "settled"
    happened: bool = Field(default=True, description="false: it ended without effect; the entry is where it was")


class ChangedByHand(_ByAccount):
    """A person changed entries of the regression set without a pull request of the bot."""

    kind: Literal["changed-by-hand"] = "changed-by-hand"
    commit: CommitId
    pull_request: Number | None
    added: Tuple[EntryId] = ()
    changed: Tuple[EntryId] = ()
    removed: Tuple[EntryId] = ()


LedgerEvent = Annotated[
    Shown
    | Decided
    | Withdrawn
    | Corrected
    | CorrectionEnded
    | Applied
    | Passed
    | Closed
    | Forgotten
    | Suggested
    | Answered
    | Reopened
    | Requested
    | Ticked
    | Settled
    | ChangedByHand,
    Field(discriminator="kind"),
]
"""One line of a file of events."""


def events_path(number: int) -> str:
    """The path of the events on pull request ``number`` on the branch."""
    return f"{EVENTS}/{number}.jsonl"
