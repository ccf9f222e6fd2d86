"""Reports on a console: columns within its width on a terminal; in a pipe whole lines, their cells parted by tabs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

SHOWN: Final = 10
"""Rows of a list that a terminal shows, unless all are asked for; programs get all of them."""

Cell = str | Text


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
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=not bare)
        for place, name in enumerate(header):
            widest = max(Text(str(row[place])).cell_len for row in shown)
            # What fits into a third of the width stays whole, so that ids can be copied.
            whole = widest <= self._out.width // 3
            justify = "right" if name in right else "left"
            table.add_column(name, no_wrap=whole, overflow="fold", justify=justify)  # type: ignore[arg-type]
        for row in shown:
            table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
        self._out.print(table, soft_wrap=False)
        if not whole:
            self.rest(len(rows))
