"""Stop signals: by Ctrl-C, by a system that ends a job, or by a terminal that closes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from bot.errors import IncumbentError

_OTHERS: Final = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_ALL: Final = (signal.SIGINT, *_OTHERS)


def is_stop(error: BaseException) -> bool:
    """Whether ``error`` says to stop, or was made of such a one: until 3.12 Python does so while it makes a class."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause is not None


@contextmanager
def orderly_stops() -> Iterator[Callable[[], int]]:
    """Within, SIGTERM and SIGHUP end the work as Ctrl-C does, by :class:`KeyboardInterrupt`.

    What is given says which of them came last, as the exit code that shells expect.
    """
    last = signal.SIGINT

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal last
        last = signal.Signals(number)
        # A caller with its own SIGINT handler, as asyncio has, ends in its way.
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):
            raise KeyboardInterrupt
        interrupt(signal.SIGINT, frame)

    with _handled(_OTHERS, stop):
        yield lambda: 128 + last


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Within, a signal to stop waits until the end; where that is a failure, the interrupt takes on its words."""
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
    """Within, ``handler`` receives those of ``numbers`` that are not ignored; only the main thread can say so."""
    before: dict[signal.Signals, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in numbers:
                found = signal.getsignal(number)
                # Ignored, as `nohup` has it, or not Python's.
                if found not in (signal.SIG_IGN, None):
                    before[number] = found
                    signal.signal(number, handler)
        yield
    finally:
        for number, found in before.items():
            signal.signal(number, found)
