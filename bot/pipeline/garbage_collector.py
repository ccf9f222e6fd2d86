"""How often Python's garbage collector runs: seldom, since most of what is loaded stays until the process ends."""

from __future__ import annotations

import gc
from typing import Final

_NEW_OBJECTS: Final = 200_000
"""The collector runs after so many new objects.  With Python's own number it took a tenth of a command's time."""


def collect_seldom() -> None:
    """Let the collector run seldom in this process."""
    gc.set_threshold(_NEW_OBJECTS)


def set_loaded_aside() -> None:
    """Let the collector pass over all objects that are loaded by now, and run seldom on those that follow.

    Going through what a worker has loaded took a twentieth of the time of classifying.
    """
    gc.collect()
    gc.freeze()
    collect_seldom()
