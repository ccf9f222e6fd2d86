"""Several queries in flight: a failure counts for its query alone, unless failures continue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Final, TypeAlias

from bot.classifier.language_model.endpoint import QueryFailedError
from bot.classifier.model import Finding
from bot.errors import IncumbentError, OutsideError

Outcome: TypeAlias = Finding | QueryFailedError
"""The finding or failure of one query."""

_IN_A_ROW: Final = 3
"""After this many failures without an answer in between, the endpoint gets a probe that is not a query."""

_AT_MOST: Final = 30
"""After this many failures on queries the endpoint counts as failing, even if it answers probes."""


class EndpointHealth:
    """Distinguishes an endpoint that fails on some queries from one that fails on all.

    ``answers`` probes whether the endpoint answers a request that is not a query.
    """

    def __init__(self, answers: Callable[[], bool]) -> None:
        self._answers = answers
        self._in_a_row = 0
        self._answered = False
        self._last: OutsideError | None = None

    def finding_of(self, outcome: Outcome) -> Finding:
        """The finding, or for a failure one without samples."""
        if isinstance(outcome, Finding):
            self._in_a_row = 0
            self._answered = True
            return outcome
        self._in_a_row += 1
        self._last = outcome.outside
        return Finding(shortfall=str(outcome.outside))

    def exhausted(self) -> OutsideError | None:
        """The error of the endpoint, if it goes on failing."""
        if self._in_a_row == 0 or self._in_a_row % _IN_A_ROW:
            return None
        return None if self._in_a_row < _AT_MOST and self._answers() else self._last

    def end(self) -> None:
        """Raise the error of the endpoint if it never gave an answer, not even to a probe."""
        if self._last is not None and not self._answered and not self._answers():
            raise self._last


def fly(
    ask: Callable[[int], Outcome], places: Sequence[int], size: int, patience: EndpointHealth
) -> Iterator[tuple[int, Finding]]:
    """The findings at ``places``, ``size`` at a time, in the order in which they are made.

    An error that ends the run is raised after the findings that were in flight.
    """
    failure: IncumbentError | None = None
    left = iter(places)
    asked: dict[Future[Outcome], int] = {}
    pool = ThreadPoolExecutor(size, thread_name_prefix="incumbent-model")
    try:
        while True:
            # Submit only as many as are read: a failing endpoint should not be asked about the rest meanwhile.
            if failure is None:
                asked |= {pool.submit(ask, place): place for place in islice(left, size - len(asked))}
            if not asked:
                break
            for future in sorted(wait(asked, return_when=FIRST_COMPLETED).done, key=asked.__getitem__):
                place = asked.pop(future)
                try:
                    yield place, patience.finding_of(future.result())
                    failure = failure or patience.exhausted()
                except IncumbentError as error:
                    failure = failure or error
    finally:
        pool.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure
