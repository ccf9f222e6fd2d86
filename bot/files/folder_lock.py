"""A folder lock, so that one command at a time plans and writes in a working tree."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import OutsideError


@contextmanager
def only_command_in(folder: Path, otherwise: str) -> Iterator[None]:
    """Lock ``folder`` within the context; the lock ends with the process at the latest.

    Raises :class:`OutsideError` with the message ``otherwise`` if another command has the lock.  No lock file is
    written: the folder itself is locked.
    """
    if sys.platform == "win32":
        # Windows cannot lock folders; people who share a working tree there must take care themselves.
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutsideError(otherwise) from None
        yield
    finally:
        os.close(descriptor)
