"""The structure path: what can be counted in a query (semantics, section 2.1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.classifier.structure_path import counted_values, structure_facts, structure_rules
from bot.intake.query import Query, Setup
from bot.taxonomy.model import Capability
from tests.classifier.factories import counted, declared, intent, of_tools, query, taxonomy

SEVERAL = counted("several", "(user_turns > `1`) || `null`")
IMAGE = counted("image", "contains(attachments, 'image')")
ONE, TWO = query("q", "Show my bills"), query("q", "Show my bills", "And the old ones")


def attaching(*names: str) -> Query:
    return replace(ONE, setup=Setup(attachments=names))


@pytest.mark.parametrize(
    ("item", "facts"),
    [
        (ONE, {"user_turns": 1, "attachments": None}),
        (TWO, {"user_turns": 2, "attachments": None}),
        (attaching("a.png", "b.JPG"), {"user_turns": 1, "attachments": ["image"]}),
        (attaching("a.png", "b.txt"), {"user_turns": 1, "attachments": ["file", "image"]}),
    ],
)
def test_turns_and_attachments_are_counted(item: Query, facts: dict[str, object]) -> None:
    assert structure_facts(item) == facts


@pytest.mark.parametrize(
    ("item", "values"),
    [
        (ONE, {"several": None, "image": None}),
        (TWO, {"several": True, "image": None}),
        (attaching("a.png"), {"several": None, "image": True}),
        (attaching("a.txt"), {"several": None, "image": False}),
    ],
)
def test_a_rule_is_true_false_or_silent(item: Query, values: dict[str, bool | None]) -> None:
    assert counted_values(structure_rules(taxonomy(SEVERAL, IMAGE)), item) == values


def test_only_structure_capabilities_are_counted_and_one_without_a_rule_is_silent() -> None:
    bare = Capability(id="bare", name="bare", group="any", description="d", source="structure")
    everything = taxonomy(
        intent("table"), of_tools("call", "`true`"), bare, declared("oauth", "contains(auth_modes, 'oauth')"), SEVERAL
    )
    rules = structure_rules(everything)
    assert list(rules) == ["bare", "several"]
    assert counted_values(rules, TWO) == {"bare": None, "several": True}
