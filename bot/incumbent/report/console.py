"""Reports on a console: columns within its width on a terminal; in a pipe whole lines, their cells parted by tabs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

SHOWN: Final = 10
"""Rows of a list that a terminal shows, unless all are asked for; programs get all of them."""

_GAP: Final = 2

Cell: TypeAlias = str | Text


class Printer:
    """Prints a report; a terminal gets colour, columns and the first rows of each list, unless ``everything``.

    What goes in is text for people: on one line where it is a cell, and with nothing that could move a cursor.
    """

    def __init__(self, everything: bool = False, console: Console | None = None) -> None:
        self._out = console or Console(highlight=False, markup=False, emoji=False)
        self._most = None if everything or not self.is_terminal else SHOWN

    @property
    def is_terminal(self) -> bool:
        """Whether people look at it as it is printed."""
        return self._out.is_terminal

    def line(self, text: Cell = "", style: str = "") -> None:
        """One line, broken between words where a terminal is narrower."""
        if self.is_terminal:
            self._out.print(Text(text, style=style) if isinstance(text, str) else text, soft_wrap=False)
        else:
            self._out.file.write(f"{text}\n")

    def command(self, text: str) -> None:
        """A line that people copy: nothing breaks it."""
        if self.is_terminal:
            self._out.print(Text(text, style="cyan"), soft_wrap=True)
        else:
            self.line(text)

    def title(self, text: str) -> None:
        """The heading of what follows."""
        self.line()
        self.line(text, "bold")

    def shown(self, count: int) -> int:
        """How many of ``count`` rows are shown."""
        return count if self._most is None else min(count, self._most)

    def rest(self, count: int) -> None:
        """Say how many of ``count`` rows were left out."""
        if count > self.shown(count):
            self.line(f"{count - self.shown(count)} more: --all", "dim")

    def lines(self, title: str, lines: Sequence[str]) -> None:
        """A list of sentences under ``title``; nothing where there are none."""
        if lines:
            self.title(title)
            for line in lines[: self.shown(len(lines))]:
                self.line(f"  {line}")
            self.rest(len(lines))

    def table(
        self,
        title: str,
        header: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        *,
        right: Collection[str] = (),
        bare: bool = False,
        whole: bool = False,
    ) -> None:
        """``rows`` under their ``title``; nothing where there are none.

        Columns ``right`` are of numbers.  A ``bare`` table has its header in pipes alone; one that is ``whole`` is
        never cut.
        """
        if not rows:
            return
        if title:
            self.title(title)
        if not self.is_terminal:
            # A console would print a tab as spaces, and nobody could part the cells again.
            for row in (header, *rows):
                self._out.file.write("\t".join(" ".join(str(cell).split()) for cell in row) + "\n")
            return
        shown = rows if whole else rows[: self.shown(len(rows))]
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=not bare)
        unbroken = _unbroken([*([] if bare else [header]), *shown], self._out.width)
        for place, name in enumerate(header):
            justify: JustifyMethod = "right" if name in right else "left"
            table.add_column(name, no_wrap=place in unbroken, overflow="fold", justify=justify)
        for row in shown:
            table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
        self._out.print(table, soft_wrap=False)
        if not whole:
            self.rest(len(rows))


def print_numbers(header: Sequence[str], rows: Sequence[tuple[Sequence[str], str | None]], out: Console) -> None:
    """A table of numbers, each row with its style: names in the first column, and the others to the right of theirs."""
    if not out.is_terminal:
        for row in (header, *(row for row, _ in rows)):
            # Past rich, which would make spaces of the tabs.
            out.file.write("\t".join(row) + "\n")
        return
    table = Table(box=None, pad_edge=False)
    for place, title in enumerate(header):
        table.add_column(title, justify="right" if place else "left", no_wrap=place > 0)
    for row, style in rows:
        table.add_row(*row, style=style)
    out.print(table, soft_wrap=False)


def _unbroken(rows: Sequence[Sequence[Cell]], width: int) -> frozenset[int]:
    """The columns whose cells stay on one line: ids, which people copy, then what is short, while there is room."""
    widest = [max(Text(str(cell)).cell_len for cell in column) for column in zip(*rows, strict=True)]
    found: list[int] = []
    room = width if sum(widest) + _GAP * len(widest) <= width else width * 2 // 3
    for place in sorted(range(len(widest)), key=lambda place: (place > 0, widest[place], place)):
        room -= widest[place] + _GAP
        if room < 0:
            break
        found.append(place)
    return frozenset(found)
