"""Fitted models on disk: arrays and JSON, never a pickle, under a key that digests everything they depend on.

The cache is a convenience.  A file that is damaged, foreign or hostile is as good as none, a folder that cannot be
written is not used, and processes that write the same key at once leave one whole file, since each renames its own.
"""

from __future__ import annotations

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from pydantic import Field

from incumbent.files.user_cache import is_ours, write_whole
from incumbent.files.validation import FileModel, Tuple

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

LARGEST_FILE: Final = 500_000_000
LARGEST_CONTENT: Final = 1_000_000_000
"""Bytes of a file, and of the arrays in it."""

KEPT_FILES: Final = 8
"""How many models stay: those of taxonomies that were edited since pile up otherwise."""

_METADATA: Final = "metadata.json"
_LARGEST_METADATA: Final = 100_000
_LEVEL: Final = 6
"""Of compression: higher ones take twice as long for a hundredth less."""
_HOUR: Final = 3_600
_UNREADABLE: Final = (
    OSError,
    EOFError,
    KeyError,
    ValueError,
    RuntimeError,
    OverflowError,
    MemoryError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


class _Record(FileModel):
    dtype: Literal["float64", "float32", "int32", "uint16", "uint8", "int8"]
    shape: Tuple[Annotated[int, Field(ge=0, le=LARGEST_FILE)]]


class _Metadata(FileModel):
    """``metadata.json`` of a file: whose arrays these are, what they look like, and a digest of their bytes."""

    format: Literal[2]
    key: str
    digest: str
    arrays: dict[str, _Record]


class ModelCache:
    """Arrays by key in ``folder``; ``ModelCache(None)`` keeps nothing.

    ``shipped`` ones come with the product, whoever installed it; others count only if this user alone could have
    written them.
    """

    def __init__(self, folder: Path | None, *, shipped: bool = False) -> None:
        self.folder = folder
        self._shipped = shipped

    def load(self, key: str) -> Arrays | None:
        """The arrays stored under ``key``, bit for bit; ``None`` if there are none that can be trusted."""
        if self.folder is None:
            return None
        try:
            path = self.file(key)
            # A pipe in its place would be waited for without end.
            trusted = path.is_file() if self._shipped else is_ours(path, LARGEST_FILE)
            return _unpack(path.read_bytes(), key) if trusted else None
        except _UNREADABLE:
            return None

    def holds(self, key: str) -> bool:
        """Whether there is anything under ``key``, whether or not it can be trusted."""
        try:
            return self.folder is not None and self.file(key).lstat() is not None
        except OSError:
            return False

    def newest(self, kind: str) -> Arrays | None:
        """The arrays that were stored last under a key that begins with ``kind``, if there are any."""
        if self.folder is None:
            return None
        try:
            found = [(path.stat().st_mtime, path.name) for path in self.folder.glob(f"embedded-{kind}-*.npz")]
            return None if not found else self.load(max(found)[1].removeprefix("embedded-").removesuffix(".npz"))
        except OSError:
            return None

    def store(self, key: str, arrays: Arrays) -> None:
        """Keep ``arrays`` under ``key``, if the folder can be written."""
        if self.folder is None:
            return
        if write_whole(self.file(key), _pack(arrays, key)):
            with suppress(OSError):
                _tidy(self.folder)

    def file(self, key: str) -> Path:
        """Where the arrays under ``key`` are kept; only with a folder."""
        return Path(self.folder or "") / f"embedded-{key}.npz"


def digest_of(arrays: Arrays) -> str:
    """A digest of the names, the kinds, the shapes and the bytes of ``arrays``."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\n{name} {array.dtype} {array.shape}\n".encode())
        digest.update(array.data)
    return digest.hexdigest()


def _pack(arrays: Arrays, key: str) -> bytes:
    """An ``.npz`` file: a zip of ``.npy`` files, and the metadata."""
    records = {
        name: _Record.model_validate({"dtype": str(array.dtype), "shape": array.shape})
        for name, array in sorted(arrays.items())
    }
    metadata = _Metadata(format=2, key=key, digest=digest_of(arrays), arrays=records)
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(_METADATA), metadata.model_dump_json())
        for name, record in records.items():
            content = _header(record) + np.ascontiguousarray(arrays[name]).tobytes()
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content, zipfile.ZIP_DEFLATED, _LEVEL)
    return buffer.getvalue()


def _header(record: _Record) -> bytes:
    buffer = BytesIO()
    description = {"descr": np.dtype(record.dtype).str, "fortran_order": False, "shape": record.shape}
    npy.write_array_header_1_0(buffer, description)
    return buffer.getvalue()


def _unpack(content: bytes, key: str) -> Arrays | None:
    """The arrays of a file of ours; raises one of many errors, or returns ``None``, for anything else.

    No header is parsed: each must be the one that the checked metadata implies.  Nothing is unpacked beyond the size
    that they state, and they may not state more than any model has.
    """
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(BytesIO(content)) as archive:
        # Others take as much memory to unpack as their own headers say.
        if any(item.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for item in archive.infolist()):
            return None
        metadata = _Metadata.model_validate_json(_read(archive, _METADATA, _LARGEST_METADATA))
        sizes = {name: prod(record.shape) * np.dtype(record.dtype).itemsize for name, record in metadata.arrays.items()}
        if metadata.key != key or sum(sizes.values()) > LARGEST_CONTENT:
            return None
        for name, record in metadata.arrays.items():
            header = _header(record)
            raw = _read(archive, f"{name}.npy", len(header) + sizes[name])
            if not raw.startswith(header) or len(raw) != len(header) + sizes[name]:
                return None
            arrays[name] = np.frombuffer(raw, record.dtype, offset=len(header)).reshape(record.shape)
    return arrays if metadata.digest == digest_of(arrays) else None


def _read(archive: zipfile.ZipFile, name: str, largest: int) -> bytes:
    """The file ``name`` of ``archive``; of one that is larger than ``largest`` hardly more than that."""
    with archive.open(name) as file:
        return file.read(largest + 1)


def _tidy(folder: Path) -> None:
    """Remove all but the newest models, and what a process that was ended in the middle left an hour ago or earlier."""
    ages = sorted(((path.stat().st_mtime, path.name) for path in folder.glob("embedded-*.npz")), reverse=True)
    for _, name in ages[KEPT_FILES:]:
        (folder / name).unlink(missing_ok=True)
    for path in folder.glob("*.tmp"):
        if path.stat().st_mtime < ages[0][0] - _HOUR:
            path.unlink(missing_ok=True)
