"""What people tick is recorded in comments, which from then on are their commands (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bot.github.models import CreateComment, IssueComment, Operation, WriteLedger
from bot.ledger.event_files import appended, parsed_with
from bot.ledger.events import SET_EVENTS, Ticked
from bot.report.task_list import Task, Ticks, records_of, ticks_in
from bot.text.digests import digest


def plan_records(
    ticks: Ticks,
    displayed: Iterable[Task],
    comments: Callable[[int], Sequence[IssueComment]],
    ledger: str | None,
    events: str | None,
) -> tuple[tuple[int | None, Operation], ...]:
    """The writes that record ``ticks``, none where they are recorded.

    ``displayed`` are the boxes where they were ticked, as they are now; ``comments`` reads those of a thread.  The
    ledger comes first: a comment that it does not know has nobody's words.
    """
    bodies = records_of(ticks, displayed)
    unsaid = {number: body for number, body in bodies.items() if not _is_said(ticks, comments(number))}
    found = [
        Ticked(at=ticks.at, thread=number, by=ticks.by, said=_said(body))
        for number, body in unsaid.items()
        if not is_recorded(events, body)
    ]
    note = WriteLedger.of(ledger, {SET_EVENTS: appended(events, found)}, "What people ticked")
    return (
        *([(None, note)] if found else []),
        *((number, CreateComment(body=body)) for number, body in unsaid.items()),
    )


def is_recorded(events: str | None, comment: str) -> bool:
    """Whether the ledger's file of ``events`` says that the bot recorded ticks by a ``comment`` of these words."""
    said = _said(comment)
    return any(isinstance(item, Ticked) and item.said == said for item in parsed_with(events, {said}))


def _said(comment: str) -> str:
    return digest(comment.replace("\r\n", "\n").strip())


def _is_said(ticks: Ticks, comments: Sequence[IssueComment]) -> bool:
    """Whether one of ``comments`` records the same edit: what it ticked may not be displayed any more.

    A record reads as a comment of who ticked; anybody else's is none.
    """
    found = [known for item in comments if item.author == ticks.by and (known := ticks_in(item.body)) is not None]
    return any((known.by, known.at, known.number) == (ticks.by, ticks.at, ticks.number) for known in found)
