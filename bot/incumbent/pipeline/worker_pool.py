"""Worker processes that end cleanly: on Ctrl-C, and if one of them or the parent is killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from multiprocessing import Pipe, get_context, parent_process, reduction
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from incumbent.errors import OutsideError
from incumbent.files.process import set_loaded_aside, uninterrupted

T = TypeVar("T")


class WorkerPool(ProcessPoolExecutor):
    """Processes that start when work is submitted, and leave Ctrl-C to the process that started them."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Schedule ``fn``; this may start a process."""
        with _interrupts_held_back():
            try:
                return super().submit(fn, *args, **kwargs)
            except (OSError, ValueError) as error:
                # Another process has died while this one started: the files that it was to get are closed.
                if self._broken:
                    raise BrokenProcessPool(str(self._broken)) from error
                raise

    def kill(self) -> None:
        """End the processes at once, with what they do."""
        for process in [*(self._processes or {}).values()]:
            process.kill()


@contextmanager
def worker_pool(processes: int, fix: str, begin: Callable[..., None], *arguments: Any) -> Iterator[WorkerPool]:
    """A pool of ``processes``; each calls ``begin`` with ``arguments`` first, and ends when this process does.

    Raises :class:`OutsideError` if one of them dies; ``fix`` says what to do then.
    """
    try:
        with (
            closing(_Handed(arguments)) as handed,
            WorkerPool(processes, get_context("spawn"), _begin, (begin, handed)) as pool,
        ):
            try:
                yield pool
            except GeneratorExit:
                # No more results are wanted; and what is begun must not be written later.
                pool.kill()
                raise
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    except BrokenProcessPool:
        raise OutsideError(f"one of the processes was killed; {fix}") from None


class _Handed:
    """Arguments for processes that start: each gets them through a pipe of its own, which a thread writes.

    A process reads what it is started with from a pipe that its parent holds open as well. If it were killed before
    that, writing more than the pipe takes would never end.
    """

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self._data = bytes(reduction.ForkingPickler.dumps(arguments))
        self._readers: list[Connection] = []

    def close(self) -> None:
        """Give up on processes that have read nothing."""
        while self._readers:
            self._readers.pop().close()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any]]:
        # Called for each process, while it is started.
        reader, writer = Pipe(duplex=False)
        self._readers.append(reader)
        threading.Thread(target=self._write, args=(writer,), daemon=True).start()
        return _received, (reader,)

    def _write(self, writer: Connection) -> None:
        with writer, suppress(BrokenPipeError):
            writer.send_bytes(self._data)


def _received(reader: Connection) -> Any:
    try:
        with reader:
            return reduction.ForkingPickler.loads(reader.recv_bytes())
    except (EOFError, OSError):
        # The parent has ended.
        os._exit(1)


def _begin(begin: Callable[..., None], arguments: Any) -> None:
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
