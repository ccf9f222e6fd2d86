"""What ``incumbent list`` and ``incumbent show`` print with ``--json``, as models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from bot.curator.entry import Entry, Evicted, Lag
from bot.curator.roles import Roles, derive_roles
from bot.pipeline.review import Platform

State: TypeAlias = Literal["in-set", "waiting", "evicted"]


class RolesOutput(BaseModel):
    """What an entry does in the regression set; nothing of one that is not in it."""

    champion_of: list[str] = Field(description="capabilities of which it is the champion, at or above their bar")
    pin: str | None = Field(description="a person's reason to keep it")
    displaced_by: list[str] = Field(description="entries that displace it and cover all that it covers")

    @staticmethod
    def of(entry: Entry, roles: Roles) -> RolesOutput:
        """The ``roles`` of ``entry``."""
        reasons = [reason.partition(":") for reason in roles.pinned.get(entry.id, ())]
        return RolesOutput(
            champion_of=[name for kind, _, name in reasons if kind == "champion"],
            pin=entry.pin,
            displaced_by=list(roles.displaced.get(entry.id, ())),
        )

    @property
    def keeps(self) -> bool:
        """Whether the entry may not go."""
        return bool(self.champion_of) or self.pin is not None


class ListedOutput(BaseModel):
    """One entry, in short."""

    id: str
    state: State
    customer: str | None = Field(description="null: the entry names no source")
    agent: str | None
    admitted: str = Field(description="when, UTC")
    evicted: str | None = Field(description="when, UTC; null: it was not, or nobody has confirmed it yet")
    roles: RolesOutput
    capabilities: int = Field(ge=0, description="how many it exercises")
    score: float | None = Field(description="cs in the capability that was asked for; null: none was")


class ListOutput(BaseModel):
    """`incumbent list --json`: entries by id."""

    entries: list[ListedOutput]


class CoverageOutput(BaseModel):
    """A capability that an entry exercises."""

    score: float = Field(ge=0, le=1, description="cs, as the entry has it")
    champion: str | None = Field(description="the entry with the highest score in the set")
    others: list[str] = Field(description="other entries of the set that cover it competently, sorted")
    floor: int = Field(description="competent coverers that there should be")


class ShowOutput(BaseModel):
    """`incumbent show --json`: one entry, or the tombstone that it left."""

    state: State
    entry: Entry
    roles: RolesOutput
    capabilities: dict[str, CoverageOutput] = Field(description="by id, the surest first")
    lag: str | None = Field(description="why its scores cannot all be compared; null: they can")
    eviction: Evicted | None = Field(description="null: it was not evicted")
    restore: str | None = Field(description="the command that brings it back; null: it was not evicted")


def list_entries(
    platform: Platform,
    states: frozenset[State],
    customer: str | None = None,
    capability: str | None = None,
    only_pinned: bool = False,
) -> ListOutput:
    """The entries in one of ``states``, of those the ones that all the other arguments are true of."""
    roles = derive_roles(platform.regression_set.residents(platform.taxonomy)[0], platform.config)
    found = []
    for id, (state, entry) in known_entries(platform).items():
        own = RolesOutput.of(entry, roles)
        named = None if entry.source is None else entry.source.customer
        if state not in states or (customer is not None and named != customer) or (only_pinned and not own.keeps):
            continue
        if capability is not None and capability not in entry.scores:
            continue
        tombstone = platform.regression_set.tombstones.get(id)
        found.append(
            ListedOutput(
                id=id,
                state=state,
                customer=named,
                agent=None if entry.source is None else entry.source.agent,
                admitted=entry.admitted.at,
                evicted=None if tombstone is None else tombstone.evicted.at,
                roles=own,
                capabilities=len(entry.scores),
                score=None if capability is None else entry.scores[capability],
            )
        )
    return ListOutput(entries=found)


def known_entries(platform: Platform) -> Mapping[str, tuple[State, Entry]]:
    """All entries by id, sorted, with where they are."""
    known = platform.regression_set
    parts: dict[State, Mapping[str, Entry]] = {
        "in-set": known.entries,
        "waiting": known.waiting,
        "evicted": known.evicted,
    }
    every = {id: (state, entry) for state, entries in parts.items() for id, entry in entries.items()}
    return {id: every[id] for id in sorted(every)}


def show_entry(platform: Platform, id: str) -> ShowOutput:
    """Everything about the entry ``id``, which is known."""
    state, entry = known_entries(platform)[id]
    residents, lags = platform.regression_set.residents(platform.taxonomy)
    _, waiting = platform.regression_set.in_line(platform.taxonomy)
    roles = derive_roles(residents, platform.config)
    tombstone = platform.regression_set.tombstones.get(id)
    return ShowOutput(
        state=state,
        entry=entry,
        roles=RolesOutput.of(entry, roles),
        capabilities={
            name: CoverageOutput(
                score=score,
                champion=roles.champions.get(name),
                others=[other for other in roles.coverers.get(name, ()) if other != id],
                floor=platform.config.redundancy_floor(name),
            )
            for name, score in sorted(entry.scores.items(), key=lambda pair: (-pair[1], pair[0]))
        },
        lag=_lag(id, (*lags, *waiting)),
        eviction=None if tombstone is None else tombstone.evicted,
        restore=None if tombstone is None else tombstone.restore,
    )


def _lag(id: str, lags: tuple[Lag, ...]) -> str | None:
    return next((lag.reason for lag in lags if lag.id == id), None)
