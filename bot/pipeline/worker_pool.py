"""Worker processes that end cleanly: on Ctrl-C, and if one of them or the parent is killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

from bot.errors import OutsideError
from bot.files.process import set_loaded_aside, uninterrupted

T = TypeVar("T")


class WorkerPool(ProcessPoolExecutor):
    """Processes that start when work is submitted, and leave Ctrl-C to the process that started them."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Schedule ``fn``; this may start a process."""
        with _interrupts_held_back():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def worker_pool(processes: int, fix: str, begin: Callable[..., None], *arguments: Any) -> Iterator[WorkerPool]:
    """A pool of ``processes``; each calls ``begin`` with ``arguments`` first, and ends when this process does.

    Raises :class:`OutsideError` if one of them dies; ``fix`` says what to do then.
    """
    try:
        with WorkerPool(processes, get_context("spawn"), _begin, (begin, arguments)) as pool:
            try:
                yield pool
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    except BrokenProcessPool:
        raise OutsideError(f"one of the processes was killed; {fix}") from None


def _begin(begin: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    # The parent says when to stop; if it was killed, nothing else would stop this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    begin(*arguments)
    set_loaded_aside()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Within, Ctrl-C waits until the end; processes that start within do not see it at all.

    A process that has not begun yet would answer with a traceback, to Ctrl-C itself and to a parent that stops while
    it hands over the work.
    """
    with uninterrupted():
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        # New processes inherit the mask. Other threads of this one do not have it and may get the signal.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
