"""What people tick is recorded in comments, which from then on are their commands (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from bot.github.models import CreateComment, IssueComment, Operation, WriteLedger
from bot.ledger.event_files import appended, parsed_with
from bot.ledger.events import SET_EVENTS, Ticked
from bot.report.task_list import Task, Ticks, record_in, records_of
from bot.text.digests import digest


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
