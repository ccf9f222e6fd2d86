"""Several queries in flight: what fails on one of them is its own, unless it goes on failing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Final, TypeAlias

from bot.classifier.language_model.endpoint import QueryFailedError
from bot.classifier.model import Finding
from bot.errors import IncumbentError, OutsideError

Outcome: TypeAlias = Finding | QueryFailedError
"""What became of one query."""

_IN_A_ROW: Final = 3
"""After so many failures without an answer between them, the endpoint is asked something that is no query."""

_AT_MOST: Final = 30
"""After so many it is the endpoint that fails on queries, whatever else it answers."""


class EndpointHealth:
    """Tells an endpoint that fails on a query from one that fails.

    ``answers`` finds out whether the endpoint answers what is no query.
    """

    def __init__(self, answers: Callable[[], bool]) -> None:
        self._answers = answers
        self._in_a_row = 0
        self._answered = False
        self._last: OutsideError | None = None

    def hear(self, outcome: Outcome) -> Finding:
        """The finding, or for a failure one that lacks samples."""
        if isinstance(outcome, Finding):
            self._in_a_row = 0
            self._answered = True
            return outcome
        self._in_a_row += 1
        self._last = outcome.outside
        return Finding(shortfall=str(outcome.outside))

    def exhausted(self) -> OutsideError | None:
        """What the endpoint failed with, if it goes on failing."""
        if self._in_a_row == 0 or self._in_a_row % _IN_A_ROW:
            return None
        return None if self._in_a_row < _AT_MOST and self._answers() else self._last

    def end(self) -> None:
        """Raise what the endpoint failed with, if it never gave an answer, not even to what is no query."""
        if self._last is not None and not self._answered and not self._answers():
            raise self._last


def fly(
    ask: Callable[[int], Outcome], places: Sequence[int], size: int, patience: EndpointHealth
) -> Iterator[tuple[int, Finding]]:
    """The findings at ``places``, ``size`` at a time, in the order in which they are made.

    What ends the run is raised after those that were in flight.
    """
    failure: IncumbentError | None = None
    left = iter(places)
    asked: dict[Future[Outcome], int] = {}
    pool = ThreadPoolExecutor(size, thread_name_prefix="incumbent-model")
    try:
        while True:
            # No more than are heard: an endpoint that fails is not asked about the rest meanwhile.
            if failure is None:
                asked |= {pool.submit(ask, place): place for place in islice(left, size - len(asked))}
            if not asked:
                break
            for future in sorted(wait(asked, return_when=FIRST_COMPLETED).done, key=asked.__getitem__):
                place = asked.pop(future)
                try:
                    yield place, patience.hear(future.result())
                    failure = failure or patience.exhausted()
                except IncumbentError as error:
                    failure = failure or error
    finally:
        pool.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure
