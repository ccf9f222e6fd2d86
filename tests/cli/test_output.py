"""What commands print and write, and how far long work is, in words."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.usage import Usage
from incumbent.cli.output import (
    Pace,
    lasting,
    log,
    print_json,
    progress_bar,
    progress_lines,
    report_batches,
    say,
    show_preview,
    show_problems,
    show_usage,
    warn_of_stale,
    words,
    write_files,
)
from incumbent.curator.entry import StaleEntry
from incumbent.errors import OutsideError, Problem
from tests.factories import REPOSITORY, make_config, make_taxonomy
from tests.pipeline.impact.platforms import Counting


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


class Answer(BaseModel):
    text: str


def test_what_is_printed_moves_no_cursor_and_shows_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    key = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
    say("a\x1b[2Jb")
    log("::error::x")
    report_batches("two are open")
    print_json(Answer(text=key))
    shown = capsys.readouterr()
    assert (key in shown.out, "\x1b" in shown.out, "\n::error" in shown.out) == (False, False, False)
    assert shown.err == "note: two are open\n"


@pytest.mark.parametrize(("count", "said"), [(0, ""), (1, "error: 1 fault in"), (2, "error: 2 faults in")])
def test_faults_are_counted_and_sorted(count: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_problems(tuple(Problem("a.yaml", count - each, "wrong", "mend it") for each in range(count)))
    shown = capsys.readouterr().err
    assert shown.startswith(said)
    assert [line for line in shown.splitlines() if line.startswith("a.yaml")] == [
        f"a.yaml:{number}: wrong" for number in range(1, count + 1)
    ]


def test_cost_and_stale_entries_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    show_usage()
    assert capsys.readouterr().err == ""
    show_usage(besides=Usage(requests=3, tokens_in=2, tokens_out=1))
    warn_of_stale([StaleEntry(id="a", capabilities=(), reason="another taxonomy")])
    cost, warning = capsys.readouterr().err.splitlines()
    assert "3" in cost
    assert warning == "warning: a is stale (another taxonomy): run `incumbent reclassify`"


def test_a_preview_is_reported_with_the_way_to_the_whole_fit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = make_taxonomy("a")
    backend = EmbeddedBackend(known, make_config().classifier.embedded, 1, ModelCache(None))
    assert (show_preview(Counting(known)), show_preview(backend)) == (None, None)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(backend, "_preview", "1 of 9 exemplars is new")
    assert show_preview(backend) == "1 of 9 exemplars is new"
    assert capsys.readouterr().err == (
        "note: Preview: 1 of 9 exemplars is new. Run `incumbent fit` for the whole fit.\n"
    )


def test_a_kept_model_that_is_not_used_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backend = EmbeddedBackend(make_taxonomy("a"), make_config().classifier.embedded, 1, ModelCache(None))
    show_usage(backend)
    assert capsys.readouterr().err == ""
    backend.refused = tmp_path / "cut.npz"
    show_usage(backend)
    assert capsys.readouterr().err.startswith(f"note: {tmp_path / 'cut.npz'} is not used: it is cut, altered")


def test_files_are_written_with_their_folders(tmp_path: Path) -> None:
    write_files({tmp_path / "a/b": "é\n"})
    assert (tmp_path / "a/b").read_bytes() == "é\n".encode()
    with pytest.raises(OutsideError, match="cannot be written"):
        write_files({tmp_path / "a/b/c": ""})


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_where_somebody_looks(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr("incumbent.cli.output._REDRAWN", 0.0)
    for make in (progress_bar, progress_lines):
        show = make("texts")
        for done in (0, 1, 2):
            show(done, 2)
    one = "\rtexts 0/2\rtexts 1/2\rtexts 2/2\r\n".replace("\r\n", "\n")
    assert capsys.readouterr().err == (2 * one if terminal else "texts 0/2\ntexts 2/2\n")


SHOWS = """
from incumbent.cli.output import progress_bar, progress_lines
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
