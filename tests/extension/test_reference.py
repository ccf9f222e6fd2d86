"""Traits, signals, the weighted reference, and what is observed."""

from __future__ import annotations

from collections import Counter
from math import log10
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.model import Classification, Consensus, Judgement, Path
from incumbent.curator.entry import Source as SourceOfEntry
from incumbent.extension.clustering import surprise_without
from incumbent.extension.model import Signal, Trait
from incumbent.extension.reference import (
    UNEXPLAINED,
    groups,
    inflation,
    lift,
    pairs,
    reference_of,
    surprise,
    text_traits,
    with_unexplained,
)
from incumbent.extension.signals import Resemblance, observe_all, observe_entry, signals_of
from incumbent.intake.query import Query
from incumbent.pipeline.submission import Submission
from incumbent.taxonomy.model import Capability, Exemplars, Source
from tests.extension.builders import ask, make_settings, make_taxonomy
from tests.factories import make_entry

TAXONOMY = make_taxonomy()
SETTINGS = make_settings()
REFERENCE = reference_of(TAXONOMY, 0.5, 0.05, 2.5)
SHOWN: dict[str, Any] = {"exemplars": Exemplars(positive=("do it",))}
RESEMBLANCE = Resemblance(REFERENCE.turns)


def test_traits_are_stems_pairs_and_counted_structure() -> None:
    found = text_traits(("Links, pages, 42 as is",))
    assert {Trait("word", "link"), Trait("word", "0"), Trait("word", "as"), Trait("phrase", "link pag")} <= found
    assert {Trait("structure", "commas"), Trait("structure", "commas: 2 or more")} <= found
    assert Trait("structure", "commas: 3 or more") not in found
    assert not any(trait.text.startswith("words per") for trait in found)


def test_what_the_classifier_says_is_traits_too() -> None:
    assert pairs(["b", "a", "c"]) == {Trait("combination", text) for text in ("a + b", "a + c", "b + c")}
    assert groups(["size"]) == {Trait("group", "size")}


def test_a_trait_is_unexplained_where_no_capability_that_goes_with_it_is_probable() -> None:
    one, other = Trait("word", "a"), Trait("word", "b")
    companions = {one: frozenset({"x"})}.get
    both = frozenset({one, other})
    unexplained = {trait: trait._replace(unexplained=True) for trait in both}
    assert with_unexplained(both, {"x"}, companions) == both
    assert with_unexplained(both, {"y"}, companions) == both | {unexplained[one]}
    assert with_unexplained(both, (), companions) == both | {*unexplained.values(), UNEXPLAINED}


def test_what_goes_with_a_trait_is_what_exemplars_with_it_exercise_more_often() -> None:
    assert REFERENCE.companions(Trait("word", "lend")) == frozenset({"deeds.lend"})
    assert REFERENCE.companions(Trait("word", "barble")) is None
    assert REFERENCE.companions(Trait("word", "zigzag")) is None


def test_a_manner_of_writing_shifts_most_traits_and_a_behaviour_few() -> None:
    counts = Counter(trait for turns in REFERENCE.turns for trait in text_traits(turns))
    assert inflation(counts, len(REFERENCE.turns), REFERENCE, SETTINGS) == 1.0
    strange = Counter({Trait("word", f"strange{number}"): 90 for number in range(500)})
    assert inflation(strange, 100, REFERENCE, SETTINGS) > 5.0
    assert inflation({}, 0, REFERENCE, SETTINGS) == 1.0


def test_what_is_left_without_one_customer() -> None:
    asked = {"a": 10, "b": 10}
    alone = surprise_without(10, {"a": 9, "b": 1}, asked, 20, 0.1, 100)
    assert alone < surprise_without(10, {"a": 5, "b": 5}, asked, 20, 0.1, 100)
    assert surprise_without(5, {"a": 5}, asked, 20, 0.1, 100) == 0.0


@pytest.mark.parametrize(
    ("turns", "more", "expected"),
    [
        ("say the barble", {"exercised": ["deeds.say"]}, []),
        ("say the barble", {}, [Signal.LOW_PROBABILITY]),
        ("say the barble", {"exercised": ["deeds.say"], "off_taxonomy": ("size",)}, [Signal.OFF_TAXONOMY]),
        ("say the barble", {"exercised": ["deeds.say"], "split": frozenset({"deeds.lend"})}, [Signal.SPLIT_VOTE]),
        ("say the barble", {"exercised": ["deeds.say"], "split": frozenset({"size.a"})}, []),
        ("写真", {"exercised": ["deeds.say"]}, [Signal.FAR]),
    ],
)
def test_signals(turns: str, more: dict[str, object], expected: list[Signal]) -> None:
    query = ask(1, turns, **more)  # type: ignore[arg-type]
    assert list(signals_of(query, REFERENCE, RESEMBLANCE, SETTINGS)) == expected


def test_nothing_resembles_without_exemplars() -> None:
    assert Resemblance(()).nearest(("a",)) == (0.0, None)
    assert RESEMBLANCE.nearest(("say the barble",)) == (1.0, 0)


def test_capabilities_of_exactly_one_groups_and_common_ones_tell_nothing_apart() -> None:
    assert REFERENCE.distinguishing == ("deeds.say", "deeds.sell", "deeds.lend", "deeds.count")
    assert reference_of(TAXONOMY, 0.1, 0.05, 2.5).distinguishing == ()


def test_more_is_expected_where_the_classifier_may_err() -> None:
    silent = 4 / len(REFERENCE.turns)  # the hard negatives, which exercise nothing
    assert REFERENCE.expected(UNEXPLAINED) == pytest.approx(silent + 0.05 * (1 - silent))
    assert REFERENCE.expected(Trait("combination", "deeds.lend + deeds.say")) == 0.05
    assert REFERENCE.expected(Trait("group", "size")) == 0
    assert REFERENCE.expected(Trait("word", "zigzag")) == 0
    traits = {UNEXPLAINED, Trait("word", "say", True), Trait("word", "sell", True), Trait("combination", "a + b")}
    assert REFERENCE.possible(0, traits) == traits - {Trait("word", "sell", True)}


@pytest.mark.parametrize(
    ("path", "confidence", "attempt", "split"),
    [
        ("inference", 0.55, False, {"deeds.say"}),
        ("inference", 0.61, False, set()),
        ("arbitration", 0.5, False, set()),
        ("inference", 0.55, True, None),
    ],
)
def test_what_is_observed(path: Path, confidence: float, attempt: bool, split: set[str] | None) -> None:
    judgements = {name: Judgement(False, 0.0, "undeclared") for name in TAXONOMY.by_id}
    judgements["deeds.say"] = Judgement(True, confidence, path)
    found = Classification(judgements=judgements, off_taxonomy=("size",), attempt=attempt)
    query = Query(id="q1", turns=("say it",), file="evals.yaml", line=3)
    submission = Submission(customer="c", agent="a", folder="eval_sets/c/a", queries=(query,))
    observed = observe_all(submission, {"q1": found}, TAXONOMY, SETTINGS)
    if split is None:
        assert observed == []
        return
    (item,) = observed
    assert (item.id, item.customer, item.turns, item.off_taxonomy) == ("c/a/q1", "c", ("say it",), ("size",))
    assert item.beliefs["deeds.say"].confidence == confidence
    assert item.split == split
    assert len(item.digest) == 24


@pytest.mark.parametrize("named", [True, False])
def test_of_an_entry_what_its_file_says_is_observed(named: bool) -> None:
    source = SourceOfEntry(customer="c", agent="a", eval_set="evals.yaml", item="q1") if named else None
    item = observe_entry(make_entry("e1", {"deeds.say": 0.75}, text="say it", source=source), TAXONOMY)
    assert (item.id, item.customer) == (("c/a/q1", "c") if named else ("e1", "e1"))
    assert (item.turns, item.split, item.off_taxonomy) == (("say it",), frozenset(), ())
    assert item.beliefs["deeds.say"] == Consensus(value=True, confidence=0.75)
    assert item.beliefs["deeds.sell"] == Consensus(value=False, confidence=0.0)


@pytest.mark.parametrize(
    ("source", "more", "judgement", "confidence", "split"),
    [
        ("tool", SHOWN, Judgement(True, 0.5, "tool"), 0.5, False),
        ("tool", {}, Judgement(True, 0.5, "tool"), None, False),
        ("structure", {}, Judgement(False, 1.0, "structure"), 0.0, False),
        ("intent", {}, Judgement(False, 1.0, "specification"), 0.0, False),
        ("intent", {}, Judgement(False, 0.5, "inference"), 0.5, True),
        ("spec", SHOWN, Judgement(True, 1.0, "specification"), None, False),
    ],
)
def test_beliefs_are_probabilities_of_what_the_text_shows(
    source: Source, more: dict[str, Any], judgement: Judgement, confidence: float | None, split: bool
) -> None:
    rule: dict[str, Any] = {} if source == "intent" else {"when": "`null`"}
    item = Capability(id="x", name="x", group="deeds", description="d", source=source, **rule, **more)
    taxonomy = TAXONOMY.model_copy(update={"capabilities": (item,)})
    found = Classification(judgements={"x": judgement})
    submission = Submission(
        customer="c", agent="a", folder="f", queries=(Query(id="q1", turns=("say it",), file="e", line=3),)
    )
    (seen,) = observe_all(submission, {"q1": found}, taxonomy, SETTINGS)
    assert {name: belief.confidence for name, belief in seen.beliefs.items()} == (
        {} if confidence is None else {"x": confidence}
    )
    assert seen.split == (frozenset({"x"}) if split else frozenset())


@pytest.mark.parametrize(
    ("observed", "size", "share", "reference"),
    [
        (3, 10, 0.1, 20),
        (8, 100, 0.0, 600),
        (25, 100, 0.01, 1200),
        (1, 1, 0.0, 1),
        (0, 5, 0.5, 10),
        (300, 600, 0.2, 900),
    ],
)
def test_it_is_the_tail_of_the_hypergeometric_distribution(
    observed: int, size: int, share: float, reference: int
) -> None:
    from scipy.stats import hypergeom

    marked = observed + round(share * reference)
    expected = -log10(hypergeom.sf(observed - 1, size + reference, marked, size))
    assert surprise(observed, size, share, reference) == pytest.approx(max(0.0, expected), abs=1e-6)


@given(st.integers(1, 200), st.integers(1, 200), st.floats(0, 1), st.integers(1, 500))
def test_more_of_it_is_no_less_surprising(observed: int, more: int, share: float, reference: int) -> None:
    size = observed + more
    assert 0 <= surprise(observed, size, share, reference) <= surprise(observed + 1, size, share, reference) + 1e-6


def test_lift_is_how_many_times_as_frequent() -> None:
    assert lift(10, 100, 0.05, 10_000) == pytest.approx(2, abs=0.01)
    assert lift(1, 10, 0.0, 9) == pytest.approx(2)
