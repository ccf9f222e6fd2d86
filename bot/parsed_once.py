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

    def make_room(size: int, limits: ReadingLimits) -> None:
        with lock:
            sizes = [*(len(content) for content, *_ in kept), size]
            while sum(sizes) - max(sizes) > limits.nodes:
                kept.popitem(last=False)
                del sizes[0]

    @wraps(parse)
    def once(content: AnyStr, file: str, limits: ReadingLimits) -> Parsed:
        asked = (content, file, limits)
        with lock:
            outcome = kept.pop(asked, None)
        if outcome is None:
            make_room(len(content), limits)
            try:
                outcome = parse(content, file, limits)
            except InputError as error:
                outcome = error.problems
        with lock:
            kept[asked] = outcome
        if isinstance(outcome, tuple):
            raise InputError(outcome)
        return outcome

    return once
