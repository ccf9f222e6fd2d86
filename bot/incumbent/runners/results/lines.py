"""Results with one case a line: CSV of Copilot Studio, and JSON Lines for any runner without an own format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Document, as_list, as_mapping, parse_json_lines
from incumbent.intake.eval_sets.table import TableText, first_header
from incumbent.ledger.releases.record import CaseResult, Outcome
from incumbent.runners.results.result_file import Found, ResultFile, ResultReader, as_id, case, texts

_QUESTION: Final = frozenset({"question"})
_RESULT: Final = re.compile(r"result_[0-9]{1,3}")
_HEAD: Final = re.compile(r"(?=[^\n]*?\bquestion\b)[^\n]*?\bresult_[0-9]", re.IGNORECASE)
_KNOWN: Final = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "error": Outcome.ERROR}


def _is_copilot_studio(source: ResultFile) -> bool:
    return not source.begins.startswith(("{", "[", "<")) and _HEAD.match(source.begins) is not None


def _read_copilot_studio(source: ResultFile) -> Iterable[Found]:
    """Results of a test set as Copilot Studio exports them: CSV with ``question``, ``result_1``, ``result_2`` and so
    on.

    The file has no ids, so that entries are found by their text.
    """
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


COPILOT_STUDIO: Final = ResultReader(
    "copilot-studio", "results of a Copilot Studio test set, as CSV", _is_copilot_studio, _read_copilot_studio
)


_KEYS: Final = frozenset({"entry", "query", "turns", "outcome", "seconds", "tokens", "cost"})


def _is_json_lines(source: ResultFile) -> bool:
    first = source.content.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    return first.startswith(b"{") and b'"outcome"' in first


def _read_json_lines(source: ResultFile) -> Iterable[Found]:
    """JSON Lines, one result a line, for any runner that has no format of its own.

    ``{"entry": ID, "outcome": "passed", "seconds": 1.5, "tokens": 120, "cost": 0.002}``; in place of ``entry`` it may
    have ``query`` (the text) or ``turns`` (a list of texts).  All but the outcome and one of these may be left out.
    """
    lines = parse_json_lines(source.text, source.file, source.limits)
    yield from lines.problems
    for document in lines.documents:
        yield from _result(document)


def _result(document: Document) -> Iterable[Found]:
    row = as_mapping(document.data)
    known = {outcome.value: outcome for outcome in Outcome}
    said = row.get("outcome")
    if not isinstance(said, str) or said not in known:
        yield document.problem(("outcome",), "its `outcome` is none", f"write one of {', '.join(known)}")
        return
    turns = [row["query"]] if "query" in row else as_list(row.get("turns"))
    if as_id(row.get("entry")) is None and not texts(turns):
        yield document.problem((), "it does not say which entry it is of", "write `entry`, `query` or `turns`")
        return
    for key in sorted(row.keys() - _KEYS):
        fix = f"write one of {', '.join(sorted(_KEYS))}; answers and texts of graders do not belong here"
        yield document.problem((key,), f"the key {key!r} is unknown", fix)
    yield from case(
        document,
        (),
        known[said],
        entry=row.get("entry"),
        turns=turns,
        seconds=row.get("seconds"),
        tokens=row.get("tokens"),
        cost=row.get("cost"),
    )


JSON_LINES: Final = ResultReader(
    "json-lines", "JSON Lines with `entry` or `query`, and `outcome`", _is_json_lines, _read_json_lines
)
