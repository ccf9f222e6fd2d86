"""A capability on trial is exercised and shown, and counts for nothing: no verdict, champion, floor or pin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.verdict import CloseCall, Verdict
from incumbent.curator.prune import prune
from incumbent.curator.roles import derive_roles
from incumbent.rater.model import Doubt, RatedEntry
from incumbent.taxonomy.config import Curation
from tests.consolidator.test_against_reference import config_of, queries_of, residents_of
from tests.factories import SHIPPED, make_config, query, resident
from tests.oracle.strategies import Case, cases

TRIAL = frozenset({"t"})
FREE: dict[str, Any] = {"redundancy_floor": 0, "honesty_floor": 0.0}


def judged(scores: Mapping[str, float], *residents: RatedEntry, **more: Any) -> Verdict:
    (verdict,) = run_cycle([query("q", scores)], residents, make_config(**FREE | more).under(trial=TRIAL))
    return verdict


def said(verdict: Verdict) -> str:
    return " ".join([verdict.decision.value, *(reason.value for reason in verdict.reasons)])


@pytest.mark.parametrize(
    ("scores", "residents", "expected"),
    [
        ({"t": 1.0}, [], "EXCLUDE REDUNDANT"),
        ({"t": 1.0, "a": 0.9}, [], "INCLUDE NEW_COVERAGE"),
        ({"t": 1.0, "a": 0.9}, [{"a": 0.9}], "EXCLUDE REDUNDANT"),
        ({"t": 1.0, "a": 0.9}, [{"a": 0.9, "t": 0.5}], "EXCLUDE REDUNDANT"),
        ({"t": 1.0, "a": 0.9, "b": 0.9}, [{"a": 0.9}, {"b": 0.9}], "INCLUDE NOVEL_COMBO"),
    ],
)
@pytest.mark.parametrize("novelty", [2, "signature"])
def test_nothing_rests_on_it(
    scores: Mapping[str, float], residents: Sequence[Mapping[str, float]], expected: str, novelty: object
) -> None:
    verdict = judged(scores, *(resident(f"r{place}", item) for place, item in enumerate(residents)), novelty=novelty)
    assert said(verdict) == expected
    facts = verdict.facts
    named = {
        *facts.competent,
        *facts.new_capabilities,
        *facts.wins,
        *(name for m in facts.new_combinations for name in m),
    }
    assert "t" not in named
    assert facts.scores == scores  # it is shown


def test_it_makes_no_close_call() -> None:
    doubts = tuple(Doubt(capability=name, probability=0.4) for name in ("b", "t"))
    asked = replace(query("q", {"a": 0.9}), doubts=doubts)
    (verdict,) = run_cycle([asked], [resident("r", {"a": 0.9})], make_config(**FREE).under(trial=TRIAL))
    assert verdict.close_call == CloseCall(capabilities=("b",), likelihood=0.4)


def test_it_gives_no_evidence() -> None:
    for scope in ("all", "evidence"):
        assert said(judged({"t": 1.0, "a": 0.5}, honesty_floor=0.6, honesty_scope=scope)).endswith("LOW_CONFIDENCE")


def test_nobody_is_its_champion_or_pinned_for_it_and_no_floor_holds_it() -> None:
    residents = [resident("r1", {"t": 0.9}), resident("r2", {"t": 0.8, "a": 0.7}), resident("r3", {"a": 0.9})]
    config = make_config(redundancy_floor=1).under(trial=TRIAL)
    roles = derive_roles(residents, config)
    assert roles.champions == {"a": "r3"}
    assert roles.pinned == {"r3": ("champion:a",)}
    assert roles.coverers["t"] == ()
    assert config.redundancy_floor("t") == 0
    assert [item.id for item in prune(residents, config, 1)] == ["r1", "r2"]


def test_the_config_itself_does_not_change() -> None:
    tried = SHIPPED.under(trial=TRIAL)
    assert (SHIPPED.trial, tried.trial) == (frozenset(), TRIAL)
    assert tried.model_dump() == SHIPPED.model_dump()


@settings(max_examples=settings().max_examples * 3 // 2, deadline=None)
@given(cases())
def test_verdicts_are_those_without_its_scores(case: Case) -> None:
    def without(scores: Mapping[str, float]) -> dict[str, float]:
        return {name: score for name, score in scores.items() if name not in case.knobs.trial}

    def shown(verdicts: Sequence[Verdict]) -> list[Verdict]:
        return [replace(item, facts=replace(item.facts, scores={}, exercised=True)) for item in verdicts]

    config = config_of(case)
    plain: Curation = config.under(config.uncombinable, fill_from_any=config.fill_from_any)
    # What exercises nothing else is off the taxonomy without them.
    queries = [item for item in queries_of(case) if without(item.scores).keys() - item.arbitrated]
    residents = residents_of(case)
    fewer = [
        replace(
            item,
            scores=without(item.scores),
            doubts=tuple(doubt for doubt in item.doubts if doubt.capability not in case.knobs.trial),
        )
        for item in queries
    ]
    rest = [replace(item, scores=without(item.scores)) for item in residents]
    assert shown(run_cycle(queries, residents, config)) == shown(run_cycle(fewer, rest, plain))
    assert prune(residents, config, 1) == prune(rest, plain, 1)
