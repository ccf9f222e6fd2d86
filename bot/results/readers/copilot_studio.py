"""Results of a test set as Copilot Studio exports them: CSV with ``question``, ``result_1``, ``result_2`` and so on.

The file has no ids, so that entries are found by their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from bot.errors import InputError, Problem
from bot.intake.eval_sets.table import TableText, first_header
from bot.results.model import CaseResult, Outcome
from bot.results.reader import Found, ResultFile, ResultReader, texts

_QUESTION: Final = frozenset({"question"})
_RESULT: Final = re.compile(r"result_[0-9]{1,3}")
_HEAD: Final = re.compile(r"(?=[^\n]*?\bquestion\b)[^\n]*?\bresult_[0-9]", re.IGNORECASE)
_KNOWN: Final = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "error": Outcome.ERROR}


def _fits(source: ResultFile) -> bool:
    return not source.begins.startswith(("{", "[", "<")) and _HEAD.match(source.begins) is not None


def _read(source: ResultFile) -> Iterable[Found]:
    table = TableText(source.text, source.file, source.limits)
    header = first_header(table)
    asked = [] if header is None else header.columns(_QUESTION)
    if header is None or not asked:
        fix = "export the results of the test set again, and change nothing in its first line"
        raise InputError([Problem(source.file, 1, "it has no column `question`", fix)])
    judged = [place for place, name in enumerate(header.names) if _RESULT.fullmatch(name.strip().casefold())]
    for row in header.rows(table):
        fault = header.fault(row)
        if fault is not None:
            yield Problem(source.file, row.number, *fault)
            continue
        said = [row.cell(place).casefold() for place in judged if row.cell(place)]
        yield CaseResult(outcome=_outcome(said), turns=texts([row.cells[asked[0]]]), line=row.number)


def _outcome(said: list[str]) -> Outcome:
    outcomes = {_KNOWN.get(result, Outcome.ERROR) for result in said} or {Outcome.ERROR}
    return next(each for each in (Outcome.ERROR, Outcome.FAILED, Outcome.PASSED) if each in outcomes)


READER: Final = ResultReader("copilot-studio", "results of a Copilot Studio test set, as CSV", _fits, _read)
