"""Which of the manifests in a folder counts: projects keep variants of one app's beside each other."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import Final

MANIFEST: Final = "manifest.json"


def base_name(path: str) -> str:
    """The name of the file at ``path`` without its folder and case."""
    return posixpath.basename(path).casefold()


def by_precedence(paths: Iterable[str]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The JSON files of ``paths`` in the order in which they count as manifests.

    These are ``manifest.json``, then ``manifest*.json`` (``manifest.local.json``, ``manifest.dev.json``), then others.
    """
    files = [path for path in paths if path.casefold().endswith(".json")]
    named = [path for path in files if base_name(path) == MANIFEST]
    similar = [path for path in files if base_name(path).startswith("manifest") and path not in named]
    known = {*named, *similar}
    return named, similar, [path for path in files if path not in known]


def first_fitting(candidates: Iterable[tuple[Iterable[str], Callable[[str], bool]]]) -> tuple[str, ...]:
    """The paths of the first candidates that have any that fits; none if no path does."""
    found = (tuple(path for path in paths if fits(path)) for paths, fits in candidates)
    return next((paths for paths in found if paths), ())
