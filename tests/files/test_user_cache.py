from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import BaseModel

from incumbent.files.user_cache import (
    KEPT_MARKS,
    KEPT_PACKS,
    LARGEST_PACK,
    RememberedFiles,
    read_model,
    user_cache_folder,
    write_whole,
)


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
    checked = RememberedFiles(tmp_path, Path())
    assert not checked.holds("one")
    checked.note("one")
    assert RememberedFiles(tmp_path, Path()).holds("one")
    assert not RememberedFiles(tmp_path, Path()).holds("two")
    assert all(file.stat().st_size == 0 for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.parametrize("key", ["../../escape", "a/b", "\0", "x" * 5_000])
def test_a_key_names_no_place(tmp_path: Path, key: str) -> None:
    checked = RememberedFiles(tmp_path / "cache", Path())
    checked.note(key)
    assert checked.holds(key)
    assert [item.name for item in tmp_path.iterdir()] == ["cache"]


def test_without_a_folder_nothing_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for checked in (RememberedFiles(None, Path()), RememberedFiles(tmp_path / "file", Path())):
        checked.note("one")
        checked.keep(b"pack")
        assert not checked.holds("one")
        assert checked.pack() is None


def test_the_oldest_marks_go(tmp_path: Path) -> None:
    checked = RememberedFiles(tmp_path, Path())
    checked.note("old")
    (mark,) = (tmp_path / "checked").iterdir()
    os.utime(mark, (0, 0))
    for number in range(KEPT_MARKS):
        checked.note(str(number))
    assert not checked.holds("old")
    assert checked.holds("0")


def test_each_repository_has_a_pack_of_its_own(tmp_path: Path) -> None:
    RememberedFiles(tmp_path, Path("one")).keep(b"first")
    RememberedFiles(tmp_path, Path("two")).keep(b"second")
    assert RememberedFiles(tmp_path, Path("two/../one")).pack() == b"first"
    RememberedFiles(tmp_path, Path("one")).keep(b"newer")
    assert RememberedFiles(tmp_path, Path("one")).pack() == b"newer"
    assert RememberedFiles(tmp_path, Path("two")).pack() == b"second"


@pytest.mark.skipif(os.name == "nt", reason="rights are others there")
def test_a_pack_that_others_could_have_written_is_not_read(tmp_path: Path) -> None:
    remembered = RememberedFiles(tmp_path, Path())
    remembered.keep(b"pack")
    (file,) = (tmp_path / "packed").iterdir()
    for mode in (0o620, 0o602):
        file.chmod(mode)
        assert remembered.pack() is None
    file.chmod(0o600)
    assert remembered.pack() == b"pack"
    other = tmp_path / "other"
    file.rename(other)
    file.symlink_to(other)
    assert remembered.pack() is None


class _Kept(BaseModel):
    number: int


@pytest.mark.skipif(os.name == "nt", reason="rights are others there")
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_marks_and_models_that_others_could_have_written_do_not_count(mode: int, tmp_path: Path) -> None:
    remembered = RememberedFiles(tmp_path, Path())
    remembered.note("key")
    (mark,) = (tmp_path / "checked").iterdir()
    model = tmp_path / "kept.json"
    assert write_whole(model, b'{"number": 1}')
    assert remembered.holds("key")
    assert read_model(model, _Kept, 100) == _Kept(number=1)
    mark.chmod(mode)
    model.chmod(mode)
    assert not remembered.holds("key")
    assert read_model(model, _Kept, 100) is None
    assert read_model(model, _Kept, 100, shared=True) == _Kept(number=1)


@pytest.mark.parametrize("shared", [True, False])
def test_a_model_is_read_up_to_its_size_and_nothing_else_in_its_place(shared: bool, tmp_path: Path) -> None:
    model = tmp_path / "kept.json"
    assert write_whole(model, b'{"number": 1}')
    assert read_model(model, _Kept, 13, shared=shared) == _Kept(number=1)
    assert read_model(model, _Kept, 12, shared=shared) is None
    assert read_model(tmp_path, _Kept, 10**6, shared=shared) is None
    assert read_model(tmp_path / "absent", _Kept, 100, shared=shared) is None
    assert write_whole(model, b'{"number": ')
    assert read_model(model, _Kept, 100, shared=shared) is None


def test_packs_are_few_and_none_is_too_large(tmp_path: Path) -> None:
    for number in range(KEPT_PACKS + 3):
        RememberedFiles(tmp_path, Path(str(number))).keep(b"pack")
    assert len(list((tmp_path / "packed").iterdir())) == KEPT_PACKS
    large = RememberedFiles(tmp_path, Path("large"))
    large.keep(bytes(LARGEST_PACK + 1))
    assert large.pack() is None
