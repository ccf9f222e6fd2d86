"""What entries cost: the customer's figure, until a curator corrects it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.curator.costs import CorrectedCost, total
from bot.curator.store import RegressionSet
from bot.curator.suggestions import suggest
from bot.intake.query import MOST_COST, SETUP_FILE, Setup
from bot.text.compare import text_key
from tests.factories import make_config, make_entry, make_taxonomy

AT = "2026-11-01T10:00:00Z"
TEXT = "Which trains go to Ulm?"
TAXONOMY = make_taxonomy("a", "b")


def corrected(text: str, cost: float) -> dict[str, CorrectedCost]:
    """The cost that a curator gave ``text``."""
    return {text_key([text]): CorrectedCost(value=cost, by="Cora", at=AT)}


@pytest.mark.parametrize(
    ("costs", "turns", "own", "counts"),
    [
        ({}, (TEXT,), 2.0, 2.0),
        (corrected(TEXT, 7), (TEXT,), 2.0, 7.0),
        (corrected(TEXT, 0), (TEXT,), 2.0, 0.0),
        # Whatever the eval set says later of the same text; case and white space aside.
        (corrected(TEXT, 7), ("which trains  go to ulm?",), 9.0, 7.0),
        # Another text is another query.
        (corrected(TEXT, 7), ("Which trains go to Bern?",), 2.0, 2.0),
        (corrected(TEXT, 7), (TEXT, "And back?"), 2.0, 2.0),
    ],
)
def test_a_corrected_cost_counts_for_its_text_alone(
    costs: dict[str, CorrectedCost], turns: tuple[str, ...], own: float, counts: float
) -> None:
    entry = make_entry("e", {"a": 0.9}, turns=turns, setup=Setup(cost=own, tenant="t"))
    known = RegressionSet({"e": entry}, {"w": entry.model_copy(update={"id": "w"})}, {}, costs)
    assert known.cost_of(turns, entry.setup) == counts
    assert known.cost == counts
    (resident,), _ = known.residents(TAXONOMY)
    (waiting,), _ = known.in_line(TAXONOMY)
    assert (resident.setup_cost, waiting.setup_cost) == (counts, counts)
    # The entry's own file keeps the customer's figure.
    assert known.entries["e"].setup.cost == own


def test_of_two_that_could_go_the_dearer_by_a_curators_figure_goes() -> None:
    twins = [make_entry(id, {"a": 0.6}, text=id * 9, setup=Setup(cost=2.0)) for id in ("left", "right")]
    best = [make_entry(f"best{place}", {"a": 0.9}, text=f"best {place}") for place in "12"]
    entries = {item.id: item for item in (*twins, *best)}

    def gone(costs: dict[str, CorrectedCost]) -> str:
        return suggest(RegressionSet(entries, {}, {}, costs), TAXONOMY, make_config(redundancy_floor=3)).evictions[0].id

    assert gone({}) == "left"
    assert gone(corrected("right" * 9, 3)) == "right"
    assert gone(corrected("left" * 9, 1)) == "right"


def test_what_waits_frees_the_dearer_by_a_curators_figure() -> None:
    """A query that is dearer than what it would replace would be suggested itself, and so frees nobody."""
    costs = {"best1": 0.5, "best2": 0.5, "old": 2.0, "new": 1.0}
    entries = {
        id: make_entry(id, {"a": 0.9 if "best" in id else 0.6}, text=f"{id} words", setup=Setup(cost=cost))
        for id, cost in costs.items()
    }
    new = entries.pop("new")
    new = new.model_copy(update={"admitted": new.admitted.model_copy(update={"by": "Cora"})})
    config = make_config(ceiling=3, redundancy_floor=3)

    def swaps(corrections: dict[str, CorrectedCost]) -> list[tuple[str, ...]]:
        found = suggest(RegressionSet(entries, {"new": new}, {}, corrections), TAXONOMY, config)
        return [item.swap.remove for item in found.swaps]

    assert swaps({}) == [("old",)]
    assert swaps(corrected("new words", 5)) == []
    assert swaps(corrected("best2 words", 5)) == [("best2",)]


@given(st.lists(st.floats(0, MOST_COST), max_size=6))
def test_a_total_is_finite_and_the_same_in_any_order(costs: list[float]) -> None:
    totals = {total(order) for order in itertools.islice(itertools.permutations(costs), 24)}
    assert len(totals) == 1
    assert 0 <= min(totals) <= len(costs) * MOST_COST


@pytest.mark.parametrize("cost", [-1, MOST_COST * 2, float("inf"), float("nan")])
def test_no_cost_is_beyond_reason(cost: Any) -> None:
    with pytest.raises(ValidationError):
        SETUP_FILE.validate_python({"cost": cost})
    with pytest.raises(ValidationError):
        CorrectedCost(value=cost, at=AT)
