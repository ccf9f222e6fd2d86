"""The dashboard issue: what each section says, that it always fits, and that nothing in it comes alive."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.curator.entry import Admitted, Entry, EntryClassification, Evicted, Source, Tombstone
from incumbent.curator.store import RegressionSet
from incumbent.curator.suggestions import suggest
from incumbent.intake.query import FixtureFolder, Setup
from incumbent.ledger.clone import LocalRefusals
from incumbent.ledger.model import Run
from incumbent.ledger.releases.history import histories, results_in
from incumbent.ledger.releases.record import EntryResult, ReleaseRecord, content_of
from incumbent.pipeline.review import Platform
from incumbent.report.dashboard import (
    MARKER,
    Dashboard,
    Kind,
    OpenSuggestion,
    PendingReview,
    RefusedSuggestion,
    UnopenedSuggestion,
    render_dashboard,
)
from incumbent.report.review_comment import COMMENT_CHARACTERS
from incumbent.report.status import prune_overview
from incumbent.report.task_list import Task, boxes_in
from incumbent.report.verdict_text import MarkdownStyle
from incumbent.runners.export.plan import plan_export, writers
from tests.factories import make_config, make_entry, make_taxonomy
from tests.github.hostile import FEW, HALF_CHARACTER, HARMLESS, HOSTILE
from tests.github.test_hostile_text import dead, skeleton, worded

NOW = "2026-11-21T10:00:00Z"
COMMIT = "a1b2c3d4e5f6" + "0" * 28
READY = Setup(tenant="t")
ASKING = ("Need a person", "Suggested", "Could go", "Waiting", "Least loss")

CHARTS = re.compile(
    r'\n```mermaid\nxychart-beta\n  title "(?:Entries|Capabilities|Possible|Total)[^"`]*"\n[^`]*\n```\n'
)


def source(customer: str, item: str = "q1") -> Source:
    return Source(customer=customer, agent="desk", eval_set="evals.yaml", item=item)


def entry(id: str, *names: str, score: float = 0.9, **more: Any) -> Entry:
    """An entry of acme that is ready to run and covers ``names``."""
    return make_entry(id, dict.fromkeys(names, score), **{"setup": READY, "source": source("acme"), **more})


def buried(item: Entry) -> Tombstone:
    return Tombstone(id=item.id, evicted=Evicted(at=NOW, reason="x"), restore="x", entry=item)


def make_platform(
    *entries: Entry, waiting: tuple[Entry, ...] = (), gone: tuple[Entry, ...] = (), **config: Any
) -> Platform:
    return Platform(
        taxonomy=make_taxonomy("a", "b", "c"),
        config=make_config(**config),
        regression_set=RegressionSet(
            {item.id: item for item in entries},
            {item.id: item for item in waiting},
            {item.id: buried(item) for item in gone},
        ),
    )


def make_dashboard(platform: Platform | None = None, **more: Any) -> Dashboard:
    defaults: dict[str, Any] = {"platform": platform or make_platform(), "commit": COMMIT, "at": NOW, "limit": 5}
    return Dashboard(**defaults | more)


def section(body: str, title: str) -> str:
    """The section whose heading begins with ``title``; empty where there is none."""
    found = re.search(rf"^#### {re.escape(title)}.*?(?=\n\n#### |\n\n<sub>)", body, re.DOTALL | re.MULTILINE)
    return found[0] if found else ""


def rows(text: str) -> list[list[str]]:
    """The rows of the table in ``text``, without its header."""
    lines = [line for line in text.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_an_empty_set_is_told_in_a_few_lines() -> None:
    assert render_dashboard(make_dashboard(make_platform(ceiling=1))) == (
        f"""{MARKER}
### Regression set: 0 of 1 slot taken, 1 free; total cost 0

0 of 3 capabilities covered. 0 of 3 pairs carried.

#### Coverage: 3 of 3 short of their floor

<details><summary>3 capabilities</summary>

| Capability | Coverers | Floor | Champion | Score |
| --- | --- | --- | --- | --- |
| *A* | 0 | **short of 2** | – | – |
| *B* | 0 | **short of 2** | – | – |
| *C* | 0 | **short of 2** | – | – |

</details>

#### Missing pairs (3)

Possible by the taxonomy alone: no agent's specification is known.

<details><summary>3 of 3</summary>

| Missing | Agents that could bring it | On the waitlist |
| --- | --- | --- |
| *A* + *B* | – | – |
| *A* + *C* | – | – |
| *B* + *C* | – | – |

</details>

<sub>As of commit `a1b2c3d4e5f6`, `{NOW}`; taxonomy 1.0.0. To refuse an eviction, close its pull request: it is not"""
        " suggested again on the same grounds. To bring an evicted entry back, comment `/incumbent restore ID` here; "
        "to take an admission back, `/incumbent undo ID`.</sub>\n"
    )


@pytest.mark.parametrize(
    ("ceiling", "headline"),
    [
        (5, "2 of 5 slots taken, 3 free; total cost 2"),
        (2, "2 of 2 slots taken, 0 free; total cost 2"),
        (1, "2 of 1 slot taken, 1 over the ceiling; total cost 2"),
    ],
)
def test_the_headline_is_the_size_against_the_ceiling(ceiling: int, headline: str) -> None:
    body = render_dashboard(make_dashboard(make_platform(entry("x", "a"), entry("y", "a"), ceiling=ceiling)))
    assert body.split("\n")[:2] == [MARKER, f"### Regression set: {headline}"]


@pytest.mark.parametrize(
    ("waiting", "gone", "refused", "said"),
    [
        (0, 0, 0, ""),
        (1, 1, 1, " 1 entry waits for a slot. 1 entry was evicted (tombstones). 1 refusal of an eviction holds."),
        (2, 3, 4, " 2 entries wait for a slot. 3 entries were evicted (tombstones). 4 refusals of evictions hold."),
    ],
)
def test_the_summary_names_only_what_there_is(waiting: int, gone: int, refused: int, said: str) -> None:
    platform = make_platform(
        entry("x", "a"),
        waiting=tuple(entry(f"w{place}", "b") for place in range(waiting)),
        gone=tuple(entry(f"g{place}", "b") for place in range(gone)),
    )
    summary = render_dashboard(make_dashboard(platform, refused=frozenset(map(str, range(refused))))).split("\n")[3]
    assert summary == f"1 of 3 capabilities covered. 0 of 3 pairs carried.{said}"


def test_coverage_puts_what_is_in_short_supply_first() -> None:
    platform = make_platform(entry("x", "a", "c"), entry("y", "a", score=0.95), entry("z", "b", score=0.1))
    found = section(render_dashboard(make_dashboard(platform)), "Coverage")
    assert found.startswith("#### Coverage: 2 of 3 short of their floor\n")
    assert rows(found) == [
        ["*B*", "0", "**short of 2**", "–", "–"],
        ["*C*", "1", "**short of 2**", "`x`", "0.90"],
        ["*A*", "2", "2", "`y`", "0.95"],
    ]


def test_coverage_says_so_where_every_floor_is_met() -> None:
    platform = make_platform(entry("x", "a", "b", "c"), redundancy_floor=1)
    assert "#### Coverage: every floor is met\n" in render_dashboard(make_dashboard(platform))


def test_missing_pairs_name_who_could_bring_them() -> None:
    platform = make_platform(entry("x", "a", "b"), waiting=(entry("w", "a", "c"),))
    agents = {"acme/desk": ("c",), "beta/`shop`": ()}
    body = render_dashboard(make_dashboard(platform, agents=agents))
    assert "1 of 3 possible pairs carried." in body
    found = section(body, "Missing pairs")
    assert found.startswith("#### Missing pairs (2)\n\nPossible by the taxonomy and the specifications of 2 agents.\n")
    assert rows(found) == [
        ["*A* + *C*", "`` beta/`shop` ``", "`w`"],
        ["*B* + *C*", "`` beta/`shop` ``", "–"],
    ]


def test_the_first_missing_pairs_are_listed_and_the_rest_is_counted() -> None:
    platform = replace(make_platform(), taxonomy=make_taxonomy(*(f"c{number}" for number in range(8))))
    found = section(render_dashboard(make_dashboard(platform)), "Missing pairs")
    assert found.startswith("#### Missing pairs (28)\n")
    assert "The table has the first 20; `incumbent status --pairs` lists all." in found
    assert len(rows(found)) == 20


def test_carried_pairs_that_count_as_impossible_are_counted() -> None:
    platform = make_platform(entry("x", "a", "b"))
    found = section(render_dashboard(make_dashboard(platform, agents={"acme/desk": ("a",)})), "Missing pairs (1)")
    assert "of 1 agent. Carried, though counted as impossible: 1." in found


def test_without_pairs_the_number_of_signatures_is_shown() -> None:
    body = render_dashboard(make_dashboard(make_platform(entry("x", "a", "b"), novelty="signature")))
    assert "1 combination carried." in body
    assert "Missing" not in body


def test_the_size_over_time_is_a_chart_and_missing_where_there_is_one_day() -> None:
    platform = make_platform(entry("x", "a"), gone=(entry("y", "a"),))
    assert render_dashboard(make_dashboard(platform)).count("\n```mermaid\nxychart-beta\n") == 3
    assert "mermaid" not in render_dashboard(make_dashboard(make_platform(entry("x", "a")), at="2026-01-01T09:00:00Z"))


def test_pending_reviews_are_named_by_pull_request() -> None:
    pending = (
        PendingReview(pull_request=12, queries=("q1", "q2", "q3", "q4", "q5"), merged=True),
        PendingReview(pull_request=13, queries=("q9",), merged=False),
        PendingReview(pull_request=14, queries=(), merged=False),
    )
    found = section(render_dashboard(make_dashboard(pending=pending)), "Need a person")
    assert found.startswith("#### Need a person (6)\n")
    assert rows(found) == [
        ["#12", "merged", "5", "`q1`, `q2`, `q3` and 2 more"],
        ["#13", "open", "1", "`q9`"],
        ["#14", "open", "0", "–"],
    ]


def test_open_suggestions_say_why() -> None:
    kinds = get_args(Kind)
    suggestions = tuple(
        OpenSuggestion(pull_request=20 + place, entries=("x", "y"), kind=kind) for place, kind in enumerate(kinds)
    )
    found = rows(section(render_dashboard(make_dashboard(open_suggestions=suggestions)), "Suggested"))
    assert [row[:2] for row in found] == [[f"#{20 + place}", "`x` and `y`"] for place in range(len(kinds))]
    assert len({row[2] for row in found}) == len(kinds)


@pytest.mark.parametrize(
    ("compare", "header", "row"),
    [
        (None, "| Entry | Why |", ["`x`", "redundant: `nobody misses it`"]),
        (
            "../compare/main...evict-x?expand=1",
            "| Entry | Why | By hand |",
            [
                "`x`",
                "redundant: `nobody misses it`",
                "[open the pull request](../compare/main...evict-x?expand=1)",
            ],
        ),
    ],
)
def test_candidates_name_the_limit_and_link_where_a_person_must_open_them(
    compare: str | None, header: str, row: list[str]
) -> None:
    candidates = (
        UnopenedSuggestion(entry="x", kind="redundant", why="nobody misses it", compare=compare),
        UnopenedSuggestion(entry="y", kind="swap", why="", compare=None),
    )
    open_ones = (OpenSuggestion(pull_request=9, entries=("z",), kind="displaced"),)
    dashboard = make_dashboard(candidates=candidates, open_suggestions=open_ones, limit=1)
    found = section(render_dashboard(dashboard), "Could go")
    assert "At most 1 suggestion is open at once (`limits.open_evictions`); 1 now." in found
    assert header in found
    assert rows(found) == [row, ["`y`", "swap with an entry that waits", "–"][: len(row)]]
    assert "At most 5 suggestions are" in render_dashboard(replace(dashboard, limit=5))


def full() -> Platform:
    """A full set of two, each the only test of something, and an entry that waits."""
    waiting = (entry("w", "a", "b", source=None), entry("v", "c", score=0.1))
    return make_platform(
        entry("x", "a", "b"), entry("y", "c"), entry("z"), waiting=waiting, ceiling=3, redundancy_floor=1
    )


def test_waiting_entries_say_what_they_would_cover() -> None:
    found = section(render_dashboard(make_dashboard(full())), "Waiting")
    assert found.startswith("#### Waiting for a slot (2)\n\nThe set is full.\n")
    assert rows(found) == [
        ["`w`", "–", "`2026-01-01T00:00:00Z`", "*A* and *B*"],
        ["`v`", "`acme`", "`2026-01-01T00:00:00Z`", "–"],
    ]
    free = render_dashboard(make_dashboard(make_platform(waiting=(entry("w", "a"),))))
    assert "`incumbent admit --waiting` lets in" in section(free, "Waiting")
    assert not section(free, "Least loss")


def test_the_least_loss_is_told_where_nothing_else_is_left_to_suggest() -> None:
    pair = make_platform(entry("x", "a", "b"), entry("y", "a"), waiting=(entry("w", "c"),), ceiling=2)
    found = rows(section(render_dashboard(make_dashboard(pair)), "Least loss"))
    assert found == [["`w`", "`y`", "the floor of *A*"]]
    best = (entry("best-a", "a", score=0.95), entry("best-b", "b", score=0.95))
    waiting = (entry("w", "a"), entry("v", "c"))
    one = make_platform(*best, entry("x", "a", "b"), waiting=waiting, ceiling=3, redundancy_floor=1)
    found = rows(section(render_dashboard(make_dashboard(one)), "Least loss"))
    assert found == [["`v`", "`x`", "the only test of *A* + *B*"]]
    assert not section(render_dashboard(make_dashboard(full())), "Least loss")


def test_the_least_loss_is_never_what_people_refused() -> None:
    x, y = entry("x", "a", score=0.95), entry("y", "a", score=0.6)
    platform = make_platform(x, y, waiting=(entry("w", "c"),), ceiling=2, redundancy_floor=1)
    (suggestion,) = suggest(platform.regression_set, platform.taxonomy, platform.config).evictions
    refused = frozenset({suggestion.grounds.digest})
    for held, lost in ((frozenset[str](), [["`w`", "`y`"]]), (refused, [])):
        shown = section(render_dashboard(make_dashboard(platform, refused=held)), "Least loss")
        assert [row[:2] for row in rows(shown) if shown] == lost
        suggested = suggest(platform.regression_set, platform.taxonomy, platform.config, refused=held)
        assert prune_overview(platform, suggested, LocalRefusals(grounds=held)).least_loss == []


def test_what_failed_is_suggested_last() -> None:
    platform = make_platform(entry("best", "a", score=0.95), entry("x", "a"), entry("y", "a"), redundancy_floor=1)
    suggested = suggest(platform.regression_set, platform.taxonomy, platform.config)
    ids = [item.id for item in suggested.evictions]
    assert sorted(ids) == ["x", "y"]
    first = platform.regression_set.entries[ids[0]]
    result = EntryResult(content=content_of(first), failed=1)
    record = ReleaseRecord(release="v1", at=NOW, entries={ids[0]: result})
    found = histories(platform.regression_set.entries, [record], platform.config.results)
    shown = results_in(platform.regression_set, [record], platform.config.results)
    known = replace(platform.regression_set, results=shown)
    suggested = suggest(known, platform.taxonomy, platform.config)
    output = prune_overview(platform, suggested, LocalRefusals(), found)
    assert [item.id for item in output.suggestions] == ids[::-1]
    assert output.only_failing == {ids[0]: ["a"]}


@pytest.mark.parametrize(
    "more",
    [
        {"candidates": (UnopenedSuggestion(entry="z", kind="redundant", why="", compare=None),)},
        {"open_suggestions": (OpenSuggestion(pull_request=9, entries=("z",), kind="redundant"),)},
        {"platform": make_platform(entry("x", "a"), ceiling=1)},
    ],
)
def test_the_least_loss_is_left_out_while_something_can_go_or_nothing_waits(more: dict[str, Any]) -> None:
    assert not section(render_dashboard(make_dashboard(**{"platform": full()} | more)), "Least loss")


def test_stale_entries_are_named_in_the_set_and_in_line() -> None:
    old = EntryClassification(taxonomy="1.0.0", backend="openai", model="m0", prompt="p", samples=3)
    platform = make_platform(
        entry("x", "a"), entry("y", "a"), entry("z", "a", classified=old), waiting=(entry("w", "b", classified=old),)
    )
    found = section(render_dashboard(make_dashboard(platform)), "Stale")
    assert "run `incumbent reclassify`" in found
    reason = "`classified by openai m0, prompt p, 3 samples`"
    assert rows(found) == [["`z`", reason, "1"], ["`w`", reason, "1"]]


@pytest.mark.parametrize(
    ("more", "fixtures", "why"),
    [
        ({"setup": Setup()}, None, None),
        ({"setup": Setup(tenant="t", attachments=("a.png",))}, None, None),
        ({"setup": Setup(tenant="t", ready=False)}, None, "its set-up is not ready (`setup.ready` is false)"),
        ({"setup": Setup(fixtures=("f",))}, None, None),
        ({"setup": Setup(fixtures=("f",))}, FixtureFolder("data", frozenset("f")), None),
        ({"setup": Setup(fixtures=("f",))}, FixtureFolder("data", frozenset()), "its fixtures are not in data/: f"),
        (
            {"turns": ("Mail {{ name }}.",)},
            None,
            "{{ name }} is a placeholder that is not filled; --keep-placeholders if it is meant literally",
        ),
    ],
)
def test_what_no_runner_can_run_is_listed_as_the_export_leaves_it_out(
    more: dict[str, Any], fixtures: FixtureFolder | None, why: str | None
) -> None:
    item = entry("x", "a", **more)
    platform = replace(make_platform(item), fixtures=fixtures)
    found = section(render_dashboard(make_dashboard(platform)), "Not ready")
    assert rows(found) == ([] if why is None else [["`x`", "`acme`", MarkdownStyle(platform.taxonomy).quote(why)]])
    left_out = plan_export([item], writers()["jsonl"], fixtures).left_out
    assert [remark.message for remark in left_out] == ([] if why is None else [why])


def test_what_is_quarantined_is_listed_with_the_reason_and_is_ready_all_the_same() -> None:
    body = render_dashboard(make_dashboard(make_platform(entry("x", "a", quarantined="it flaps"), entry("y", "a"))))
    assert rows(section(body, "Quarantined (1)")) == [["`x`", "`acme`", "`it flaps`"]]
    assert section(body, "Not ready") == ""


def test_the_total_cost_is_shown_beside_the_size() -> None:
    platform = make_platform(entry("x", "a", setup=Setup(cost=2.5)), entry("y", "a", setup=Setup(cost=0.25)))
    assert "slots taken, 148 free; total cost 2.75\n" in render_dashboard(make_dashboard(platform))


def test_customers_are_told_by_the_slots_that_they_hold() -> None:
    platform = make_platform(
        *(entry(f"x{place}", "a", source=source("acme")) for place in range(3)),
        *(entry(f"y{place}", "a", source=source("brim")) for place in range(4)),
        entry("z", "a", source=source("able")),
        entry("n", "a", source=None),
        ceiling=8,
    )
    found = section(render_dashboard(make_dashboard(platform)), "Customers (3)")
    assert "Above 50% of all slots (`limits.customer_share`)" in found
    assert rows(found) == [
        ["`brim`", "4", "50%", "a person"],
        ["`acme`", "3", "38%", "directly"],
        ["`able`", "1", "12%", "directly"],
        ["*no source*", "1", "12%", "–"],
    ]


def test_pins_of_people_are_told_with_their_reasons() -> None:
    platform = make_platform(entry("x", "a", pin="the board asks for it"), entry("y", "a"))
    assert rows(section(render_dashboard(make_dashboard(platform)), "Pinned")) == [["`x`", "`the board asks for it`"]]


def test_the_last_runs_are_told() -> None:
    runs = (
        Run.model_construct(at=NOW, commit=COMMIT, did="admitted 2", run="https://github.com/o/r/actions/runs/1"),
        Run.model_construct(at=NOW, commit=COMMIT, did="nothing", run=None),
    )
    found = rows(section(render_dashboard(make_dashboard(runs=runs)), "Last runs"))
    assert found == [
        [f"`{NOW}`", "`a1b2c3d4e5f6`", "`admitted 2`", "[run](https://github.com/o/r/actions/runs/1)"],
        [f"`{NOW}`", "`a1b2c3d4e5f6`", "`nothing`", "–"],
    ]


def test_notices_come_before_all_else() -> None:
    body = render_dashboard(make_dashboard(notices=("A decision was ignored.", "x" * 1000)))
    warning = body.split("\n\n")[2].split("\n")
    assert warning[:3] == ["> [!WARNING]", "> `A decision was ignored.`", ">"]
    assert len(warning[3]) == len("> ``") + 400


def test_a_moment_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        render_dashboard(make_dashboard(at="now"))


# It always fits ----------------------------------------------------------------------------------------------------


def crowd(count: int, text: str) -> Dashboard:
    """Everything ``count`` times, with ``text`` wherever others write."""
    admitted = Admitted(at="2025-03-01T00:00:00Z", decision="INCLUDE", route="direct")
    old = EntryClassification(taxonomy="1.0.0", backend=worded(text), model=worded(text), prompt="p", samples=3)
    kept: dict[str, Any] = {"setup": Setup(), "pin": worded(text), "admitted": admitted}
    behind: dict[str, Any] = {"classified": old}
    entries = [
        entry(f"e{place}", "a", source=source(f"{place} {text}"), **kept, **(behind if place % 3 else {}))
        for place in range(count)
    ]
    # The identity of the set is the one that most entries carry.
    entries += [entry(f"o{place}", "a", "b") for place in range(count + 1)]
    platform = make_platform(
        *entries,
        waiting=tuple(entry(f"w{place}", "a", source=source(worded(text))) for place in range(count)),
        gone=tuple(entry(f"g{place}", "a") for place in range(count)),
        ceiling=max(1, len(entries)),
    )
    names = tuple(f"{text} {place}" for place in range(count))
    return make_dashboard(
        platform,
        open_suggestions=tuple(
            OpenSuggestion(pull_request=place, entries=names, kind="redundant") for place in range(count)
        ),
        candidates=tuple(UnopenedSuggestion(entry=name, kind="swap", why=text, compare=f"../{name}") for name in names),
        pending=tuple(PendingReview(pull_request=place, queries=names, merged=True) for place in range(count)),
        runs=tuple(Run.model_construct(at=NOW, commit=text, did=name, run=f"https://x/{name}") for name in names),
        notices=names,
    )


def well_formed(body: str) -> None:
    assert len(body) <= COMMENT_CHARACTERS
    assert body.startswith(f"{MARKER}\n")
    assert body.endswith("</sub>\n")
    assert body.count("\n<details>") == body.count("\n</details>\n")
    assert body.count("\n```mermaid\n") == len(CHARTS.findall(body)) <= 4
    for table in re.findall(r"(?:^\|.*\n)+", body, re.MULTILINE):
        lines = [re.sub(r"\\\|", "", line) for line in table.strip().split("\n")]
        assert len(lines) > 2
        assert re.fullmatch(r"\|( --- \|)+", lines[1])
        assert len({line.count("|") for line in lines}) == 1


@settings(max_examples=10)
@given(
    st.integers(0, 250),
    st.one_of(st.sampled_from(sorted(HOSTILE.values())), st.text(st.characters(), max_size=300)),
)
def test_it_fits_whatever_there_is_and_is_the_same_each_time(count: int, text: str) -> None:
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        text = "half a character is no text of a file"
    dashboard = crowd(count, text)
    body = render_dashboard(dashboard)
    well_formed(body)
    assert render_dashboard(dashboard) == body


def test_numbers_are_left_of_what_is_far_too_long() -> None:
    body = render_dashboard(crowd(120, "\u4e00|" * 200), limit=0)
    well_formed(body)
    assert len(body.encode()) < 10_000
    assert rows(body) == []
    assert "> 120 more: see the log of the run." in body
    for what in ("the pull requests themselves", "the open pull requests", "`incumbent prune`", "`incumbent status`"):
        assert f"120: see {what}." in body


@pytest.mark.parametrize("limit", [10**9, 20_000, 8_000, 0])
def test_what_has_no_box_is_counted_with_the_way_to_it(limit: int) -> None:
    ids = [f"e{place}" for place in range(60)]
    queries = tuple(f"q{place}" for place in range(5))
    grounds = "1" * 16
    dashboard = make_dashboard(
        candidates=tuple(
            UnopenedSuggestion(
                entry=id,
                kind="redundant",
                why="",
                compare=None,
                boxes=(Task("suggest", id, grounds), Task("keep", id, grounds)),
            )
            for id in ids
        ),
        reopenable=tuple(
            RefusedSuggestion(entry=id, pull_request=7, again=Task("suggest", id, grounds, 7)) for id in ids
        ),
        pending=(
            PendingReview(
                pull_request=3,
                queries=queries,
                merged=True,
                boxes=tuple(Task("accept", id, "2" * 24, 3) for id in queries[:3]),
            ),
            PendingReview(pull_request=4, queries=queries, merged=False),
        ),
    )
    body = render_dashboard(dashboard, limit)
    boxes = list(boxes_in(body))
    for title, boxed, total, way in (
        ("Need a person", {item.entry for item in boxes if item.action == "accept"}, 5, "`/incumbent accept ID…`"),
        ("Could go or enter", {item.entry for item in boxes if item.action == "keep"}, 60, "`incumbent evict ID`"),
        ("Refused", {item.entry for item in boxes if item.pull_request == 7}, 60, "reopen the pull request"),
    ):
        found = section(body, title)
        hidden = re.search(r"^(\d+) without a box here: .*", found, re.MULTILINE)
        left = total - len(boxed)
        assert (0 if hidden is None else int(hidden[1])) == left
        assert (hidden is None) == (left == 0)
        assert hidden is None or way in hidden[0]
        if title != "Need a person":
            assert boxed == set(ids[: len(boxed)]), "the first keep theirs"


def shown(body: str) -> tuple[int, int]:
    """How many rows ask something of people, and how many describe the set."""
    parts = re.split(r"^#### ", body, flags=re.MULTILINE)[1:]
    asking = [len(rows(part)) for part in parts if part.startswith(ASKING)]
    return sum(asking), sum(len(rows(part)) for part in parts) - sum(asking)


def test_what_describes_the_set_is_cut_before_what_asks_people() -> None:
    dashboard = crowd(110, HARMLESS)
    whole = render_dashboard(dashboard, limit=10**9)
    length = len(whole.encode())
    all_asking, all_describing = shown(whole)
    assert all_asking == 4 * 110
    steps = [shown(render_dashboard(dashboard, limit)) for limit in (*range(length, 0, -length // 24), 0)]
    assert steps[0] == (all_asking, all_describing)
    assert steps[-1] == (0, 0)
    assert steps == sorted(steps, reverse=True)
    assert all(asking == all_asking or describing == 0 for asking, describing in steps)
    assert len({describing for _, describing in steps}) > 3
    assert len({asking for asking, _ in steps}) > 3


# Nothing comes alive -----------------------------------------------------------------------------------------------


def hostile(text: str) -> Dashboard:
    """A dashboard on which every word of a stranger is ``text``."""
    said = worded(text)
    old = EntryClassification(taxonomy="1.0.0", backend=said, model=said, prompt=said, samples=3)
    platform = make_platform(
        entry("x", "a", source=source(said, said), pin=said, setup=Setup(fixtures=(said,))),
        entry("y", "a"),
        entry("z", "b", classified=old, source=None),
        waiting=(entry("w", "c", source=source(said, said)),),
        gone=(entry("g", "c"),),
    )
    return make_dashboard(
        replace(platform, fixtures=FixtureFolder("mocks", frozenset())),
        commit=text,
        open_suggestions=(OpenSuggestion(pull_request=4242, entries=(text, text), kind="swap"),),
        candidates=(
            UnopenedSuggestion(entry=text, kind="displaced", why=f"{text} beats it", compare="../compare/a...b"),
        ),
        pending=(PendingReview(pull_request=4242, queries=(text, f"{text} 2"), merged=True),),
        runs=(Run.model_construct(at=text, commit=text, did=text, run="https://github.com/o/r"),),
        notices=(text, f"A decision of {text} was ignored."),
    )


def others(body: str) -> str:
    """``body`` without what we alone put there: the chart, links, and references to pull requests."""
    body = CHARTS.sub("\n", body)
    body = body.replace("](../compare/a...b)", "").replace("](https://github.com/o/r)", "")
    return body.replace("[open the", "open the").replace("[run", "run").replace("| #4242 |", "| pull request |")


@pytest.mark.parametrize("name", [*FEW, "half"])
def test_nothing_comes_alive_on_the_dashboard(name: str) -> None:
    text = FEW.get(name, "half of a pair: \ufffd @octocat")
    body, twin = render_dashboard(hostile(text)), render_dashboard(hostile(HARMLESS))
    well_formed(body)
    dead(others(body), re.compile(re.escape(MARKER)))
    assert skeleton(body) == skeleton(twin)
    assert body.count("\n") == twin.count("\n")


def test_half_a_character_is_shown_and_breaks_nothing() -> None:
    notices = (HALF_CHARACTER,)
    runs = (Run.model_construct(at=NOW, commit=COMMIT, did=HALF_CHARACTER, run=f"https://x/{HALF_CHARACTER}"),)
    body = render_dashboard(make_dashboard(notices=notices, runs=runs))
    assert body.encode()
    well_formed(body)
