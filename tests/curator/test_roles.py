"""Roles on sets small enough to work out by hand (semantics, section 7)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.curator.losses import losses
from bot.curator.prune import SafeRemovals, prune
from bot.curator.roles import derive_roles
from tests.curator.test_properties import kept_as_champions
from tests.curator.test_prune import BEST, suggested
from tests.factories import make_config, resident


def test_champions_at_the_bar_and_what_people_pin_are_pinned() -> None:
    roles = derive_roles(
        [resident("r1", {"a": 0.5}), resident("r2", {"a": 0.4, "b": 0.4}), resident("r3", {"b": 0.1}, pin="audit")],
        make_config(competence_bar=0.5),
    )
    assert roles.pinned == {"r1": ("champion:a",), "r3": ("person:audit",)}
    assert roles.champions == {"a": "r1", "b": "r2"}
    assert roles.coverers == {"a": ("r1",), "b": ()}


@pytest.mark.parametrize(
    ("flaps", "kept", "pinned"),
    [
        ((), {"a": "best", "b": "best"}, {"best": ("champion:a", "champion:b")}),
        (("best",), {"a": "second", "b": "weak"}, {"second": ("champion:a",)}),
        (("best", "second"), {"a": "third", "b": "weak"}, {"third": ("champion:a",)}),
        (("second",), {"a": "best", "b": "best"}, {"best": ("champion:a", "champion:b")}),
        (("best", "second", "third"), {"b": "weak"}, {}),
        (("best", "second", "third", "weak"), {}, {}),
    ],
)
def test_the_best_that_does_not_flap_is_kept_in_place_of_the_champion(
    flaps: tuple[str, ...], kept: dict[str, str], pinned: dict[str, tuple[str, ...]]
) -> None:
    residents = [
        resident("best", {"a": 0.9, "b": 0.9}),
        resident("second", {"a": 0.8}),
        resident("third", {"a": 0.7}),
        resident("weak", {"b": 0.3}),
    ]
    residents = [replace(item, flaps=item.id in flaps) for item in residents]
    roles = derive_roles(residents, make_config())
    assert kept_as_champions(residents, make_config()) == kept
    assert roles.champions == {"a": "best", "b": "best"}, "the champion is who queries have to beat"
    assert roles.pinned == pinned
    assert roles.coverers == {"a": ("best", "second", "third"), "b": ("best",)}


@pytest.mark.parametrize(
    ("flaps", "suggested_now", "freed_now"),
    [
        ((), ["second"], set()),
        (("best",), ["best"], {"second"}),
        (("best", "new"), ["best"], set()),
    ],
)
def test_a_champion_that_flaps_may_go_and_a_newcomer_has_to_beat_the_one_in_its_place(
    flaps: tuple[str, ...], suggested_now: list[str], freed_now: set[str]
) -> None:
    best, second, new = resident("best", {"a": 0.9}), resident("second", {"a": 0.8}), resident("new", {"a": 0.85})
    best, new = replace(best, flaps="best" in flaps), replace(new, flaps="new" in flaps)
    config = make_config(redundancy_floor=1)
    removals = SafeRemovals([best, second], config, 1, names=new.scores)
    removals.choose()
    assert [*removals.chosen] == suggested_now
    assert removals.freed(removals.arriving(new)).keys() == freed_now
    assert losses({"best"}, [best, second], config).best_of == (() if best.flaps else ("a",))


def test_displaced_means_named_by_a_resident_that_still_covers_all() -> None:
    roles = derive_roles(
        [
            resident("new", {"a": 0.9}, displaces=("old", "wide", "gone", "new")),
            resident("old", {"a": 0.6}),
            resident("wide", {"a": 0.6, "b": 0.6}),
        ],
        make_config(),
    )
    assert roles.displaced == {"old": ("new",)}


def test_a_refusal_holds_until_its_grounds_change() -> None:
    spare = resident("spare", {"a": 0.6})
    (suggestion,) = prune([*BEST, spare], make_config(), 1)
    refused = {suggestion.grounds.digest}
    assert suggested([*BEST, spare], refused=refused) == []
    newcomers = [resident(f"new{n}", {"a": 0.7, "b": 0.7, "c": 0.5 + n / 100}) for n in range(10)]
    assert "spare" not in suggested([*BEST, spare, *newcomers], refused=refused)
    displacer = resident("winner", {"a": 0.95}, displaces=("spare",))
    assert "spare" in suggested([*BEST, spare, displacer], refused=refused)
    assert [item.id for item in prune([*BEST, spare], make_config(), 2, refused=refused)] == ["spare"]
    edited = resident("spare", {"a": 0.6}, "another text")
    assert suggested([*BEST, edited], refused=refused) == ["spare"]
