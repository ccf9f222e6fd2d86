"""The work folder of a triage, and a disk that takes no more."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from incumbent.errors import OutsideError, UsageError
from incumbent.triage.tables import connected, write_query
from incumbent.triage.work_folder import open_work, writing_to
from tests.factories import REPOSITORY

pytest.importorskip("duckdb")

ROWS = "SELECT range AS a, md5(range::VARCHAR) AS b FROM range(1000000)"
WRITES = f"""
import sys
from pathlib import Path
from incumbent.triage.work_folder import writing_to
from incumbent.triage.tables import connected, rows_of, write_query
folder = Path(sys.argv[1])
try:
    with writing_to(folder, "FIX", spilling=True), connected(folder, 30) as connection:
        if sys.argv[2] == "spill":
            next(rows_of(connection, "FROM ({ROWS}) ORDER BY b"))
        else:
            write_query(connection, folder / "rows.parquet", "{ROWS}")
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("what", ["spill", "file"])
def test_a_database_that_may_write_no_more_says_what_to_do_and_leaves_no_part(what: str, tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", WRITES, str(tmp_path), what],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == f"OutsideError the disk of {tmp_path} is full; FIX\n"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "spill" not in str(path)]


def test_a_folder_that_cannot_be_written_says_which_and_why(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    said = rf"{tmp_path} could not be written \({tmp_path}/x: Is a directory\); FIX"
    with pytest.raises(OutsideError, match=said), writing_to(tmp_path, "FIX", spilling=True):
        (tmp_path / "x").write_text("", encoding="utf-8")
    missing = tmp_path / "none" / "rows.parquet"
    with (
        connected(tmp_path, 30) as connection,
        pytest.raises(OutsideError, match=r"could not be written \(IO Error"),
        writing_to(missing.parent, "FIX", spilling=False),
    ):
        write_query(connection, missing, "SELECT 1 AS a")


def test_a_database_without_memory_names_the_setting(tmp_path: Path) -> None:
    with (
        connected(None, 20) as connection,
        pytest.raises(OutsideError, match=r"triage\.megabytes"),
        writing_to(tmp_path, "FIX", spilling=True),
    ):
        connection.execute(f"FROM ({ROWS}) ORDER BY b")


def test_a_reader_that_went_away_is_no_fault_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), writing_to(tmp_path, "FIX", spilling=True):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")


def test_finished_steps_are_known_again_until_the_work_is_another_one(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    with open_work(folder, {"inputs": 1}, anew=False) as work:
        work.finish("keys", {"rows": 3})
    for left in ("keys/x.parquet.7.part", "spill-7-0/duckdb_temp_1.tmp"):
        (folder / left).parent.mkdir(exist_ok=True)
        (folder / left).write_text("half", encoding="utf-8")
    with open_work(folder, {"inputs": 1}, anew=False) as work:
        assert work.said("keys") == {"rows": 3}
        assert not work.is_done("texts")
        assert sorted(path.name for path in folder.iterdir()) == ["keys", "keys.done", "plan.json"]
        assert not list((folder / "keys").iterdir())
        with pytest.raises(OutsideError, match="another command works in"), open_work(folder, {}, anew=True):
            pass
    with pytest.raises(UsageError, match="--force"), open_work(folder, {"inputs": 2}, anew=False):
        pass
    with open_work(folder, {"inputs": 1}, anew=True) as work:
        assert work.is_done("keys")
    (folder / "keys/1.parquet").write_text("ours", encoding="utf-8")
    for mine in ("mine.txt", "movie.part", "keys/mine.txt"):
        (folder / mine).write_text("mine", encoding="utf-8")
    with open_work(folder, {"inputs": 2}, anew=True) as work:
        assert not work.is_done("keys")
        found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
        assert found == ["keys", "keys/mine.txt", "mine.txt", "movie.part", "plan.json"]


def test_work_without_a_finished_step_is_in_the_way_of_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    with open_work(folder, {"column": "quer"}, anew=False):
        (folder / "keys").mkdir()
        (folder / "keys/1.parquet").write_text("half of a step", encoding="utf-8")
    with open_work(folder, {"column": "query"}, anew=False) as work:
        assert not list((folder / "keys").iterdir())
        work.finish("keys")
    with open_work(folder, {"column": "query"}, anew=False) as work:
        assert work.is_done("keys")


@pytest.mark.parametrize("name", ["mine.txt", "movie.part", "plan.json", "plan.json.part"])
def test_a_folder_of_something_else_is_left_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="something else"), open_work(tmp_path, {}, anew=True):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_in_which_only_the_first_write_failed_is_taken(tmp_path: Path) -> None:
    (tmp_path / "plan.json.part").write_text("", encoding="utf-8")
    with open_work(tmp_path, {}, anew=False):
        assert (tmp_path / "plan.json").exists()
