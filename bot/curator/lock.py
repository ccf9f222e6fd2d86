"""One curator at a time: two commands that write at once would each plan against a set that the other changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.curator.journal import settle
from bot.errors import OutsideError


@contextmanager
def sole_curator(root: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Hold the platform repository at ``root`` from reading the set to writing it; ends with the process at the latest.

    A change that was interrupted is finished first; ``report`` is given a sentence of it.
    Raises :class:`OutsideError` while another command holds it.  No file is left behind: the folder itself is locked.
    """
    with _locked(root):
        said = settle(root)
        if said is not None:
            report(said)
        yield


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    if sys.platform == "win32":
        # There folders cannot be locked; people who share a working tree there take care themselves.
        yield
        return
    import fcntl

    descriptor = os.open(root, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutsideError(
                f"another command is changing the regression set of {root}; run this again when it has ended"
            ) from None
        yield
    finally:
        os.close(descriptor)
