"""The consolidator and prune against an independent, deliberately naive transcription of the semantics."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter

from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.verdict import Verdict
from incumbent.curator.prune import prune
from incumbent.curator.roles import EvictionKind, Grounds, derive_roles
from incumbent.rater.model import Doubt, RatedEntry, ReleaseResults, ScoredQuery
from incumbent.rater.similarity import similarity
from incumbent.report.output import VerdictOutput
from incumbent.taxonomy.config import Curation
from tests.factories import make_config
from tests.oracle import reference
from tests.oracle.strategies import Case, cases, random_case

# `INCUMBENT_CASES=5000 make test ARGS="-k reference"` runs more.
SEEDED_CASES = int(os.environ.get("INCUMBENT_CASES", settings().max_examples * 5))
TAXONOMY_MAJOR = 1
RESULTS = dict(enumerate(ReleaseResults, start=1))
SHOWN: TypeAdapter[Verdict] = TypeAdapter(VerdictOutput)


def config_of(case: Case) -> Curation:
    knobs, options = case.knobs, case.options
    return make_config(
        competence_bar=knobs.competence_bar,
        winning_margin=knobs.winning_margin,
        clone_cutoff=knobs.clone_cutoff,
        redundancy_floor=knobs.redundancy_floor,
        concentration_cap=knobs.concentration_cap,
        honesty_floor=knobs.honesty_floor,
        per_capability={name: dict(values) for name, values in knobs.per_capability.items()},
        novelty=options.novelty,
        honesty_scope=options.honesty_scope,
        clone_rescue=options.clone_rescue,
        rule_values=knobs.rule_values,
        win_needs_bar=knobs.win_needs_bar,
        fill_floor=options.fill_floor,
        close_call=options.close_call,
        recency=knobs.recency,
        fill_to=options.fill_to,
        ceiling=options.ceiling,
    ).under(options.uncombinable, knobs.trial, options.fill_from_any)


def residents_of(case: Case) -> list[RatedEntry]:
    return [
        RatedEntry(
            id=item.id,
            turns=item.turns,
            scores=item.scores,
            admitted_at=str(item.admitted_at),
            pin=item.pin,
            displaces=item.displaces,
            setup_cost=item.setup_cost,
            customer=item.customer,
            by_rule=item.by_rule,
            results=RESULTS[reference.class_by_results(item, case.options)],
        )
        for item in case.residents
    ]


def queries_of(case: Case) -> list[ScoredQuery]:
    return [
        ScoredQuery(
            id=item.id,
            turns=item.turns,
            scores=item.scores,
            customer=item.customer,
            arbitrated=item.arbitrated,
            doubts=tuple(
                Doubt(capability=name, probability=probability, excludes=excludes)
                for name, (probability, excludes) in item.doubts.items()
            ),
            familiar=item.familiar,
            by_rule=item.by_rule,
            setup_cost=item.setup_cost,
        )
        for item in case.queries
    ]


def check(case: Case) -> None:
    config, residents = config_of(case), residents_of(case)
    verdicts = [SHOWN.dump_python(verdict, mode="json") for verdict in run_cycle(queries_of(case), residents, config)]
    for verdict in verdicts:
        verdict["facts"]["max_similarity"] = round(verdict["facts"]["max_similarity"], 9)
    expected = reference.cycle(case.queries, case.residents, case.knobs, case.options, similarity)
    assert verdicts == [verdict.plain() for verdict in expected]

    refusals = {(grounds.id, grounds.kind, grounds.yields_to) for grounds in case.refused}
    now = {item.id: reference.grounds(item, case.residents, case.knobs, case.options) for item in case.residents}
    digests = {
        grounds.digest
        for id, grounds in _all_grounds(residents, config).items()
        if (id, now[id].kind, now[id].yields_to) in refusals
    }
    suggestions = prune(residents, config, TAXONOMY_MAJOR, case.open, digests)
    by_reference = reference.prune(case.residents, case.open, case.refused, case.knobs, case.options)
    assert [(item.id, item.grounds.kind.value, item.grounds.yields_to) for item in suggestions] == [
        (grounds.id, grounds.kind, grounds.yields_to) for grounds in by_reference
    ]
    pins = reference.pinned(case.residents, case.knobs)
    assert {id: sorted(reasons) for id, reasons in derive_roles(residents, config).pinned.items()} == {
        id: sorted("person:a person wants it" if reason == "person" else f"champion:{reason}" for reason in reasons)
        for id, reasons in pins.items()
    }


def _all_grounds(residents: list[RatedEntry], config: Curation) -> dict[str, Grounds]:

    roles = derive_roles(residents, config)
    return {
        resident.id: Grounds.on(
            resident,
            EvictionKind.DISPLACED if (displacers := roles.displaced.get(resident.id, ())) else EvictionKind.REDUNDANT,
            displacers,
            TAXONOMY_MAJOR,
        )
        for resident in residents
    }


@settings(max_examples=settings().max_examples * 3 // 2)
@given(cases())
def test_drawn_cases_agree_with_the_reference(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("block", range(10))
def test_seeded_cases_agree_with_the_reference(block: int) -> None:
    for seed in range(block * SEEDED_CASES // 10, (block + 1) * SEEDED_CASES // 10):
        check(random_case(random.Random(seed)))
