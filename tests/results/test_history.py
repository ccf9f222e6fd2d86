"""What releases show of an entry: failures, flips, and how much a row of passes is worth."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincc

from incumbent.curator.entry import Entry
from incumbent.curator.store import RegressionSet
from incumbent.ledger.releases.history import (
    _exceeds,
    combination_evidence,
    evidence,
    histories,
    in_order,
    last_failing,
    only_failing,
    outcomes_of,
    results_in,
)
from incumbent.ledger.releases.record import EntryResult, ReleaseRecord, content_of
from incumbent.rater.model import ReleaseResults
from incumbent.taxonomy.config import ResultSettings
from tests.factories import make_entry
from tests.reconcile.merges import source

SETTINGS = ResultSettings(window=20, flips=3, mixed=1, prior_releases=4.0, defect_rate=0.05)


FLAPPING = ({"passed": 1}, {"failed": 1}, {"passed": 1}, {"failed": 1})


def entry(id: str = "e", customer: str = "acme", **scores: float) -> Entry:
    place = source(id).model_copy(update={"customer": customer})
    return make_entry(id, scores or {"a": 0.9}, text=f"text of {id}", source=place)


def result(item: Entry, passed: int = 0, failed: int = 0, **more: Any) -> EntryResult:
    return EntryResult(content=content_of(item), passed=passed, failed=failed, **more)


def releases(*results: dict[str, EntryResult]) -> tuple[ReleaseRecord, ...]:
    return tuple(
        ReleaseRecord(release=f"v{place}", at=f"2026-01-{place + 1:02}T00:00:00Z", entries=entries)
        for place, entries in enumerate(results)
    )


def history(marks: str, **settings: Any) -> Any:
    """The history of one entry: ``+`` passed, ``-`` failed, ``~`` both, ``!`` an error, ``.`` absent."""
    one = entry()
    counts: dict[str, dict[str, int]] = {
        "+": {"passed": 1},
        "-": {"failed": 1},
        "~": {"passed": 1, "failed": 1},
        "!": {"errors": 1},
    }
    records = releases(*({} if mark == "." else {"e": result(one, **counts[mark])} for mark in marks))
    return histories({"e": one}, records, SETTINGS.model_copy(update=settings))["e"]


@pytest.mark.parametrize(
    ("marks", "ran", "failing", "mixed", "flips", "flapping", "last"),
    [
        ("", 0, 0, 0, 0, False, None),
        ("...", 0, 0, 0, 0, False, None),
        ("!!", 0, 0, 0, 0, False, None),
        ("+++", 3, 0, 0, 0, False, None),
        ("+-+", 3, 1, 0, 2, False, "v1"),
        ("+--++", 5, 2, 0, 2, False, "v2"),
        ("+-+-", 4, 2, 0, 3, True, "v3"),
        ("+.-!+.-", 4, 2, 0, 3, True, "v6"),
        ("+~+", 3, 1, 1, 0, True, "v1"),
        ("+~-", 3, 2, 1, 1, True, "v2"),
        ("---", 3, 3, 0, 0, False, "v2"),
    ],
)
def test_counts_are_of_releases(
    marks: str, ran: int, failing: int, mixed: int, flips: int, flapping: bool, last: str | None
) -> None:
    found = history(marks)
    assert (found.releases, found.failing, found.mixed, found.flips) == (ran, failing, mixed, flips)
    assert (found.flapping, found.last_failure) == (flapping, last)
    assert (found.interval is None) == (not ran)
    assert (found.hidden is None) == (failing > 0 or not ran)


@pytest.mark.parametrize(
    ("marks", "steady"),
    [
        ("", 0),
        ("+", 1),
        ("+++", 3),
        ("-+++", 3),
        ("+--", 2),
        ("+-+.!+", 2),
        ("++~", 0),
        ("~++", 2),
        ("+~+~~", 0),
        ("+" * 25, 20),
    ],
)
def test_an_entry_is_steady_since_it_changed_last(marks: str, steady: int) -> None:
    found = history(marks, stable=2)
    assert (found.steady, found.stable) == (steady, steady >= 2)


def test_only_the_last_releases_count() -> None:
    assert history("-" + "+" * 20).failing == 0
    assert history("-" + "+" * 20, window=21).failing == 1


def test_the_more_passes_the_less_a_defect_can_hide() -> None:
    chances = [history("+" * count).hidden for count in (1, 3, 10, 20)]
    assert all(earlier > later for earlier, later in pairwise(chances))
    # Of Beta(2, 2 + 20), as a binomial sum: no failure or one in 23 releases at a rate of 0.05.
    assert chances[-1] == pytest.approx(0.95**23 + 23 * 0.05 * 0.95**22)
    assert history("+" * 20, defect_rate=0.5).hidden < 0.001


def test_an_entry_of_a_customer_that_fails_often_is_expected_to_fail_more() -> None:
    quiet, loud, one, two = (
        entry("quiet", "acme", b=0.9),
        entry("loud", "bolt", c=0.9),
        entry("one", "acme", d=0.9),
        entry("two", "bolt", e=0.9),
    )
    known = {item.id: item for item in (quiet, loud, one, two)}
    records = releases(
        *({"quiet": result(quiet, 1), "loud": result(loud, 0, 1), "one": result(one, 1), "two": result(two, 1)},) * 5
    )
    found = histories(known, records, SETTINGS)
    assert found["two"].failure_rate > found["one"].failure_rate
    assert found["two"].hidden > found["one"].hidden  # type: ignore[operator]
    assert 0 < found["one"].failure_rate < found["loud"].failure_rate < 1


def test_results_of_another_text_do_not_count_and_those_under_another_id_do() -> None:
    one = entry()
    edited = one.model_copy(update={"turns": ("another text",)})
    renamed = one.model_copy(update={"id": "renamed"})
    records = releases({"e": result(edited, 0, 1)}, {"e": result(one, 1)}, {"renamed": result(renamed, 1)})
    assert [item.release for item in outcomes_of(one, records)] == ["v1", "v2"]
    assert [item.release for item in outcomes_of(edited, records)] == ["v0"]


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ("+++", ReleaseResults.PASSED),
        ("++", ReleaseResults.UNKNOWN),
        ("", None),
        ("---", ReleaseResults.FAILED),
        ("-", ReleaseResults.FAILED),
        ("+++-", ReleaseResults.BOTH),
    ],
)
def test_results_are_a_class_of_what_ran(marks: str, expected: ReleaseResults | None) -> None:
    one = entry()
    counts: dict[str, dict[str, Any]] = {"+": {"passed": 2}, "-": {"failed": 2}}
    records = releases(*({"e": result(one, **counts[mark])} for mark in marks), {"e": result(one, errors=1)})
    known = RegressionSet({"e": one}, {}, {})
    assert results_in(known, records, SETTINGS).get("e") == expected
    mixed = releases({"e": result(one, 1, 1)})
    assert results_in(known, mixed, SETTINGS) == {"e": ReleaseResults.BOTH}


def test_means_are_of_the_runs_that_stated_something() -> None:
    one = entry()
    records = releases(
        {"e": result(one, 2, seconds=4.0, timed=1, tokens=30, metered=2)},
        {"e": result(one, 1, seconds=8.0, timed=2, errors=1, skipped=2)},
    )
    found = histories({"e": one}, records, SETTINGS)["e"]
    assert (found.seconds, found.tokens, found.cost) == (4.0, 15.0, None)
    assert (found.runs, found.errors, found.skipped) == (3, 1, 2)


def test_an_entry_without_kin_has_no_prior_but_ignorance() -> None:
    alone = make_entry("alone", {})
    assert histories({"alone": alone}, (), SETTINGS)["alone"].failure_rate == 0.5


def test_releases_follow_their_times() -> None:
    later, earlier, same = (
        ReleaseRecord(release=name, at=at)
        for name, at in (("a", "2026-02-01T00:00:00Z"), ("z", "2026-01-01T00:00:00Z"), ("b", "2026-02-01T00:00:00Z"))
    )
    assert in_order([same, later, earlier]) == (earlier, later, same)


def test_a_capability_is_in_effect_as_long_as_a_coverer_does_not_flap() -> None:
    items = {mark: history(mark) for mark in ("+++", "+-+-", "...", "+-+")}
    known = {"calm": items["+++"], "flaps": items["+-+-"], "absent": items["..."], "failed": items["+-+"]}
    coverers = {"a": ("calm", "flaps"), "b": ("flaps",), "c": ("absent", "failed", "unknown")}
    found = {item.capability: item for item in evidence(coverers, known, "abcd")}
    assert [found[name].in_effect for name in "abcd"] == [True, False, True, False]
    assert [(found[name].ran, found[name].failed, found[name].flapping) for name in "abcd"] == [
        (2, 1, 1),
        (1, 1, 1),
        (1, 1, 0),
        (0, 0, 0),
    ]
    assert [found[name].releases for name in "abcd"] == [4, 4, 3, 0]


@given(st.text("+-~!.", max_size=25), st.text("+-~!.", max_size=5))
def test_counts_agree_with_one_another(marks: str, later: str) -> None:
    found = history(marks + later)
    assert 0 <= found.mixed <= found.failing <= found.releases <= min(20, len(marks + later))
    assert found.flips <= max(0, found.releases - found.mixed - 1)
    assert found.steady <= found.releases
    assert found.steady < found.releases or not (found.flips or found.mixed)
    assert 0 < found.failure_rate < 1
    assert found.hidden is None or 0 <= found.hidden <= 1


@given(st.floats(0.05, 60), st.floats(0.05, 60), st.floats(0.001, 0.999))
def test_the_upper_tail_of_a_beta_distribution_is_that_of_scipy(alpha: float, beta: float, rate: float) -> None:
    assert _exceeds(alpha, beta, rate) == pytest.approx(float(betaincc(alpha, beta, rate)), abs=1e-10)


@pytest.mark.parametrize(
    ("marks", "ineffective", "proven"),
    [
        ({"calm": "+-+"}, 0, 1),
        ({"calm": "+-+", "other": "+++"}, 0, 1),
        ({"*calm": "+-+", "other": "+++"}, 1, 0),
        ({"*calm": "+-+"}, 1, 0),
        ({"*flaps": "+-+-", "calm": "-++"}, 1, 1),
        ({"flaps": "+-+-", "*calm": "-++"}, 2, 0),
    ],
)
def test_a_quarantined_entry_tests_nothing_in_effect(marks: dict[str, str], ineffective: int, proven: int) -> None:
    known = {id: replace(history(found), quarantined=id.startswith("*")) for id, found in marks.items()}
    (found,) = evidence({"a": tuple(known)}, known, "a")
    assert (found.ineffective, found.proven) == (ineffective, proven)
    assert found.in_effect == (ineffective < len(known))
    assert found.is_proven == (proven > 0)
    counts = combination_evidence([tuple(known)], known)
    assert counts.flapping == (not found.in_effect)


def test_a_combination_is_tested_by_any_of_its_carriers_and_flaps_with_all() -> None:
    items = {id: entry(id) for id in "pqr"}
    records = releases(*({"p": result(items["p"], **counts), "q": result(items["q"], passed=1)} for counts in FLAPPING))
    found = histories(items, records, SETTINGS)
    evident = combination_evidence([("p",), ("p", "q"), ("q", "r"), ("r",)], found)
    assert (evident.carried, evident.ran, evident.failed, evident.flapping) == (4, 3, 2, 1)
    assert only_failing(found, {"a": ("p", "q"), "b": ("q", "r"), "c": ("p", "gone")}) == {"p": ("a", "c")}


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        ("", {}),
        ("q", {}),
        ("p", {"c": ("p",)}),
        ("pr", {"a": ("p", "r"), "b": ("r",), "c": ("p",)}),
        ("pqrx", {"a": ("p", "r"), "b": ("r",), "c": ("p",)}),
    ],
)
def test_what_goes_may_be_all_that_ever_failed(gone: str, expected: dict[str, tuple[str, ...]]) -> None:
    items = {id: entry(id) for id in "pqr"}
    outcomes = {"p": result(items["p"], failed=1), "q": result(items["q"], passed=1), "r": result(items["r"], failed=1)}
    found = histories(items, releases(outcomes), SETTINGS)
    coverers = {"c": ("p", "q", "x"), "a": ("p", "q", "r"), "b": ("q", "r"), "d": ("q",), "e": ("x",), "f": ()}
    assert last_failing(found, coverers, [*gone]) == expected
