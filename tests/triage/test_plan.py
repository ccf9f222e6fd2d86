"""The work folder of a triage, and a disk without room."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from bot.errors import OutsideError, UsageError
from bot.triage.plan import open_work, room_for

duckdb = pytest.importorskip("duckdb")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        duckdb.IOException('IO Error: Could not write file "x": No space left on device'),
    ],
)
def test_a_full_disk_ends_with_what_to_delete_and_how_to_go_on(error: Exception, tmp_path: Path) -> None:
    said = rf"the disk is full; make room, or delete {tmp_path} .* goes on"
    with pytest.raises(OutsideError, match=said), room_for(tmp_path):
        raise error


def test_another_fault_of_a_file_is_no_full_disk(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), room_for(tmp_path):
        raise PermissionError(errno.EACCES, "no")


def test_finished_steps_are_known_again_until_the_work_is_another_one(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    open_work(folder, {"inputs": 1}, anew=False).finish("keys", {"rows": 3})
    again = open_work(folder, {"inputs": 1}, anew=False)
    assert again.said("keys") == {"rows": 3}
    assert not again.is_done("texts")
    with pytest.raises(UsageError, match="--force"):
        open_work(folder, {"inputs": 2}, anew=False)
    assert not open_work(folder, {"inputs": 2}, anew=True).is_done("keys")


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="something else"):
        open_work(tmp_path, {}, anew=True)
    assert (tmp_path / "mine.txt").exists()
