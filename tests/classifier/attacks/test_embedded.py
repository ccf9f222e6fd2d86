"""The embedded backend on the shipped taxonomy answers every attack, in bounded time.

How many tags an attack moves is measured by ``python -m dev.bench attacks``.
"""

from __future__ import annotations

import os
import time
from math import isfinite

import pytest

from incumbent.classifier.classify import classify
from incumbent.classifier.embedded.text import READ_CHARACTERS
from incumbent.classifier.model import Backend, Finding
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.attacks.loading import Attack, Case, Category, load_attacks
from tests.classifier.factories import NOTHING, answers, query, request, silent

SPARING = 1 if os.environ.get("INCUMBENT_HOSTILE") == "all" else 4
"""Of the attacks one of so many is tried, beside the longest of each category: reading a long text takes a while."""


def size(attack: Attack) -> int:
    """The characters that a backend reads of it."""
    return len("".join(attack.hostile.turns)) + sum(len(tool.description) for tool in attack.hostile.tools)


LONGEST = {attack.category: attack for attack in sorted(load_attacks(), key=size)}
ATTACKS = {attack.id: attack for attack in (*LONGEST.values(), *load_attacks()[::SPARING])}
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
    ask(Case(turns=("Hi",)), backend, inferred)
    _, seconds = ask(Case(turns=(sentence * (READ_CHARACTERS // len(sentence)),)), backend, inferred)
    return seconds


@pytest.fixture(scope="module")
def asked(backend: Backend, inferred: tuple[str, ...], ordinary: float) -> dict[str, tuple[Finding, float]]:
    """The answer to each attack, and the seconds that it took."""
    return {name: ask(attack.hostile, backend, inferred) for name, attack in ATTACKS.items()}


def ask(case: Case, backend: Backend, inferred: tuple[str, ...]) -> tuple[Finding, float]:
    """The answer, and its seconds of processor time; what was read before is not read again."""
    begun = time.process_time()
    (answer,) = answers(backend, request(*case.turns, capabilities=inferred, tools=case.tools))
    return answer, time.process_time() - begun


@pytest.mark.parametrize("category", sorted(LONGEST))
def test_the_longest_attack_of_its_category_takes_bounded_time(
    category: Category, asked: dict[str, tuple[Finding, float]], ordinary: float
) -> None:
    _, seconds = asked[LONGEST[category].id]
    assert seconds <= SLOWER * ordinary


def test_every_attack_is_answered_in_full(asked: dict[str, tuple[Finding, float]], inferred: tuple[str, ...]) -> None:
    for name, (answer, _) in asked.items():
        tools = {tool.name for tool in ATTACKS[name].hostile.tools}
        assert answer.shortfall is None, name
        assert tuple(answer.consensus) == inferred, name
        assert all(isfinite(item.confidence) and 0 <= item.confidence <= 1 for item in answer.consensus.values()), name
        assert (answer.calls is None) == (not tools), name
        for step in answer.calls.steps if answer.calls else ():
            assert all(tool in tools and 0 <= share <= 1 for tool, share in step.items()), name


def test_an_attack_leaves_the_other_queries_of_its_run_alone(shipped: Taxonomy, backend: Backend) -> None:
    honest = [query(f"h{number}", *attack.honest.turns) for number, attack in enumerate(ATTACKS.values())]
    hostile = [query(f"a{number}", *attack.hostile.turns) for number, attack in enumerate(ATTACKS.values())]
    alone = classify(honest, NOTHING, shipped, backend, silent).classifications
    mixed = [item for pair in zip(hostile, honest, strict=True) for item in pair]
    together = classify(mixed, NOTHING, shipped, backend, silent)
    assert together.unclassified == ()
    assert {id: item for id, item in together.classifications.items() if id in alone} == alone
