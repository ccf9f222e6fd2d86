"""A file of results as readers see it, what a reader is, and the result of one case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Document, as_mapping, decode, parse_json
from incumbent.files.snapshot import ReadingLimits
from incumbent.intake.export_round_trip import carried_id
from incumbent.ledger.events import MOST
from incumbent.ledger.releases.record import CaseResult, Outcome

MOST_SECONDS: Final = 1e6
"""A run of more seconds, or of a higher cost, is a fault of the file."""
MOST_TOKENS: Final = float(MOST)
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}")
_NO_NUMBER: Final = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z))|(?<![\w.])-?(?:NaN|Infinity)(?![\w.])', re.DOTALL)
"""Strings, and the words that Python writes into JSON for numbers that are none."""

Found: TypeAlias = CaseResult | Problem


class Parts(tuple[Data, ...]):
    """A number in the parts that a runner states, each of which must be one by itself; ``None`` is left out."""

    __slots__ = ()


@dataclass(frozen=True)
class ResultFile:
    """A file as readers see it: its ``content`` under its name, within ``limits``."""

    content: bytes
    file: str
    limits: ReadingLimits

    @cached_property
    def text(self) -> str:
        """The content as text; raises :class:`InputError` if it is too large or not UTF-8."""
        return decode(self.content, self.file, self.limits)

    @cached_property
    def document(self) -> Document:
        """The content as one JSON value; raises :class:`InputError` if it is none.

        Runners in Python write ``NaN`` where an evaluator failed.  It becomes an empty list, which is neither a number
        nor a text, so that it is a fault of its case alone.
        """
        content = self.content
        if b"NaN" in content or b"Infinity" in content:
            content = _NO_NUMBER.sub(lambda found: found[1] or "[]", self.text).encode("utf-8")
        return parse_json(content, self.file, self.limits)

    @property
    def data(self) -> Mapping[str, Data]:
        """The content as a JSON mapping; empty if it is something else."""
        try:
            return as_mapping(self.document.data)
        except InputError:
            return {}

    @property
    def begins(self) -> str:
        """The first characters that are not blank, to tell formats apart."""
        return self.content.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class ResultReader:
    """A format: its ``name``, what it is in a few words, whether a file looks like it, and what the file says."""

    name: str
    title: str
    fits: Callable[[ResultFile], bool]
    read: Callable[[ResultFile], Iterable[Found]]


def case(
    document: Document,
    path: tuple[str | int, ...],
    outcome: Outcome,
    *,
    entry: Data = None,
    turns: Iterable[Data] = (),
    seconds: Data | Parts = None,
    tokens: Data | Parts = None,
    cost: Data | Parts = None,
) -> Iterable[Found]:
    """The result of one case at ``path`` of the ``document``, and a fault for each number that cannot be."""
    numbers: dict[str, float | None] = {}
    for name, value in (("seconds", seconds), ("tokens", tokens), ("cost", cost)):
        most = MOST_TOKENS if name == "tokens" else MOST_SECONDS
        values = [each for each in (value if isinstance(value, Parts) else (value,)) if each is not None]
        stated = [_number(each, most, whole=name == "tokens") for each in values]
        known = [each for each in stated if each is not None]
        total = sum(known) if known and len(known) == len(values) else None
        numbers[name] = total if total is not None and total <= most else None
        if values and numbers[name] is None:
            kind = "whole number" if name == "tokens" else "number"
            message = f"its `{name}` is no {kind} from 0 to {most:,.0f}"
            yield document.problem(path, message, "write such a number, or leave it out")
    counted = numbers["tokens"]
    yield CaseResult(
        outcome=outcome,
        entry=as_id(entry),
        turns=texts(turns),
        seconds=numbers["seconds"],
        tokens=None if counted is None else int(counted),
        cost=numbers["cost"],
        line=document.line(path),
    )


def as_id(value: Data) -> str | None:
    """``value`` if an entry could have it as its id."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def carried(holder: Mapping[str, Data]) -> str | None:
    """The id of the entry that our exports carry in ``holder``, if it is there."""
    return as_id(carried_id(dict(holder)))


def texts(values: Iterable[Data]) -> tuple[str, ...]:
    """``values`` if each is a text that is not blank; else none."""
    given = tuple(values)
    found = tuple(item for item in given if isinstance(item, str) and item.strip())
    return found if len(found) == len(given) else ()


def _number(value: Data, most: float, *, whole: bool) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared first: a whole number may have thousands of digits, and cannot become a float.
    if not 0 <= value <= most or (whole and value != int(value)):
        return None
    return float(value)
