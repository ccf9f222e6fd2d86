"""Files of events as text: append-only, and readable even if some lines are not (docs/ledger.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from incumbent.errors import InputError, Problem
from incumbent.files.documents import as_mapping, decode, parse_json_text
from incumbent.files.snapshot import MOST_FAULTS, Snapshot
from incumbent.files.validation import validate
from incumbent.ledger.events import EVENTS, LedgerEvent
from incumbent.taxonomy.config import LEDGER_FILES

_KINDS: Final[dict[str, type[LedgerEvent]]] = {
    model.model_fields["kind"].default: model for model in get_args(get_args(LedgerEvent)[0])
}


SUFFIX: Final = ".jsonl"
"""The suffix of files of events."""
_WORD: Final = re.compile(r"[A-Za-z0-9_.:-]+")

_NUMBER: Final = re.compile(r'(?<!\\)"pull_request":([0-9]+)[,}]')
"""The pull request of a line: no text can contain this, since quotes in texts are escaped."""

_CONTENT: Final = re.compile(rb'(?<!\\)"content":"([0-9a-f]{24})"')
_KIND: Final = re.compile(rb'(?<!\\)"kind":"([a-z-]+)"')
_OF_QUERIES: Final = frozenset(kind.encode() for kind, model in _KINDS.items() if "content" in model.model_fields)
_OF_PULL_REQUESTS: Final = frozenset({b"closed", b"forgotten"})

_FEW: Final = 200
"""So many events are looked for one by one in less time than a file is parsed, whatever its size."""
FULL: Final = 4_000_000
"""Size in characters of a full file, which gets no more shown verdicts: about ten times what people ever read."""


@dataclass(frozen=True, slots=True)
class RecordedEvents:
    """The events of a ledger, file by file as they were added, and the problems of unreadable lines.

    An unreadable line does not affect the others.  An event that was recorded twice is here twice: count events by
    ``key``.
    """

    events: tuple[LedgerEvent, ...] = ()
    problems: tuple[Problem, ...] = ()


def load_events(snapshot: Snapshot | None) -> RecordedEvents:
    """All events of the ledger in ``snapshot`` (``None``: there is no ledger, and so no event).

    A file that is too large or not text is reported as a problem, and none of it is read.  In a file with more than a
    thousand unreadable lines, the rest is not read.
    """
    if snapshot is None:
        return RecordedEvents()
    found = [_recorded(snapshot, path) for path in snapshot.paths(EVENTS) if path.endswith(SUFFIX)]
    return RecordedEvents(
        tuple(event for each in found for event in each.events),
        tuple(problem for each in found for problem in each.problems),
    )


def _recorded(snapshot: Snapshot, path: str) -> RecordedEvents:
    try:
        return recorded_in(snapshot.read(path, LEDGER_FILES), snapshot.name(path))
    except InputError as error:
        return RecordedEvents(problems=tuple(error.problems))


def recorded_in(content: bytes, name: str) -> RecordedEvents:
    """The events in the file ``name`` with this ``content``, and the problems of its unreadable lines."""
    events: list[LedgerEvent] = []
    problems: list[Problem] = []
    try:
        text = decode(content, name, LEDGER_FILES)
    except InputError as error:
        return RecordedEvents(problems=tuple(error.problems))
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
    return RecordedEvents(tuple(events), tuple(problems))


def contents_in(content: bytes) -> frozenset[str] | None:
    """The contents of the queries that a file of events with this ``content`` may be about, found without parsing it.

    ``None`` if a line may be about anything but queries and the end of their pull request, or is not in the form in
    which we write lines.
    """
    found: set[bytes] = set()
    for line in content.split(b"\n"):
        kinds = set(_KIND.findall(line))
        contents = _CONTENT.findall(line)
        found.update(contents)
        known = _OF_QUERIES if contents else _OF_PULL_REQUESTS
        if line.strip() and not (kinds and kinds <= known):
            return None
    return frozenset(item.decode() for item in found)


def parsed(text: str | None) -> tuple[LedgerEvent, ...]:
    """The events in the file ``text`` (``None``: there is none); unreadable lines are skipped."""
    return tuple(found for found in _lines(text or "", "") if not isinstance(found, InputError))


def parsed_of(text: str | None, numbers: Collection[int]) -> tuple[LedgerEvent, ...]:
    """The events in the file ``text`` that are on the pull requests ``numbers``, and possibly others.

    Lines that name another pull request, in the form in which we write it, are not parsed.
    """
    wanted = {str(number) for number in numbers}
    lines = (text or "").split("\n")
    kept = [line for line in lines if (found := _NUMBER.search(line)) is None or found[1] in wanted]
    return parsed("\n".join(kept))


def parsed_with(text: str | None, ids: Collection[str]) -> tuple[LedgerEvent, ...]:
    """The events in those lines of the file ``text`` that contain one of ``ids``, such as commits, in no order."""
    lines = {line for id in ids for line in _lines_with(text or "", id)}
    return parsed("\n".join(sorted(lines)))


def is_full(text: str | None) -> bool:
    """Whether the file ``text`` is full: it gets no more shown verdicts.

    Otherwise frequent pushes could make the branch too large to read.  What people say is always recorded.
    """
    return text is not None and len(text) >= FULL


def appended(text: str | None, events: Sequence[LedgerEvent]) -> str:
    """The file ``text`` (``None``: there is none yet) with a line for each of ``events`` that it does not contain.

    Existing lines stay to the letter; a last one that was cut off is ended, so that it spoils none of ours.  Equal
    events give equal bytes, in the order given; if nothing is new, the text is returned unchanged.  Of a few ``events``
    only those existing lines are parsed that may contain one, so that a long file costs little.
    """
    old = "" if text is None else text
    is_few = len(events) <= _FEW
    known = set() if is_few else {event.key for event in parsed(old)}
    added: list[str] = []
    for event in events:
        key = event.key
        if key in known or (is_few and key in _keys_near(old, event)):
            continue
        known.add(key)
        added.append(_line(event))
    if added and old and not old.endswith("\n"):
        old += "\n"
    return old + "".join(added)


def _keys_near(text: str, event: LedgerEvent) -> set[str]:
    """The keys of the events in those lines of ``text`` that contain all plain words of ``event``.

    This only misses a line that spells such a word with escapes; that line counts separately, by its key.
    """
    words = sorted(set(_words(event.model_dump(exclude={"at"}))), key=len)
    rarest = words.pop()
    lines = [line for line in _lines_with(text, rarest) if all(word in line for word in words)]
    return {found.key for found in _lines("\n".join(lines), "") if not isinstance(found, InputError)}


def _words(value: object) -> Iterator[str]:
    """The words of ``value`` that JSON spells one way only, unless they are escaped on purpose."""
    match value:
        case str():
            yield from _WORD.findall(value)
        case bool():
            pass
        case int():
            yield str(value)
        case dict():
            yield from (word for item in value.values() for word in _words(item))
        case tuple():
            yield from (word for item in value for word in _words(item))
        case _:
            pass


def _lines_with(text: str, word: str) -> Iterator[str]:
    """The lines of ``text`` that contain ``word``."""
    place = text.find(word)
    while place >= 0:
        end = text.find("\n", place)
        yield text[text.rfind("\n", 0, place) + 1 : end if end >= 0 else len(text)]
        place = text.find(word, end) if end >= 0 else -1


def _line(event: LedgerEvent) -> str:
    data = event.model_dump(mode="json")
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def _lines(text: str, file: str) -> Iterator[LedgerEvent | InputError]:
    """The event of each line of ``text``, or why it cannot be read; blank lines are skipped."""
    # Only a line feed ends a line: strings may contain other separators.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield _event(line, file, number)
            except InputError as error:
                yield error


def _event(line: str, file: str, number: int) -> LedgerEvent:
    """The event in ``line``; raises :class:`InputError`."""
    document = parse_json_text(line, file, LEDGER_FILES, number)
    kind = as_mapping(document.data).get("kind")
    model = _KINDS.get(kind) if isinstance(kind, str) else None
    if model is None:
        fix = "let a version read it that knows this kind of event, or take the line out"
        raise InputError([Problem(file, number, "the line tells of no event that is known", fix)])
    return validate(model, document)
