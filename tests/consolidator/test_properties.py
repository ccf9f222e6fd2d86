"""What holds of every cycle, whatever the queries, the set and the knobs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.consolidator.admissions import plan_admissions
from incumbent.consolidator.cycle import Trust, descending, judge_arriving, run_cycle
from incumbent.consolidator.verdict import Decision, Reason, Route, Ruling, Verdict
from incumbent.consolidator.verdict_engine import REDUNDANT, doubt_text
from incumbent.rater.contextualizer import Key, LiveSet, without_merit
from incumbent.rater.model import RatedEntry, RelationalFacts, ScoredQuery
from incumbent.text.compare import rounded
from tests.consolidator.test_against_reference import config_of, queries_of, residents_of
from tests.factories import make_config
from tests.oracle.strategies import Case, cases, random_case

slowly = settings(max_examples=settings().max_examples * 3 // 2)


def facts(verdict: Verdict, names: Mapping[str, str]) -> dict[str, Any]:
    """A verdict without the order of capability names, each called by ``names``."""
    return {
        "id": verdict.id,
        "ruling": verdict.ruling,
        "displaces": verdict.displaces,
        "alternate_of": verdict.alternate_of,
        "competent": {names[name] for name in verdict.facts.competent},
        "new": {names[name] for name in verdict.facts.new_capabilities},
        "combinations": {frozenset(names[name] for name in group) for group in verdict.facts.new_combinations},
        "wins": {names[name]: champion for name, champion in verdict.facts.wins.items()},
        "similar": (verdict.facts.max_similarity, verdict.facts.most_similar),
    }


@slowly
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_files_does_not_matter(case: Case, draw: Any) -> None:
    queries, residents, config = queries_of(case), residents_of(case), config_of(case)
    expected = run_cycle(queries, residents, config)
    draw.shuffle(queries)
    draw.shuffle(residents)
    reordered = [replace(item, scores=dict(sorted(item.scores.items(), reverse=True))) for item in queries]
    assert run_cycle(reordered, residents, config) == expected


@slowly
@given(cases(), st.randoms(use_true_random=False))
def test_verdicts_do_not_change_when_capabilities_are_renamed(case: Case, draw: Any) -> None:
    new_names = [f"n{place}" for place in range(len(case.capabilities))]
    draw.shuffle(new_names)
    names = dict(zip(case.capabilities, new_names, strict=True))
    same = {name: name for name in case.capabilities}
    before = [facts(item, names) for item in run_cycle(queries_of(case), residents_of(case), config_of(case))]
    queries = [
        replace(
            item,
            scores={names[name]: score for name, score in item.scores.items()},
            arbitrated=frozenset(names[name] for name in item.arbitrated),
            by_rule=frozenset(names[name] for name in item.by_rule),
            doubts=tuple(
                replace(
                    doubt,
                    capability=names[doubt.capability],
                    excludes=tuple(names[name] for name in doubt.excludes),
                )
                for doubt in item.doubts
            ),
        )
        for item in queries_of(case)
    ]
    residents = [
        replace(
            item,
            scores={names[name]: score for name, score in item.scores.items()},
            by_rule=frozenset(names.get(name, name) for name in item.by_rule),
        )
        for item in residents_of(case)
    ]
    config = config_of(case)
    renamed = make_config(
        config, per_capability={names[name]: item.model_dump() for name, item in config.per_capability.items()}
    ).under(
        frozenset(names[name] for name in config.uncombinable),
        frozenset(names[name] for name in config.trial),
        frozenset(names[name] for name in config.fill_from_any),
    )
    kept = {names[name]: names[name] for name in same}
    assert [facts(item, kept) for item in run_cycle(queries, residents, renamed)] == before


@slowly
@given(cases(), st.sampled_from([0.3, 0.9, 1.0]))
def test_honesty_turns_no_exclusion_into_an_admission(case: Case, floor: float) -> None:
    """With honesty at work, what a query would have been excluded for alone stays excluded."""
    config = config_of(case)
    for item in queries_of(case):
        ask, pass_by = ({"honesty_floor": value} for value in (floor, 0.0))
        (strict,) = run_cycle([item], residents_of(case), make_config(config, **ask))
        (lenient,) = run_cycle([item], residents_of(case), make_config(config, **pass_by))
        assert strict.decision is lenient.decision
        if strict.decision is Decision.EXCLUDE:
            assert strict.facts == lenient.facts
            assert strict.ruling == lenient.ruling


@slowly
@given(cases())
def test_a_close_call_is_likely_and_no_two_bring_the_same(case: Case) -> None:
    config, queries = config_of(case), {item.id: item for item in queries_of(case)}
    shown = []
    for verdict in run_cycle(list(queries.values()), residents_of(case), config):
        call = verdict.close_call
        if call is None:
            continue
        shown.append(call.capabilities)
        assert (verdict.ruling, verdict.alternate_of) == (REDUNDANT, ())
        query = queries[verdict.id]
        possible = {doubt.capability: doubt.probability for doubt in query.doubts} | dict(query.scores)
        uncertain = [possible[name] for name in call.capabilities if name not in verdict.facts.competent]
        assert uncertain
        assert call.likelihood == rounded(prod(uncertain)) >= config.options.close_call
        assert not config.trial & {*call.capabilities}
    assert len({*shown}) == len(shown)


@slowly
@given(st.lists(cases(), min_size=1, max_size=3), st.integers(1, 10))
def test_the_set_never_exceeds_its_ceiling_and_nothing_is_lost(stream: list[Case], ceiling: int) -> None:
    """One eval set after the other; every query is admitted, in line, with a person, or excluded."""
    config = make_config(config_of(stream[0]), ceiling=ceiling)
    present: list[RatedEntry] = []
    for moment, case in enumerate(stream):
        queries = [replace(item, id=f"{moment}-{item.id}") for item in queries_of(case)]
        by_id = {item.id: item for item in queries}
        verdicts = run_cycle(queries, present, config)
        plan = plan_admissions(verdicts, len(present), ceiling)
        parts = [*plan.admitted, *plan.waiting_for_slot, *plan.waiting_for_review, *plan.excluded]
        assert sorted(item.id for item in parts) == sorted(by_id)
        present += [
            RatedEntry(
                id=verdict.id,
                turns=by_id[verdict.id].turns,
                scores=by_id[verdict.id].scores,
                admitted_at=f"2026-01-{moment + 1:02d}T00:00:00Z",
                displaces=verdict.displaces,
            )
            for verdict in plan.admitted
        ]
        assert len(present) <= ceiling


def iter_of(queries: Iterable[tuple[Key, ScoredQuery]]) -> Iterator[tuple[Key, ScoredQuery]]:
    """Queries that are written aside; what waits is sorted."""
    listed = list(queries)
    assert [(key, query.id) for key, query in listed] == sorted((key, query.id) for key, query in listed)
    return iter(listed)


@slowly
@given(cases(), st.integers(1, 4))
def test_queries_that_arrive_by_their_keys_are_judged_as_if_all_were_held(case: Case, held: int) -> None:
    check_arriving(case, held)


def test_what_falls_behind_and_is_not_held_is_written_aside() -> None:
    for seed in range(100):
        for held in (1, 3):
            check_arriving(random_case(random.Random(seed)), held)


def two_each(query: ScoredQuery, facts: RelationalFacts, ruling: Ruling, admitted: Sequence[str]) -> Ruling:
    """A person is to see whatever comes after two that were admitted."""
    if len(admitted) < 2:
        return ruling
    return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, Reason.CUSTOMER_SHARE))


def check_arriving(case: Case, held: int) -> None:
    for trust in (doubt_text, two_each):
        check_trusted(case, held, trust)


def check_trusted(case: Case, held: int, trust: Trust) -> None:
    queries, residents, config = queries_of(case), residents_of(case), config_of(case)
    live = LiveSet.knowing(case.capabilities, residents, config)
    keyed = [(descending(live, live.profile(item)), item.id, item) for item in queries]
    arriving = [(key, item) for key, _, item in sorted(keyed, key=lambda each: each[:2]) if not without_merit(key)]
    judged = [verdict for _, verdict in judge_arriving(arriving, live, config, held, iter_of, trust)]
    expected = run_cycle(queries, residents, config, trust)
    admitting, wanted = ([item for item in some if item.decision.admits] for some in (judged, expected))
    assert admitting == wanted
