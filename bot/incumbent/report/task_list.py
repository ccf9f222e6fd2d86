"""Boxes that people tick: each is a line of a task list that stands for one command (pure, standard library only).

GitHub says who ticked a box in the event of the edit, and in nothing else that a job can read.  So the run of that
event writes a comment with the commands, as the record of it: who ticked what, and on what content.  From then on they
are commands of that person like any other.  The ledger names each such comment with its digest, since other workflows
of a repository may write comments under the same account.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Final, Literal, TypeAlias, cast

TickAction: TypeAlias = Literal["accept", "keep", "suggest"]
"""What a box stands for, as the verb of its command."""

NAMES_PER_LINE: Final = 20
"""How many entries one command of a record names."""
MOST_TICKED: Final = 200
"""The most boxes of one edit that are read."""

_ID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_LINE: Final = re.compile(
    rf"^[-*+] \[([ xX])\] (.+) "
    rf"<!-- incumbent:task (accept|keep|suggest) ({_ID}) ([0-9a-f]{{16,24}}) ([0-9]{{1,10}}) -->$"
)
_LOGIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,98}")
_MOMENT: Final = re.compile(r"[0-9TZ:+.-]{10,40}")
_RECORD: Final = re.compile(
    rf"^<!-- incumbent:ticked ({_LOGIN.pattern}) ({_MOMENT.pattern}) ([0-9]{{1,10}}) ([0-9a-f]{{16}})\n"
    rf"((?:(?:accept|keep|suggest) {_ID} [0-9a-f]{{16,24}} [0-9]{{1,10}}\n)*)-->\n"
)
_ORDER: Final = ("accept", "keep", "suggest")


@dataclass(frozen=True, slots=True, order=True)
class Task:
    """A box: ``action`` on ``entry``.

    ``shown`` is the digest of what the box stands beside: the verdict of a query to accept, or the grounds on which an
    entry is suggested.  ``pull_request`` is the one that brought the query, or (``suggest``) the last one on which the
    suggestion was refused, and 0 for none.
    """

    action: TickAction
    entry: str
    shown: str
    pull_request: int = 0

    @property
    def words(self) -> str:
        """What the box says, from its fields alone: a line with other words is none of ours."""
        if self.action == "accept":
            return f"Accept `{self.entry}` of #{self.pull_request}"
        if self.action == "keep":
            return f"Keep `{self.entry}`"
        if self.pull_request:
            return f"Suggest `{self.entry}` again, refused in #{self.pull_request}"
        return f"Open the pull request for `{self.entry}` now"

    @property
    def line(self) -> str:
        """The box, not ticked, as an item of a task list."""
        return f"- [ ] {self.words} <!-- incumbent:task {self.fields} -->"

    @property
    def fields(self) -> str:
        """Its fields in one line."""
        return f"{self.action} {self.entry} {self.shown} {self.pull_request}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """The boxes that the person ``by`` ticked on the issue or pull request ``number``, by an edit at ``at``.

    ``is_cut``: they are the first of too many.
    """

    by: str
    at: str
    number: int
    tasks: tuple[Task, ...]
    is_cut: bool = False

    @property
    def key(self) -> str:
        """A digest of the edit: no other has it, even in the same second."""
        fields = [self.by, self.at, str(self.number), *(task.fields for task in sorted(set(self.tasks)))]
        return sha256("\n".join(fields).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class TickRecord:
    """What a comment records: the edit's ``key``, and what is followed of it, by the person ``by``."""

    by: str
    key: str
    tasks: tuple[Task, ...]


def boxes_in(body: str) -> dict[Task, bool]:
    """The boxes in ``body``, each with whether it is ticked."""
    return {task: ticked for _, task, ticked in _boxes(body)}


def ticked_between(before: str, after: str) -> tuple[Task, ...]:
    """The boxes that are ticked in ``after`` and were not in ``before``."""
    were = boxes_in(before)
    return tuple(task for task, ticked in boxes_in(after).items() if ticked and were.get(task) is False)


def unticked(body: str) -> str:
    """``body`` with no box ticked."""
    lines = body.splitlines(keepends=True)
    for place, task, ticked in _boxes(body):
        if ticked:
            lines[place] = lines[place].replace(lines[place].rstrip("\r\n"), task.line)
    return "".join(lines)


def ticks_of(login: str, at: str, number: int, before: str, after: str) -> Ticks | None:
    """What ``login`` ticked by an edit; ``None`` if that is nothing, or if GitHub's words are not as they should be."""
    tasks = ticked_between(before, after)
    if not tasks or not _LOGIN.fullmatch(login) or not _MOMENT.fullmatch(at):
        return None
    is_cut = len(tasks) > MOST_TICKED
    return Ticks(by=login, at=at, number=number, tasks=tasks[:MOST_TICKED], is_cut=is_cut)


def records_of(ticks: Ticks, displayed: Iterable[Task]) -> dict[int, str]:
    """Thread → the comment that records ``ticks`` there: accepting is said where the query was brought.

    A box that is not among the ``displayed`` ones by now is not followed; its comment says so.
    """
    now = frozenset(displayed)
    threads: dict[int, list[Task]] = {}
    for task in sorted(set(ticks.tasks)):
        threads.setdefault(task.pull_request if task.action == "accept" else ticks.number, []).append(task)
    return {
        number: _record(ticks, [task for task in tasks if task in now], [task for task in tasks if task not in now])
        for number, tasks in sorted(threads.items())
    }


def record_in(comment: str) -> TickRecord | None:
    """What the ``comment`` records, without what was not followed; ``None`` if it is no record."""
    found = _RECORD.match(comment.replace("\r\n", "\n"))
    if found is None:
        return None
    rows = [line.split(" ") for line in found[5].splitlines()]
    tasks = tuple(Task(cast(TickAction, action), id, shown, int(number)) for action, id, shown, number in rows)
    return TickRecord(by=found[1], key=found[4], tasks=tasks)


def shown_by(comment: str, action: TickAction, entry: str) -> str | None:
    """The digest of what the box stood beside, if ``comment`` records a tick of ``action`` on ``entry``."""
    record = record_in(comment)
    boxes = () if record is None else record.tasks
    return next((task.shown for task in boxes if (task.action, task.entry) == (action, entry)), None)


def _boxes(body: str) -> Iterator[tuple[int, Task, bool]]:
    """The boxes in ``body``, each with the place of its line and whether it is ticked."""
    for place, line in enumerate(body.splitlines()):
        found = _LINE.match(line)
        if found is None:
            continue
        task = Task(cast(TickAction, found[3]), found[4], found[5], int(found[6]))
        if task.words == found[2]:
            yield place, task, found[1] != " "


def _record(ticks: Ticks, done: Sequence[Task], stale: Sequence[Task]) -> str:
    listed = "".join(f"{task.fields}\n" for task in done)
    blocks = [
        f"<!-- incumbent:ticked {ticks.by} {ticks.at} {ticks.number} {ticks.key}\n{listed}-->",
        f"`{ticks.by}` ticked {_counted(len(done) + len(stale))} in #{ticks.number}:",
        *([_commands(done)] if done else []),
        *(f"Not done: “{task.words}”. It has changed since it was shown. Look at it again." for task in stale),
        *([f"Only the first {MOST_TICKED} boxes of this edit were read."] if ticks.is_cut else []),
        *(["To take this back, delete this comment."] if done else []),
    ]
    return "\n\n".join(blocks).replace("-->\n\n", "-->\n", 1) + "\n"


def _commands(tasks: Sequence[Task]) -> str:
    """The commands that the boxes ``tasks`` stand for."""
    lines = []
    for action, group in groupby(sorted(tasks, key=lambda task: _ORDER.index(task.action)), lambda task: task.action):
        names = [task.entry for task in group]
        parts = [names[start : start + NAMES_PER_LINE] for start in range(0, len(names), NAMES_PER_LINE)]
        lines += [f"/incumbent {action} {' '.join(part)}" for part in parts]
    return "\n".join(lines)


def _counted(count: int) -> str:
    return "a box" if count == 1 else f"{count} boxes"
