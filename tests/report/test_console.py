"""Columns fit the terminal, lists are cut there and nowhere else, and ids stay whole."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from incumbent.report.console import SHOWN, Printer

HEADER = ("id", "count", "text")
ROWS = [
    (f"entry-number-{number:04}", str(number), f"what the user says, at some length, {number}") for number in range(15)
]


def printed(width: int = 100, *, terminal: bool = True, everything: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=width, color_system=None)
    out = Printer(everything, console)
    out.table("Title", HEADER, ROWS, right=("count",))
    out.lines("Sentences", [f"sentence {number}" for number in range(12)])
    out.command("incumbent " + "--option value " * 30)
    return stream.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_table_fits_the_terminal_and_keeps_its_ids_whole(width: int) -> None:
    lines = printed(width).splitlines()
    table = lines[: lines.index("Sentences")]
    assert all(len(line.rstrip()) <= width for line in table)
    assert sum("entry-number-00" in line for line in table) == SHOWN


def test_lists_are_cut_on_a_terminal_unless_all_are_asked_for() -> None:
    assert "5 more: --all" in printed()
    assert "2 more: --all" in printed()
    assert "more" not in printed(everything=True)
    assert "entry-number-0014" in printed(everything=True)


def test_a_command_to_copy_is_not_broken() -> None:
    assert printed(40).splitlines()[-1].count("--option") == 30


def test_a_pipe_gets_every_record_on_a_line_of_its_own() -> None:
    lines = printed(40, terminal=False).splitlines()
    assert [tuple(line.split("\t")) for line in lines if "\t" in line] == [HEADER, *ROWS]
    assert sum(line.startswith("  sentence") for line in lines) == 12


def test_numbers_stand_below_each_other() -> None:
    first, last = [line for line in printed(100, everything=True).splitlines() if line.startswith("entry")][::14]
    assert first.index("0  what") == last.index("4  what")


def test_nothing_is_printed_where_there_is_nothing() -> None:
    stream = io.StringIO()
    out = Printer(console=Console(file=stream))
    out.table("Title", HEADER, [])
    out.lines("Title", [])
    assert stream.getvalue() == ""
