"""How long a run waits for GitHub: PyGithub's retries, bounded by the time of a job."""

from __future__ import annotations

from typing import Any, Final, Self

from github import GithubRetry
from urllib3 import BaseHTTPResponse

JOB_SECONDS: Final = 20 * 60
"""The time after which the shipped workflow ends a job (`timeout-minutes`).  A job cannot look it up; a test does."""
SECONDS: Final = JOB_SECONDS * 2 // 5
"""The most seconds that a run waits in total.

It is not in the config: no verdict depends on it, and it must fit the limit of the workflow.  The other three fifths
are for the work itself, and for a check which says that GitHub asks to wait.
"""


class TooLongError(Exception):
    """GitHub asks to wait for ``seconds``, more than the run has left."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class WaitBudget:
    """The seconds that all requests together may still wait."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._left = seconds

    def spend(self, seconds: float) -> None:
        """Take ``seconds`` from the budget before waiting; raises :class:`TooLongError` if fewer are left."""
        if seconds > self._left:
            raise TooLongError(seconds)
        self._left -= seconds


class PatientRetry(GithubRetry):
    """PyGithub's retries, whose waits share the budget ``patience``."""

    def __init__(self, patience: WaitBudget, **settings: Any) -> None:
        super().__init__(**settings)
        self._patience = patience

    def new(self, **changes: Any) -> Self:
        """The same budget for the next attempt."""
        return super().new(patience=self._patience, **changes)

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        """Wait as GitHub asks, if the budget allows."""
        asked = None if response is None else self.get_retry_after(response)
        self._patience.spend(asked or self.get_backoff_time())
        super().sleep(response)
