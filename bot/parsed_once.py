"""Parsed files, kept for a while: several readers look at each file of a folder, and parsing is what takes long."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import AnyStr, TypeVar

from bot.errors import InputError, Problem
from bot.limits import ReadingLimits

Parsed = TypeVar("Parsed")


def parsed_once(
    parse: Callable[[AnyStr, str, ReadingLimits], Parsed],
) -> Callable[[AnyStr, str, ReadingLimits], Parsed]:
    """``parse``, a pure function of a file's content, its name and the limits, which keeps what came of it.

    Kept are one file of any size and, of those asked for last, as many bytes as a file may have values, so that a
    folder of many large files does not fill the memory.  What is handed out is shared: nobody may change it.
    """
    kept: OrderedDict[tuple[AnyStr, str, ReadingLimits], Parsed | tuple[Problem, ...]] = OrderedDict()
    lock = Lock()

    held = 0

    def make_room(size: int, limits: ReadingLimits) -> None:
        nonlocal held
        with lock:
            # Most files are small: what is largest is asked for only where all together may be too much.
            while held + size > limits.nodes and held + size - max([size, *map(_size, kept)]) > limits.nodes:
                held -= _size(kept.popitem(last=False)[0])

    @wraps(parse)
    def once(content: AnyStr, file: str, limits: ReadingLimits) -> Parsed:
        nonlocal held
        asked = (content, file, limits)
        with lock:
            outcome = kept.pop(asked, None)
            held -= 0 if outcome is None else len(content)
        if outcome is None:
            make_room(len(content), limits)
            try:
                outcome = parse(content, file, limits)
            except InputError as error:
                outcome = error.problems
        with lock:
            held += 0 if asked in kept else len(content)
            kept[asked] = outcome
        if isinstance(outcome, tuple):
            raise InputError(outcome)
        return outcome

    return once


def _size(asked: tuple[AnyStr, str, ReadingLimits]) -> int:
    return len(asked[0])
