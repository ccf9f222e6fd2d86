"""JUnit XML, as most test runners write it.

The id of an entry is the value of a case's property ``incumbent``; else its name, alone, after the last ``::``, in
brackets, as pytest writes parameters, or after promptfoo's ``test 1:``.  Any other name is the text that was asked.

A document type is refused: it could define entities that grow without bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from xml.parsers import expat

from incumbent.errors import InputError, Problem
from incumbent.intake.export_round_trip import CARRIED
from incumbent.ledger.releases.record import CaseResult, Outcome
from incumbent.runners.results.result_file import MOST_SECONDS, Found, ResultFile, ResultReader, as_id, texts

_OUTCOMES: Final = {"failure": Outcome.FAILED, "error": Outcome.ERROR, "skipped": Outcome.SKIPPED}
_HEAD: Final = 4_000
"""Bytes in which the first element is expected."""
_ID_IN_NAME: Final = re.compile(r"(?:\S*::)?\w+\[([^\[\]\s]+)\]|\S+::([^:\s]+)|test [0-9]{1,9}: (\S+)")
_SECONDS: Final = re.compile(r"(?:[0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.[0-9]{1,12})?(?:[eE][-+]?[0-9]{1,3})?")


def _fits(source: ResultFile) -> bool:
    return source.begins.startswith("<") and b"<testsuite" in source.content[:_HEAD]


class _Cases:
    """Collects the cases of a document while it is parsed."""

    def __init__(self, source: ResultFile) -> None:
        self.found: list[Found] = []
        self._source = source
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._depth = 0
        self._case: dict[str, str] | None = None
        self._entry: str | None = None
        self._outcome = Outcome.PASSED
        self._line = 0

    def parse(self, content: bytes) -> None:
        self._parser.Parse(content, True)

    def _refuse(self, *_: object) -> None:
        fix = "take the document type out: results need none"
        raise InputError([Problem(self._source.file, self._parser.CurrentLineNumber, "it has a document type", fix)])

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > self._source.limits.nesting_depth:
            raise self._source.limits.too_deep(self._source.file, self._parser.CurrentLineNumber)
        if name == "testcase":
            self._case, self._entry, self._outcome = attributes, None, Outcome.PASSED
            self._line = self._parser.CurrentLineNumber
        elif self._case is None:
            return
        elif name in _OUTCOMES:
            worse = (Outcome.ERROR, Outcome.FAILED, Outcome.SKIPPED, Outcome.PASSED)
            self._outcome = min(self._outcome, _OUTCOMES[name], key=worse.index)
        elif name == "property" and attributes.get("name") == CARRIED:
            self._entry = as_id(attributes.get("value"))

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name != "testcase" or self._case is None:
            return
        stated = self._case.get("time", "").strip()
        seconds = float(stated.replace(",", "")) if _SECONDS.fullmatch(stated) else None
        if stated and (seconds is None or seconds > MOST_SECONDS):
            message = f"its `time` is no number from 0 to {MOST_SECONDS:,.0f}"
            self.found.append(Problem(self._source.file, self._line, message, "write such a number, or leave it out"))
            seconds = None
        title = self._case.get("name", "")
        entry = self._entry or _id_of(title)
        self.found.append(
            CaseResult(
                outcome=self._outcome,
                entry=entry,
                # With an id the name is no text that was asked.
                turns=() if entry is not None else texts([title]),
                seconds=seconds,
                line=self._line,
            )
        )
        self._case = None


def _id_of(name: str) -> str | None:
    """The id of an entry that a case's ``name`` has, if any."""
    found = _ID_IN_NAME.fullmatch(name.strip())
    return as_id(name.strip()) or (None if found is None else as_id(found[1] or found[2] or found[3]))


def _read(source: ResultFile) -> Iterable[Found]:
    text = source.text
    cases = _Cases(source)
    try:
        cases.parse(text.encode("utf-8"))
    except expat.ExpatError as error:
        problem = Problem(source.file, error.lineno, f"not valid XML: {expat.ErrorString(error.code)}", "write it anew")
        raise InputError([problem]) from None
    return cases.found


READER: Final = ResultReader("junit", "JUnit XML", _fits, _read)
