"""Labels as a table: one query a row, ``labels<TAB>query`` (docs/evaluation.md).

The first cell names the capabilities that are TRUE, parted by commas, with ``?`` before those that are unknown; an
empty one says that all are FALSE.  Under the header ``labels<TAB>turns`` each further cell is a turn.  Nothing is
quoted or escaped.  Lines before the header that begin with ``#`` are comments; those that begin with
``# capabilities:`` and ``# names:`` speak.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.config import Limits
from bot.errors import InputError, Problem
from bot.evaluation.labels import LabelFile, LabelRow, Word
from bot.suggest import perhaps

HEADERS = {("labels", "query"): False, ("labels", "turns"): True}
"""The header's cells, and whether the cells behind the labels are turns of one query."""
UNKNOWN = "?"
_DIRECTIVES = ("capabilities", "names")


def read_tsv(text: str, file: str, limits: Limits) -> LabelFile:
    """The rows of ``text``, with the faults of those that cannot be read; :class:`InputError` without a header."""
    reading = _Reading(file, limits)
    lines = iter((number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1))
    turns = reading.read_head(lines)
    rows = [row for number, line in lines if line.strip() and (row := reading.row(number, line, turns))]
    return LabelFile(
        file=file,
        rows=tuple(rows),
        capabilities=reading.capabilities,
        meanings=reading.meanings,
        problems=tuple(reading.problems),
    )


class _Reading:
    def __init__(self, file: str, limits: Limits) -> None:
        self.file = file
        self.limits = limits
        self.capabilities: tuple[Word, ...] | None = None
        self.meanings: dict[str, Word] = {}
        self.problems: list[Problem] = []

    def complain(self, line: int, message: str, fix: str) -> None:
        self.problems.append(Problem(self.file, line, message, fix))

    def read_head(self, lines: Iterator[tuple[int, str]]) -> bool:
        """Everything up to the header; whether rows hold turns."""
        number = 1
        for number, line in lines:
            if line.startswith("#"):
                self._comment(number, line)
            elif line.strip():
                cells = tuple(cell.strip().lower() for cell in line.rstrip("\t").split("\t"))
                if cells in HEADERS:
                    return HEADERS[cells]
                break
        message = "the header is missing, which says what the columns are"
        fix = "write `labels`, a tab and `query` on the first line (or `turns`, for queries of several turns)"
        raise InputError([*self.problems, Problem(self.file, number, message, fix)])

    def _comment(self, number: int, line: str) -> None:
        word, colon, rest = line.lstrip("# ").partition(":")
        name = word.strip().lower()
        if not colon or " " in name:
            return
        if name == "capabilities":
            self.capabilities = (*(self.capabilities or ()), *(Word(item, number) for item in _listed(rest)))
        elif name == "names":
            for item in _listed(rest):
                self._name(number, item)
        elif near := perhaps(name, _DIRECTIVES):
            self.complain(number, f"nothing is called {name!r}{near}", "correct the word, or write another comment")

    def _name(self, number: int, item: str) -> None:
        name, equals, meaning = (part.strip() for part in item.partition("="))
        if not (name and equals and meaning):
            self.complain(number, f"{item!r} does not say what a name stands for", "write NAME=CAPABILITY")
        elif self.meanings.setdefault(name, Word(meaning, number)).text != meaning:
            self.complain(number, f"{name!r} stands for two capabilities", "keep one of the two")

    def row(self, number: int, line: str, turns: bool) -> LabelRow | None:
        """The query on a line; ``None`` where there is none to be read."""
        before = len(self.problems)
        labels, tab, rest = line.rstrip("\t").partition("\t")
        cells = rest.split("\t") if tab else []
        if not cells:
            fix = "write the labels, a tab and the query; without labels the line begins with the tab"
            self.complain(number, "the line has no query", fix)
        elif len(cells) > 1 and not turns:
            fix = "replace tabs in the query by spaces; for queries of several turns make the header `labels<TAB>turns`"
            self.complain(number, f"the line has {len(cells) + 1} cells, and the header 2", fix)
        self._check_turns(number, cells)
        true: list[str] = []
        unknown: list[str] = []
        for item in _listed(labels, empty=True):
            name = item.removeprefix(UNKNOWN).strip()
            if not name:
                if labels.strip():
                    self.complain(number, "a label has no name", "take out the comma that is too many")
            elif name in true or name in unknown:
                self.complain(number, f"{name} is labelled twice", "keep one of the two")
            else:
                (unknown if item.startswith(UNKNOWN) else true).append(name)
        if len(self.problems) > before:
            return None
        return LabelRow(turns=tuple(cells), true=tuple(true), unknown=tuple(unknown), line=number)

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


def _listed(text: str, empty: bool = False) -> list[str]:
    """The items of a list with commas; those that are ``empty`` only where wanted."""
    return [item.strip() for item in text.split(",") if empty or item.strip()]
