"""What a runner says of one test case in one run, whatever its file format."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """How a case ended: the agent passed or failed, the runner could not tell (``error``), or it did not run."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The result of one run of one case.  A case that ran several times has several.

    ``entry`` is the id of the entry as our exports carry it, and ``turns`` are what was asked; either may be unknown.
    ``seconds`` and ``cost`` (in the currency of the runner, never converted) are from 0.  ``line`` is where it is in
    the file, from 1, if the format has lines.
    """

    outcome: Outcome
    entry: str | None = None
    turns: tuple[str, ...] = ()
    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None
    line: int | None = None
