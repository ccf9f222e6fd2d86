"""How long a run waits for GitHub: PyGithub's retries, bounded by the time of a job."""

from __future__ import annotations

from typing import Any, Final, Self

from github import GithubRetry
from urllib3 import BaseHTTPResponse

JOB_SECONDS: Final = 20 * 60
"""After so long the shipped workflow ends a job (`timeout-minutes`); GitHub tells no job so, a test compares them."""
SECONDS: Final = JOB_SECONDS * 2 // 5
"""So long one run waits in all.

No key of the config: nothing is judged by it, and nobody could choose it without their workflow's limit.  The other
three fifths are for the work itself, and for saying in a check that GitHub asks to wait.
"""


class TooLongError(Exception):
    """GitHub asks to wait for so many ``seconds``, which is more than is left."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class WaitBudget:
    """The seconds that are left to wait, of all requests together."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._left = seconds

    def spend(self, seconds: float) -> None:
        """Count ``seconds`` that are about to be waited; raises :class:`TooLongError` where so many are not left."""
        if seconds > self._left:
            raise TooLongError(seconds)
        self._left -= seconds


class PatientRetry(GithubRetry):
    """PyGithub's retries, whose waits come out of one ``patience``."""

    def __init__(self, patience: WaitBudget, **settings: Any) -> None:
        super().__init__(**settings)
        self._patience = patience

    def new(self, **changes: Any) -> Self:
        """The same patience for the next attempt."""
        return super().new(patience=self._patience, **changes)

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        """Wait as GitHub asks, if patience lasts."""
        asked = None if response is None else self.get_retry_after(response)
        self._patience.spend(asked or self.get_backoff_time())
        super().sleep(response)
