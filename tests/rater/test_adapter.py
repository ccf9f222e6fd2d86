"""The intrinsic half of the rater: what a classification says of a query alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.classifier.model import Classification, Judgement, Path
from incumbent.rater.adapter import by_rule, rate
from incumbent.rater.model import Doubt, ScoredQuery
from incumbent.taxonomy.model import Group, Taxonomy
from tests.factories import make_taxonomy


def test_what_is_false_and_might_be_true_is_in_doubt_and_stands_in_for_the_other_of_its_group() -> None:
    groups = (Group(id="all", name="All"), Group(id="size", name="Size", constraint="exactly-one"))
    taxonomy = make_taxonomy("a", "b", "c", groups=groups)
    sized = {"group": "size"}
    members = tuple(taxonomy.by_id["a"].model_copy(update={"id": name} | sized) for name in ("small", "large"))
    taxonomy = taxonomy.model_copy(update={"capabilities": (*taxonomy.capabilities, *members)})
    taxonomy = Taxonomy.model_validate(taxonomy.model_dump())
    classification = Classification(
        judgements={
            "a": Judgement(False, 0.3, "inference"),
            "b": Judgement(False, 0.0, "undeclared"),
            "c": Judgement(False, 1.0, "specification"),
            "small": Judgement(True, 0.6, "inference"),
            "large": Judgement(False, 0.4, "arbitration"),
        },
    )
    assert rate("q", ("first",), classification, taxonomy, personal={}).doubts == (
        Doubt(capability="a", probability=0.3),
        Doubt(capability="large", probability=0.4, excludes=("small",)),
    )


def test_a_capability_is_scored_by_its_confidence_if_it_is_true_and_not_at_all_otherwise() -> None:
    classification = Classification(
        judgements={
            "a": Judgement(True, 0.7, "inference"),
            "b": Judgement(False, 0.9, "inference"),
            "c": Judgement(True, 0.2, "arbitration"),
            "d": Judgement(False, 1.0, "specification"),
        },
        arbitrated=frozenset({"c"}),
    )
    scored = rate(
        "q",
        ("first", "second"),
        classification,
        make_taxonomy("a", "b", "c", "d"),
        "acme",
        personal={"card": 2},
        doubted=frozenset({"a", "b"}),
    )
    assert scored == ScoredQuery(
        id="q",
        turns=("first", "second"),
        scores={"a": 0.7, "c": 0.2},
        customer="acme",
        arbitrated=frozenset({"c"}),
        personal={"card": 2},
        doubted=frozenset({"a"}),
    )
    assert set(scored.scores) == classification.signature


@pytest.mark.parametrize(
    ("path", "more", "attempt", "familiar"),
    [
        ("inference", {}, False, True),
        ("inference", {"attempt": True}, True, True),
        ("inference", {"unfamiliar": "script"}, False, False),
        # A curator has read it.
        ("corrected", {"unfamiliar": "script"}, False, True),
    ],
)
def test_what_a_person_should_see_is_passed_on(path: Path, more: Any, attempt: bool, familiar: bool) -> None:
    classification = Classification(judgements={"a": Judgement(True, 0.7, path)}, **more)
    scored = rate("q", ("first",), classification, make_taxonomy("a"), personal={})
    assert (scored.customer, scored.attempt, scored.familiar) == (None, attempt, familiar)


@pytest.mark.parametrize(
    ("path", "more", "ruled"),
    [
        ("specification", {"source": "spec", "when": "true"}, True),
        ("specification", {"source": "spec", "when": "true", "requires": "b"}, False),
        ("structure", {"source": "structure", "when": "true"}, True),
        ("tool", {"source": "tool", "when": "true"}, True),
        ("expected", {"source": "tool", "when": "true"}, True),
        ("expected", {}, True),
        ("corrected", {}, True),
        ("inference", {}, False),
        # Arbitration chose among values of rules, or among inferred ones.
        ("arbitration", {"source": "tool", "when": "true"}, True),
        ("arbitration", {"source": "spec", "when": "true"}, True),
        ("arbitration", {"source": "spec", "when": "true", "requires": "b"}, False),
        ("arbitration", {}, False),
    ],
)
def test_what_a_rule_decided_is_a_rule_value(path: Path, more: dict[str, Any], ruled: bool) -> None:
    known = make_taxonomy("a", "b")
    own = known.by_id["a"].model_copy(update=more)
    known = Taxonomy.model_validate({**known.model_dump(), "capabilities": [own, known.by_id["b"]]})
    classification = Classification(
        judgements={"a": Judgement(True, 0.7, path), "b": Judgement(False, 0.0, "undeclared")}
    )
    assert by_rule(classification, known) == (frozenset("a") if ruled else frozenset())
    # Not what arbitration alone made TRUE among inferred ones, nor what is FALSE.
    guessed = replace(classification, arbitrated=frozenset("a"))
    assert path != "arbitration" or own.source == "tool" or not by_rule(guessed, known)
    assert not by_rule(replace(classification, judgements={"a": Judgement(False, 0.7, path)}), known)
