"""The cache of fitted models: bit for bit, or not at all."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incumbent.classifier.embedded.cache import KEPT_FILES, LARGEST_FILE, Arrays, ModelCache

ARRAYS: Arrays = {
    "weights": np.arange(6, dtype=np.float32).reshape(2, 3),
    "numbers": np.array([0.1, -0.0, 1e300]),
    "text": np.frombuffer("grüße".encode(), np.uint8),
    "nothing": np.zeros((0, 3)),
}


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    return ModelCache(tmp_path / "deep" / "cache")


def file_of(cache: ModelCache) -> Path:
    assert cache.folder is not None
    (path,) = cache.folder.glob("*.npz")
    return path


def same(one: Arrays | None, other: Arrays) -> bool:
    return one is not None and {name: (a.dtype, a.shape, a.tobytes()) for name, a in one.items()} == {
        name: (a.dtype, a.shape, a.tobytes()) for name, a in other.items()
    }


def test_arrays_come_back_bit_for_bit(cache: ModelCache) -> None:
    cache.store("key", ARRAYS)
    assert same(cache.load("key"), ARRAYS)


def test_the_file_is_an_npz_that_needs_no_pickle(cache: ModelCache) -> None:
    cache.store("key", ARRAYS)
    with np.load(file_of(cache), allow_pickle=False) as archive:
        for name, array in ARRAYS.items():
            assert archive[name].tobytes() == array.tobytes()


def test_the_same_arrays_make_the_same_file(tmp_path: Path) -> None:
    one, other = ModelCache(tmp_path / "a"), ModelCache(tmp_path / "b")
    one.store("key", ARRAYS)
    other.store("key", dict(reversed(list(ARRAYS.items()))))
    assert file_of(one).read_bytes() == file_of(other).read_bytes()


def test_what_was_not_stored_is_not_found(cache: ModelCache) -> None:
    assert cache.load("key") is None
    cache.store("key", ARRAYS)
    assert cache.load("other") is None


def test_a_file_under_another_key_is_not_taken(cache: ModelCache) -> None:
    cache.store("key", ARRAYS)
    path = file_of(cache)
    path.rename(path.with_name("embedded-other.npz"))
    assert cache.load("other") is None


def test_without_a_folder_nothing_is_kept() -> None:
    cache = ModelCache(None)
    cache.store("key", ARRAYS)
    assert cache.load("key") is None


def test_a_folder_that_cannot_be_made_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = ModelCache(tmp_path / "file" / "cache")
    cache.store("key", ARRAYS)
    assert cache.load("key") is None


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(cache: ModelCache) -> None:
    assert cache.folder is not None
    (cache.folder / "embedded-key.npz").mkdir(parents=True)
    cache.store("key", ARRAYS)
    assert cache.load("key") is None
    assert [path.name for path in cache.folder.iterdir()] == ["embedded-key.npz"]


def test_the_folder_is_for_the_user_alone(cache: ModelCache) -> None:
    cache.store("key", ARRAYS)
    assert cache.folder is not None
    assert cache.folder.stat().st_mode & 0o077 == 0
    assert file_of(cache).stat().st_mode & 0o077 == 0


# Damaged, foreign and hostile files.


def test_a_truncated_file_is_as_good_as_none(cache: ModelCache) -> None:
    cache.store("key", ARRAYS)
    path = file_of(cache)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        assert cache.load("key") is None


def test_a_damaged_file_is_as_good_as_none_or_unharmed(cache: ModelCache) -> None:
    cache.store("key", ARRAYS)
    path = file_of(cache)
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        loaded = cache.load("key")
        assert loaded is None or same(loaded, ARRAYS)


def rewritten(whole: bytes, compression: int = zipfile.ZIP_STORED, **changes: bytes | None) -> bytes:
    """The archive with other contents of some of its files, or without them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(buffer, "w", compression) as new:
        for name in old.namelist():
            content = changes.get(name.partition(".")[0], old.read(name))
            if content is not None:
                new.writestr(name, content)
    return buffer.getvalue()


def pickled() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def saved(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


HUGE = b'{"format":2,"key":"key","digest":"","arrays":{"weights":{"dtype":"float64","shape":[400000000,400000000]}}}'


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda whole: b"", id="empty"),
        pytest.param(lambda whole: b"PK\x05\x06" + bytes(18), id="empty archive"),
        pytest.param(lambda whole: b"\x80\x04]q", id="pickle"),
        pytest.param(lambda whole: rewritten(whole, weights=pickled()), id="pickled array"),
        pytest.param(lambda whole: rewritten(whole, weights=saved(np.zeros((2, 3)))), id="another dtype"),
        pytest.param(lambda whole: rewritten(whole, weights=saved(np.zeros((3, 2), np.float32))), id="another shape"),
        pytest.param(lambda whole: rewritten(whole, weights=saved(np.ones((2, 3), np.float32))), id="other numbers"),
        pytest.param(lambda whole: rewritten(whole, weights=None), id="missing array"),
        pytest.param(lambda whole: rewritten(whole, metadata=None), id="missing metadata"),
        pytest.param(lambda whole: rewritten(whole, metadata=b"[" * 100_000), id="metadata that are no JSON"),
        pytest.param(lambda whole: rewritten(whole, metadata=b"{}"), id="metadata of another kind"),
        pytest.param(lambda whole: rewritten(whole, metadata=b"\xff\xfe"), id="metadata that are no text"),
        pytest.param(lambda whole: rewritten(whole, metadata=HUGE), id="an array larger than any memory"),
        pytest.param(lambda whole: rewritten(whole, metadata=HUGE.replace(b"4", b"-4")), id="a negative shape"),
        pytest.param(lambda whole: rewritten(whole, zipfile.ZIP_LZMA), id="compressed in a way of its own"),
        pytest.param(lambda whole: rewritten(whole, zipfile.ZIP_DEFLATED, weights=bytes(10**8)), id="a bomb"),
        pytest.param(lambda whole: rewritten(whole, zipfile.ZIP_DEFLATED, metadata=bytes(10**8)), id="another bomb"),
    ],
)
def test_a_hostile_file_is_as_good_as_none(cache: ModelCache, damage: Any) -> None:
    cache.store("key", ARRAYS)
    path = file_of(cache)
    path.write_bytes(damage(path.read_bytes()))
    assert cache.load("key") is None
    cache.store("key", ARRAYS)
    assert same(cache.load("key"), ARRAYS)


def test_a_file_larger_than_any_model_is_not_read(cache: ModelCache) -> None:
    cache.store("key", ARRAYS)
    with file_of(cache).open("ab") as file:
        file.truncate(LARGEST_FILE + 1)  # sparse: it takes no room on disk
    assert cache.load("key") is None


# Many models, many processes.


def test_only_the_newest_models_stay(cache: ModelCache) -> None:
    assert cache.folder is not None
    for number in range(KEPT_FILES + 3):
        cache.store(f"k{number}", ARRAYS)
        os.utime(cache.folder / f"embedded-k{number}.npz", (1_000 + number, 1_000 + number))
    cache.store("last", ARRAYS)
    assert len(list(cache.folder.glob("*.npz"))) == KEPT_FILES
    assert cache.load("last") is not None
    assert cache.load(f"k{KEPT_FILES + 2}") is not None
    assert cache.load("k0") is None


def test_what_an_ended_process_left_is_removed_later(cache: ModelCache) -> None:
    cache.store("key", ARRAYS)
    assert cache.folder is not None
    for name, age in (("old.tmp", 10_000), ("new.tmp", 10)):
        path = cache.folder / name
        path.touch()
        moment = file_of(cache).stat().st_mtime - age
        os.utime(path, (moment, moment))
    cache.store("key", ARRAYS)
    assert sorted(path.name for path in cache.folder.glob("*.tmp")) == ["new.tmp"]


WRITER = """
import sys
from pathlib import Path
import numpy as np
from incumbent.classifier.embedded.cache import ModelCache
cache = ModelCache(Path(sys.argv[1]))
for number in range(60):
    cache.store("key", {"a": np.full(100_000, float(sys.argv[2]))})
"""


def test_processes_that_write_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), number]) for number in ("1", "2")]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        arrays = cache.load("key")
        if arrays is not None:
            seen.add(float(arrays["a"].sum()))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= {100_000.0, 200_000.0}
    assert cache.load("key") is not None
    assert [path.name for path in tmp_path.iterdir()] == ["embedded-key.npz"]


# Where it is.
