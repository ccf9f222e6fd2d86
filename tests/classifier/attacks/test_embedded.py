"""The embedded backend on the shipped taxonomy answers every attack, in bounded time.

How many tags an attack moves is measured by ``python -m dev.bench attacks``.
"""

from __future__ import annotations

import time
from math import isfinite

import pytest

from bot.classifier.classify import classify
from bot.classifier.embedded.text import READ_CHARACTERS
from bot.classifier.model import Backend
from bot.taxonomy.model import Taxonomy
from tests.classifier.attacks.loading import Case, load_attacks
from tests.classifier.factories import NOTHING, answers, query, request, silent

ATTACKS = {attack.id: attack for attack in load_attacks()}
SLOWER = 20
"""So many times what an ordinary query of the greatest length that is read takes, an attack may take."""


@pytest.fixture(scope="module")
def inferred(shipped: Taxonomy) -> tuple[str, ...]:
    return tuple(item.id for item in shipped.capabilities if item.source == "intent")


@pytest.fixture(scope="module")
def backend(shipped_backend: Backend) -> Backend:
    return shipped_backend


@pytest.fixture(scope="module")
def ordinary(backend: Backend, inferred: tuple[str, ...]) -> float:
    """Seconds of processor time that a long, ordinary query takes; the fit is not counted."""
    sentence = "The parcel was scanned at the depot and went on to the next one. "
    text = sentence * (READ_CHARACTERS // len(sentence))
    seconds(Case(turns=("Hi",)), backend, inferred)
    return seconds(Case(turns=(text,)), backend, inferred)


def seconds(case: Case, backend: Backend, inferred: tuple[str, ...]) -> float:
    begun = time.process_time()
    answers(backend, request(*case.turns, capabilities=inferred, tools=case.tools))
    return time.process_time() - begun


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_is_answered_in_full_and_in_bounded_time(
    name: str, backend: Backend, inferred: tuple[str, ...], ordinary: float
) -> None:
    case = ATTACKS[name].hostile
    begun = time.process_time()
    (answer,) = answers(backend, request(*case.turns, capabilities=inferred, tools=case.tools))
    assert time.process_time() - begun <= SLOWER * ordinary
    assert answer.shortfall is None
    assert tuple(answer.consensus) == inferred
    assert all(isfinite(item.confidence) and 0 <= item.confidence <= 1 for item in answer.consensus.values())
    if case.tools:
        assert answer.calls is not None
        assert all(name in {tool.name for tool in case.tools} for step in answer.calls.steps for name in step)
        assert all(0 <= share <= 1 for step in answer.calls.steps for share in step.values())
    else:
        assert answer.calls is None


def test_an_attack_leaves_the_other_queries_of_its_run_alone(shipped: Taxonomy, backend: Backend) -> None:
    honest = [query(f"h{number}", *attack.honest.turns) for number, attack in enumerate(ATTACKS.values())]
    hostile = [query(f"a{number}", *attack.hostile.turns) for number, attack in enumerate(ATTACKS.values())]
    alone = classify(honest, NOTHING, shipped, backend, silent).classifications
    mixed = [item for pair in zip(hostile, honest, strict=True) for item in pair]
    together = classify(mixed, NOTHING, shipped, backend, silent)
    assert together.unclassified == ()
    assert together.classifications[1::2] == alone
