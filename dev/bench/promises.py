"""Promises of speed: the ratio of what two things cost in processor time, and whether it keeps its bound.

Other work on the machine only adds to what is measured.  So the least cost of each side is compared, of rounds in which
both ran in turn, and a ratio above its bound is measured further before it counts as broken.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from functools import partial
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Final

ROUNDS: Final = 3
MOST_ROUNDS: Final = 15
"""The rounds of a ratio that stays above its bound."""


def compared(what: str, bound: float, ours: Callable[[], object], yardstick: Callable[[], object]) -> bool:
    """Whether ``ours`` takes at most ``bound`` times the processor seconds of ``yardstick``; prints the ratio."""
    return measured(what, bound, partial(_seconds, ours), partial(_seconds, yardstick))


def measured(what: str, bound: float, ours: Callable[[], float], yardstick: Callable[[], float]) -> bool:
    """:func:`compared` of what measures itself: both return their seconds."""
    mine = theirs = math.inf
    rounds = 0
    while rounds < ROUNDS or (mine > bound * theirs and rounds < MOST_ROUNDS):
        mine, theirs = min(mine, ours()), min(theirs, yardstick())
        rounds += 1
    kept = mine <= bound * theirs
    print(f"{'kept  ' if kept else 'BROKEN'}  {mine / theirs:5.2f} (at most {bound})  {what}", flush=True)
    return kept


def _seconds(work: Callable[[], object]) -> float:
    """The processor seconds that ``work`` takes, those of the processes that it waits for included."""
    gc.collect()
    before = _used()
    work()
    return _used() - before


def _used() -> float:
    """The processor seconds so far, to the microsecond (``os.times`` counts hundredths)."""
    each = (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)
