"""Labels as a table: one query a row, ``labels<TAB>query`` (docs/evaluation.md).

The first cell names the capabilities that are TRUE, parted by commas, with ``?`` before those that are unknown; an
empty one says that all are FALSE.  Under the header ``labels<TAB>turns`` each further cell is a turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.config import REVIEWED_FILES, Limits
from bot.errors import Problem
from bot.evaluation.labels import LabelFile, LabelRow
from bot.files.label_tables import read_labels, read_table

HEADERS: Final[Mapping[tuple[str, ...], bool]] = {("labels", "query"): False, ("labels", "turns"): True}
"""The header's cells, and whether the cells behind the labels are turns of one query."""
_FIX = "write `labels`, a tab and `query` on the first line (or `turns`, for queries of several turns)"


def read_tsv(text: str, file: str, limits: Limits) -> LabelFile:
    """The rows of ``text``, with the faults of those that cannot be read; :class:`InputError` without a header."""
    table = read_table(text, file, HEADERS.keys(), _FIX, REVIEWED_FILES)
    problems = list(table.problems)
    reading = _Rows(file, limits, HEADERS[table.header], problems)
    rows = [row for number, line in table.rows if (row := reading.row(number, line))]
    return LabelFile(
        file=file,
        rows=tuple(rows),
        capabilities=table.capabilities,
        meanings=table.meanings,
        problems=tuple(problems),
    )


class _Rows:
    """The rows of one file; what is wrong with them is added to ``problems``."""

    def __init__(self, file: str, limits: Limits, turns: bool, problems: list[Problem]) -> None:
        self.file, self.limits, self.turns, self.problems = file, limits, turns, problems

    def complain(self, line: int, message: str, fix: str) -> None:
        self.problems.append(Problem(self.file, line, message, fix))

    def row(self, number: int, line: str) -> LabelRow | None:
        """The query on a line; ``None`` where there is none to be read."""
        before = len(self.problems)
        cell, tab, rest = line.rstrip("\t").partition("\t")
        cells = rest.split("\t") if tab else []
        if not cells:
            fix = "write the labels, a tab and the query; without labels the line begins with the tab"
            self.complain(number, "the line has no query", fix)
        elif len(cells) > 1 and not self.turns:
            fix = "replace tabs in the query by spaces; for queries of several turns make the header `labels<TAB>turns`"
            self.complain(number, f"the line has {len(cells) + 1} cells, and the header 2", fix)
        self._check_turns(number, cells)
        labels = read_labels(cell)
        for message, fix in labels.faults:
            self.complain(number, message, fix)
        if len(self.problems) > before:
            return None
        return LabelRow(turns=tuple(cells), true=labels.true, unknown=labels.unknown, line=number)

    def _check_turns(self, number: int, cells: list[str]) -> None:
        for cell in cells:
            if not cell.strip():
                self.complain(number, "a turn is empty", "write the text between the tabs")
        self.problems += turn_problems(self.file, number, cells, self.limits)


def turn_problems(file: str, line: int | None, turns: list[str], limits: Limits) -> list[Problem]:
    """What of ``turns`` is beyond the limits of a query."""
    problems = []
    if len(turns) > limits.turns:
        message = f"the query has {len(turns)} turns, more than the limit of {limits.turns}"
        problems.append(Problem(file, line, message, "shorten it, or raise limits.turns in config/curation.yaml"))
    longest = max(map(len, turns), default=0)
    if longest > limits.turn_characters:
        message = f"a turn has {longest:,} characters, more than the limit of {limits.turn_characters:,}"
        fix = "shorten it, or raise limits.turn_characters in config/curation.yaml"
        problems.append(Problem(file, line, message, fix))
    return problems
