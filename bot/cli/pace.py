"""Progress of long work in words: how much is done, the rate and the time left (pure)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 3_600
_FIRST: Final = 1.0
"""Seconds after which a rate is meaningful."""


class Pace:
    """The progress of a step as lines, at most one in ``every`` seconds of ``clock``, except the last."""

    def __init__(self, label: str, every: float, clock: Callable[[], float]) -> None:
        self._label = label
        self._every = every
        self._clock = clock
        self._begun: tuple[float, int] | None = None
        self._shown = 0.0

    def line(self, done: int, total: int) -> str | None:
        """The line to show for this progress, if any; the first call gives what was done before."""
        now = self._clock()
        if self._begun is None:
            self._begun = now, done
        elif now - self._shown < self._every and not 0 < total == done:
            return None
        self._shown = now
        begun, before = self._begun
        return words(self._label, done, total, before, now - begun)


def words(label: str, done: int, total: int, begun: int, seconds: float) -> str:
    """A line such as ``rows read 5,000/20,000 (1,000/s, 15 s left)``.

    ``total`` is 0 if unknown.  The step started ``seconds`` ago with ``begun`` done, which do not count for the rate.
    The rate is left out while it would not be meaningful.
    """
    counted = f"{label} {done:,}/{total:,}" if total else f"{label} {done:,}"
    made = done - begun
    if made <= 0 or seconds < _FIRST:
        return counted
    rate = made / seconds
    shown = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s" if rate >= 1 else f"{rate * _MINUTE:.1f}/min"
    if not total:
        return f"{counted} ({shown})"
    ending = f"{lasting((total - done) / rate)} left" if done < total else f"in {lasting(seconds)}"
    return f"{counted} ({shown}, {ending})"


def lasting(seconds: float) -> str:
    """``seconds`` in one or two units, rounded up, such as ``15 s``, ``4 min`` and ``3 h 20 min``."""
    whole = int(-(-seconds // 1))
    if whole < 2 * _MINUTE:
        return f"{whole} s"
    minutes = -(-whole // _MINUTE)
    return f"{minutes} min" if minutes < 2 * _MINUTE else f"{minutes // 60} h {minutes % 60} min"
