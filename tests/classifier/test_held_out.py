"""What the embedded backend expects of itself: counts of exemplars that a fit has not seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bot.classifier.embedded.backend import EmbeddedBackend
from bot.classifier.embedded.cache import ModelCache
from bot.classifier.embedded.calibration import best_threshold
from bot.classifier.embedded.fitting import fit_model
from bot.classifier.embedded.kernel import gram
from bot.classifier.embedded.stored import from_arrays, to_arrays
from bot.classifier.exemplars import Label, training_data
from bot.classifier.held_out import HeldOut, MeasuredBackend
from bot.taxonomy.model import Exemplar, Exemplars, Taxonomy
from tests.classifier.exemplary import SAMPLES, SETTINGS, TOPICS
from tests.classifier.factories import intent, taxonomy

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


def backend(known: Taxonomy, cache: ModelCache | None = None) -> EmbeddedBackend:
    return EmbeddedBackend(known, SETTINGS, SAMPLES, cache or ModelCache(None))


def naive(known: Taxonomy, capability: str) -> tuple[int, int, int]:
    """Found, false and missed by fits that are each made anew without one hand, threshold and all."""
    data, model = training_data(known), fit_model(known, SETTINGS, SAMPLES)
    column = data.capabilities.index(capability)
    labels = np.array(data.labels)[:, column]
    true, hands = labels == Label.POSITIVE, np.array(data.hands)
    kernel, mean = gram(model.rows), float(model.intercepts[column])
    targets = np.where(true, 1.0, -1.0)
    scores = np.zeros(len(hands))
    for hand in set(hands):
        rest, out = np.flatnonzero(hands != hand), np.flatnonzero(hands == hand)
        solved = np.linalg.solve(kernel[np.ix_(rest, rest)] + SETTINGS.ridge * np.eye(len(rest)), targets[rest] - mean)
        scores[out] = kernel[np.ix_(out, rest)] @ solved + mean
    tagged = np.zeros(len(hands), bool)
    for hand in set(hands):
        others = hands != hand
        tagged[~others] = scores[~others] >= best_threshold(scores[others], true[others], np.ones(others.sum()))
    return int((tagged & true).sum()), int((tagged & ~true).sum()), int((~tagged & true).sum())


@pytest.mark.parametrize("capability", ["table", "plain"])
def test_the_counts_are_those_of_fits_without_each_hand(capability: str) -> None:
    known = taught()
    found = backend(known).held_out()[capability]
    assert (found.by, (found.found, found.false, found.missed)) == ("hand", naive(known, capability))
    assert found.positive == sum(capability in row.exercises for row in known.exemplars)


def test_a_capability_that_is_easily_told_is_expected_to_be_right() -> None:
    found = backend(taught()).held_out()["table"]
    assert found.found / found.tagged > 0.9
    assert found.found / found.positive > 0.9


def test_what_one_hand_wrote_is_left_out_in_parts_and_bad_exemplars_show() -> None:
    found = backend(taught(*new(*VAGUE))).held_out()
    assert {name: item.by for name, item in found.items()} == {"table": "hand", "plain": "hand", "new": "part"}
    bad = found["new"]
    assert bad.positive == len(VAGUE)
    assert bad.found < 0.8 * bad.tagged


def test_translations_are_not_counted() -> None:
    found = backend(taught(*new(*VAGUE), *new(*(f"de {text}" for text in VAGUE), language="de"))).held_out()
    assert found["new"].positive == len(VAGUE)


def test_where_nothing_can_be_learnt_nothing_is_found() -> None:
    alone = backend(taught(*new("Only one."))).held_out()["new"]
    assert (alone.found, alone.missed) == (0, 1)
    untold = backend(taxonomy(intent("new")).with_exemplars(new(*VAGUE))).held_out()
    assert untold == {"new": HeldOut(by="part", found=0, false=0, missed=len(VAGUE))}
    assert backend(taxonomy(intent("new", exemplars=Exemplars()))).held_out() == {}


def test_the_backend_measures_and_keeps_what_it_measured(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path)
    first = backend(taught(), cache)
    assert isinstance(first, MeasuredBackend)
    assert backend(taught(), cache).held_out() == first.held_out()


def test_a_model_of_an_earlier_version_is_fitted_again(tmp_path: Path) -> None:
    cache, known = ModelCache(tmp_path), taught()
    arrays = to_arrays(fit_model(known, SETTINGS, SAMPLES))
    counts = arrays.pop("held_out")
    cache.store(backend(known).key, arrays)
    for _ in range(2):
        found = backend(known, cache)
        assert found.fit().held_out is not None
        assert [[item.found, item.false, item.missed] for item in found.held_out().values()] == counts[:, 1:].tolist()


def test_a_shipped_model_of_an_earlier_version_serves_until_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped, known = ModelCache(tmp_path), taught()
    arrays = to_arrays(fit_model(known, SETTINGS, SAMPLES))
    del arrays["held_out"]
    shipped.store(backend(known).key, arrays)
    expected = backend(known).held_out()
    monkeypatch.setattr("bot.classifier.embedded.backend.SHIPPED", shipped)
    found = backend(known)
    assert found.fit().held_out is None
    assert found.held_out() == expected


def test_exemplars_of_one_hand_are_told_by_what_they_say() -> None:
    """Among those of several hands: left out together, none would be like the others."""
    clear = new(*(f"Draw a chart of {topic}." for topic in TOPICS))
    found = backend(taught(*clear)).held_out()["new"]
    assert (found.by, found.missed) == ("part", 0)
    assert found.found / found.tagged > 0.9


@pytest.mark.parametrize("wrong", [np.zeros((1, 4), np.int32), np.full((2, 4), -1, np.int32)])
def test_counts_that_are_none_are_not_read(wrong: np.ndarray) -> None:
    known = taught()
    arrays = to_arrays(fit_model(known, SETTINGS, SAMPLES)) | {"held_out": wrong}
    assert from_arrays(arrays, known, SAMPLES, None) is None
