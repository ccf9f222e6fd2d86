"""How far long work is, in words, and when they are shown."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from bot.cli.pace import Pace, lasting, words
from tests.factories import REPOSITORY


@pytest.mark.parametrize(
    ("done", "total", "before", "seconds", "said"),
    [
        (0, 20_000, 0, 0.0, "rows read 0/20,000"),
        (500, 20_000, 0, 0.5, "rows read 500/20,000"),
        (5_000, 20_000, 0, 5.0, "rows read 5,000/20,000 (1,000/s, 15 s left)"),
        (5_000, 0, 0, 5.0, "rows read 5,000 (1,000/s)"),
        (15_000, 20_000, 14_990, 4.0, "rows read 15,000/20,000 (2.5/s, 34 min left)"),
        (3, 1_000, 2, 30.0, "rows read 3/1,000 (2.0/min, 8 h 19 min left)"),
        (20_000, 20_000, 0, 130.0, "rows read 20,000/20,000 (154/s, in 3 min)"),
        (20_000, 20_000, 20_000, 9.0, "rows read 20,000/20,000"),
    ],
)
def test_what_was_done_before_is_no_part_of_the_rate(
    done: int, total: int, before: int, seconds: float, said: str
) -> None:
    assert words("rows read", done, total, before, seconds) == said


def test_times_are_rounded_up() -> None:
    assert [lasting(seconds) for seconds in (0.2, 119, 119.5, 121, 7_140, 7_141, 12_000)] == [
        "1 s",
        "119 s",
        "2 min",
        "3 min",
        "119 min",
        "2 h 0 min",
        "3 h 20 min",
    ]


def test_lines_come_at_the_beginning_now_and_then_and_at_the_end() -> None:
    times = iter([100.0, 104.0, 111.0, 112.0])
    pace = Pace("texts", 10.0, lambda: next(times))
    assert [pace.line(done, 40) for done in (10, 14, 21, 40)] == [
        "texts 10/40",
        None,
        "texts 21/40 (1.0/s, 19 s left)",
        "texts 40/40 (2.5/s, in 12 s)",
    ]


SHOWS = """
from bot.cli.options import progress_bar, progress_lines
for make in (progress_bar, progress_lines):
    show = make("texts")
    for done in (0, 1, 2):
        show(done, 2)
"""


def test_a_terminal_gets_one_line_that_changes_and_a_pipe_lines() -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", SHOWS]
    piped = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert piped.stderr == "texts 0/2\ntexts 2/2\n"
    terminal, theirs = pty.openpty()
    subprocess.run(command, env=environment, stderr=theirs, check=True)
    os.close(theirs)
    shown = os.read(terminal, 1_000).decode()
    os.close(terminal)
    assert shown == 2 * "\rtexts 0/2\rtexts 2/2\r\n"
