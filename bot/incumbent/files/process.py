"""The running process: stop signals (Ctrl-C, the end of a job), a lock so that one command writes, and memory."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from incumbent.errors import IncumbentError, OutsideError

_OTHERS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_ALL: Final = (signal.SIGINT, *_OTHERS)


def is_stop(error: BaseException) -> bool:
    """Whether ``error`` is a :class:`KeyboardInterrupt` or was caused by one.

    Before 3.12, Python wraps an interrupt that arrives while it creates a class.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause is not None


@contextmanager
def orderly_stops() -> Iterator[Callable[[], int]]:
    """Within the context, SIGTERM and SIGHUP raise :class:`KeyboardInterrupt`, as Ctrl-C does.

    Yields a function that gives the exit code for the last signal, as shells expect it.
    """
    last = signal.SIGINT

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal last
        last = signal.Signals(number)
        # A caller with its own SIGINT handler, such as asyncio, stops in its own way.
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):
            raise KeyboardInterrupt
        interrupt(signal.SIGINT, frame)

    with _handled(_OTHERS, stop):
        yield lambda: 128 + last


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within the context, a stop signal waits until the end; after an error, the interrupt gets its message."""
    waiting: list[int] = []
    failure: tuple[str, ...] = ()
    try:
        with _handled(_ALL, lambda number, _: waiting.append(number)):
            yield
    except IncumbentError as error:
        failure = (str(error),)
        raise
    finally:
        try:
            for number in waiting[:1]:
                signal.raise_signal(number)
        except KeyboardInterrupt as stop:
            stop.args = failure
            raise


@contextmanager
def _handled(numbers: tuple[signal.Signals, ...], handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """Within the context, ``handler`` handles those of ``numbers`` that are not ignored; only in the main thread."""
    before: dict[signal.Signals, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in numbers:
                found = signal.getsignal(number)
                # SIG_IGN: ignored, as under `nohup`.  None: a handler that is not Python's.
                if found not in (signal.SIG_IGN, None):
                    before[number] = found
                    signal.signal(number, handler)
        yield
    finally:
        for number, found in before.items():
            signal.signal(number, found)


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


_NEW_OBJECTS: Final = 200_000
"""The collector runs after so many new objects.  With Python's own number it took a tenth of a command's time."""


def collect_seldom() -> None:
    """Let Python's garbage collector run seldom, since most of what is loaded stays until the process ends."""
    gc.set_threshold(_NEW_OBJECTS)


def set_loaded_aside() -> None:
    """Let the collector pass over all objects that are loaded by now, and run seldom on those that follow.

    Going through what a worker has loaded took a twentieth of the time of classifying.
    """
    gc.collect()
    gc.freeze()
    collect_seldom()
