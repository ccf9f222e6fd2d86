"""One thread for small work: threads of a library wait for each other longer than they work on it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Literal

from threadpoolctl import ThreadpoolController


def one_thread(kind: Literal["blas", "openmp"]) -> AbstractContextManager[object]:
    """Holds the libraries of a ``kind`` that are loaded when this is first called to one thread."""
    found: AbstractContextManager[object] = _libraries(kind).limit(limits=1)
    return found


@cache
def _libraries(kind: str) -> ThreadpoolController:
    return ThreadpoolController().select(user_api=kind)
