"""One command at a time in a folder: two that write at once would each plan against what the other changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import OutsideError


@contextmanager
def only_command_in(folder: Path, otherwise: str) -> Iterator[None]:
    """Hold the lock of ``folder``, which ends with the process at the latest.

    Raises :class:`OutsideError` with the words ``otherwise`` while another command holds it.  No file is left behind:
    the folder itself is locked.
    """
    if sys.platform == "win32":
        # There folders cannot be locked; people who share a working tree there take care themselves.
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
