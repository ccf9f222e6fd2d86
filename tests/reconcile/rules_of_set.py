"""What the semantics say of a regression set, by the oracle's transcription: nothing is computed by the product."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from incumbent.curator.entry import Entry
from incumbent.rater.similarity import similarity
from incumbent.taxonomy.config import Curation
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
    rests_on: frozenset[str] = frozenset()

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
    options = config.options
    return Knobs(**config.knobs.model_dump(), rule_values=options.rule_values, win_needs_bar=options.win_needs_bar)


def options_of(config: Curation) -> Options:
    """The options as the oracle has them."""
    return Options(
        **config.options.model_dump(exclude={"recency", "rule_values", "win_needs_bar", "flakiness", "doubted_below"})
    )


def item_of(entry: Entry) -> Item:
    """An entry as the oracle has it."""
    return Item(
        id=entry.id,
        turns=entry.turns,
        scores=entry.scores,
        by_rule=frozenset(entry.by_rule or ()),
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
    verdict = reference.turn(query, entries, waiting, knobs_of(config), options_of(config), similarity, unseen)
    return verdict.decision == "EXCLUDE"


def prunable(
    residents: Sequence[Item], open_ids: Collection[str], refused: Collection[Grounds], config: Curation
) -> dict[str, Grounds]:
    """What could go, each with its grounds."""
    found = reference.prune(residents, open_ids, refused, knobs_of(config), options_of(config))
    return {grounds.id: grounds for grounds in found}


def check_safe(residents: Mapping[str, Item], offered: Sequence[Offered], config: Curation) -> None:
    """Any of ``offered`` may be merged after those on which it rests: no floor falls, no combination, pin or champion
    goes.
    """
    knobs, options = knobs_of(config), options_of(config)
    safe = [item for item in offered if not item.departed]
    everyone = {**residents, **{item.admits.id: item.admits for item in safe if item.admits is not None}}
    capabilities = {name for item in residents.values() for name in item.scores}
    coverers = {
        name: {id for id, item in everyone.items() if reference.coverers(name, [item], knobs)} for name in capabilities
    }
    least = {name: min(len(ids & residents.keys()), int(knobs.floor(name))) for name, ids in coverers.items()}
    redundant = {id for item in safe for id, grounds in item.removes.items() if grounds.kind == "redundant"}
    carriers = {
        combination: {id for id, item in everyone.items() if reference.carries(item, combination, knobs, options)}
        for leaving in sorted(redundant)
        for combination in reference.combinations(residents[leaving], knobs, options)
    }
    for size in range(1, len(safe) + 1):
        for chosen in combinations(safe, size):
            coming = {item.admits.id for item in chosen if item.admits is not None}
            if not coming.issuperset(id for item in chosen for id in item.rests_on):
                continue
            gone = {id for item in chosen for id in item.removes}
            left = (residents.keys() - gone) | coming
            for name, ids in coverers.items():
                assert len(ids & left) >= least[name], ("floor", name, sorted(gone))
            for combination, ids in carriers.items():
                assert ids & left or not ids & gone & redundant, ("combination", combination, sorted(gone))
    for item in offered:
        brings = [each.admits for each in offered if each.admits is not None and each.admits.id in item.rests_on]
        brings += [] if item.admits is None else [item.admits]
        known = [*residents.values(), *brings]
        for id in item.removes:
            assert residents[id].pin is None, ("pinned by a person", id)
            if not item.departed:
                assert id not in reference.pinned(known, knobs), ("champion", id)


def check_repack(offered: Offered, residents: Mapping[str, Item], config: Curation, alone: bool) -> None:
    """A repack admits what the rules exclude, and admit once at least two of the ``residents`` have left for it.

    Where it is suggested ``alone``, it removes all that it frees.
    """
    knobs, options, query = knobs_of(config), options_of(config), offered.admits
    assert query is not None
    assert query.id not in residents
    assert len(offered.removes) > 1
    # It is compared with entries that are there: as a query it has no time.
    assert is_excluded(query, residents.values(), (), config, unseen=True)
    left = [item for id, item in residents.items() if id not in offered.removes]
    assert not is_excluded(query, left, (), config, unseen=False)
    if alone:
        assert offered.removes.keys() == set(reference.freed(query, list(residents.values()), (), knobs, options))
