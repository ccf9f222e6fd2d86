"""What curators ask of entries in comments, and what people tick, which is recorded in comments (pure).

They ask to undo an admission, to restore an evicted entry, to keep an entry that is suggested for eviction, or to
suggest one now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from incumbent.curator.store import RegressionSet, unknown_scores
from incumbent.github.authority import Person
from incumbent.github.command_processing import EDITED, TOO_EARLY, Reply
from incumbent.github.commands import (
    MOST_COMMANDS,
    ON_ENTRIES,
    USAGE,
    Verb,
    command_lines,
    cut,
    first_word,
    things,
    verbs,
)
from incumbent.github.decisions import CommentLookup, is_as_read
from incumbent.github.models import CreateComment, IssueComment, Operation, ThreadComment, WriteLedger
from incumbent.github.publish_plan import answers_to, replies_to
from incumbent.ledger.event_files import appended, parsed_with
from incumbent.ledger.events import SET_EVENTS, LedgerEvent, Requested, Settled, Ticked
from incumbent.ledger.model import REQUESTS, Request, RequestRecord
from incumbent.ledger.refusals import OPPOSITES, in_effect
from incumbent.ledger.store import record_text
from incumbent.report.escaping import code
from incumbent.report.task_list import Task, Ticks, record_in, records_of, shown_by
from incumbent.report.verdict_text import counted, listed, quoted
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.did_you_mean import did_you_mean
from incumbent.text.digests import digest

_MANY = 100
"""So many comments that ask for nothing are read again before it is noted that they were read."""
_NAMES_COMPARED = 500
_LONGEST_COMPARED = 150
_MOST_NAMES = 50
_SUGGESTIONS = 3
"""So many names of a comment are compared with others for what may have been meant: it takes time."""


@dataclass(frozen=True, kw_only=True)
class RequestInputs:
    """GitHub as the plan finds it: ``remarks`` are the comments since the record's moment, on whatever thread.

    ``reviewed`` reads which pull requests have a review that answers; ``record`` is absent where nothing was read yet,
    from ``at`` on.  ``thread`` reads the comments of a thread; ``suggested`` reads the grounds on which entries are
    suggested for eviction, by pull request and entry; ``listed`` reads the boxes of the dashboard, which name what is
    not suggested yet, or was refused; ``refusals`` are the pull requests on which people refused something.
    ``by_hand`` tells that the bot lets nothing in.  ``events`` is the ledger's file of events so far.
    """

    login: str
    known: RegressionSet
    taxonomy: Taxonomy
    at: str
    record: RequestRecord | None
    remarks: tuple[ThreadComment, ...]
    reviewed: Callable[[], frozenset[int]]
    lookups: CommentLookup
    thread: Callable[[int], tuple[IssueComment, ...]]
    suggested: Callable[[], Mapping[int, Mapping[str, str]]]
    listed: Callable[[], Collection[Task]]
    refusals: Collection[int] = ()
    by_hand: bool
    ledger: str | None
    events: str | None = None


def plan_requests(inputs: RequestInputs) -> tuple[tuple[tuple[int | None, Operation], ...], tuple[Request, ...]]:
    """Hear the comments that were not read yet, and note what they ask.

    The writes in order, each with the thread that it is on, if any: none where there is nothing new.  And the requests
    that stand.
    """
    record = inputs.record or RequestRecord(since=inputs.at)
    stand = [item for item in record.requests if _refusal(item, inputs) is None and _is_still_valid(item, inputs)]
    unread = [item for item in inputs.remarks if item.comment.id > record.cursor]
    people = [item for item in unread if not item.comment.is_bot and item.comment.author != inputs.login]
    asking = [item for item in people if ON_ENTRIES & verbs(item.comment.body)]
    reviewed = inputs.reviewed() if asking else frozenset()
    replies: dict[int, list[Reply]] = {}
    for remark in asking:
        if remark.number in reviewed or _was_too_early(remark.comment, inputs.login, inputs.thread(remark.number)):
            continue  # Its review says, or said, where to ask.
        reply, requests = _read_commands(remark, inputs)
        asked = {(item.entry, item.action) for item in requests}
        stand = [*(item for item in stand if (item.entry, item.action) not in asked), *requests]
        replies.setdefault(remark.number, []).append(reply)
    operations: list[tuple[int | None, Operation]] = [
        (number, item)
        for number, found in replies.items()
        for item in replies_to(found, inputs.login, inputs.thread(number), "request")
    ]
    read = unread if asking or len(unread) >= _MANY else ()
    new = record.model_copy(
        update={
            "since": max((item.comment.updated_at for item in read), default=record.since),
            "cursor": max((item.comment.id for item in read), default=record.cursor),
            "requests": tuple(stand),
        }
    )
    if new != inputs.record:
        asked_for = [item for item in stand if item not in record.requests]
        times = {item.comment.id: item.comment.created_at for item in inputs.remarks}
        events = [*_requested(asked_for, times), *settled(record.requests, new.requests, inputs.known, inputs.at)]
        operations.append((None, noted(new, inputs.ledger, inputs.events, events)))
    return tuple(operations), in_effect(stand)


def _was_too_early(comment: IssueComment, login: str, thread: Sequence[IssueComment]) -> bool:
    """Whether the review of its pull request answered ``comment`` that it came too early."""
    return any(TOO_EARLY in item.body for item in answers_to(comment, login, thread))


def noted(record: RequestRecord, ledger: str | None, before: str | None, events: Sequence[LedgerEvent]) -> WriteLedger:
    """The write of ``record`` on top of the ``ledger``'s commit, and of ``events`` below those of ``before``."""
    message = counted(len(record.requests), "open request", "open requests")
    more = {SET_EVENTS: appended(before, events)} if events else {}
    return WriteLedger.of(ledger, {REQUESTS: record_text(record), **more}, message)


def _requested(requests: Sequence[Request], times: Mapping[int, str]) -> list[LedgerEvent]:
    return [
        Requested(at=times[item.comment], entry=item.entry, action=item.action, by=item.by, comment=item.comment)
        for item in requests
    ]


def settled(
    before: Sequence[Request], after: Sequence[Request], known: RegressionSet, at: str
) -> tuple[LedgerEvent, ...]:
    """That those requests ended that stood ``before``, and not ``after``, and whether ``known`` is as they asked."""
    ended = [item for item in before if item not in after]
    open_still = undone(ended, known)
    return tuple(
        Settled(at=at, entry=item.entry, action=item.action, comment=item.comment, happened=item not in open_still)
        for item in ended
    )


def undone(requests: Sequence[Request], known: RegressionSet) -> tuple[Request, ...]:
    """Those of ``requests`` that have not happened yet.

    One to keep an entry, or to suggest it, applies as long as it is there.
    """
    places: dict[str, Collection[str]] = {
        "restore": known.tombstones,
        "suggest": {*known.entries, *known.waiting},
    }
    return tuple(item for item in requests if item.entry in places.get(item.action, known.entries))


def _read_commands(remark: ThreadComment, inputs: RequestInputs) -> tuple[Reply, list[Request]]:
    comment, lines = remark.comment, []
    requests: list[Request] = []
    edited = comment.is_edited
    if edited:
        lines.append(EDITED)
    person = Person(login=comment.author, is_bot=False)
    unauthorized = inputs.lookups.authority.refusal(Verb.RUN, person, None) is not None
    names = {} if unauthorized else _names(remark.number, inputs.known)
    written = [] if edited else list(command_lines(comment.body))
    said = [item for item in written if first_word(item[2]) in ON_ENTRIES]
    for _, line, words in said[:MOST_COMMANDS]:
        verb = first_word(words)
        why = inputs.lookups.authority.refusal(Verb(verb), person, None)
        if why is not None:
            lines.append(why)
            continue
        named = things(words)
        if not named:
            lines.append(f"{quoted(cut(line))}: it does not say which entries. Write: {code(USAGE[Verb(verb)])}")
        for name in named[:_MOST_NAMES]:
            found = _request(name, verb, names, remark, inputs, helpful=len(lines) < _SUGGESTIONS)
            if isinstance(found, str):
                lines.append(f"{quoted(cut(name))}: {found}")
            else:
                requests.append(found)
        if len(named) > _MOST_NAMES:
            lines.append(f"One line may name {_MOST_NAMES} entries; say the rest in another.")
    both = {item.entry for item in requests if item.action == "keep"}
    both &= {item.entry for item in requests if item.action == "suggest"}
    lines += [f"{quoted(id)}: this asks to keep it and to suggest it; say one of them." for id in sorted(both)]
    requests = [item for item in requests if item.entry not in both or item.action not in OPPOSITES]
    if len(said) > MOST_COMMANDS:
        lines.append(f"This comment has more than {MOST_COMMANDS} commands; write the rest in another comment.")
    return Reply(comment=comment, followed=not lines, lines=tuple(lines), unauthorized=unauthorized), requests


def _names(number: int, known: RegressionSet) -> dict[str, str]:
    """What may be said of an entry on the thread ``number``: its id, or that of the query that was brought there."""
    entries = {**known.evicted, **known.waiting, **known.entries}
    by_item: dict[str, set[str]] = {}
    for id, entry in entries.items():
        if entry.source is not None and entry.source.pull_request == number:
            for name in (entry.source.item, "/".join(entry.source.place)):
                by_item.setdefault(name.casefold(), set()).add(id)
    alone = {item: min(ids) for item, ids in by_item.items() if len(ids) == 1}
    return {**alone, **{id.casefold(): id for id in entries}}


def _request(
    name: str, verb: str, names: Mapping[str, str], remark: ThreadComment, inputs: RequestInputs, helpful: bool
) -> Request | str:
    """What is asked of the entry called ``name``, or why it cannot be."""
    id = names.get(name.casefold())
    if id is None:
        near = did_you_mean(name, list(names)[:_NAMES_COMPARED]) if helpful and len(name) <= _LONGEST_COMPARED else ""
        return code(f"no entry and no tombstone is called so{near}; a reason goes behind a colon") + "."
    comment = remark.comment
    said: dict[str, object] = {"by": comment.author, "comment": comment.id, "said": digest(comment.body)}
    if verb == Verb.SUGGEST:
        said["at"] = comment.created_at
    if verb in (Verb.KEEP, Verb.SUGGEST):
        shown = _shown(id, verb, remark.number, inputs)
        if shown is None:
            box = "no box of the dashboard is about it."
            return f"no open pull request suggests to evict it, and {box}" if verb == Verb.KEEP else box
        if _is_stale(id, verb, shown[1], comment):
            return "its grounds have changed since this was ticked. Look at it again."
        said["pull_request"], said["grounds"] = shown
    request = Request.model_validate({"entry": id, "action": verb, **said})
    return _refusal(request, inputs) or _obstacle(request, inputs) or request


def _shown(id: str, verb: str, number: int, inputs: RequestInputs) -> tuple[int | None, str] | None:
    """The pull request about the entry ``id``, if there is one, and the grounds, as people see them.

    To keep it: the one that suggests to evict it, if possible that of the thread ``number``.  Else, and to suggest it,
    what a box of the dashboard says.
    """
    if verb == Verb.KEEP:
        suggested = inputs.suggested()
        numbers = sorted(suggested, key=lambda other: (other != number, other))
        for other in numbers:
            if id in suggested[other]:
                return other, suggested[other][id]
    boxes = (task for task in inputs.listed() if (task.action, task.entry) == (verb, id))
    # Anybody who may write could have edited the number.
    real = (task for task in boxes if not task.pull_request or task.pull_request in inputs.refusals)
    return next(((task.pull_request or None, task.shown) for task in real), None)


def _is_stale(id: str, verb: str, grounds: str, comment: IssueComment) -> bool:
    """Whether ``comment`` records a tick on other grounds than these."""
    ticked = shown_by(comment.body, "keep" if verb == Verb.KEEP else "suggest", id)
    return ticked is not None and ticked != grounds


def _obstacle(request: Request, inputs: RequestInputs) -> str | None:
    """Why what is asked makes no sense as R is."""
    known, id = inputs.known, request.entry
    if request.action == "suggest":
        return None if id in known.entries or id in known.waiting else "it is not in the regression set."
    if request.action != "restore":
        if id not in known.entries:
            return "it is not in the regression set."
        if request.action == "undo" and known.entries[id].pin is not None:
            return "a person pinned it: take the pin out first."
    elif id not in known.tombstones:
        return "it was not evicted."
    elif unknown := unknown_scores(known.tombstones[id].entry, inputs.taxonomy):
        return (
            f"it scores {listed(list(map(code, unknown)))}, which the taxonomy does not know: list it under `retired`."
        )
    elif inputs.by_hand:
        return f"admissions are made by hand here: {code(f'incumbent restore {id}')}."
    return None


def _refusal(request: Request, inputs: RequestInputs) -> str | None:
    """Why who asks may not: nobody speaks of what they brought themselves."""
    known, id = inputs.known, request.entry
    entry = known.entries.get(id) or known.evicted.get(id)
    number = None if entry is None or entry.source is None else entry.source.pull_request
    return inputs.lookups.refusal(Verb(request.action), request.by, number)


def _is_still_valid(request: Request, inputs: RequestInputs) -> bool:
    """Whether there is something left to do, and the comment is there as it was read."""
    if _obstacle(request, inputs) is not None:
        return False
    found = inputs.lookups.remark(request.comment)
    return (
        found is not None
        and not found.comment.is_bot
        and is_as_read(found.comment, request.by, request.said, Verb(request.action))
    )


def asked(requests: Sequence[Request], action: str) -> dict[str, Request]:
    """Those of ``requests`` that ask for ``action``, by entry."""
    return {item.entry: item for item in requests if item.action == action}


def plan_records(
    ticks: Ticks,
    displayed: Iterable[Task],
    comments: Callable[[int], Sequence[IssueComment]],
    login: str,
    ledger: str | None,
    events: str | None,
) -> tuple[tuple[int | None, Operation], ...]:
    """The writes that record ``ticks``, none where they are recorded.

    ``displayed`` are the boxes where they were ticked, as they are now; ``comments`` reads those of a thread, ``login``
    is the bot's.  The ledger knows of a comment before it is written, so that no run beside this one takes it for the
    bot's words.  Then the ledger names it, and no other counts.  What the ledger names is not said again: whoever
    deleted the comment took the tick back.
    """
    known = [item for item in _ticked(events, ticks.key) if item.edit == ticks.key]
    named = {item.thread for item in known if item.comment is not None}
    announced = {item.thread for item in known}
    found: list[Ticked] = []
    unsaid: list[tuple[int | None, Operation]] = []
    for number, body in records_of(ticks, displayed).items():
        if number in named:
            continue
        ours = [item for item in comments(number) if item.author == login and _is_record(item.body, ticks, number)]
        first = min(ours, key=lambda item: item.id, default=None)
        if first is None:
            unsaid.append((number, CreateComment(body=body)))
        if first is not None or number not in announced:
            said = _said(body if first is None else first.body)
            id = None if first is None else first.id
            found.append(Ticked(at=ticks.at, thread=number, by=ticks.by, edit=ticks.key, comment=id, said=said))
    note = WriteLedger.of(ledger, {SET_EVENTS: appended(events, found)}, "What people ticked")
    return (*([(None, note)] if found else []), *unsaid)


def as_ticked(comment: IssueComment, login: str, events: str | None) -> IssueComment:
    """``comment`` as the words of who ticked, if it is a record of the bot's (``login``) by the ledger.

    ``events`` is the ledger's file of events.
    """
    record = record_in(comment.body) if comment.author == login else None
    if record is None:
        return comment
    said = _said(comment.body)
    ids = [item.comment for item in _ticked(events, record.key) if (item.edit, item.said) == (record.key, said)]
    named = [id for id in ids if id is not None]
    is_known = comment.id in named if named else bool(ids)
    return replace(comment, author=record.by, is_bot=False) if is_known else comment


def _ticked(events: str | None, word: str) -> list[Ticked]:
    """Those events of ticks whose line has ``word``."""
    return [item for item in parsed_with(events, {word}) if isinstance(item, Ticked)]


def _is_record(body: str, ticks: Ticks, number: int) -> bool:
    """Whether ``body`` is what the bot writes on the thread ``number`` of ``ticks``, whatever was displayed then."""
    record = record_in(body)
    if record is None or record.key != ticks.key:
        return False
    return _said(records_of(ticks, record.tasks)[number]) == _said(body)


def _said(comment: str) -> str:
    return digest(comment.replace("\r\n", "\n").strip())
