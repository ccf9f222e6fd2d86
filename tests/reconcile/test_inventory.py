"""The facts of the default branch: told apart by name, and checked against the taxonomy of now."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from incumbent.ledger.model import ReconciledFolder
from tests.github.scenes import make_query
from tests.reconcile.merges import commit, facts, make_inventory

Q1, Q2 = make_query("q1", {"a": 0.9}), make_query("q2", {"a": 0.9})


def test_queries_and_agents_of_one_name_cannot_be_told_apart() -> None:
    message = "queries and agents whose names differ"
    with pytest.raises(ValidationError, match=message):
        make_inventory(facts(Q1), facts(Q1, agent="shop"))
    with pytest.raises(ValidationError, match=message):
        make_inventory(facts(Q1), facts(Q2))


def test_the_agents_are_those_that_were_read_and_those_that_did_not_change() -> None:
    unchanged = {"eval_sets/acme/shop": ReconciledFolder(tree=commit(2), ruled_out=("b",))}
    inventory = make_inventory(facts(Q1, ruled_out=("a",)), unchanged=unchanged)
    assert inventory.agents == {"acme/desk": ("a",), "acme/shop": ("b",)}
