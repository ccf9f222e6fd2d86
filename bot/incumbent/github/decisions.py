"""Which decisions and corrections still apply: their comment exists, by the same person, as it was read (pure)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from incumbent.classifier.corrections import Corrections
from incumbent.github.authority import NO_CO_AUTHORS, Author, Authority, CoAuthors, Person
from incumbent.github.commands import Verb, tags_said, verbs
from incumbent.github.judgement import ReviewJudgement
from incumbent.github.models import IssueComment, ThreadComment
from incumbent.ledger.events import Corrected, CorrectionEnded
from incumbent.ledger.migrated import corrections_in
from incumbent.ledger.model import (
    CitedComment,
    CommentKey,
    CorrectionRecord,
    DecisionRecord,
    Displayed,
    PullRequestRecord,
    Rejection,
    StoredCorrection,
    comment_order,
)
from incumbent.taxonomy.migration import Lineage, lineage
from incumbent.taxonomy.model import ShortNames, Taxonomy, UnknownCapabilityError, is_end
from incumbent.text.digests import digest
from incumbent.text.masking import may_be_masked_part

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
        same = before is not None and (before.verdict, before.content) == (shown.verdict, shown.content)
        new = Displayed(**shown.model_dump(), since=updated_at)
        found[entry] = before if same and before is not None else new
    return found


ACTIONS = {Verb.ACCEPT: "accept", Verb.REJECT: "reject", Verb.PIN: "pin", Verb.UNPIN: "unpin"}
_VERBS = {action: verb for verb, action in ACTIONS.items()}


@dataclass(frozen=True, kw_only=True)
class DecisionContext:
    """The inputs of the processing of commands besides the comments.

    ``judge`` takes decisions, contents that were rejected in a comment that has changed, and corrections of tags;
    ``corrections`` are those that apply; ``texts`` maps entries to the digests of their texts.  Once the pull request
    is ``merged``, commands on entries are processed elsewhere.  ``lost``: the ledger's record of it cannot be read.
    """

    judge: Callable[[Sequence[DecisionRecord], Collection[str], Corrections], ReviewJudgement]
    displayed: dict[str, Displayed]
    author: Author
    authority: Authority
    co_authors: CoAuthors = NO_CO_AUTHORS
    texts: Mapping[str, str] = field(default_factory=dict)
    corrections: Corrections = field(default_factory=dict)
    merged: bool = False
    lost: bool = False

    def refusal(self, verb: Verb, comment: IssueComment) -> str | None:
        """Why the author of ``comment`` may not use ``verb``."""
        person = Person(login=comment.author, is_bot=comment.is_bot)
        return self.authority.refusal(verb, person, self.author.login, self.co_authors.commits)

    def brings_elsewhere(self, login: str, entry: str) -> bool:
        """Whether ``login`` brings the text of ``entry`` in another open pull request."""
        text = self.texts.get(entry)
        return text is not None and login.casefold() in self.co_authors.elsewhere(text)


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
        and not context.brings_elsewhere(item.by, item.entry)
        and (item.reason is None or may_be_masked_part(item.reason, " ".join(comment.body.split())))
    )


def still_released(
    item: CitedComment | None, written: Mapping[CommentKey, IssueComment], context: DecisionContext
) -> CitedComment | None:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCorrection:
    """A curator's new correction: the event, and what the ledger keeps of it until its comment changes."""

    event: Corrected
    correction: StoredCorrection


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A correction whose comment has changed or is gone, or whose author may no longer correct."""

    text: str
    capability: str
    correction: StoredCorrection

    def event(self, at: str) -> CorrectionEnded:
        """The event, at the time when it was noticed."""
        return CorrectionEnded(at=at, text=self.text, capability=self.capability, comment=self.correction.comment)


@dataclass(frozen=True, kw_only=True)
class RecordedCorrections:
    """The corrections in a record on given texts: valid ones (``stands``), by present ids, and those that ended."""

    record: CorrectionRecord = field(default_factory=CorrectionRecord)
    stands: Corrections = field(default_factory=dict)
    ended: tuple[Ended, ...] = ()


NOTHING_RECORDED = RecordedCorrections()


@dataclass(frozen=True, kw_only=True)
class CommentLookup:
    """Look-ups: a comment by its id, who opened its pull request and who made its commits, and who may correct.

    ``elsewhere`` looks up who brings a text (:func:`incumbent.text.compare.text_key`) in another open pull request than
    the one with this number; all logins are in lower case.
    """

    remark: Callable[[CommentKey], ThreadComment | None]
    author: Callable[[int], str | None]
    authority: Authority
    commit_authors: Callable[[int], Collection[str] | None] = lambda _: ()
    elsewhere: Callable[[int, str], Collection[str]] = lambda *_: ()

    def refusal(self, verb: Verb, login: str, number: int | None, *, is_bot: bool = False) -> str | None:
        """Why ``login`` may not use ``verb`` about what the pull request ``number`` brought; ``None``: about none."""
        person = Person(login=login, is_bot=is_bot)
        if number is None:
            return self.authority.refusal(verb, person, None)
        return self.authority.refusal(verb, person, self.author(number), partial(self.commit_authors, number))


def look_up(
    record: CorrectionRecord,
    texts: Collection[str],
    taxonomy: Taxonomy,
    previous: Callable[[], Sequence[Taxonomy]],
    lookups: CommentLookup,
) -> RecordedCorrections:
    """Which corrections of ``texts`` apply: their comment is unchanged, by the same person, and has the correction.

    ``previous`` reads earlier taxonomies, oldest first.
    """
    said = {text: record.texts[text] for text in sorted(texts) if text in record.texts}
    line = lineage(taxonomy, {name for tags in said.values() for name in tags}, previous) if said else Lineage(())
    names = ShortNames(taxonomy)
    kept: dict[str, dict[str, StoredCorrection]] = {}
    ended: list[Ended] = []
    for text, tags in said.items():
        for name, item in tags.items():
            found = lookups.remark(item.comment)
            if found is None or not (
                _corrects(found, name, item, names, line, lookups)
                and found.comment.author.casefold() not in lookups.elsewhere(found.number, text)
            ):
                ended.append(Ended(text=text, capability=name, correction=item))
                continue
            kept.setdefault(text, {})[name] = item.model_copy(update={"at": found.comment.created_at})
    stands = corrections_in(CorrectionRecord(texts=kept), line)
    return RecordedCorrections(record=record, stands=stands, ended=tuple(ended))


def _corrects(
    found: ThreadComment, name: str, item: StoredCorrection, names: ShortNames, line: Lineage, lookups: CommentLookup
) -> bool:
    comment = found.comment
    return (
        is_as_read(comment, item.by, item.said, Verb.CORRECT)
        and any(tag.value == item.value and _means(tag.name, name, names, line) for tag in tags_said(comment.body))
        and lookups.refusal(Verb.CORRECT, comment.author, found.number, is_bot=comment.is_bot) is None
    )


def _means(said: str, name: str, names: ShortNames, line: Lineage) -> bool:
    """Whether ``said`` can mean the capability ``name`` of its time: no forged record puts another in its place."""
    try:
        meant = names.find(said)
    except UnknownCapabilityError:
        return is_end(said, name)
    return meant in (name, line.renamed(name)) or is_end(said, name)


def noted(record: CorrectionRecord, ended: Iterable[Ended], said: Iterable[NewCorrection]) -> CorrectionRecord:
    """``record`` without what ``ended``, and with what was ``said``; for each tag the latest comment counts."""
    texts = {text: dict(tags) for text, tags in record.texts.items()}
    for gone in ended:
        if texts.get(gone.text, {}).get(gone.capability) == gone.correction:
            del texts[gone.text][gone.capability]
    for item in said:
        tags = texts.setdefault(item.event.text, {})
        before = tags.get(item.event.capability)
        if before is None or _when(before) <= _when(item.correction):
            tags[item.event.capability] = item.correction
    kept = {text: dict(sorted(tags.items())) for text, tags in sorted(texts.items()) if tags}
    return record.model_copy(update={"texts": kept})


def _when(item: StoredCorrection) -> tuple[str, tuple[int, str]]:
    return item.at or "", comment_order(item.comment)


def unverified(record: CorrectionRecord, taxonomy: Taxonomy, previous: Callable[[], Sequence[Taxonomy]]) -> Corrections:
    """The corrections in ``record``, without a check of their comments; enough to know what to look up again."""
    named = {name for tags in record.texts.values() for name in tags}
    return corrections_in(record, lineage(taxonomy, named, previous)) if named else {}


def differing(record: CorrectionRecord, known: Iterable[tuple[str, Mapping[str, bool]]]) -> frozenset[str]:
    """The texts whose corrections in ``record`` differ from their ``known`` values."""
    return frozenset(
        text
        for text, values in known
        for name, item in record.texts.get(text, {}).items()
        if item.value is not None and values.get(name) != item.value
    )
