"""Reads what a runner wrote: finds the format of a file, and reports all its faults at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from bot.errors import InputError, Problem
from bot.files.documents import Data, Document, as_mapping, decode, parse_json
from bot.files.snapshot import ReadingLimits
from bot.intake.export_round_trip import carried_id
from bot.ledger.events import MOST
from bot.results.record import CaseResult, Outcome

MOST_SECONDS: Final = 1e6
"""A run of more seconds, or of a higher cost, is a fault of the file."""
MOST_TOKENS: Final = float(MOST)
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}")
_NO_NUMBER: Final = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z))|(?<![\w.])-?(?:NaN|Infinity)(?![\w.])', re.DOTALL)
"""Strings, and the words that Python writes into JSON for numbers that are none."""
_LINES: Final = re.compile(r"\s*\{[^\n]*\}[ \t\r]*\n\s*\{")

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


def result_readers() -> tuple[ResultReader, ...]:
    """All readers; of those that fit a file the first one reads it."""
    # These modules import this one.
    from bot.results import json_documents, junit, lines

    return (*json_documents.READERS, lines.COPILOT_STUDIO, junit.READER, lines.JSON_LINES)


def read_results(
    content: bytes, file: str, form: str | None, limits: ReadingLimits
) -> tuple[tuple[CaseResult, ...], tuple[Problem, ...]]:
    """The results in a file with this ``content``, and its faults; ``form`` names its format (default: what fits).

    Never raises for what is in the file: a file that cannot be read at all has faults alone.
    """
    source = ResultFile(content, file, limits)
    known = {reader.name: reader for reader in result_readers()}
    if form is not None and form not in known:
        fix = f"write one of {', '.join(known)}"
        return (), (Problem(file, None, f"there is no format of results {form!r}", fix),)
    nothing = Problem(file, None, "it has no results", "run the export, and add what that run wrote")
    reader = known[form] if form is not None else next((item for item in known.values() if item.fits(source)), None)
    if reader is None:
        formats = "; ".join(f"`{item.name}`: {item.title}" for item in known.values())
        faults = _faults(source)
        if faults or not source.begins:
            return (), faults or (nothing,)
        message = "no format of results fits this file"
        return (), (Problem(file, None, message, f"name its format with --format, or convert it. {formats}"),)
    try:
        found = list(reader.read(source))
    except InputError as error:
        return (), tuple(error.problems)
    results = tuple(item for item in found if isinstance(item, CaseResult))
    problems = tuple(item for item in found if isinstance(item, Problem))
    if not found:
        problems = (nothing,)
    return results, problems


def _faults(source: ResultFile) -> tuple[Problem, ...]:
    """Why nothing can recognise the file: it is too large, not a text, or broken JSON."""
    try:
        if source.text.lstrip().startswith(("{", "[")) and not _LINES.match(source.text):
            _ = source.document
    except InputError as error:
        return tuple(error.problems)
    return ()


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
