"""Single-flight cache: concurrent callers share one computation and can stop waiting."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Lock, Thread
from typing import Final, Generic, TypeVar

Made = TypeVar("Made")

PATIENCE: Final = 0.2
"""Seconds to wait for a value that may be there soon."""


class SingleFlight(Generic[Made]):
    """The latest ``most`` values by key, each computed in its own thread, one at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: dict[str, Future[Made]] = {}
        self._look = Lock()
        self._making = Lock()

    def get(self, key: str, make: Callable[[], Made], late: Callable[[Future[Made]], None]) -> Made:
        """What ``make`` returns, or raises; a failure is not kept.

        If it takes long, ``late`` is called with the future.  What ``late`` raises ends this call, not the computation.
        """
        with self._look:
            found = self._made.get(key)
            if found is None:
                found = Future()
                # A daemon: the process need not wait for it when its client is gone.
                Thread(target=self._make, args=(key, make, found), name="made once", daemon=True).start()
                # Not before the thread runs: no one may wait for a value that no thread computes.
                self._made[key] = found
                for old in list(self._made)[: -self._most]:
                    del self._made[old]
        if not wait([found], PATIENCE).done:
            late(found)
        return found.result()

    def _make(self, key: str, make: Callable[[], Made], future: Future[Made]) -> None:
        with self._making:
            try:
                future.set_result(make())
            except BaseException as error:  # noqa: BLE001 - whoever waits raises it
                with self._look:
                    if self._made.get(key) is future:
                        del self._made[key]
                # What ends this thread must not end those who wait.
                future.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))
