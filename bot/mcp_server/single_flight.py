"""Single-flight cache: concurrent callers share one computation and can stop waiting."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Lock, Thread
from typing import Final, Generic, TypeVar

Made = TypeVar("Made")

PATIENCE: Final = 0.2
"""Seconds that are waited for what may be there soon."""


class SingleFlight(Generic[Made]):
    """Things by key: the latest ``most`` of them, each made in a thread of its own, one at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: dict[str, Future[Made]] = {}
        self._look = Lock()
        self._making = Lock()

    def get(self, key: str, make: Callable[[], Made], late: Callable[[Future[Made]], None]) -> Made:
        """What ``make`` returns, or raises; a failure is not kept.

        Where it takes long, ``late`` is called with what it will be: what it raises ends this call, and not the making.
        """
        with self._look:
            found = self._made.get(key)
            if found is None:
                found = Future()
                # A daemon: a process whose client has gone does not stay for it.
                Thread(target=self._make, args=(key, make, found), name="made once", daemon=True).start()
                # Not before: nobody is to wait for what no thread makes.
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
                # What ends this thread is not to end those who wait.
                future.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))
