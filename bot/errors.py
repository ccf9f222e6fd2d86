"""The one error tree.

Every message says what happened and what to do next; every class has its own exit code, and only
``bot.cli.main`` catches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from bot.secrets import redacted

_LONGEST: Final = 4_000
"""Characters of a message or a fix: enough for any of ours, and to recognise what it quotes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of an input: where it is, what is wrong, and how to mend it.

    ``file`` is a path as the reader named it; ``line`` counts from 1, ``None`` where the fault has none.  ``message``
    and ``fix`` quote foreign text: what looks like a secret there is not repeated, and the middle of a long one is left
    out.
    """

    file: str
    line: int | None
    message: str
    fix: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", _fit_to_show(self.message))
        object.__setattr__(self, "fix", _fit_to_show(self.fix))

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        # Messages quote foreign text, which must not move a cursor or stop the output.
        return f"{_printable(place)}: {_printable(self.message)}\n    fix: {_printable(self.fix)}"

    @property
    def order(self) -> tuple[str, int, str, str]:
        """The reading order of problems: file, line, message, fix."""
        return (self.file, self.line or 0, self.message, self.fix)


def _fit_to_show(text: str) -> str:
    # The first cut is for speed; it leaves whole whatever the second one keeps.
    shown = redacted(_shortened(text, 4 * _LONGEST))
    return _shortened(shown, _LONGEST)


def _shortened(text: str, longest: int) -> str:
    half = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:half]}...{text[-half:]}"


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


class IncumbentError(Exception):
    """What every error of ours derives from.

    ``exit_code`` is what the command line ends with.
    """

    exit_code: ClassVar[int] = 70


class InputError(IncumbentError):
    """The input is at fault; carries *all* its problems, in reading order."""

    exit_code = 1

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems), key=lambda problem: problem.order))
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class UsageError(IncumbentError):
    """The command was called in a way that it cannot follow."""

    exit_code = 2


class IncompleteError(IncumbentError):
    """Some of the work could not be finished: never a silent pass, and not the input's fault."""

    exit_code = 3


class OutsideError(IncumbentError):
    """The outside world (network, model, git) failed after retries."""

    exit_code = 4
