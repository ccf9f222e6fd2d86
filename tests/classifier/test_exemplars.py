"""What the embedded backend expects of itself: counts of exemplars that a fit has not seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.fitting import fit_model, ordered
from incumbent.classifier.embedded.kernel import gram
from incumbent.classifier.embedded.model import COUNTS, best_threshold, counts_of, from_arrays, held_out, to_arrays
from incumbent.classifier.exemplars import ExemplarLabel, HeldOutExemplars, MeasuredBackend, training_data
from incumbent.taxonomy.model import Exemplar, Exemplars, Taxonomy
from tests.classifier.exemplary import SAMPLES, SETTINGS, TOPICS
from tests.classifier.factories import intent, taxonomy

pytestmark = pytest.mark.untraced

FORMS = ("Show me {}.", "Where are {}?", "Who takes care of {}?")
VAGUE = tuple(FORMS[(place + 1) % 3].format(topic) for place, topic in enumerate(TOPICS[::2]))
"""Queries like those that exercise nothing of the kind."""


def rows(*hands: str) -> list[Exemplar]:
    """Of each hand, queries that ask for a table and others."""
    return [
        Exemplar(
            id=f"{hand}-{place}-{asks}",
            hand=hand,
            turns=((f"Put {topic} in a table, {hand}." if asks else FORMS[place % 3].format(topic)),),
            exercises=("table",) if asks else ("plain",),
            resembles=() if asks else ("table",),
        )
        for number, hand in enumerate(hands)
        for place, topic in enumerate(TOPICS[number::2])
        for asks in (True, False)
    ]


def taught(*more: Exemplar, hands: tuple[str, ...] = ("ann", "bob", "cy")) -> Taxonomy:
    found = taxonomy(intent("table"), intent("plain"), intent("new"))
    return found.with_exemplars((*rows(*hands), *more))


def new(*texts: str, language: str | None = None) -> tuple[Exemplar, ...]:
    """Exemplars that one more hand wrote of a capability of its own."""
    return tuple(
        Exemplar(id=f"n-{place}", hand="new", language=language, turns=(text,), exercises=("new",))
        for place, text in enumerate(texts)
    )


def at_once(capability: str) -> float:
    """A bar that everything tagged reaches."""
    return 0.0


def backend(known: Taxonomy, cache: ModelCache | None = None) -> EmbeddedBackend:
    return EmbeddedBackend(known, SETTINGS, SAMPLES, cache or ModelCache(None))


def naive(known: Taxonomy, capability: str) -> tuple[int, int, int]:
    """Found, false and missed by fits that are each made anew without one hand, threshold and all."""
    model = fit_model(known, SETTINGS, SAMPLES)
    data = ordered(training_data(known), SETTINGS, SAMPLES)
    column = data.capabilities.index(capability)
    labels = np.array(data.labels)[:, column]
    true, hands = labels == ExemplarLabel.POSITIVE, np.array(data.hands)
    (kernel,), mean = next(gram(model.rows)), float(model.intercepts[column])
    targets = np.where(true, 1.0, -1.0)
    scores = np.zeros(len(hands))
    for hand in set(hands):
        rest, out = np.flatnonzero(hands != hand), np.flatnonzero(hands == hand)
        solved = np.linalg.solve(kernel[np.ix_(rest, rest)] + SETTINGS.ridge * np.eye(len(rest)), targets[rest] - mean)
        scores[out] = kernel[np.ix_(out, rest)] @ solved + mean
    tagged = np.zeros(len(hands), bool)
    for hand in set(hands):
        others = hands != hand
        tagged[~others] = scores[~others] >= best_threshold(scores[others], true[others])
    return int((tagged & true).sum()), int((tagged & ~true).sum()), int((~tagged & true).sum())


@pytest.mark.parametrize("capability", ["table", "plain"])
def test_the_counts_are_those_of_fits_without_each_hand(capability: str) -> None:
    known = taught()
    found = backend(known).held_out(at_once)[capability]
    assert (found.by, (found.found, found.false, found.missed)) == ("hand", naive(known, capability))
    assert found.positive == sum(capability in row.exercises for row in known.exemplars)


def test_a_capability_that_is_easily_told_is_expected_to_be_right() -> None:
    found = backend(taught()).held_out(at_once)["table"]
    assert found.found / found.tagged > 0.9
    assert found.found / found.positive > 0.9


def test_what_one_hand_wrote_is_left_out_in_parts_and_bad_exemplars_show() -> None:
    found = backend(taught(*new(*VAGUE))).held_out(at_once)
    assert {name: item.by for name, item in found.items()} == {"table": "hand", "plain": "hand", "new": "part"}
    bad = found["new"]
    assert bad.positive == len(VAGUE)
    assert bad.found < 0.8 * bad.tagged


def test_translations_are_not_counted() -> None:
    found = backend(taught(*new(*VAGUE), *new(*(f"de {text}" for text in VAGUE), language="de"))).held_out(at_once)
    assert found["new"].positive == len(VAGUE)


def test_where_nothing_can_be_learnt_nothing_is_found() -> None:
    alone = backend(taught(*new("Only one."))).held_out(at_once)["new"]
    assert (alone.found, alone.missed) == (0, 1)
    untold = backend(taxonomy(intent("new")).with_exemplars(new(*VAGUE))).held_out(at_once)
    assert untold == {"new": HeldOutExemplars(by="part", found=0, false=0, missed=len(VAGUE))}
    assert backend(taxonomy(intent("new", exemplars=Exemplars()))).held_out(at_once) == {}


def test_the_backend_measures_and_keeps_what_it_measured(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path)
    first = backend(taught(), cache)
    assert isinstance(first, MeasuredBackend)
    assert backend(taught(), cache).held_out(at_once) == first.held_out(at_once)


@pytest.mark.parametrize(
    ("bar", "found", "false"), [(0.0, 6, 4), (0.5, 6, 4), (0.505, 5, 3), (0.75, 4, 2), (0.7501, 3, 1), (1.0, 1, 0)]
)
def test_what_reaches_a_bar_is_tagged(bar: float, found: int, false: int) -> None:
    true = [1.0, 0.95, 0.76, 0.75, 0.51, 0.5, 0.49]
    wrong = [0.8, 0.7599, 0.74, 0.5, 0.1]
    truth = np.array([True] * len(true) + [False] * len(wrong))
    counts = counts_of(np.array(true + wrong), truth, in_parts=False).tolist()
    assert held_out(counts, bar) == HeldOutExemplars(by="hand", found=found, false=false, missed=7 - found)


def test_each_capability_has_its_own_bar() -> None:
    known = backend(taught())
    low, high = known.held_out(at_once), known.held_out(lambda name: 0.95 if name == "table" else 0.0)
    assert high["plain"] == low["plain"]
    assert high["table"].tagged < low["table"].tagged


def test_exemplars_of_one_hand_are_told_by_what_they_say() -> None:
    """Among those of several hands: left out together, none would be like the others."""
    clear = new(*(f"Draw a chart of {topic}." for topic in TOPICS))
    found = backend(taught(*clear)).held_out(at_once)["new"]
    assert (found.by, found.missed) == ("part", 0)
    assert found.found / found.tagged > 0.9


@pytest.mark.parametrize("wrong", [np.zeros((1, COUNTS), np.int32), np.full((2, COUNTS), -1, np.int32)])
def test_counts_that_are_none_are_not_read(wrong: np.ndarray) -> None:
    known = taught()
    arrays = to_arrays(fit_model(known, SETTINGS, SAMPLES)) | {"held_out": wrong}
    assert from_arrays(arrays, known, SAMPLES, None) is None
