"""What must hold of the oracle on any case, and what the drawn cases must meet."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.builders import said, sim
from tests.oracle.reference import coverers, cycle, in_admission_order, key, pinned, prune, set_after
from tests.oracle.strategies import Case, cases, random_case


@settings(max_examples=settings().max_examples * 3 // 2)
@given(case=cases(), seed=st.integers(0, 999))
def test_neither_the_order_of_the_file_nor_that_of_the_set_matters(case: Case, seed: int) -> None:
    queries, residents = list(case.queries), list(case.residents)
    before = cycle(queries, residents, case.knobs, case.options, sim)
    pruned = prune(residents, case.open, case.refused, case.knobs, case.options)
    random.Random(seed).shuffle(queries)
    random.Random(seed).shuffle(residents)
    assert cycle(queries, residents, case.knobs, case.options, sim) == before
    assert prune(residents, case.open, case.refused, case.knobs, case.options) == pruned


@settings(max_examples=settings().max_examples * 3 // 2)
@given(case=cases(), seed=st.integers(0, 999))
def test_any_subset_of_the_suggestions_leaves_floors_and_pins(case: Case, seed: int) -> None:
    entries = set_after(
        case.queries,
        case.residents,
        cycle(case.queries, case.residents, case.knobs, case.options, sim),
        lambda place: f"2027-01-01T00:00:{place:02}Z",
    )
    roles = pinned(entries, case.knobs)
    rng = random.Random(seed)
    gone = {s.id for s in prune(entries, case.open, case.refused, case.knobs, case.options) if rng.random() < 0.7}
    rest = [entry for entry in entries if entry.id not in gone]
    assert not gone & set(roles)
    assert pinned(rest, case.knobs) == roles
    for capability in case.capabilities:
        if coverers(capability, rest, case.knobs) < coverers(capability, entries, case.knobs):
            assert coverers(capability, rest, case.knobs) >= case.knobs.floor(capability)


@given(case=cases())
def test_keys_only_shrink_while_the_set_grows(case: Case) -> None:
    entries = in_admission_order(case.residents)
    for newcomer in case.queries:
        for q in case.queries:
            before = key(q, entries, [], case.knobs, case.options)
            after = key(q, [*entries, newcomer], [], case.knobs, case.options)
            waits = key(q, entries, [newcomer], case.knobs, case.options)
            # What is new may become what fills a floor; the key as a whole never grows.
            assert after <= before
            assert waits <= before


def test_seeded_cases_meet_every_path() -> None:
    paths: Counter[str] = Counter()
    for seed in range(800):
        case = random_case(random.Random(seed))
        assert case == random_case(random.Random(seed))
        scores = {query.id: query.scores for query in case.queries}
        for verdict in cycle(case.queries, case.residents, case.knobs, case.options, sim):
            paths[said(verdict).removesuffix(" UNFAMILIAR")] += 1
            paths["unfamiliar"] += "UNFAMILIAR" in verdict.reasons
            paths["alternate"] += bool(verdict.alternate_of)
            paths["waits behind"] += bool(verdict.alternate_of) and "REDUNDANT" in verdict.reasons
            paths["clone of one that waits"] += bool(verdict.alternate_of) and "CLONE" in verdict.reasons
            for name in verdict.close_call[0] if verdict.close_call else ():
                paths["weak close call" if name in scores[verdict.id] else "close call"] += 1
        for suggestion in prune(case.residents, case.open, case.refused, case.knobs, case.options):
            paths[suggestion.kind] += 1
    assert set(paths) == {
        "EXCLUDE direct OFF_TAXONOMY",
        "EXCLUDE direct CLONE",
        "EXCLUDE direct REDUNDANT",
        "INCLUDE review CLONE NEW_COVERAGE",
        "INCLUDE direct NEW_COVERAGE",
        "EXCLUDE review OFF_TAXONOMY",
        "EXCLUDE review REDUNDANT",
        "INCLUDE review NEW_COVERAGE",
        "INCLUDE review FILLS_FLOOR",
        "KEEP-BOTH review SPLIT_OR_FLOOR",
        "REPLACE review DOMINATES",
        "unfamiliar",
        "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE",
        "INCLUDE direct FILLS_FLOOR",
        "INCLUDE review FILLS_FLOOR LOW_CONFIDENCE",
        "INCLUDE review NOVEL_COMBO",
        "KEEP-BOTH direct SPLIT_OR_FLOOR",
        "KEEP-BOTH review SPLIT_OR_FLOOR LOW_CONFIDENCE",
        "REPLACE direct DOMINATES",
        "REPLACE review DOMINATES LOW_CONFIDENCE",
        "REPLACE review CONCENTRATION",
        "alternate",
        "waits behind",
        "clone of one that waits",
        "close call",
        "weak close call",
        "displaced",
        "redundant",
    }
