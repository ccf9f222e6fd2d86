"""From results to counts: by the id that exports carry, else by text; what fits nothing is listed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.curator.entry import Evicted, Tombstone
from incumbent.curator.store import RegressionSet
from incumbent.ledger.releases.record import CaseResult, EntryResult, Outcome, added, content_of, match
from tests.factories import make_entry

ONE = make_entry("one", {"a": 0.9}, text="Where is my parcel?")
TWO = make_entry("two", {"a": 0.9}, turns=("Where is it?", "And the other?"))
GONE = make_entry("gone", {"a": 0.9}, text="Was it here?")
TWIN = make_entry("twin", {"a": 0.9}, text="Twice the same")
OTHER_TWIN = make_entry("other-twin", {"a": 0.9}, text="twice  the same")
KNOWN = RegressionSet(
    {item.id: item for item in (ONE, TWO, TWIN, OTHER_TWIN)},
    {},
    {"gone": Tombstone(id="gone", evicted=Evicted(reason="x"), restore="x", entry=GONE)},
)


def passed(entry: str | None = None, *turns: str, **more: object) -> CaseResult:
    return CaseResult(**{"outcome": Outcome.PASSED, "entry": entry, "turns": turns} | more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "entry"),
    [
        (passed("one"), "one"),
        (passed("one", "where is  my PARCEL?"), "one"),
        (passed(None, "Where is my parcel?"), "one"),
        (passed("renamed", "Where is my parcel?"), "one"),
        (passed("two", "Where is it?", "And the other?"), "two"),
        (passed("gone"), "gone"),
        (passed(None, "Was it here?"), "gone"),
        # The id says one thing and the text another: what was asked counts.
        (passed("one", "Was it here?"), "gone"),
        (passed("one", "Something else entirely"), None),
        (passed("two", "Where is it?"), None),
        (passed("unknown"), None),
        (passed(), None),
        (passed("twin"), "twin"),
        (passed(None, "Twice the same"), None),
    ],
)
def test_a_result_is_of_the_entry_that_was_asked(result: CaseResult, entry: str | None) -> None:
    found = match([result], KNOWN)
    assert list(found.entries) == ([] if entry is None else [entry])
    assert found.unmatched == (() if entry is not None else (result,))


def test_repeats_errors_skips_and_what_runs_cost_are_kept_apart() -> None:
    results = [
        passed("one", seconds=2.0, tokens=10, cost=0.5),
        passed("one", outcome=Outcome.FAILED, seconds=4.0),
        passed("one", outcome=Outcome.ERROR, tokens=3),
        passed("one", outcome=Outcome.SKIPPED),
    ]
    assert match(results, KNOWN).entries == {
        "one": EntryResult(
            content=content_of(ONE),
            passed=1,
            failed=1,
            errors=1,
            skipped=1,
            seconds=6.0,
            timed=2,
            tokens=13,
            metered=2,
            cost=0.5,
            priced=1,
        )
    }


def test_the_content_is_the_text_and_what_is_expected() -> None:
    other = ONE.model_copy(update={"expected": {"answer": "At the depot"}})
    assert content_of(ONE) != content_of(other)
    assert content_of(ONE) == content_of(ONE.model_copy(update={"id": "renamed", "scores": {}}))


RESULTS = st.lists(
    st.builds(
        CaseResult,
        outcome=st.sampled_from(list(Outcome)),
        entry=st.sampled_from(["one", "two", "gone", "unknown", None]),
        turns=st.sampled_from([(), ("Where is my parcel?",), ("Was it here?",), ("Else",)]),
        seconds=st.none() | st.integers(0, 9).map(float),
        tokens=st.none() | st.integers(0, 9),
    ),
    max_size=12,
)


@given(RESULTS, st.integers(0, 12))
def test_no_result_is_lost_and_parts_add_up_to_the_whole(results: list[CaseResult], cut: int) -> None:
    whole, first, rest = match(results, KNOWN), match(results[:cut], KNOWN), match(results[cut:], KNOWN)
    counts = [item.passed + item.failed + item.errors + item.skipped for item in whole.entries.values()]
    assert sum(counts) + len(whole.unmatched) == len(results)
    assert whole.unmatched == (*first.unmatched, *rest.unmatched)
    for id, result in whole.entries.items():
        parts = [part.entries[id] for part in (first, rest) if id in part.entries]
        assert result == (parts[0] if len(parts) == 1 else added(*parts))
