"""Roles on sets small enough to work out by hand (semantics, section 7)."""

from __future__ import annotations

import pytest

from incumbent.curator.prune import prune
from incumbent.curator.roles import derive_roles
from tests.curator.test_prune import BEST, suggested
from tests.factories import make_config, resident


def test_champions_at_the_bar_and_what_people_pin_are_pinned() -> None:
    roles = derive_roles(
        [resident("r1", {"a": 0.5}), resident("r2", {"a": 0.4, "b": 0.4}), resident("r3", {"b": 0.1}, pin="audit")],
        make_config(competence_bar=0.5, win_needs_bar=False),
    )
    assert roles.pinned == {"r1": ("champion:a",), "r3": ("person:audit",)}
    assert roles.champions == {"a": "r1", "b": "r2"}
    assert roles.coverers == {"a": ("r1",), "b": ()}


def test_what_a_rule_decides_makes_no_champion_unless_it_is_scored() -> None:
    residents = [resident("ruled", {"a": 1.0}, by_rule=frozenset("a")), resident("tested", {"a": 0.6, "b": 0.4})]
    assert derive_roles(residents, make_config()).champions == {"a": "tested"}
    assert derive_roles(residents, make_config(rule_values="scored")).champions == {"a": "ruled"}
    assert derive_roles(residents, make_config()).coverers["a"] == ("ruled", "tested")


@pytest.mark.parametrize(("novelty", "displaced"), [("signature", {"old": ("new",)}), (1, {}), (2, {}), (3, {})])
def test_displaced_means_named_by_a_resident_that_still_covers_all(
    novelty: str | int, displaced: dict[str, tuple[str, ...]]
) -> None:
    residents = [
        resident("new", {"a": 0.9}, displaces=("old", "wide", "gone", "new")),
        resident("old", {"a": 0.6}),
        resident("wide", {"a": 0.6, "b": 0.6}),
    ]
    assert derive_roles(residents, make_config(novelty=novelty)).displaced == displaced


def test_a_refusal_holds_until_its_grounds_change() -> None:
    spare = resident("spare", {"a": 0.6})
    (suggestion,) = prune([*BEST, spare], make_config(), 1)
    refused = {suggestion.grounds.digest}
    assert suggested([*BEST, spare], refused=refused) == []
    newcomers = [resident(f"new{n}", {"a": 0.7, "b": 0.7, "c": 0.5 + n / 100}) for n in range(10)]
    assert "spare" not in suggested([*BEST, spare, *newcomers], refused=refused)
    displacer = resident("winner", {"a": 0.95}, displaces=("spare",))
    assert "spare" not in suggested([*BEST, spare, displacer], refused=refused)
    assert "spare" in suggested([*BEST, spare, displacer], refused=refused, novelty="signature")
    assert [item.id for item in prune([*BEST, spare], make_config(), 2, refused=refused)] == ["spare"]
    edited = resident("spare", {"a": 0.6}, "another text")
    assert suggested([*BEST, edited], refused=refused) == ["spare"]
