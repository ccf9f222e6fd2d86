"""Tables and sections of a report in Markdown, cut between rows where a report would grow too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of a report is shown: whether the folded sections, and how many rows of each table (``None``: all)."""

    folds: bool = True
    rows: int | None = None


EVERYTHING = Detail()


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Writes tables in as much as ``detail`` says; ``more`` says where the rows are that it leaves out."""

    detail: Detail
    more: str

    def __call__(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """``rows`` under ``header``, cut between rows where the detail says so, and never inside one."""
        most = len(rows) if self.detail.rows is None else self.detail.rows
        shown, rest = rows[:most], len(rows) - most
        lines = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header)] if shown else []
        lines += [f"| {' | '.join(row)} |" for row in shown]
        if rest > 0:
            lines += ["", f"{rest} more: see {self.more}."] if shown else [f"{rest}: see {self.more}."]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSection:
    """A heading, what is said under it, and a table: all of it Markdown of ours.

    ``fold`` is what a folded table is called (``None``: it is not folded); ``asks`` whether the section asks something
    of people, so that it is cut later than one that only describes.  ``boxes`` are what people may tick under each row,
    for as many rows as are shown.  ``boxless`` says of each row how many things have no box where it is shown, and
    where it is not; ``instead`` how these are reached.
    """

    title: str
    about: tuple[str, ...] = ()
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str
    fold: str | None = None
    asks: bool = False
    boxes: tuple[tuple[str, ...], ...] = ()
    boxless: tuple[tuple[int, int], ...] = ()
    instead: str = ""

    def render(self, rows: int | None) -> str:
        """The section with at most ``rows`` rows of its table (``None``: all); without any, their number."""
        table = TableWriter(Detail(rows=rows), self.more)(self.header, self.rows)
        body = table if self.fold is None or rows == 0 else folded(self.fold, table)
        boxes = "\n".join(line for row in self.boxes[:rows] for line in row)
        hidden = sum(
            cut if rows is not None and place >= rows else shown for place, (shown, cut) in enumerate(self.boxless)
        )
        more = f"{hidden} without a box here: {self.instead}." if hidden else ""
        return "\n\n".join([f"#### {self.title}", *self.about, *filter(None, (body, boxes, more))])


def folded(summary: str, body: str) -> str:
    """``body`` behind its ``summary``, both Markdown of ours."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"
