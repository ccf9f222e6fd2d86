"""What readers hand over: the rows of a file, and the faults of those that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, field
from typing import Final

from bot.errors import InputError, Problem
from bot.files.documents import Data
from bot.files.limits import MOST_FAULTS
from bot.intake.eval_sets.records import Records
from bot.intake.place import Place
from bot.intake.query import Setup

_MANY_KEYS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A query as its file has it, before limits and ids are looked after.

    ``id`` is ``None`` where the file gives none; ``title``, which people gave it, then stands for it where no other row
    of the file has the same.  ``line`` is where the query begins.  ``expected`` is what the row
    holds beside its turns, unchanged; messages that are more than turns stay in it under their own key.
    """

    turns: tuple[str, ...]
    line: int | None
    id: str | None = None
    title: str | None = None
    expected: Data = None
    setup: Setup = field(default_factory=Setup)


@dataclass(frozen=True, slots=True)
class Reading:
    """The good rows of a file in its order, and the faults of the others.

    ``used`` are paths of other files that were read as parts of this one, and are no eval sets by themselves.
    """

    rows: tuple[Row, ...]
    problems: tuple[Problem, ...] = ()
    used: frozenset[str] = frozenset()


def read_records(records: Records, read: Callable[[Place, list[Problem]], Row | None], most: int) -> Reading:
    """A reading of ``records``: ``read`` makes a row of each, or adds its faults to the list and returns anything.

    Behind ``most`` rows the rest is not looked at.
    """
    rows: list[Row] = []
    problems = list(records.problems)
    for record in records.places:
        if enough(rows, most, problems, record.problem) or too_many(problems, record.problem):
            break
        faults: list[Problem] = []
        try:
            row = read(record, faults)
        except InputError as error:
            row, faults = None, [*faults, *error.problems]
        if row is not None and not faults:
            rows.append(row)
        problems.extend(faults)
    return Reading(tuple(rows), tuple(problems))


def enough(rows: Sized, most: int, problems: list[Problem], problem: Callable[[str, str], Problem]) -> bool:
    """Whether there are as many ``rows`` as a folder may hold; that there is another is then said by ``problem``."""
    if len(rows) < most:
        return False
    message = f"the folder holds more queries than the limit of {most:,}; they are read up to here"
    problems.append(problem(message, "remove queries, or raise limits.queries in config/curation.yaml"))
    return True


def too_many(problems: list[Problem], problem: Callable[[str, str], Problem]) -> bool:
    """Whether there are so many ``problems`` that nobody reads more; the last of them then says so by ``problem``."""
    if len(problems) < MOST_FAULTS:
        return False
    problems.append(
        problem("too many queries cannot be read; from here on none was looked at", "correct the others first")
    )
    return True


def text_id(place: Place, problems: list[Problem]) -> str | None:
    """The id at ``place``: a text, or a whole number, which many tools write; anything else is a fault."""
    value = place.data
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    plain = isinstance(value, bool | float)
    fix = f'put it in quotes: "{str(value).lower()}"' if plain else "write a string, in quotes"
    problems.append(place.problem(f"{place.name}: must be a string or a whole number", fix))
    return None


def rest_of(record: Place, *used: str) -> dict[str, Data]:
    """What ``record`` holds beside the keys ``used``, unchanged and in its order."""
    return {key: place.data for key, place in record.entries if key not in used}


def bundled(told: dict[str, Data], key: str, *apart: str) -> dict[str, Data]:
    """What a file says of all its rows; many keys stand below one ``key``, but for those ``apart``.

    Each row has the keys, so that many rows would have very many.
    """
    if len(told) <= _MANY_KEYS:
        return told
    return {**{name: told[name] for name in apart if name in told}, key: told}


def beside(expected: Mapping[str, Data], shared: Mapping[str, Data], key: str = "eval_set") -> dict[str, Data]:
    """``expected`` of a row, with what its file says of all rows, ``shared``, under ``key``."""
    # Not copied: there may be many rows, and much that is said of all of them.
    told = shared if isinstance(shared, dict) else dict(shared)
    return {**expected, **({key if key not in expected else f"{key} (of the file)": told} if shared else {})}
