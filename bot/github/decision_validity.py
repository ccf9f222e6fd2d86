"""Which of people's decisions still apply: the comment exists, by the same person, unchanged since it was
read (pure).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from bot.classifier.corrections import Corrections
from bot.github.authority import Person, refusal
from bot.github.commands import Verb, verbs
from bot.github.judgement import Author, ReviewJudgement
from bot.github.models import IssueComment
from bot.ledger.model import CommentKey, DecisionRecord, Displayed, PullRequestRecord, Rejection, ReleaseRecord
from bot.text.digests import digest
from bot.text.masking import may_be_masked_part

NOTHING = "0" * 24
"""The digest of a comment of ours that displays no verdict."""


def displayed_now(record: PullRequestRecord, marker: str | None, updated_at: str) -> dict[str, Displayed]:
    """What the comment displays, and since when: what the record was about to show, if the comment bears its digest.

    ``marker`` is the digest in the comment as found (``None``: there is no comment) and ``updated_at`` its time.
    """
    if marker in (None, NOTHING):
        return {}
    showing = record.showing
    if showing is None or showing.digest != marker:
        return dict(record.displayed)
    found = {}
    for entry, shown in showing.verdicts.items():
        before = record.displayed.get(entry)
        same = before is not None and before.verdict == shown.verdict
        new = Displayed(verdict=shown.verdict, codes=shown.codes, since=updated_at)
        found[entry] = before if same and before is not None else new
    return found


ACTIONS = {Verb.ACCEPT: "accept", Verb.REJECT: "reject", Verb.PIN: "pin", Verb.UNPIN: "unpin"}
_VERBS = {action: verb for verb, action in ACTIONS.items()}


@dataclass(frozen=True, kw_only=True)
class DecisionContext:
    """What commands are judged by, besides the comments; ``permission`` looks up a login's permission.

    ``judge`` takes decisions, the contents that were rejected in a comment that is not as it was, and corrections of
    tags; ``corrections`` are those that stand.  Once the pull request is ``merged``, what its comments say of entries
    is heard elsewhere.
    """

    judge: Callable[[Sequence[DecisionRecord], Collection[str], Corrections], ReviewJudgement]
    displayed: dict[str, Displayed]
    author: Author
    curators: tuple[str, ...]
    permission: Callable[[str], str]
    corrections: Corrections = field(default_factory=dict)
    merged: bool = False

    def refusal(self, verb: Verb, comment: IssueComment) -> str | None:
        """Why the author of ``comment`` may not say ``verb``."""
        person = Person(login=comment.author, is_bot=comment.is_bot)
        return refusal(verb, person, self.author.login, self.curators, self.permission)


@dataclass(frozen=True, kw_only=True)
class PriorRejections:
    """Rejections that were given before, of content that is here, and the comments that they cite as they are now."""

    decisions: tuple[DecisionRecord, ...] = ()
    comments: tuple[IssueComment, ...] = ()

    @staticmethod
    def of(
        rejections: Sequence[Rejection],
        contents: Collection[str],
        comments: Callable[[int], Sequence[IssueComment]],
    ) -> PriorRejections:
        """Those of ``rejections`` that are of ``contents``; ``comments`` reads those of a pull request."""
        found = [item for item in rejections if item.decision.content in contents]
        numbers = sorted({item.pull_request for item in found})
        said = [comment for number in numbers for comment in comments(number)]
        return PriorRejections(decisions=tuple(item.decision for item in found), comments=tuple(said))


NOTHING_BEFORE = PriorRejections()


def matter(item: DecisionRecord) -> str:
    """What a decision is about: whether a query enters, or whether its entry is pinned."""
    return "admission" if item.action in ("accept", "reject") else "pin"


def is_still_valid(item: DecisionRecord, written: Mapping[CommentKey, IssueComment], context: DecisionContext) -> bool:
    """Whether the comment that ``item`` cites is there as it was read, and bears it out."""
    comment = written.get(item.comment)
    return (
        comment is not None
        and _confirms(comment, item.by, item.said, _VERBS[item.action], context)
        and (item.reason is None or may_be_masked_part(item.reason, " ".join(comment.body.split())))
    )


def still_released(
    item: ReleaseRecord | None, written: Mapping[CommentKey, IssueComment], context: DecisionContext
) -> ReleaseRecord | None:
    """``item`` if its comment is there as it was read."""
    comment = None if item is None else written.get(item.comment)
    if item is None or comment is None or not _confirms(comment, item.by, item.said, Verb.RUN, context):
        return None
    return item


def is_as_read(comment: IssueComment, by: str, said: str, verb: Verb) -> bool:
    """Whether ``comment`` is by the same person, says ``verb``, and not a letter of it has changed.

    What was read once is not read again by the names of now: no push could else turn a decision into another, or void
    it.  That it gives such a command at all is looked at again, so that nobody's decision can be made up.
    """
    return comment.author == by and digest(comment.body) == said and verb in verbs(comment.body)


def _confirms(comment: IssueComment, by: str, said: str, verb: Verb, context: DecisionContext) -> bool:
    return is_as_read(comment, by, said, verb) and context.refusal(verb, comment) is None
