"""Files of events as text: read whatever else their lines hold, and only ever added to (docs/ledger.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from bot.config import REVIEWED_FILES
from bot.documents import as_mapping, decode, parse_json_text
from bot.errors import InputError, Problem
from bot.ledger.events import EVENTS, Event
from bot.limits import MOST_FAULTS
from bot.snapshot import Snapshot
from bot.validation import validate

_KINDS: Final[dict[str, type[Event]]] = {
    model.model_fields["kind"].default: model for model in get_args(get_args(Event)[0])
}


FULL: Final = 4_000_000
"""Characters of a file of events from which on no more showings are added: some ten times what people ever read."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The events of a ledger, file by file as they were added, and what of its lines cannot be read.

    A line that cannot be read says nothing, whatever the others say.  What stands twice is here twice: who counts goes
    by ``key``.
    """

    events: tuple[Event, ...] = ()
    problems: tuple[Problem, ...] = ()


def load_events(snapshot: Snapshot | None) -> Recorded:
    """All events of the ledger in ``snapshot`` (``None``: there is no ledger, and so no event).

    Of a file that cannot be read as text, or is too large, its problem is told and nothing is read; of one with more
    than a thousand lines that cannot be read, what follows is not looked at.
    """
    if snapshot is None:
        return Recorded()
    events: list[Event] = []
    problems: list[Problem] = []
    for path in snapshot.paths(EVENTS):
        if not path.endswith(".jsonl"):
            continue
        name = snapshot.name(path)
        try:
            text = decode(snapshot.read(path, REVIEWED_FILES), name, REVIEWED_FILES)
        except InputError as error:
            problems.extend(error.problems)
            continue
        broken = 0
        for found in _lines(text, name):
            if not isinstance(found, InputError):
                events.append(found)
                continue
            problems.extend(found.problems)
            broken += 1
            if broken == MOST_FAULTS:
                message = "too many lines are no events; what follows was not looked at"
                problems.append(Problem(name, None, message, "take out the lines that are no events"))
                break
    return Recorded(tuple(events), tuple(problems))


def parsed(text: str | None) -> tuple[Event, ...]:
    """The events in the file ``text`` (``None``: there is none); lines that cannot be read say nothing."""
    return tuple(found for found in _lines(text or "", "") if not isinstance(found, InputError))


def is_full(text: str | None) -> bool:
    """Whether the file ``text`` tells of no more verdicts that are shown.

    Who pushes often could else fill the branch until nobody can read it; what people say is always recorded.
    """
    return text is not None and len(text) >= FULL


def appended(text: str | None, events: Sequence[Event]) -> str:
    """The file ``text`` (``None``: there is none yet) with a line for each of ``events`` that it does not hold.

    Lines that are there stay to the letter; a last one that was cut off is closed, so that it spoils none of ours.
    Equal events give equal bytes, in the order given; where nothing is new the text is returned as it was.
    """
    old = "" if text is None else text
    known = {found.key for found in _lines(old, "") if not isinstance(found, InputError)}
    added: list[str] = []
    for event in events:
        if event.key not in known:
            known.add(event.key)
            added.append(_line(event))
    if added and old and not old.endswith("\n"):
        old += "\n"
    return old + "".join(added)


def _line(event: Event) -> str:
    data = event.model_dump(mode="json")
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def _lines(text: str, file: str) -> Iterator[Event | InputError]:
    """What each line of ``text`` says, or why it cannot be read; blank lines are passed over."""
    # Only a line feed ends a line: other separators may stand inside a string.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield _event(line, file, number)
            except InputError as error:
                yield error


def _event(line: str, file: str, number: int) -> Event:
    """The event that ``line`` tells of; raises :class:`InputError`."""
    document = parse_json_text(line, file, REVIEWED_FILES, number)
    kind = as_mapping(document.data).get("kind")
    model = _KINDS.get(kind) if isinstance(kind, str) else None
    if model is None:
        fix = "let a version read it that knows this kind of event, or take the line out"
        raise InputError([Problem(file, number, "the line tells of no event that is known", fix)])
    return validate(model, document)
