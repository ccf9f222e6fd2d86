"""What the regression set loses with entries, and whether evictions still rest on what they rested on."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import JsonValue

from incumbent.curator.entry import Entry, Evicted, Tombstone
from incumbent.curator.losses import Coverage, Loss, departure, least_loss, losses, lost_since
from incumbent.curator.prune import prune
from incumbent.curator.roles import EvictionKind
from incumbent.curator.store import RegressionSet
from incumbent.rater.model import RatedEntry
from tests.factories import make_config, make_entry, make_taxonomy, resident

TAXONOMY = make_taxonomy("a", "b", "c")
CONFIG = make_config(redundancy_floor=2)
BEST = make_entry("best", {"a": 0.9, "b": 0.9})
NEXT = make_entry("next", {"a": 0.8, "b": 0.8})
THIRD = make_entry("third", {"a": 0.7, "b": 0.7})
SPARE = make_entry("spare", {"a": 0.6, "b": 0.6})


def make_set(*entries: Entry, gone: tuple[Tombstone, ...] = ()) -> RegressionSet:
    return RegressionSet({item.id: item for item in entries}, {}, {item.id: item for item in gone})


def grave(kind: str | None = "redundant", entry: Entry = SPARE) -> Tombstone:
    grounds: dict[str, JsonValue] | None = None if kind is None else {"kind": kind, "yields_to": [], "digest": "0" * 16}
    evicted = Evicted(reason="as suggested", grounds=grounds)
    return Tombstone(id=entry.id, evicted=evicted, restore=f"incumbent restore {entry.id}", entry=entry)


def test_what_stays_covered_is_no_loss() -> None:
    residents = [resident(id, {"a": 0.9, "b": score}) for id, score in {"d": 0.9, "e": 0.8, "c": 0.1}.items()]
    found = losses({"c"}, residents, CONFIG)
    assert (found.shortages, found.combinations, found.best_of) == ((), (), ())


def test_floors_combinations_and_champions_that_go() -> None:
    others = [resident("x", {"a": 0.8}), resident("y", {"b": 0.9}), resident("z", {"b": 0.9})]
    found = losses({"q"}, [resident("q", {"a": 0.9, "b": 0.7, "c": 0.6}), *others], CONFIG)
    assert found.shortages == (
        Coverage(capability="a", before=2, after=1, floor=2),
        Coverage(capability="c", before=1, after=0, floor=2),
    )
    assert found.combinations == (("a", "b"), ("a", "c"), ("b", "c"))
    assert found.best_of == ("a", "c")


def test_a_departure_spares_what_a_person_pinned() -> None:
    pinned = make_entry("kept", {"c": 0.9}, pin="an audit")
    known = make_set(BEST, NEXT, pinned)
    kinds = dict.fromkeys(("next", "kept", "unknown"), EvictionKind.SOURCE_DELETED)
    found = departure(kinds, known, TAXONOMY, CONFIG)
    assert found is not None
    assert (dict(found.entries), found.pinned) == ({"next": EvictionKind.SOURCE_DELETED}, ("kept",))
    assert [item.capability for item in found.losses.shortages] == ["a", "b"]
    assert departure({"unknown": EvictionKind.SOURCE_DELETED}, known, TAXONOMY, CONFIG) is None


@pytest.mark.parametrize(
    ("entries", "tombstone", "lost"),
    [
        ((BEST, NEXT), grave(), None),
        ((BEST,), grave(), ("shortages",)),
        ((), grave(), ("shortages", "combinations", "best_of")),
        ((THIRD, make_entry("fourth", {"a": 0.5}), make_entry("fifth", {"b": 0.5})), grave(), None),
        (
            (
                make_entry("x", {"a": 0.9}),
                make_entry("y", {"a": 0.9}),
                make_entry("z", {"b": 0.9}),
                make_entry("w", {"b": 0.9}),
            ),
            grave(),
            ("combinations",),
        ),
        ((BEST,), grave("customer-left"), None),
        ((BEST,), grave(None), None),
        ((BEST, SPARE), grave(), None),
    ],
    ids=["holds", "short", "all", "weak ones count", "a pair", "other grounds", "no grounds", "is back"],
)
def test_whether_an_eviction_still_rests_on_its_grounds(
    entries: tuple[Entry, ...], tombstone: Tombstone, lost: tuple[str, ...] | None
) -> None:
    found = lost_since(tombstone, make_set(*entries, gone=(tombstone,)), TAXONOMY, CONFIG)
    assert (found and tuple(name for name in ("shortages", "combinations", "best_of") if getattr(found, name))) == lost


def test_what_was_displaced_may_take_its_combinations_along() -> None:
    first = [make_entry(f"a{copy}", {"a": 0.9}) for copy in "12"]
    second = [make_entry(f"b{copy}", {"b": 0.9}) for copy in "12"]
    known: Any = [*first, *second, make_entry("newcomer", {"a": 0.9, "b": 0.9, "c": 0.9})]
    swapped = known[-1].model_copy(update={"admitted": known[-1].admitted.model_copy(update={"displaces": ("old",)})})
    old = make_entry("old", {"a": 0.6, "b": 0.6})
    assert lost_since(grave("displaced", old), make_set(*known[:-1], swapped), TAXONOMY, CONFIG) is None
    # Where a combination is a whole signature, the newcomer carries another one.
    whole = make_config(CONFIG, novelty="signature")
    assert lost_since(grave("displaced", old), make_set(*known[:-1], swapped), TAXONOMY, whole) is None
    found = lost_since(grave("displaced", old), make_set(*known), TAXONOMY, whole)
    assert found is not None
    assert found.combinations == (("a", "b"),)
    # Without the newcomer nobody carries the pair.
    found = lost_since(grave("displaced", old), make_set(*known[:-1]), TAXONOMY, CONFIG)
    assert found is not None
    assert found.combinations == (("a", "b"),)


def test_of_scores_that_are_comparable_no_more_nobody_knows() -> None:
    stale = SPARE.model_copy(update={"classified": SPARE.classified.model_copy(update={"model": "m0"})})
    assert lost_since(grave(entry=stale), make_set(BEST), TAXONOMY, CONFIG) is None
    # Of others it does not matter.
    other = stale.model_copy(update={"id": "other"})
    found = lost_since(grave(), make_set(BEST, make_entry("c", {"c": 0.9}), other), TAXONOMY, CONFIG)
    assert found is not None
    assert [item.capability for item in found.shortages] == ["a", "b"]


def test_pinned_residents_are_never_named_unless_the_newcomer_beats_them() -> None:
    residents = [
        resident("wide", {"a": 0.9, "b": 0.9}),
        resident("lone", {"c": 0.9}),
        resident("kept", {"a": 0.5}, pin="audit"),
    ]
    config = make_config(redundancy_floor=1)
    assert least_loss([resident("q", {"d": 0.9})], residents, config, 1) == ()
    query = resident("q", {"a": 0.95, "b": 0.95})
    wide = Loss(admit="q", id="wide", capabilities=(), combinations=())
    assert least_loss([query], residents, config, 1) == (wide,)
    assert least_loss([query], [residents[2]], config, 1) == ()


BESTS = [resident("best-a", {"a": 0.95}), resident("best-b", {"b": 0.95})]


@pytest.mark.parametrize(
    ("residents", "stale", "named"),
    [
        ([*BESTS, resident("pair", {"a": 0.5, "b": 0.5}), resident("single", {"a": 0.7, "b": 0.4})], (), "single"),
        ([*BESTS, resident("strong", {"a": 0.7}), resident("weak", {"a": 0.6})], (), "weak"),
        ([*BESTS, resident("two", {"a": 0.6}), resident("one", {"a": 0.6})], (), "one"),
        ([*BESTS, resident("two", {"a": 0.6}), resident("one", {"a": 0.6})], ("one",), "two"),
        (
            [*BESTS, resident("lone", {"c": 0.5}, by_rule=frozenset("c")), resident("wide", {"a": 0.9, "b": 0.9})],
            (),
            "wide",
        ),
        ([*BESTS, resident("lone", {"c": 0.5}, by_rule=frozenset("c"))], (), "lone"),
    ],
    ids=["fewer pairs", "lower scores", "smaller id", "not stale", "no sole coverer", "sole coverers last"],
)
def test_the_least_loss_is_the_smallest_expected_detection(
    residents: list[RatedEntry], stale: tuple[str, ...], named: str
) -> None:
    config = make_config(redundancy_floor=1)
    (loss,) = least_loss([resident("q", {"d": 0.9})], residents, config, 1, stale)
    assert (loss.admit, loss.id) == ("q", named)


@pytest.mark.parametrize(
    ("scores", "more", "expected"),
    [
        ({"a": 0.55}, {}, []),
        ({"a": 0.55}, {"pin": "audit"}, ["spare"]),
        ({"a": 0.95}, {}, ["spare"]),
        ({"a": 0.55, "b": 0.55}, {}, ["spare"]),
        ({"a": 0.55, "c": 0.55}, {}, ["spare"]),
    ],
    ids=["adds nothing", "is pinned", "is the new champion", "brings a capability", "brings a combination"],
)
def test_no_entry_is_named_for_a_query_that_adds_nothing(
    scores: dict[str, float], more: dict[str, Any], expected: list[str]
) -> None:
    """With any of these queries in, `spare` could leave and nothing would be lost: 3 entries cover a, 2 have to."""
    residents = [resident("best", {"a": 0.9}), resident("spare", {"a": 0.6})]
    residents += [resident(f"other{copy}", {"c": 0.9}) for copy in "12"]
    found = least_loss([resident("q", scores, **more)], residents, make_config(redundancy_floor=2), 1)
    assert [(loss.id, loss.capabilities, loss.combinations) for loss in found] == [(id, (), ()) for id in expected]


def test_least_loss_is_of_the_whole_set_without_what_people_refused() -> None:
    residents = [resident("best", {"a": 0.9}), resident("spare", {"a": 0.6}), resident("lone", {"c": 0.7})]
    query, config = resident("q", {"d": 0.9}), make_config(redundancy_floor=1)
    nothing = Loss(admit="q", id="spare", capabilities=(), combinations=())
    assert least_loss([query], residents, config, 1) == (nothing,)
    (suggestion,) = prune(residents, config, 1)
    assert least_loss([query], residents, config, 1, refused={suggestion.grounds.digest}) == ()
