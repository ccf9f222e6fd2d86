"""One call of a run that fails, in the ways in which GitHub, the network or the runner do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tests.e2e.harness.faults import How
from tests.e2e.harness.gateway import Gateway
from tests.e2e.harness.messages import Request, Response, error

Lasting = Literal["once", "all its tries", "for good"]


@dataclass(frozen=True)
class Failure:
    """How a call fails, for how long, and how the calls after it do; ``done``: it took effect all the same."""

    first: How
    then: How
    lasting: Lasting
    done: bool = False

    def __str__(self) -> str:
        how = self.first if isinstance(self.first, str) else f"{self.first.status} with Retry-After"
        return f"{how}, {self.lasting}"


def _limit() -> Response:
    """A secondary rate limit that asks for no wait, so that no test waits."""
    refusal = error(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
    refusal.headers["retry-after"] = "0"
    return refusal


NOT_DONE = (
    Failure("timeout", "timeout", "for good"),
    Failure("500 before", "500 before", "all its tries"),
    Failure("422", "422", "once"),
    Failure(_limit(), _limit(), "all its tries"),
    Failure("409", "409", "once"),
    Failure(_limit(), _limit(), "once"),
    Failure("timeout", "timeout", "all its tries"),
)
"""Before the call took effect.  ``for good`` is also what GitHub sees of a runner that was killed."""

DONE = (
    Failure("timeout after", "timeout", "for good", done=True),
    Failure("500 after", "500 before", "once", done=True),
    Failure("500 after", "500 before", "all its tries", done=True),
    Failure("timeout after", "timeout", "once", done=True),
)
"""The call took effect, and the answer was lost.  A call that is tried again may take effect twice."""


class FailingCall:
    """Lets call ``number`` of the job with ``token`` meet ``failure``, until ``Faults.clear``."""

    def __init__(self, gateway: Gateway, token: str, number: int, failure: Failure) -> None:
        self.met: str | None = None
        self._token = token
        self._left = number
        self._lasting = failure.lasting
        gateway.faults.silence = 0
        gateway.fail(self._is_it, failure.first)
        if failure.lasting != "once":
            gateway.fail(self._is_later, failure.then, times=1_000)

    def _is_it(self, request: Request) -> bool:
        if not self._is_ours(request):
            return False
        self._left -= 1
        if self._left >= 0:
            return False
        self.met = f"{request.method} {request.path}"
        return True

    def _is_later(self, request: Request) -> bool:
        same = self.met == f"{request.method} {request.path}"
        return self.met is not None and self._is_ours(request) and (same or self._lasting == "for good")

    def _is_ours(self, request: Request) -> bool:
        return request.headers.get("authorization", "").endswith(f" {self._token}")
