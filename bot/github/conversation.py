"""People's commands, read from a cursor: which of them count, what is decided by them, and what is answered (pure).

A command counts only from a curator, on the verdict that was displayed when it was written, and for the content that it
was displayed for (architecture, section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.github.authority import Person, refusal
from bot.github.commands import Command, Misspelt, Verb, parse
from bot.github.judgement import Author, Judgement
from bot.github.values import IssueComment
from bot.ledger.model import Decision, Displayed, PullRequestRecord, Release
from bot.report.escaping import code, shortened, visible
from bot.report.wording import codes

_ACTIONS = {Verb.ACCEPT: "accept", Verb.REJECT: "reject", Verb.PIN: "pin", Verb.UNPIN: "unpin"}

_WITHOUT_A_PERSON = "it is admitted without a person."
_EXCLUDED_BY_NOW = "its verdict is EXCLUDE by now. Give a reason to accept it all the same."

HELP = """\
Commands, each on a line of its own:

| command | what it does |
| --- | --- |
| `/incumbent accept ID… [reason]` | admit these queries; an excluded one needs a reason |
| `/incumbent reject ID… reason` | keep these queries out |
| `/incumbent pin ID… reason` | keep the entry whatever becomes redundant |
| `/incumbent unpin ID…` | take that back |
| `/incumbent run` | judge again |
| `/incumbent help` | this table |

`ID` is a query's id, a range (`q03..q07`) or `all` that need a person. Commands count from curators, not from the \
pull request's author for their own queries, and for the verdicts displayed when they were written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What becomes of one comment: whether all its commands were followed, and what to answer (lines of Markdown)."""

    comment: IssueComment
    followed: bool
    lines: tuple[str, ...]
    stranger: bool = False


@dataclass(frozen=True, kw_only=True)
class Hearing:
    """The judgement after all comments were heard, with the replies to those that were new."""

    judgement: Judgement
    replies: tuple[Reply, ...]
    void: tuple[Decision, ...]
    dormant: tuple[Decision, ...] = ()
    released: Release | None
    cursor: int


@dataclass(kw_only=True)
class _State:
    """What the comments heard so far have led to."""

    judgement: Judgement
    decisions: list[Decision]
    released: Release | None
    lines: list[str] = field(default_factory=list)
    followed: bool = True
    stranger: bool = False


@dataclass(frozen=True, kw_only=True)
class Court:
    """Everything that a hearing needs besides the comments; ``permission`` looks up a login's permission."""

    judge: Callable[[Sequence[Decision]], Judgement]
    displayed: dict[str, Displayed]
    author: Author
    curators: tuple[str, ...]
    permission: Callable[[str], str]


def hear(comments: Sequence[IssueComment], record: PullRequestRecord, court: Court) -> Hearing:
    """Hear the comments after the record's cursor, in the order in which they were written.

    Decisions of the record stand while the comment that they cite is still there, by the same person, and says so.
    """
    written = {comment.id: comment for comment in comments}
    bare = court.judge(())
    kept = [item for item in record.decisions if _stands(item, written, bare, court)]
    first = court.judge(kept) if kept else bare
    # What cannot be read at the moment, or was taken out, may come back with the content that was decided on.
    dormant = [item for item in kept if item.entry not in first.contents]
    state = _State(judgement=first, decisions=list(first.decisions), released=record.released)
    if state.released is not None and not _still_says(
        written.get(state.released.comment), state.released.by, Verb.RUN, None, bare, court
    ):
        state.released = None
    standing = [*first.decisions, *dormant]
    ended = [*record.void, *(item for item in record.decisions if item not in standing)]
    replies = []
    cursor = record.cursor
    for comment in sorted(comments, key=lambda item: item.id):
        if comment.id <= record.cursor:
            continue
        cursor = comment.id
        if comment.is_bot:
            continue
        said = parse(comment.body, first.names)
        if not said:
            continue
        state.lines, state.followed = [], True
        state.stranger = _refusal(Verb.RUN, comment, court) is not None
        if comment.updated_at != comment.created_at:
            state.followed = False
            state.lines.append("It was edited before it was read, perhaps by somebody else. Say it in a new comment.")
        else:
            for item in said:
                _follow(item, comment, state, first, court)
        replies.append(
            Reply(comment=comment, followed=state.followed, lines=tuple(state.lines), stranger=state.stranger)
        )
    return Hearing(
        judgement=state.judgement,
        replies=tuple(replies),
        void=tuple(item for item in ended if not any(_replaces(new, item) for new in state.decisions)),
        dormant=tuple(dormant),
        released=state.released,
        cursor=cursor,
    )


def _stands(item: Decision, written: Mapping[int, IssueComment], bare: Judgement, court: Court) -> bool:
    verb = next(verb for verb, action in _ACTIONS.items() if action == item.action)
    comment = written.get(item.comment)
    if item.entry not in bare.contents:
        # Nobody can be asked what a name meant that is not there; it counts for nothing until it is.
        return comment is not None and comment.author == item.by and _refusal(verb, comment, court) is None
    return _still_says(comment, item.by, verb, item.entry, bare, court)


def _still_says(
    comment: IssueComment | None, by: str, verb: Verb, entry: str | None, bare: Judgement, court: Court
) -> bool:
    """Whether ``comment`` is there, by the same person, who may say so, and holds the command; else it was forged, or
    withdrawn.
    """
    if comment is None or comment.author != by or _refusal(verb, comment, court) is not None:
        return False
    said = [item for item in parse(comment.body, tuple(bare.aliases)) if isinstance(item, Command)]
    return any(
        item.verb is verb and (entry is None or item.every or entry in {bare.aliases[name] for name in item.names})
        for item in said
    )


def _refusal(verb: Verb, comment: IssueComment, court: Court) -> str | None:
    person = Person(login=comment.author, is_bot=comment.is_bot)
    return refusal(verb, person, court.author.login, court.curators, court.permission)


def _follow(item: Command | Misspelt, comment: IssueComment, state: _State, first: Judgement, court: Court) -> None:
    if isinstance(item, Misspelt):
        state.followed = False
        state.lines.append(f"{code(shortened(visible(item.text)))}: {code(item.message)}")
        return
    why = _refusal(item.verb, comment, court)
    if why is not None:
        state.followed = False
        state.lines.append(why)
    elif item.verb is Verb.HELP:
        state.lines.append(HELP)
    elif item.verb is Verb.RUN:
        state.released = Release(by=comment.author, comment=comment.id)
    else:
        _decide(item, comment, state, first, court)


def _decide(item: Command, comment: IssueComment, state: _State, first: Judgement, court: Court) -> None:
    """Record the decisions of a command and derive the verdicts after them, each after the one before it."""
    problems: dict[str, str] = {}
    made: dict[str, Decision] = {}
    for name in _named(item, state):
        found = _decision(item, name, comment, state, first, court)
        if isinstance(found, str):
            problems[name] = found
        else:
            made[name] = found
    after = court.judge(_with(state.decisions, made.values()))
    unheard = set() if after.review is None else {answer.id for answer in after.review.derivation.unheard} & set(made)
    if unheard:
        admitted = {verdict.id for verdict in after.review.verdicts if verdict.admitted} if after.review else set()
        for name in unheard:
            del made[name]
            if name in item.names:
                problems[name] = _WITHOUT_A_PERSON if name in admitted else _EXCLUDED_BY_NOW
        after = court.judge(_with(state.decisions, made.values()))
    state.decisions, state.judgement = _with(state.decisions, made.values()), after
    if problems:
        state.followed = False
        ordered = [name for name in first.names if name in problems]
        state.lines += [f"{code(shortened(visible(name)))}: {problems[name]}" for name in ordered]


def _with(decisions: Sequence[Decision], new: Iterable[Decision]) -> list[Decision]:
    standing = list(decisions)
    for decision in new:
        standing = [*(each for each in standing if not _replaces(decision, each)), decision]
    return standing


def _named(item: Command, state: _State) -> tuple[str, ...]:
    """The queries that a command speaks of; `all` are those that need a person now."""
    if not item.every or state.judgement.review is None:
        return item.names
    waiting = [verdict.id for verdict in state.judgement.review.plan.waiting_for_review]
    return tuple(dict.fromkeys((*item.names, *waiting)))


def _decision(
    item: Command, name: str, comment: IssueComment, state: _State, first: Judgement, court: Court
) -> Decision | str:
    """What ``item`` decides of the query ``name``, or the reason in words why it cannot count."""
    entry = first.entries[name]
    shown = court.displayed.get(entry)
    if shown is None or shown.since > comment.created_at:
        return "its verdict was not displayed yet when this was written. Read it, and say so again."
    if shown.verdict != first.verdict_digests[entry]:
        return "its verdict has changed since it was displayed. Read it again, and say so again."
    review = state.judgement.review
    said = "regression set changed by hand"
    if review is not None and name in review.queries:
        if name in review.settled and item.verb in (Verb.ACCEPT, Verb.REJECT):
            return "it is settled already: its content is in the set, waits for a slot, or was evicted."
        verdict = next((each for each in review.verdicts if each.id == name), None)
        said = "none" if verdict is None else codes(verdict)
    elif item.verb is not Verb.ACCEPT:
        return "a change of the regression set by hand can only be accepted."
    return Decision.model_validate(
        {
            "entry": entry,
            "action": _ACTIONS[item.verb],
            "content": first.contents[entry],
            "verdict": shown.verdict,
            "codes": said,
            "by": comment.author,
            "comment": comment.id,
            "at": comment.created_at,
            "reason": item.reason,
            "all": name not in item.names,
        }
    )


def _replaces(new: Decision, old: Decision) -> bool:
    """A later word on the same matter replaces the earlier one: admission is one matter, the pin another."""
    matters = ({"accept", "reject"}, {"pin", "unpin"})
    return new.entry == old.entry and any(new.action in matter and old.action in matter for matter in matters)


def displayed_now(record: PullRequestRecord, marker: str | None, updated_at: str) -> dict[str, Displayed]:
    """What the comment displays, and since when: what the record was about to show, if the comment bears its digest.

    ``marker`` is the digest in the comment as found (``None``: there is no comment) and ``updated_at`` its time.
    """
    if marker is None:
        return {}
    showing = record.showing
    if showing is None or showing.digest != marker:
        return dict(record.displayed)
    found = {}
    for entry, verdict in showing.verdicts.items():
        before = record.displayed.get(entry)
        same = before is not None and before.verdict == verdict
        found[entry] = before if same and before is not None else Displayed(verdict=verdict, since=updated_at)
    return found
