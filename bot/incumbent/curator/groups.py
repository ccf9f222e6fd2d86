"""Groups of suggested evictions: what a person can decide in one pull request (pure).

Any subset of safe evictions is safe (semantics, section 7), so a group may hold any of them; who reads it is helped
where its entries share their grounds.  Entries of open pull requests stay where they are, so that a newcomer disturbs
no review.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from incumbent.curator.prune import Suggestion
from incumbent.curator.roles import EvictionKind

_SLUG_LENGTH = 60
_SAFE = frozenset({EvictionKind.DISPLACED, EvictionKind.REDUNDANT})


class Basis(StrEnum):
    """What the entries of a group share, closest first."""

    DISPLACER = "displacer"
    CUSTOMER = "customer"
    CAPABILITY = "capability"
    MIXED = "mixed"
    """Nothing but that each may go."""
    SOURCE_DELETED = "deleted"
    """Their queries are in no eval set any more; the customer is the same."""
    CUSTOMER_LEFT = "left"
    """Their customer has no eval set any more."""
    DEPARTED = "departed"
    """Each lost its source; the customers differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What the entries of a group share: ``name`` is the entry, customer or capability as a slug, if there is one."""

    basis: Basis
    name: str = ""

    def __str__(self) -> str:
        return f"{self.basis}-{self.name}" if self.name else str(self.basis)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGroup:
    """A group that is open on GitHub: its branch is named ``name``, and it suggests what has the digests ``members``.

    ``joinable``: it may get more entries, since no one has begun to review it.
    """

    name: str
    members: frozenset[str]
    joinable: bool

    def is_on(self, shared: Shared) -> bool:
        """Whether its entries share what ``shared`` says."""
        return self.name.rpartition("-")[0] == str(shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionGroup:
    """Suggestions that are decided together; one alone has no ``name``."""

    name: str | None
    members: tuple[Suggestion, ...]


def group(
    suggestions: Sequence[Suggestion],
    customers: Mapping[str, str],
    size: int,
    most: int,
    groups: Sequence[OpenGroup] = (),
    alone: Collection[str] = (),
) -> tuple[SuggestionGroup, ...]:
    """Each of the ``suggestions`` in exactly one group, in the order of their most urgent members.

    ``customers`` maps entries to who brought them.  A group has at most ``size`` entries.  At most ``most`` pull
    requests should be open: as long as each suggestion can have its own, each has.  ``groups`` are open, and keep their
    members; ``alone`` are digests of suggestions with an open pull request of their own.  What someone asked for is
    never grouped.
    """
    by_digest = {item.grounds.digest: item for item in suggestions}
    kept: dict[str, list[Suggestion]] = {}
    taken = {digest for digest in alone if digest in by_digest}
    for known in groups:
        mine = [digest for digest in by_digest if digest in known.members and digest not in taken]
        taken.update(mine)
        if mine:
            kept[known.name] = [by_digest[digest] for digest in mine]
    single = [by_digest[digest] for digest in by_digest if digest in alone]
    rest = [item for digest, item in by_digest.items() if digest not in taken]
    single += [item for item in rest if item.grounds.kind is EvictionKind.UNDONE]
    rest = [item for item in rest if item.grounds.kind is not EvictionKind.UNDONE]
    found: list[SuggestionGroup] = []
    if size > 1 and len(kept) + len(single) + len(rest) > most:
        joinable = [known for known in groups if known.joinable and known.name in kept]
        rest = _joined(rest, joinable, kept, customers, size)
        least = min(size, math.ceil(len(by_digest) / max(most, 1)))
        found += _formed(rest, customers, least, size)
        rest = []
    found += [SuggestionGroup(name=name, members=tuple(members)) for name, members in kept.items()]
    found += [SuggestionGroup(name=None, members=(item,)) for item in (*single, *rest)]
    order = {digest: place for place, digest in enumerate(by_digest)}

    def place(item: Suggestion) -> int:
        return order[item.grounds.digest]

    found = [replace(each, members=tuple(sorted(each.members, key=place))) for each in found]
    return tuple(sorted(found, key=lambda each: place(each.members[0])))


def shared_by(item: Suggestion, customers: Mapping[str, str]) -> tuple[Shared, ...]:
    """What ``item`` may share with others, closest first; what is not safe in any order is never among what is."""
    customer = customers.get(item.id)
    named = "" if customer is None else _slug(customer)
    kind = item.grounds.kind
    if kind not in _SAFE:
        basis = Basis.CUSTOMER_LEFT if kind is EvictionKind.CUSTOMER_LEFT else Basis.SOURCE_DELETED
        return (*([Shared(basis=basis, name=named)] if named else []), Shared(basis=Basis.DEPARTED))
    displacers = [Shared(basis=Basis.DISPLACER, name=_slug(id)) for id in item.grounds.yields_to[:1]]
    mine = [Shared(basis=Basis.CUSTOMER, name=named)] if named else []
    covered = [Shared(basis=Basis.CAPABILITY, name=_slug(name)) for name in sorted(item.remaining)[:1]]
    return (*displacers, *mine, *covered, Shared(basis=Basis.MIXED))


def _joined(
    rest: Sequence[Suggestion],
    groups: Sequence[OpenGroup],
    kept: Mapping[str, list[Suggestion]],
    customers: Mapping[str, str],
    size: int,
) -> list[Suggestion]:
    """Let those of ``rest`` join ``groups`` on what they share, as long as there is room; those that are left."""
    left = []
    for item in rest:
        fitting = (
            known
            for shared in shared_by(item, customers)
            for known in groups
            if known.is_on(shared) and len(kept[known.name]) < size
        )
        known = next(fitting, None)
        if known is None:
            left.append(item)
        else:
            kept[known.name].append(item)
    return left


def _formed(
    rest: Sequence[Suggestion], customers: Mapping[str, str], least: int, size: int
) -> Iterator[SuggestionGroup]:
    """New groups of ``least`` to ``size`` entries on what is closest; what is left over shares what is less close."""
    levels = (
        (Basis.DISPLACER,),
        (Basis.CUSTOMER, Basis.SOURCE_DELETED, Basis.CUSTOMER_LEFT),
        (Basis.CAPABILITY,),
        (Basis.MIXED, Basis.DEPARTED),
    )
    left = {item.grounds.digest: item for item in rest}
    for level in levels:
        sets: dict[Shared, list[Suggestion]] = {}
        for item in left.values():
            for shared in shared_by(item, customers):
                if shared.basis in level:
                    sets.setdefault(shared, []).append(item)
        enough = 1 if level == levels[-1] else least
        for shared, members in sets.items():
            for begin in range(0, len(members), size):
                part = members[begin : begin + size]
                if len(part) >= enough:
                    yield _new(shared, part)
                    for item in part:
                        del left[item.grounds.digest]


def _new(shared: Shared, members: Sequence[Suggestion]) -> SuggestionGroup:
    """The group is named after its first member too: what people closed once is not what is suggested later."""
    name = f"{shared}-{members[0].grounds.digest}" if len(members) > 1 else None
    return SuggestionGroup(name=name, members=tuple(members))


def _slug(text: str) -> str:
    """``text`` as a part of a branch's name; a hash stands for what does not fit in one."""
    folded = text.casefold()
    slug = re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9.]+", "-", folded))[:_SLUG_LENGTH].strip("-.")
    return slug if slug == folded else f"{slug}-{hashlib.sha256(folded.encode()).hexdigest()[:8]}".lstrip("-")
