"""Results of release runs where people read them: on the console, the dashboard, and in suggestions."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from incumbent.curator.entry import Entry
from incumbent.curator.store import RegressionSet
from incumbent.curator.suggestions import suggest
from incumbent.ledger.releases.history import histories, results_in
from incumbent.ledger.releases.ledger_records import with_results
from incumbent.ledger.releases.record import CaseResult, EntryResult, MatchedResults, Outcome, ReleaseRecord, content_of
from incumbent.pipeline.review import Platform
from incumbent.reconcile.suggestion_pull_requests import proposals_of
from incumbent.report.console import Printer
from incumbent.report.dashboard import Dashboard, render_dashboard
from incumbent.report.pull_request_bodies import SuggestionContext, render_eviction
from incumbent.report.results import (
    ResultsOutput,
    added_overview,
    entry_words,
    print_added,
    print_results,
    record_words,
    result_sections,
    results_overview,
    run_summary,
)
from incumbent.report.status import print_status, status_overview
from incumbent.report.verdict_text import MarkdownStyle
from incumbent.taxonomy.config import ResultSettings
from tests.factories import make_config, make_entry, make_taxonomy
from tests.github.hostile import FEW, HARMLESS
from tests.github.test_hostile_text import dead, skeleton

MARKS = {"+": {"passed": 1}, "-": {"failed": 1}, "~": {"passed": 1, "failed": 1}}


def platform(*entries: Entry) -> Platform:
    return Platform(
        taxonomy=make_taxonomy("a", "b", "c"),
        config=make_config(redundancy_floor=1),
        regression_set=RegressionSet({item.id: item for item in entries}, {}, {}),
    )


def entry(id: str, *names: str, score: float = 0.9) -> Entry:
    return make_entry(id, dict.fromkeys(names, score), text=f"text of {id}")


def releases(entries: dict[Entry, str] | list[tuple[Entry, str]]) -> tuple[ReleaseRecord, ...]:
    """Releases by what each entry did in them, as in ``+-+``."""
    pairs = list(entries.items()) if isinstance(entries, dict) else entries
    return tuple(
        ReleaseRecord(
            release=f"v{place}",
            at=f"2026-01-{place + 1:02}T00:00:00Z",
            entries={
                item.id: EntryResult(content=content_of(item), seconds=2.0, timed=1, **MARKS[marks[place]])
                for item, marks in pairs
                if marks[place] != "."
            },
        )
        for place in range(max((len(marks) for _, marks in pairs), default=0))
    )


def quarantined(item: Entry) -> Entry:
    return item.model_copy(update={"quarantined": "it flaps"})


CALM, FLAPS, FAILED, IDLE = entry("calm", "a"), entry("flaps", "b"), entry("failed", "a"), entry("idle", "c")
ALL = (CALM, FLAPS, FAILED, IDLE)
RECORDS = releases([(CALM, "++++"), (FLAPS, "+-+-"), (FAILED, "+-++"), (IDLE, "....")])


def overview(**more: Any) -> ResultsOutput:
    return results_overview(platform(*ALL), more.get("records", RECORDS), ledger=True)


def printed(*outputs: Any) -> str:
    stream = io.StringIO()
    out = Printer(console=Console(file=stream, force_terminal=False, width=200, color_system=None))
    for output in outputs:
        (print_results if isinstance(output, ResultsOutput) else print_added)(output, out)
    return stream.getvalue()


def test_the_table_says_what_flaps_what_never_failed_and_what_never_ran() -> None:
    text = printed(overview())
    assert "4 releases, the last v3: 2 passed, 1 failed, 0 errors, 0 skipped" in text
    lines = {line.split("\t")[0]: line.split("\t")[1:] for line in text.splitlines() if "\t" in line}
    assert lines["b"] == ["1 coverer, all flapping: not covered in effect"]
    assert lines["c"] == ["1 coverer, none ran"]
    assert "a" not in lines
    assert lines["flaps"] == ["2 of 4", "3", "2", "flaps"]
    assert lines["failed"][-1] == "failed last in v1"
    assert lines["calm"][-1].startswith("never failed; the chance of a hidden defect is ")
    assert lines["idle"] == ["0 of 0", "0", "–", "never ran"]
    assert [item.entry for item in overview().entries] == ["calm", "failed", "flaps", "idle"]
    assert printed(overview(records=())) == "no results yet: `incumbent results add FILE`\n"


def test_a_capability_whose_coverers_all_flap_is_covered_in_name_alone() -> None:
    assert overview().in_name_alone == ["b"]
    state = status_overview(platform(*ALL), results=overview())
    assert state.in_name_alone == ["b"]
    assert status_overview(platform(*ALL), results=overview(records=())).in_name_alone is None
    assert state.quarantined == []
    stream = io.StringIO()
    out = Printer(console=Console(file=stream, force_terminal=False, width=200, color_system=None))
    print_status(state, out)
    said = stream.getvalue()
    assert "Covered in name alone, since all their entries flap or are quarantined: `incumbent results`" in said
    assert "\n  b\n" in said


def test_a_quarantined_entry_covers_nothing_in_effect_with_results_or_without() -> None:
    here = platform(CALM, FLAPS, FAILED, quarantined(IDLE))
    state = status_overview(here)
    assert (state.in_name_alone, state.quarantined) == (["c"], ["idle"])
    shown = results_overview(here, RECORDS, ledger=True)
    assert status_overview(here, results=shown).in_name_alone == shown.in_name_alone == ["b", "c"]
    lines = {line.split("\t")[0]: line.split("\t")[1:] for line in printed(shown).splitlines() if "\t" in line}
    assert lines["c"] == ["1 coverer, all flapping or quarantined: not covered in effect"]
    assert lines["idle"] == ["0 of 0", "0", "–", "never ran; quarantined"]
    stream = io.StringIO()
    print_status(state, Printer(console=Console(file=stream, force_terminal=False, width=200, color_system=None)))
    assert "Quarantined: `incumbent list --quarantined`\n  idle\n" in stream.getvalue()


@pytest.mark.parametrize(
    ("flaps", "flapping", "stable"), [(FLAPS, ["`flaps`"], []), (quarantined(FLAPS), [], ["`flaps`"])]
)
def test_what_is_quarantined_and_stable_is_said_apart_from_what_flaps(
    flaps: Entry, flapping: list[str], stable: list[str]
) -> None:
    records = releases([(FLAPS, "+-+-" + "-" * 9), (CALM, "+" * 13)])
    shown = results_overview(platform(CALM, flaps), records, ledger=True)
    assert ("Quarantined, and stable (1): `incumbent quarantine ID --end`" in printed(shown)) == bool(stable)
    _, first, second = result_sections(shown, MarkdownStyle(make_taxonomy("a", "b")))
    assert [row[0] for row in first.rows] == flapping
    assert [*second.rows] == [(id, "10", "11 of 13") for id in stable]
    words = "flaps; quarantined, and stable: the last 10 releases ended alike" if stable else "flaps"
    assert [entry_words(item) for item in shown.entries if item.entry == "flaps"] == [words]


def test_the_record_of_an_entry_is_one_line() -> None:
    said = {id: record_words(found) for id in ("calm", "flaps", "failed") if (found := overview().history_of(id))}
    assert said["flaps"] == "failed in 2 of 4 releases, 3 changes between passing and failing: flaps"
    assert said["failed"] == "failed in 1 of 4 releases, 2 changes between passing and failing: failed last in v1"
    assert said["calm"].startswith("failed in 0 of 4 releases: never failed; the chance")
    (mixed,) = histories({"failed": FAILED}, releases([(FAILED, "~")]), ResultSettings()).values()
    assert record_words(mixed) == "failed in 1 of 1 release, runs disagree in 1 release: flaps"
    idle = overview().history_of("idle")
    assert idle is not None
    assert record_words(idle) == "never ran"
    assert overview().history_of("gone") is None
    assert overview(records=()).history_of("calm") is None


def test_combinations_and_a_whole_run_are_counted() -> None:
    pair, other, flaky = entry("pair", "a", "b"), entry("other", "a", "c"), entry("flaky", "b", "c")
    records = releases([(pair, "+-++"), (flaky, "+-+-")])
    output = results_overview(platform(pair, other, flaky), records, ledger=True)
    text = printed(output)
    assert "3 combinations carried: a test failed at 2, none ran for 1, 1 carried by flapping or quarantined " in text
    assert "a run of the whole set takes 0.1 minutes (1 entry by the mean of the others)\n" in text
    assert [(item.measure, item.total, item.estimated) for item in output.run] == [("seconds", 6.0, 1)]
    assert overview(records=()).run == []


def test_a_name_of_a_release_moves_no_cursor() -> None:
    record = RECORDS[1].model_copy(update={"release": "v1\x1b[2J"})
    text = printed(results_overview(platform(FAILED), (record,), ledger=True))
    assert "\x1b" not in text
    (history,) = histories({"failed": FAILED}, (record,), ResultSettings()).values()
    assert "\x1b" not in entry_words(history)


def test_what_was_added_is_said_with_what_fits_nothing() -> None:
    lost = tuple(CaseResult(outcome=Outcome.FAILED, line=line, entry=name) for line, name in ((3, None), (None, "x")))
    matched = {"a" * 24: MatchedResults(entries=dict(RECORDS[0].entries), unmatched=lost)}
    first = with_results(ReleaseRecord(release="v9", at="2026-01-01T00:00:00Z"), matched)
    text = printed(added_overview(first, None), added_overview(with_results(first.record, matched), None))
    assert "v9: 3 results counted, of 3 entries" in text
    assert "2 fit no entry: line 3 and x" in text
    assert "1 file was counted before, and is not counted again" in text


def test_the_summary_of_a_job_says_what_was_added_and_what_all_releases_show() -> None:
    lost = (CaseResult(outcome=Outcome.FAILED, line=None, entry="x"),)
    matched = {"a" * 24: MatchedResults(entries=dict(RECORDS[0].entries), unmatched=lost)}
    named = ReleaseRecord(release="v9 <!-- | ` @all", at="2026-01-01T00:00:00Z")
    first = with_results(named, matched)
    text = run_summary(added_overview(first, None), platform(*ALL), RECORDS)
    head, counts, unmatched, *sections = text.split("\n\n")
    assert head == "### Results of ``v9 <\u200b!-- \\| ` @all``"
    assert (counts, unmatched) == ("3 results counted, of 3 entries", "1 fit no entry: `x`")
    assert sections[0] == "#### Never seen to fail in a release, or flapping (2)"
    again = run_summary(added_overview(with_results(first.record, matched), None), platform(*ALL), RECORDS)
    assert "1 file was counted before, and is not counted again" in again


@pytest.mark.parametrize("name", FEW)
def test_no_name_of_a_release_or_a_result_comes_alive(name: str) -> None:
    def texts(text: str) -> tuple[str, str]:
        said = text.encode("utf-8", "replace").decode().strip() or "x"
        lost = (CaseResult(outcome=Outcome.FAILED, line=None, entry=said),)
        record = RECORDS[1].model_copy(update={"release": said})
        added = with_results(record, {"a" * 24: MatchedResults(entries=dict(record.entries), unmatched=lost)})
        seen = Dashboard(
            platform=platform(*ALL), commit="1" * 40, at="2026-02-01T00:00:00Z", limit=5, releases=(record,)
        )
        return run_summary(added_overview(added, None), seen.platform, (record,)), render_dashboard(seen)

    (summary, dashboard), (plain_summary, plain_dashboard) = texts(FEW[name]), texts(HARMLESS)
    dead(summary, None)
    assert skeleton(summary) == skeleton(plain_summary)
    assert skeleton(dashboard) == skeleton(plain_dashboard)


def test_the_dashboard_lists_what_is_covered_in_name_alone_and_what_flaps() -> None:
    dashboard = Dashboard(platform=platform(*ALL), commit="1" * 40, at="2026-02-01T00:00:00Z", limit=5)
    assert "flapping" not in render_dashboard(dashboard)
    body = render_dashboard(
        Dashboard(platform=platform(*ALL), commit="1" * 40, at="2026-02-01T00:00:00Z", limit=5, releases=RECORDS)
    )
    assert "#### Never seen to fail in a release, or flapping (2)" in body
    assert "1 coverer, all flapping: not covered in effect |" in body
    assert "| `flaps` | 2 of 4 | 3 |" in body
    every = releases([(FAILED, "+-"), (IDLE, "-+")])
    calm = Dashboard(
        platform=platform(FAILED, IDLE), commit="1" * 40, at="2026-02-01T00:00:00Z", limit=5, releases=every
    )
    assert "every covered capability has a test that failed once" in render_dashboard(calm)
    assert "Entries that flap" not in render_dashboard(calm)


# Suggestions --------------------------------------------------------------------------------------------------------

BEST = [entry("best1", "a", "b"), entry("best2", "a", "b")]
SPARES = [entry("spare1", "a", score=0.7), entry("spare2", "b", score=0.7)]


def test_results_order_what_is_suggested_and_what_failed_and_passed_comes_last() -> None:
    here = platform(*BEST, *SPARES)
    suggestions = suggest(here.regression_set, here.taxonomy, here.config)
    plain = [item.entries for item in proposals_of(suggestions, here)]
    assert ("spare1",) in plain
    assert ("spare2",) in plain
    for failing, first in ((SPARES[0], "spare2"), (SPARES[1], "spare1")):
        shown = results_in(here.regression_set, releases([(failing, "+-+")]), here.config.results)
        known = replace(here.regression_set, results=shown)
        found = [item.entries for item in proposals_of(suggest(known, here.taxonomy, here.config), here)]
        assert sorted(found) == sorted(plain)
        spares = [ids[0] for ids in found if ids[0].startswith("spare")]
        assert spares[0] == first


def test_an_eviction_of_the_only_entry_that_ever_failed_is_warned_of() -> None:
    here = platform(*BEST, *SPARES)
    suggestions = suggest(here.regression_set, here.taxonomy, here.config)
    item = next(item for item in suggestions.evictions if item.id == "spare1")

    def body(marks: str, other: str) -> str:
        records = releases([(SPARES[0], marks), (BEST[0], other)])
        known = histories(here.regression_set.entries, records, here.config.results)
        return render_eviction(item, SuggestionContext(suggestions, here, known))

    warned = body("+-+", "+++")
    assert "> In release runs no other entry that covers these ever failed:\n>\n> `spare1`: " in warned
    assert "WARNING" not in body("+-+", "-++")
    assert "WARNING" not in body("+++", "-++")
