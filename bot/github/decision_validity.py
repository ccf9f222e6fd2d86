"""Which decisions still apply: their comment exists, by the same person, unchanged since it was read (pure)."""

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
"""The digest of a comment of the bot without verdicts."""


def displayed_now(record: PullRequestRecord, marker: str | None, updated_at: str) -> dict[str, Displayed]:
    """What the comment displays, and since when: what the record was about to show, if the comment has its digest.

    ``marker`` is the digest in the comment (``None``: there is no comment), ``updated_at`` the comment's time.
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
    """The inputs of the processing of commands besides the comments; ``permission`` looks up a login's permission.

    ``judge`` takes decisions, contents that were rejected in a comment that has changed, and corrections of tags;
    ``corrections`` are those that apply.  Once the pull request is ``merged``, commands on entries are processed
    elsewhere.
    """

    judge: Callable[[Sequence[DecisionRecord], Collection[str], Corrections], ReviewJudgement]
    displayed: dict[str, Displayed]
    author: Author
    curators: tuple[str, ...]
    permission: Callable[[str], str]
    corrections: Corrections = field(default_factory=dict)
    merged: bool = False

    def refusal(self, verb: Verb, comment: IssueComment) -> str | None:
        """Why the author of ``comment`` may not use ``verb``."""
        person = Person(login=comment.author, is_bot=comment.is_bot)
        return refusal(verb, person, self.author.login, self.curators, self.permission)


@dataclass(frozen=True, kw_only=True)
class PriorRejections:
    """Earlier rejections of present contents, and the present state of the comments that they cite."""

    decisions: tuple[DecisionRecord, ...] = ()
    comments: tuple[IssueComment, ...] = ()

    @staticmethod
    def of(
        rejections: Sequence[Rejection],
        contents: Collection[str],
        comments: Callable[[int], Sequence[IssueComment]],
    ) -> PriorRejections:
        """The ``rejections`` of ``contents``; ``comments`` reads the comments of a pull request."""
        found = [item for item in rejections if item.decision.content in contents]
        numbers = sorted({item.pull_request for item in found})
        said = [comment for number in numbers for comment in comments(number)]
        return PriorRejections(decisions=tuple(item.decision for item in found), comments=tuple(said))


NOTHING_BEFORE = PriorRejections()


def matter(item: DecisionRecord) -> str:
    """The subject of a decision: the admission of a query, or the pin of its entry."""
    return "admission" if item.action in ("accept", "reject") else "pin"


def is_still_valid(item: DecisionRecord, written: Mapping[CommentKey, IssueComment], context: DecisionContext) -> bool:
    """Whether the comment that ``item`` cites is unchanged and has this decision."""
    comment = written.get(item.comment)
    return (
        comment is not None
        and _confirms(comment, item.by, item.said, _VERBS[item.action], context)
        and (item.reason is None or may_be_masked_part(item.reason, " ".join(comment.body.split())))
    )


def still_released(
    item: ReleaseRecord | None, written: Mapping[CommentKey, IssueComment], context: DecisionContext
) -> ReleaseRecord | None:
    """``item`` if its comment is unchanged."""
    comment = None if item is None else written.get(item.comment)
    if item is None or comment is None or not _confirms(comment, item.by, item.said, Verb.RUN, context):
        return None
    return item


def is_as_read(comment: IssueComment, by: str, said: str, verb: Verb) -> bool:
    """Whether ``comment`` is by the same person, has the command ``verb``, and is unchanged to the letter.

    Its names are not read again with the queries of now: otherwise a push could change or void a decision.  That it has
    such a command is checked again, so that no decision can be forged.
    """
    return comment.author == by and digest(comment.body) == said and verb in verbs(comment.body)


def _confirms(comment: IssueComment, by: str, said: str, verb: Verb, context: DecisionContext) -> bool:
    return is_as_read(comment, by, said, verb) and context.refusal(verb, comment) is None
