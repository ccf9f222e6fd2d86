"""What a review says of costs and of what has to be provisioned."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from incumbent.curator.entry import CorrectedCost
from incumbent.curator.store import RegressionSet
from incumbent.curator.suggestions import suggest
from incumbent.github.facts import classified_of
from incumbent.intake.query import Setup
from incumbent.pipeline.review import Review, judge
from incumbent.report.console import Printer
from incumbent.report.pull_request_bodies import SuggestionContext, render_eviction
from incumbent.report.review_console import print_text
from incumbent.report.review_json import ReviewOutput
from incumbent.report.review_markdown import render_markdown
from incumbent.report.tables import Detail
from incumbent.text.compare import text_key
from tests.factories import make_entry
from tests.github.scenes import make_analysis, make_platform, make_query, reworded
from tests.reconcile.proposing import make_platform as proposing

KNOWN = Setup(cost=2.0, tenant="t1", connectors=("orders",))


def review(*setups: Setup, costs: dict[str, float] | None = None, **config: Any) -> Review:
    """A review of queries with these ``setups``, each the first test of a capability, against an entry of cost 2.

    ``costs`` are those that a curator gave texts.
    """
    platform = make_platform(redundancy_floor=1, **config)
    corrected = {
        text_key([text]): CorrectedCost(value=cost, at="2026-11-01T10:00:00Z") for text, cost in (costs or {}).items()
    }
    known = {"r1": make_entry("r1", {"a": 0.9}, text="known", setup=KNOWN)}
    platform = replace(platform, regression_set=RegressionSet(known, {}, {}, corrected))
    queries = [
        reworded(make_query(f"q{name}", {name: 0.95}, text=f"query {name} " * 5), setup=setup)
        for name, setup in zip("bcde", setups, strict=False)
    ]
    analysis = make_analysis(queries=queries)
    return judge(platform, [classified_of(facts) for facts in analysis.judged.submissions], analysis.judged.identity)


@pytest.mark.parametrize(
    ("setups", "more", "before", "after"),
    [
        ((), {}, 2.0, 2.0),
        ((Setup(cost=0.0),), {}, 2.0, 2.0),
        ((Setup(), Setup(cost=3.25)), {}, 2.0, 6.25),
        # Queries that wait for a slot cost nothing yet; of equals the cheaper one enters.
        ((Setup(cost=5.0), Setup(cost=3.0)), {"ceiling": 2}, 2.0, 5.0),
        ((Setup(cost=5.0),), {"costs": {"known": 7.0}}, 7.0, 12.0),
        ((Setup(cost=5.0),), {"costs": {"query b " * 5: 1.5}}, 2.0, 3.5),
    ],
)
def test_the_total_cost_is_shown_before_and_after_the_merge(
    setups: tuple[Setup, ...], more: dict[str, Any], before: float, after: float
) -> None:
    found = review(*setups, **more)
    output = ReviewOutput.of(found)
    assert (output.cost, output.cost_after) == (before, after)
    told = f"total cost {before:g}" + ("" if before == after else f" → {after:g}")
    assert f"; {told}." in render_markdown(found)
    stream = io.StringIO()
    print_text(found, Printer(console=Console(file=stream, width=200)))
    assert not setups or f"slots taken, {told}\n" in stream.getvalue()


def test_an_edit_takes_the_cost_of_the_entry_that_it_replaces() -> None:
    first = review(Setup(cost=3.0))
    id = first.targets["qb"]
    old = make_entry(id, {"b": 0.9}, text="what it said before", setup=Setup(cost=10.0))
    platform = first.platform
    known = replace(platform.regression_set, entries={**platform.regression_set.entries, id: old})
    analysis = make_analysis(queries=[reworded(make_query("qb", {"b": 0.95, "c": 0.95}), setup=Setup(cost=3.0))])
    found = judge(
        replace(platform, regression_set=known),
        [classified_of(facts) for facts in analysis.judged.submissions],
        analysis.judged.identity,
    )
    assert found.edited.keys() == {"qb"}
    assert (known.cost, found.cost_after) == (12.0, 5.0)


def test_what_the_admitted_need_and_the_set_lacks_is_listed() -> None:
    new = Setup(tenant="t1", connectors=("orders", "cards"), fixtures=("a|b.json",))
    found = review(new, Setup(tenant="t2"), Setup(tenant="later"), ceiling=3)
    assert [(item.kind, item.name, item.needed_by) for item in found.provisions] == [
        ("tenant", "t2", ("qc",)),
        ("connector", "cards", ("qb",)),
        ("fixture", "a|b.json", ("qb",)),
    ]
    assert ReviewOutput.of(found).provisions == list(found.provisions)
    body = render_markdown(found)
    assert "<details><summary>To provision (3)</summary>" in body
    assert "| tenant | `t2` | `qc` |" in body
    short = render_markdown(found, Detail(folds=False), "the job summary")
    assert "To provision (3): see the job summary." in short
    assert "`t2`" not in short
    assert "To provision" not in render_markdown(review(KNOWN))


@pytest.mark.parametrize(
    ("by", "told"),
    [(None, "cost 1."), ("cora", "cost 9 (corrected by `cora`)."), ("", "cost 9 (corrected by a curator).")],
)
def test_the_description_of_an_eviction_says_who_corrected_the_cost(by: str | None, told: str) -> None:
    platform = proposing()
    known = platform.regression_set
    text = text_key(known.entries["spare"].turns)
    costs = {} if by is None else {text: CorrectedCost(value=9, by=by or None, at="2026-11-01T10:00:00Z")}
    platform = replace(platform, regression_set=replace(known, costs=costs))
    suggestions = suggest(platform.regression_set, platform.taxonomy, platform.config)
    item = next(item for item in suggestions.evictions if item.id == "spare")
    body = render_eviction(item, SuggestionContext(suggestions, platform))
    assert f"Mock set-up that is freed: {told}" in body
