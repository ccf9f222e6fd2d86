from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.user_cache import KEPT_MARKS, CheckedFiles, user_cache_folder


@pytest.mark.parametrize(
    ("environment", "platform", "folder"),
    [
        ({"INCUMBENT_CACHE": "/c", "HOME": "/h", "XDG_CACHE_HOME": "/x"}, "linux", "/c"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "linux", "/x/incumbent"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "relative"}, "linux", "/h/.cache/incumbent"),
        ({"HOME": "/h"}, "linux", "/h/.cache/incumbent"),
        ({"HOME": "/h", "INCUMBENT_CACHE": ""}, "linux", "/h/.cache/incumbent"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Caches/incumbent"),
        ({"LOCALAPPDATA": "/l"}, "win32", "/l/incumbent/cache"),
        ({}, "linux", None),
        ({"HOME": "odd"}, "linux", None),
        ({}, "win32", None),
    ],
)
def test_the_cache_is_where_users_expect_it(environment: dict[str, str], platform: str, folder: str | None) -> None:
    assert user_cache_folder(environment, platform) == (None if folder is None else Path(folder))


def test_what_passed_is_remembered_by_its_key(tmp_path: Path) -> None:
    checked = CheckedFiles(tmp_path)
    assert not checked.holds("one")
    checked.note("one")
    assert CheckedFiles(tmp_path).holds("one")
    assert not CheckedFiles(tmp_path).holds("two")
    assert all(file.stat().st_size == 0 for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.parametrize("key", ["../../escape", "a/b", "\0", "x" * 5_000])
def test_a_key_names_no_place(tmp_path: Path, key: str) -> None:
    checked = CheckedFiles(tmp_path / "cache")
    checked.note(key)
    assert checked.holds(key)
    assert [item.name for item in tmp_path.iterdir()] == ["cache"]


def test_without_a_folder_nothing_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for checked in (CheckedFiles(None), CheckedFiles(tmp_path / "file")):
        checked.note("one")
        assert not checked.holds("one")


def test_the_oldest_marks_go(tmp_path: Path) -> None:
    checked = CheckedFiles(tmp_path)
    checked.note("old")
    (mark,) = (tmp_path / "checked").iterdir()
    os.utime(mark, (0, 0))
    for number in range(KEPT_MARKS):
        checked.note(str(number))
    assert not checked.holds("old")
    assert checked.holds("0")
