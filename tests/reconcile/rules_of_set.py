"""What the semantics say of a regression set, by the oracle's transcription: nothing is computed by the product."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from bot.config import Curation
from bot.curator.entry import Entry
from bot.rater.similarity import similarity
from tests.oracle import reference
from tests.oracle.values import Grounds, Item, Knobs, Options
from tests.reconcile.runs import scores_of


@dataclass(frozen=True)
class Offered:
    """What an open suggestion does: entries that go, with their kinds and whom they yield to, and one that comes."""

    number: int
    removes: Mapping[str, Grounds]
    texts: Mapping[str, tuple[str, ...]]
    admits: Item | None

    @property
    def departed(self) -> bool:
        """Whether the query has gone, so that a person weighs what is lost."""
        return any(grounds.kind in ("source-deleted", "customer-left") for grounds in self.removes.values())

    @property
    def each(self) -> list[tuple[object, ...]]:
        """The same as ``grounds``, of each entry that goes."""
        return [(id, self.texts[id], repr(self.removes[id])) for id in self.removes]

    def of(self, id: str) -> Offered:
        """What it does to the entry ``id``."""
        return Offered(self.number, {id: self.removes[id]}, {id: self.texts[id]}, None)

    @property
    def grounds(self) -> object:
        """What a refusal of it holds by."""
        coming = None if self.admits is None else (self.admits.id, self.admits.turns)
        return tuple(sorted(self.texts.items())), tuple(sorted(map(repr, self.removes.values()))), coming


def knobs_of(config: Curation) -> Knobs:
    """The knobs as the oracle has them."""
    return Knobs(**config.knobs.model_dump())


def options_of(config: Curation) -> Options:
    """The options as the oracle has them."""
    return Options(**config.options.model_dump(exclude={"recency"}))


def item_of(entry: Entry) -> Item:
    """An entry as the oracle has it."""
    return Item(
        id=entry.id,
        turns=entry.turns,
        scores=entry.scores,
        admitted_at=entry.admitted.at,
        pin=entry.pin,
        displaces=entry.admitted.displaces,
        setup_cost=entry.setup.cost,
    )


def query_item(id: str, text: str) -> Item:
    """A query as the oracle has it."""
    return Item(id=id, turns=(text,), scores=scores_of(text))


def is_excluded(
    query: Item, residents: Iterable[Item], waiting: Sequence[Item], config: Curation, unseen: bool
) -> bool:
    """Whether the rules keep ``query`` out of a set of ``residents`` while ``waiting`` queries need a person.

    So does one that is ``unseen``, whatever its verdict: it waits behind those that offer as much.
    """
    entries = reference.in_admission_order(list(residents))
    known = reference.facts(query, entries, knobs_of(config), options_of(config), similarity, waiting)
    verdict = reference.turn(query, entries, waiting, knobs_of(config), options_of(config), similarity)
    return verdict.decision == "EXCLUDE" or (unseen and bool(known.met_by) and not known.wins)


def prunable(
    residents: Sequence[Item], open_ids: Collection[str], refused: Collection[Grounds], config: Curation
) -> dict[str, Grounds]:
    """What could go, each with its grounds."""
    found = reference.prune(residents, open_ids, refused, knobs_of(config), options_of(config))
    return {grounds.id: grounds for grounds in found}


def check_floors(residents: Mapping[str, Item], offered: Sequence[Offered], config: Curation) -> None:
    """Any of ``offered`` may be merged, in any order: no floor falls, and neither pin nor champion goes."""
    knobs = knobs_of(config)
    capabilities = {name for item in residents.values() for name in item.scores}
    before = {name: reference.coverers(name, list(residents.values()), knobs) for name in capabilities}
    safe = [item for item in offered if not item.departed]
    for size in range(1, len(safe) + 1):
        for chosen in combinations(safe, size):
            gone = {id for item in chosen for id in item.removes}
            coming = [item.admits for item in chosen if item.admits is not None]
            left = [item for id, item in residents.items() if id not in gone] + coming
            for name in capabilities:
                least = min(before[name], int(knobs.floor(name)))
                assert reference.coverers(name, left, knobs) >= least, ("floor", name, sorted(gone))
    for item in offered:
        coming = [] if item.admits is None else [item.admits]
        known = [*residents.values(), *coming]
        for id in item.removes:
            assert residents[id].pin is None, ("pinned by a person", id)
            if not item.departed:
                assert id not in reference.pinned(known, knobs), ("champion", id)
