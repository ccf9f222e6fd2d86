"""Failures on demand: what GitHub and the network do at the worst moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.e2e.harness.messages import Request, Response, error

Named = Literal[
    "500 before",
    "500 after",
    "timeout",
    "timeout after",
    "403 secondary limit with Retry-After",
    "409",
    "422",
]
"""``before``: nothing happened; ``after``: it took effect, and the answer was lost."""

How = Named | Response
"""A failure by its name, or the very answer to give without carrying out the request."""

SILENCE_SECONDS = 2.0
Predicate = Callable[[Request], bool]


@dataclass
class Fault:
    """A failure of the next ``times`` requests that ``predicate`` holds for."""

    predicate: Predicate
    how: How
    times: int
    happened: int = 0

    @property
    def takes_effect(self) -> bool:
        """Whether the request is carried out all the same."""
        return self.how in ("500 after", "timeout after")


class Faults:
    """The failures that are still to happen."""

    def __init__(self) -> None:
        self._pending: list[Fault] = []
        self._stopped = threading.Event()
        self.silence = SILENCE_SECONDS
        """Seconds that a ``timeout`` keeps the client waiting before the connection breaks."""

    def add(self, predicate: Predicate, how: How, times: int = 1) -> Fault:
        """Let the next ``times`` matching requests fail; its ``happened`` says how many did."""
        fault = Fault(predicate, how, times)
        self._pending.append(fault)
        return fault

    def clear(self) -> None:
        """Nothing fails any more."""
        self._pending.clear()
        self.silence = SILENCE_SECONDS

    def stop(self) -> None:
        """Nobody is kept waiting any more."""
        self._stopped.set()

    def take(self, request: Request) -> Fault | None:
        """The failure that this request meets, if any."""
        for fault in self._pending:
            if fault.happened < fault.times and fault.predicate(request):
                fault.happened += 1
                return fault
        return None

    def answer(self, fault: Fault) -> Response | None:
        """What the client sees; None is a broken connection, after a silence."""
        if isinstance(fault.how, Response):
            return fault.how
        match fault.how:
            case "500 before" | "500 after":
                return error(500, "Server Error")
            case "timeout" | "timeout after":
                self._stopped.wait(self.silence)
                return None
            case "403 secondary limit with Retry-After":
                refusal = error(
                    403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
                )
                refusal.headers["retry-after"] = "1"
                return refusal
            case "409":
                return error(409, "Conflict")
            case "422":
                return error(422, "Validation Failed", errors=[{"resource": "Any", "code": "custom"}])
