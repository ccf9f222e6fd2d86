"""Test sets of Microsoft Copilot Studio, in CSV: the four columns of its import, in their order, and no others.

A test set has at most 100 test cases; a larger one becomes several numbered files.  The format has no place for ids,
tools or set-ups: a list of entries beside the files says which row is which entry, and the reader joins the two.  A
cell that begins like a formula is not escaped: Copilot Studio reads it and asks exactly that text, and would ask an
escaping mark, too.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from incumbent.files.documents import Data, as_mapping
from incumbent.intake.eval_sets.table import plain_key
from incumbent.runners.export.item import (
    ExportItem,
    ExportRemark,
    ExportWriter,
    Written,
    json_document,
)

MOST_CASES: Final = 100
"""The product's limit of test cases in a test set."""
MOST_CHARACTERS: Final = 1000
"""The product's limit of characters in a question, white space included."""

_HEADER: Final = ("Prompt", "Expected response", "Test Method Type", "Passing Score")
_METHOD: Final = frozenset(map(plain_key, ("Test Method Type", "Testing method", "Test method")))
_SCORE: Final = frozenset(map(plain_key, ("Passing Score", "Pass score")))
_WITH_ANSWER: Final = ("CompareMeaning", "70")
"""The default method of judging an answer, where the customer names none: that of Copilot Studio's own samples."""
_WITHOUT: Final = ("", "")
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class _CsvBuffer:
    """The part of the file interface that a CSV writer needs."""

    write: Callable[[str], None]


def _obstacle(item: ExportItem) -> str | None:
    if len(item.turns) > 1:
        return f"it is a conversation of {len(item.turns)} turns, and a test case in CSV is a single question"
    if len(item.turns[0]) > MOST_CHARACTERS:
        return f"it has {len(item.turns[0]):,} characters, more than the {MOST_CHARACTERS:,} of a question there"
    return None


def _write(items: Sequence[ExportItem]) -> Written:
    files: dict[str, str] = {}
    entries: list[Data] = []
    for start in range(0, len(items), MOST_CASES):
        part = items[start : start + MOST_CASES]
        number = start // MOST_CASES + 1
        name = "regression_set.csv" if len(items) <= MOST_CASES else f"regression_set-{number:02}.csv"
        files[name] = _table(part)
        for case, item in enumerate(part, 1):
            record = item.record(said=_cells(item).keys() >= as_mapping(item.expected).keys())
            entries.append({"file": name, "case": case, "prompt": item.turns[0], **record})
    files["regression_set.entries.json"] = json_document({"entries": entries})
    formulas = [item for item in items if any(cell.startswith(_FORMULAS) for cell in _row(item))]
    remarks = [
        ExportRemark(item.id, "a cell begins like a formula: do not open the file in a spreadsheet")
        for item in formulas
    ]
    return Written(files, tuple(remarks))


def _table(items: Sequence[ExportItem]) -> str:
    written: list[str] = []
    table = csv.writer(_CsvBuffer(written.append), lineterminator="\r\n")
    table.writerow(_HEADER)
    table.writerows(map(_row, items))
    return "".join(written)


def _row(item: ExportItem) -> tuple[str, str, str, str]:
    answer = item.expectation.answer or ""
    by_key = {plain_key(key): value for key, value in _cells(item).items()}
    method = next((by_key[key] for key in sorted(_METHOD & by_key.keys())), None)
    score = next((by_key[key] for key in sorted(_SCORE & by_key.keys())), None)
    usual = _WITH_ANSWER if answer else _WITHOUT
    if method is None:
        return item.turns[0], answer, *usual
    return item.turns[0], answer, method, score or ""


def _returns(item: ExportItem) -> list[dict[str, Data]]:
    return [{label: cell for label, cell in zip(_HEADER[1:], _row(item)[1:], strict=True) if cell.strip()}]


def _cells(item: ExportItem) -> dict[str, str]:
    """The cells that the customer's own test set had in columns of the import."""
    known = _METHOD | _SCORE | {"expectedresponse", "expectedanswer"}
    held = as_mapping(item.expected).items()
    return {key: value for key, value in held if isinstance(value, str) and plain_key(key) in known}


WRITER: Final = ExportWriter(
    name="copilot-studio",
    title=f"Copilot Studio test sets in CSV, of at most {MOST_CASES} single questions each",
    obstacle=_obstacle,
    write=_write,
    returns=_returns,
)
