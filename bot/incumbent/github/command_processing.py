"""People's commands since a cursor: which count, what they decide, and the replies (pure).

A command counts only from a curator, on the verdict that was displayed when it was written, and for the content that it
was displayed for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from incumbent.classifier.corrections import Correction, Corrections, contradictory, merged, obstacle
from incumbent.github.authority import NO_CO_AUTHORS, UNKNOWN_AUTHOR
from incumbent.github.commands import ON_ENTRIES, Command, Misspelt, Tag, Verb, parse, verbs
from incumbent.github.decisions import (
    ACTIONS,
    NOTHING_BEFORE,
    DecisionContext,
    NewCorrection,
    PriorRejections,
    is_still_valid,
    matter,
    still_released,
)
from incumbent.github.judgement import NO_VERDICT, ReviewJudgement
from incumbent.github.models import IssueComment
from incumbent.ledger.events import Corrected
from incumbent.ledger.model import (
    CitedComment,
    CommentKey,
    DecisionRecord,
    Displayed,
    PullRequestRecord,
    StoredCorrection,
    comment_order,
)
from incumbent.report.escaping import code
from incumbent.report.task_list import shown_by
from incumbent.report.verdict_text import quoted
from incumbent.taxonomy.model import ShortNames, Taxonomy, UnknownCapabilityError
from incumbent.text.compare import text_key
from incumbent.text.digests import digest
from incumbent.text.masking import masked

_WITHOUT_A_PERSON = "it is admitted without a person."
TOO_EARLY = "What is in the set, or was, is spoken of on a pull request that is merged, or on the dashboard issue."
EDITED = "It was edited before it was read, perhaps by another person. Repeat it in a new comment."
PERHAPS_EDITED = "It may have been edited before it was read, perhaps by another person. Repeat it in a new comment."
_MOST_COMPARED = 3
"""The most tags of a command for which a similar capability is looked for."""
_BROUGHT_ELSEWHERE = "you bring the same text in another open pull request, so another curator has to decide."
_EXCLUDED_BY_NOW = "its verdict is EXCLUDE by now. Give a reason to accept it all the same."

COMMANDS = """\
| command | what it does |
| --- | --- |
| `/incumbent accept ID… [reason]` | admit these queries; an excluded one needs a reason |
| `/incumbent reject ID… reason` | keep these queries out |
| `/incumbent correct ID… +CAPABILITY… -CAPABILITY… [reason]` | these queries exercise it (`+`), or do not (`-`) |
| `/incumbent pin ID… reason` | keep the entry whatever becomes redundant |
| `/incumbent unpin ID…` | take that back |
| `/incumbent accept regression_set reason` | allow a change of the set by hand, for this very commit |
| `/incumbent accept who_decides reason` | allow a change of who decides, for this very commit |
| `/incumbent undo ENTRY…` | once it is merged: take an admission back, by a pull request that people merge |
| `/incumbent restore ENTRY…` | once it is merged: bring an evicted entry back |
| `/incumbent keep ENTRY…` | where the bot suggests to evict it: it stays, until the grounds change |
| `/incumbent suggest ENTRY…` | where the dashboard lists it: suggest it now, or again although it was refused |
| `/incumbent run` | judge again; releases a first contribution that is held, with its later pushes |
| `/incumbent help` | this table |"""
HELP = f"""\
Commands, each on a line of its own:

{COMMANDS}

`ID` is a query's id, a range (`q03..q07`) or `all` that need a person. Commands count from curators, not from the \
pull request's author for their own queries, and for the verdicts displayed when they were written. \
A command in a review is read at the next run; `/incumbent run` in the conversation starts one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The result of a comment: whether all its commands were followed, and the answer (lines of Markdown)."""

    comment: IssueComment
    followed: bool
    lines: tuple[str, ...]
    unauthorized: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Which comments were read: those of the conversation up to the ``cursor``, and these of ``reviews``.

    Reviews have no order: one may be begun before another, and submitted after it.
    """

    cursor: int = 0
    reviews: tuple[CommentKey, ...] = ()


def read_by_now(comments: Iterable[IssueComment]) -> Read:
    """The state in which all ``comments`` were read."""
    found = list(comments)
    cursor = max((item.id for item in found if item.kind == "comment"), default=0)
    return Read(cursor=cursor, reviews=tuple(sorted(str(item.key) for item in found if item.kind != "comment")))


@dataclass(frozen=True, kw_only=True)
class CommandOutcome:
    """The judgement after all comments, with the replies to the new ones.

    ``corrected`` are the tags that these comments corrected.  ``void`` decisions ended with their comment, ``dormant``
    ones have no content at present, ``inherited`` ones were given before, elsewhere.
    """

    judgement: ReviewJudgement
    replies: tuple[Reply, ...]
    void: tuple[DecisionRecord, ...]
    dormant: tuple[DecisionRecord, ...] = ()
    inherited: tuple[DecisionRecord, ...] = ()
    corrected: tuple[NewCorrection, ...] = ()
    released: CitedComment | None
    read: Read

    @property
    def own(self) -> tuple[DecisionRecord, ...]:
        """The decisions that were given here, dormant ones too."""
        return (*(item for item in self.judgement.decisions if item not in self.inherited), *self.dormant)

    @property
    def recorded(self) -> dict[str, object]:
        """The fields about comments in a pull request's record."""
        return {"decisions": self.own, "void": self.void, "cursor": self.read.cursor, "reviews": self.read.reviews}


@dataclass(kw_only=True)
class _ProcessingState:
    """The state after the comments so far.

    ``first`` is the judgement before any of their decisions, under the corrections so far.
    """

    pull_request: int
    judgement: ReviewJudgement
    first: ReviewJudgement
    contested: Collection[str]
    decisions: list[DecisionRecord]
    released: CitedComment | None
    corrections: Corrections
    corrected: list[NewCorrection] = field(default_factory=list)
    reply: Reply = field(init=False)

    def say(self, *lines: str) -> None:
        """Add ``lines`` to the reply."""
        self.reply = replace(self.reply, lines=(*self.reply.lines, *lines))

    def refuse(self, *whys: str) -> None:
        """Reply that something was not followed, and why."""
        self.say(*whys)
        self.reply = replace(self.reply, followed=False)


def process_commands(
    comments: Sequence[IssueComment],
    record: PullRequestRecord,
    context: DecisionContext,
    previous: PriorRejections = NOTHING_BEFORE,
) -> CommandOutcome:
    """Process the comments after the record's cursor, in the order in which they were written.

    Decisions of the record, and ``previous`` ones, apply as long as the comment that they cite exists, unchanged and by
    the same person.
    """
    elsewhere = {comment.key: comment for comment in previous.comments}
    any_author = replace(context, author=UNKNOWN_AUTHOR, co_authors=NO_CO_AUTHORS)
    before = [item for item in previous.decisions if item not in record.decisions]
    inherited = [item for item in before if is_still_valid(item, elsewhere, any_author)]
    written = {comment.key: comment for comment in comments}
    # A cursor beyond the last comment was forged, or its comment is gone.
    read = read_by_now(comments)
    cursor = min(record.cursor, read.cursor)
    kept = [item for item in record.decisions if is_still_valid(item, written, context)]
    void = (*record.void, *(item for item in record.decisions if item not in kept))
    contested = {item.content for item in void if item.action == "reject"}
    contested |= {item.content for item in before if item not in inherited}
    kept = _with(inherited, kept)
    first = context.judge(kept, contested, context.corrections)
    # A new text in the place of a rejected one does not enter without a person.
    rewritten = {
        first.contents[item.entry]
        for item in kept
        if item.action == "reject" and item not in first.decisions and item.entry in first.contents
    }
    if rewritten - contested:
        contested |= rewritten
        first = context.judge(kept, contested, context.corrections)
    # The content of a decision may come back: it was removed, cannot be read, or has another text at present.
    dormant = [item for item in kept if item not in first.decisions]
    released = still_released(record.released, written, context)
    state = _ProcessingState(
        pull_request=record.pull_request,
        judgement=first,
        first=first,
        contested=contested,
        decisions=list(first.decisions),
        released=released,
        corrections=context.corrections,
    )
    replies = []
    by_entry = {entry: name for name, entry in first.entries.items()}
    for comment in sorted(comments, key=lambda item: (item.created_at, comment_order(item.key))):
        was_read = comment.id <= cursor if comment.kind == "comment" else comment.key in record.reviews
        if was_read or comment.is_bot:
            continue
        said = parse(comment.body, first.names, by_entry)
        too_early = not context.merged and bool(ON_ENTRIES & verbs(comment.body))
        if not said and not too_early:
            continue
        unauthorized = context.refusal(Verb.RUN, comment) is not None
        state.reply = Reply(comment=comment, followed=True, lines=(), unauthorized=unauthorized)
        if comment.is_edited:
            state.refuse(EDITED if comment.kind == "comment" else PERHAPS_EDITED)
        else:
            for item in said:
                _follow(item, comment, state, first, context)
        if too_early:
            state.refuse(TOO_EARLY)
        replies.append(state.reply)
    return CommandOutcome(
        judgement=state.judgement,
        replies=tuple(replies),
        void=void,
        dormant=tuple(item for item in dormant if item not in inherited),
        inherited=tuple(inherited),
        corrected=tuple(state.corrected),
        released=state.released,
        read=read,
    )


def _follow(
    item: Command | Misspelt,
    comment: IssueComment,
    state: _ProcessingState,
    first: ReviewJudgement,
    context: DecisionContext,
) -> None:
    if isinstance(item, Misspelt):
        state.refuse(f"{quoted(item.text)}: {code(masked(item.message))}")
        return
    why = context.refusal(item.verb, comment)
    if why is not None:
        state.refuse(why)
    elif item.verb is Verb.HELP:
        state.say(HELP)
    elif item.verb is Verb.RUN:
        state.released = CitedComment(by=comment.author, comment=comment.key, said=digest(comment.body))
    elif item.verb is Verb.CORRECT:
        _correct(item, comment, state, first, context)
    else:
        _decide(item, comment, state, state.first, context)


def _decide(
    item: Command, comment: IssueComment, state: _ProcessingState, first: ReviewJudgement, context: DecisionContext
) -> None:
    """Record the decisions of a command, and derive the verdicts after each of them."""
    problems: dict[str, str] = {}
    made: dict[str, DecisionRecord] = {}
    named = _named(item, state)
    if not named:
        state.refuse("No query needs a person.")
    for name in named:
        found = _decision(item, name, comment, state, first, context)
        if isinstance(found, str):
            problems[name] = found
        else:
            made[name] = found
    after = context.judge(_with(state.decisions, made.values()), state.contested, state.corrections)
    if after.review is not None:
        admitted = {verdict.id for verdict in after.review.verdicts if verdict.admitted}
        # Accepting a rejected query withdraws the rejection, whether or not the query needs a person.
        allowed = {
            name for name in admitted if name in made and any(_contradicts(made[name], old) for old in state.decisions)
        }
        unheard = {answer.id for answer in after.review.derivation.unheard} & set(made) - allowed
        for name in unheard:
            del made[name]
            problems[name] = _WITHOUT_A_PERSON if name in admitted else _EXCLUDED_BY_NOW
        after = context.judge(_with(state.decisions, made.values()), state.contested, state.corrections)
    state.decisions, state.judgement = _with(state.decisions, made.values()), after
    if problems:
        state.refuse(*(f"{quoted(name)}: {problems[name]}" for name in first.names if name in problems))


def _with(decisions: Sequence[DecisionRecord], new: Iterable[DecisionRecord]) -> list[DecisionRecord]:
    standing = list(decisions)
    for decision in new:
        standing = [*(each for each in standing if not _replaces(decision, each)), decision]
    return standing


def _named(item: Command, state: _ProcessingState) -> tuple[str, ...]:
    """The queries of a command; `all` means those that need a person now."""
    if not item.every or state.judgement.review is None:
        return item.names
    waiting = [
        verdict.id
        for verdict in state.judgement.review.plan.waiting_for_review
        # Queries that the rules would exclude are accepted one by one.
        if verdict.decision.admits or item.verb is not Verb.ACCEPT
    ]
    return tuple(dict.fromkeys((*item.names, *waiting)))


def _decision(
    item: Command,
    name: str,
    comment: IssueComment,
    state: _ProcessingState,
    first: ReviewJudgement,
    context: DecisionContext,
) -> DecisionRecord | str:
    """The decision of ``item`` on the query ``name``, or the reason why it does not count."""
    entry = first.entries[name]
    shown = _displayed(entry, comment, first, context)
    if isinstance(shown, str):
        return shown
    if context.brings_elsewhere(comment.author, entry):
        return _BROUGHT_ELSEWHERE
    review = state.judgement.review
    if review is not None and name in review.queries:
        if name in review.settled and item.verb in (Verb.ACCEPT, Verb.REJECT):
            return "it is already decided: its content is in the set, waits for a slot, or was evicted."
        if name in review.unclassified and item.verb is Verb.ACCEPT:
            return "it has no verdict yet."
    elif item.verb not in (Verb.ACCEPT, Verb.REJECT):
        return "such a change of files can only be accepted or rejected."
    elif item.reason is None:
        return "such a change of files needs a reason."
    decision = DecisionRecord.model_validate(
        {
            "entry": entry,
            "action": ACTIONS[item.verb],
            "content": first.contents[entry],
            "verdict": shown.verdict,
            "codes": shown.codes,
            "by": comment.author,
            "comment": comment.key,
            "said": digest(comment.body),
            "at": comment.created_at,
            "reason": item.reason,
            "all": name not in item.names,
        }
    )
    before = next((each for each in state.decisions if _replaces(decision, each)), None)
    if before is not None and shown.codes == NO_VERDICT:
        # A rejected query is displayed without a verdict: people have read the one before.
        decision = decision.model_copy(update={"verdict": before.verdict, "codes": before.codes})
    twin = before if before is not None and _contradicts(decision, before) else None
    if twin is not None and twin.entry != entry:
        other = next((each for each, id in first.entries.items() if id == twin.entry), None)
        if other is not None and first.contents[twin.entry] == twin.content:
            return f"it has the same text as {quoted(other)}, which is decided: say it of that one."
    return decision


def _displayed(entry: str, comment: IssueComment, first: ReviewJudgement, context: DecisionContext) -> Displayed | str:
    """The display of ``entry`` when ``comment`` was written, or why there is none to decide on."""
    shown = context.displayed.get(entry)
    if context.lost:
        return "the ledger lost which verdict was displayed when this was written. Read it, and say so again."
    # Times are whole seconds: no one reads and answers within one.
    if shown is None or shown.since >= comment.created_at:
        return "its verdict was not displayed yet when this was written. Read it, and say so again."
    ticked = shown_by(comment.body, "accept", entry)
    if shown.verdict != first.shown[entry].verdict or ticked not in (None, shown.verdict):
        return "its verdict has changed since it was displayed. Read it again, and say so again."
    return shown


def _correct(
    item: Command, comment: IssueComment, state: _ProcessingState, first: ReviewJudgement, context: DecisionContext
) -> None:
    """Correct tags and derive the verdicts again; a command that cannot be followed in full has no effect."""
    values, lines = _values(item.tags, first.platform.taxonomy)
    for name in item.names:
        lines += [f"{quoted(name)}: {why}" for why in _obstacles(name, values, comment, first, context)]
    if lines:
        state.refuse(*lines)
        return
    review = first.review
    assert review is not None
    said = {id: Correction(value=value, by=comment.author, at=comment.created_at) for id, value in values.items()}
    for name in item.names:
        entry, text = first.entries[name], text_key(review.queries[name].turns)
        state.corrections = merged(first.platform.taxonomy, [state.corrections, {text: said}])
        state.corrected += [
            NewCorrection(
                event=Corrected(
                    at=comment.created_at,
                    pull_request=state.pull_request,
                    entry=entry,
                    content=first.contents[entry],
                    text=text,
                    capability=id,
                    value=value,
                    by=comment.author,
                    comment=comment.key,
                    reason=item.reason,
                ),
                correction=StoredCorrection(
                    value=value,
                    by=comment.author,
                    comment=comment.key,
                    said=digest(comment.body),
                    at=comment.created_at,
                ),
            )
            for id, value in values.items()
        ]
    state.first = context.judge(first.decisions, state.contested, state.corrections)
    state.judgement = context.judge(state.decisions, state.contested, state.corrections)


def _values(tags: Sequence[Tag], taxonomy: Taxonomy) -> tuple[dict[str, bool], list[str]]:
    """Capability → its value by ``tags``, and the reasons why some tags have no effect."""
    names = ShortNames(taxonomy)
    values: dict[str, bool] = {}
    lines: list[str] = []
    for place, tag in enumerate(tags):
        try:
            # Looking for similar names takes time.
            capability = names.find(tag.name, helpful=place < _MOST_COMPARED)
        except UnknownCapabilityError as error:
            lines.append(f"{quoted(str(tag))}: {code(masked(str(error)))}.")
            continue
        if values.setdefault(capability, tag.value) != tag.value:
            lines.append(f"It says both + and - of {code(capability)}.")
    together = contradictory(taxonomy, values)
    if together:
        lines.append(f"A query exercises one of {', '.join(map(code, together))}, and no more.")
    return values, lines


def _obstacles(
    name: str, values: Mapping[str, bool], comment: IssueComment, first: ReviewJudgement, context: DecisionContext
) -> list[str]:
    """Why the tags of the query ``name`` cannot be corrected to ``values``."""
    review = first.review
    if review is None or name not in review.queries:
        return ["only queries have tags."]
    shown = _displayed(first.entries[name], comment, first, context)
    if isinstance(shown, str):
        return [shown]
    if context.brings_elsewhere(comment.author, first.entries[name]):
        return [_BROUGHT_ELSEWHERE]
    if name in review.settled:
        return [f"it is already decided. Its entry follows {code('incumbent correct')} by hand."]
    if name in review.unclassified:
        return ["it has no verdict yet."]
    found = review.classifications[name]
    whys = [obstacle(found, first.platform.taxonomy, *item) for item in values.items()]
    return [f"{code(why)}." for why in whys if why is not None]


def _contradicts(new: DecisionRecord, old: DecisionRecord) -> bool:
    return _replaces(new, old) and new.action != old.action


def _replaces(new: DecisionRecord, old: DecisionRecord) -> bool:
    """Whether ``new`` replaces ``old``, on the same subject: admission is one subject, the pin another."""
    return new.content == old.content and matter(new) == matter(old)
