"""Backends around another one: what is known is not asked again, and batches are answered in a later run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from incumbent.classifier.model import Backend, Finding, Findings, Identity, InferenceRequest
from incumbent.classifier.usage import Usage
from incumbent.errors import IncompleteError, IncumbentError
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.digests import digest

if TYPE_CHECKING:
    from incumbent.classifier.language_model.abilities import KeptAbilities, RememberedAbilities


class FindingsStore(Protocol):
    """A store of findings."""

    def get(self, key: str) -> Findings:
        """The findings under ``key``; empty if there are none."""
        ...

    def put(self, key: str, findings: Findings) -> None:
        """Save ``findings`` under ``key``."""
        ...


class FindingsInMemory:
    """Findings ``known`` to this run, on top of another store."""

    def __init__(self, known: Mapping[str, Findings], beneath: FindingsStore | None = None) -> None:
        self._known = dict(known)
        self._beneath = beneath

    def get(self, key: str) -> Findings:
        """The findings of the other store, and of this run."""
        known = self._known.get(key, Findings())
        return known if self._beneath is None else self._beneath.get(key) | known

    def put(self, key: str, findings: Findings) -> None:
        """Save ``findings`` here and in the other store."""
        self._known[key] = findings
        if self._beneath is not None:
            self._beneath.put(key, findings)


def findings_key(turns: Sequence[str], identity: Identity, conditions: str) -> str:
    """The key of findings on ``turns``.

    ``conditions`` are further dependencies: scores are comparable under one identity, but after a change of an endpoint
    or its settings the new answers are wanted.
    """
    classifier = [identity.backend, identity.model, identity.prompt, identity.samples, conditions]
    return digest([list(turns), classifier])


@dataclass(frozen=True, slots=True)
class HaltedBackend:
    """Replaces a backend that has ``stopped``: it sends no more requests."""

    identity: Identity
    usage: Usage | None
    stopped: IncumbentError

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        """Raises what stopped the backend, if there is anything to ask."""
        if requests:
            raise self.stopped
        yield from ()


@dataclass(frozen=True)
class RememberingBackend:
    """``inner`` with a memory: each finding is saved to ``store`` as soon as it is made.

    ``conditions`` digests what its findings depend on besides its identity; ``memory`` keeps the abilities of its
    endpoint.  Only for a backend whose judgement of a capability depends on the description of that capability alone.
    """

    inner: Backend
    taxonomy: Taxonomy
    store: FindingsStore
    conditions: str = ""
    memory: RememberedAbilities | None = None

    @property
    def identity(self) -> Identity:
        """The identity of the inner backend."""
        return self.inner.identity

    @property
    def usage(self) -> Usage | None:
        """The cost of the inner backend."""
        return self.inner.usage

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        """Known findings first, then those that must be asked; a text that occurs twice is asked once."""
        identity = self.identity
        keys = [findings_key(request.turns, identity, self.conditions) for request in requests]
        asked: list[int] = []
        twins: defaultdict[int, list[int]] = defaultdict(list)
        leaders: dict[object, int] = {}
        unknown: list[InferenceRequest] = []
        for place, request in enumerate(requests):
            known = self.store.get(keys[place])
            missing = known.missing(request, self.taxonomy)
            if missing is None:
                yield place, known.finding(request, self.taxonomy)
                continue
            leader = leaders.setdefault((keys[place], missing.capabilities, missing.tools), place)
            if leader == place:
                asked.append(place)
                unknown.append(missing)
            else:
                twins[leader].append(place)
        for number, finding in self.inner.infer(unknown):
            place = asked[number]
            kept = self.store.get(keys[place])
            if finding.shortfall is None:
                kept = kept.with_finding(unknown[number], finding, self.taxonomy)
                self.store.put(keys[place], kept)
            for same in (place, *twins[place]):
                yield same, finding if finding.shortfall is not None else kept.finding(requests[same], self.taxonomy)


def knowing(backend: Backend, known: Mapping[str, Findings]) -> Backend:
    """``backend`` with findings ``known`` from elsewhere, if it has a memory."""
    if isinstance(backend, RememberingBackend):
        return replace(backend, store=FindingsInMemory(known, backend.store))
    return backend


def conditions_of(backend: Backend) -> str:
    """What the findings of ``backend`` depend on besides its identity; empty if it has no memory."""
    return backend.conditions if isinstance(backend, RememberingBackend) else ""


def known_by(backend: Backend, turns: Sequence[str]) -> dict[str, Findings]:
    """All that ``backend`` knows about a query, under its key; empty if it has no memory."""
    if isinstance(backend, RememberingBackend):
        key = findings_key(turns, backend.identity, backend.conditions)
        return {key: backend.store.get(key)}
    return {}


def recall(backend: Backend, known: Mapping[str, KeptAbilities]) -> Backend:
    """``backend`` with the ``known`` abilities of its endpoint, by key, so that it need not probe; unchanged without an
    endpoint.
    """
    if isinstance(backend, RememberingBackend) and backend.memory is not None:
        backend.memory.recall(known)
    return backend


def learnt_by(backends: Iterable[Backend]) -> dict[str, KeptAbilities | None]:
    """The abilities of endpoints that ``backends`` found, by key; ``None`` for known ones that turned out
    to be wrong.
    """
    learnt: dict[str, KeptAbilities | None] = {}
    for backend in backends:
        if isinstance(backend, RememberingBackend) and backend.memory is not None:
            for key, found in backend.memory.learnt.items():
                learnt[key] = found or learnt.get(key)
    return learnt


def halt(backend: Backend, stopped: IncumbentError) -> Backend:
    """``backend`` after it has ``stopped``: known findings still count, and no more requests are sent."""
    halted = HaltedBackend(backend.identity, backend.usage, stopped)
    return replace(backend, inner=halted) if isinstance(backend, RememberingBackend) else halted


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


def batching(backend: Backend) -> Batching | None:
    """``backend``, or the one that it remembers for, if that asks in batches, whose answers come later."""
    inner = backend.inner if isinstance(backend, RememberingBackend) else backend
    return inner if isinstance(inner, Batching) else None


def through_batches(
    backend: Backend, work: Callable[[], Found], wait: bool, report: Callable[[str], None]
) -> tuple[Found, IncompleteError | None]:
    """The result of ``work`` with ``backend``, and why parts are missing: they wait for batches.

    With ``wait`` it is repeated until nothing is missing.  ``report`` receives the state of batches and their problems.
    A backend without batches works once.
    """
    inner = batching(backend)
    if inner is None:
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
