"""What set-ups need that is not there yet: tenants, connectors and fixtures (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from incumbent.intake.query import Setup

ProvisionKind: TypeAlias = Literal["tenant", "connector", "fixture"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """A mock tenant, a mocked connector or a fixture, and the queries or entries that need it."""

    kind: ProvisionKind
    name: str
    needed_by: tuple[str, ...]


def to_provision(needed: Mapping[str, Setup], known: Iterable[Setup]) -> tuple[Provision, ...]:
    """What the set-ups ``needed``, by query or entry, name and none of those ``known`` does; tenants come first."""
    there = {part for setup in known for part in _parts(setup)}
    users: dict[ProvisionKind, dict[str, dict[str, None]]] = {"tenant": {}, "connector": {}, "fixture": {}}
    for id, setup in needed.items():
        for kind, name in _parts(setup):
            if (kind, name) not in there:
                users[kind].setdefault(name, {})[id] = None
    return tuple(
        Provision(kind=kind, name=name, needed_by=tuple(ids))
        for kind, names in users.items()
        for name, ids in names.items()
    )


def _parts(setup: Setup) -> Iterator[tuple[ProvisionKind, str]]:
    if setup.tenant is not None:
        yield "tenant", setup.tenant
    for name in setup.connectors:
        yield "connector", name
    for name in setup.fixtures:
        yield "fixture", name
