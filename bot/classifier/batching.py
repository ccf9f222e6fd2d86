"""Batch requests: a command continues in a later run, or waits (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar, runtime_checkable

from bot.classifier.caching_backend import RememberingBackend
from bot.classifier.model import Backend
from bot.errors import IncompleteError

Found = TypeVar("Found")


@runtime_checkable
class Batching(Protocol):
    """A backend that asks in batches."""

    remarks: Mapping[str, None]

    def settle(self, wait: bool, report: Callable[[str], None]) -> bool:
        """Submit what was collected; ``True`` if all must be asked again.

        Raises :class:`IncompleteError` while answers are missing.
        """
        ...


def through_batches(
    backend: Backend, work: Callable[[], Found], wait: bool, report: Callable[[str], None]
) -> tuple[Found, IncompleteError | None]:
    """The result of ``work`` with ``backend``, and why parts are missing: they wait for batches.

    With ``wait`` it is repeated until nothing is missing.  ``report`` receives the state of batches and their problems.
    A backend without batches works once.
    """
    inner = backend.inner if isinstance(backend, RememberingBackend) else backend
    if not isinstance(inner, Batching):
        return work(), None
    pending: IncompleteError | None = None
    again = True
    while again:
        found = work()
        try:
            again = inner.settle(wait, report)
        except IncompleteError as error:
            pending, again = error, False
    for remark in inner.remarks:
        report(remark)
    return found, pending
