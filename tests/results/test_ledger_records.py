"""Records of releases on the ledger: read in order, added to once, forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.curator.store import RegressionSet
from incumbent.errors import InputError
from incumbent.files.snapshot import WorkingTree
from incumbent.ledger.releases.ledger_records import forgetting, later_than, load_release, load_releases, with_results
from incumbent.ledger.releases.record import (
    CaseResult,
    EntryResult,
    MatchedResults,
    Outcome,
    ReleaseRecord,
    added,
    release_path,
)
from incumbent.runners.results.reader import match_files
from tests.factories import make_entry

V1 = ReleaseRecord(release="v1", at="2026-01-01T00:00:00Z")
A, B = "a" * 24, "b" * 24


def found(content: str = "c" * 24, unmatched: int = 0, **counts: int) -> MatchedResults:
    lost = (CaseResult(outcome=Outcome.PASSED),) * unmatched
    return MatchedResults(entries={"one": EntryResult(content=content, **counts)}, unmatched=lost)


def test_a_file_is_counted_once() -> None:
    once = with_results(V1, {A: found(passed=1, unmatched=2)})
    assert once.known == ()
    assert once.record.entries["one"].passed == 1
    assert (once.record.unmatched, once.record.files) == (2, (A,))
    again = with_results(once.record, {A: found(passed=1, unmatched=2), B: found(failed=1)})
    assert again.known == (A,)
    result = again.record.entries["one"]
    assert (result.passed, result.failed, again.record.unmatched) == (1, 1, 2)


def test_results_of_an_earlier_text_give_way() -> None:
    before = with_results(V1, {A: found(failed=3)}).record
    after = with_results(before, {B: found(content="d" * 24, passed=1)}).record
    assert (after.entries["one"].passed, after.entries["one"].failed) == (1, 0)


def write(folder: Path, *records: ReleaseRecord) -> WorkingTree:
    for record in records:
        for path, text in with_results(record, {}).files.items():
            assert text is not None
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    return WorkingTree(folder)


def test_releases_are_read_in_order_and_of_many_the_last(tmp_path: Path) -> None:
    v2 = V1.model_copy(update={"release": "v2/rc 1", "at": "2026-03-01T00:00:00Z"})
    v3 = V1.model_copy(
        update={"release": "…", "at": "2026-02-01T00:00:00Z", "entries": {"one": found().entries["one"]}}
    )
    tree = write(tmp_path, v2, V1, v3)
    assert load_releases(tree) == ((V1, v3, v2), ())
    assert load_releases(tree, 2) == ((v3, v2), ())
    assert load_release(tree, "…") == v3
    assert load_release(tree, "v2") is None
    assert load_releases(None) == ((), ())
    assert load_release(None, "v1") is None
    (path,) = forgetting(tree, "…")
    (tmp_path / path).unlink()
    assert load_releases(tree) == ((V1, v2), ())


def test_a_record_that_cannot_be_read_is_a_fault_and_hides_no_other(tmp_path: Path) -> None:
    tree = write(tmp_path, V1)
    (tmp_path / "results" / "zz-broken.json").write_text('{"release": "x", "entries": {"one": {"passed": -1}}}')
    (tmp_path / release_path("v2", V1.at)).write_text("{")
    records, problems = load_releases(tree)
    assert records == (V1,)
    assert {Path(problem.file).name for problem in problems} == {"zz-broken.json", Path(release_path("v2", V1.at)).name}
    with pytest.raises(InputError):
        load_release(tree, "v2")


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80))
def test_every_name_of_a_release_has_a_file_of_its_own(one: str, other: str) -> None:
    paths = [release_path(name, V1.at) for name in (one, other)]
    assert (paths[0] == paths[1]) == (one == other)
    for path in paths:
        assert path.isascii()
        assert path.count("/") == 1
        assert ".." not in path.split("/")


def test_the_sums_of_a_release_are_of_all_its_entries() -> None:
    results = {"one": {"passed": 1, "errors": 2}, "two": {"passed": 3, "failed": 4, "skipped": 5}}
    entries = {id: EntryResult.model_validate({"content": A, **counts}) for id, counts in results.items()}
    record = V1.model_copy(update={"entries": entries})
    assert (record.passed, record.failed, record.errors, record.skipped) == (4, 4, 2, 5)
    assert [item.runs for item in entries.values()] == [3, 12]


def test_faults_of_one_file_keep_all_from_being_counted() -> None:
    known = RegressionSet({"one": make_entry("one", {"a": 0.9})}, {}, {})
    good, bad = b'{"entry": "one", "outcome": "passed"}', b'{"outcome": "passed"}'
    (matched,) = match_files({"good.jsonl": good}, None, known).values()
    assert matched.entries["one"].passed == 1
    with pytest.raises(InputError) as caught:
        match_files({"good.jsonl": good, "bad.jsonl": bad, "worse.jsonl": bad}, None, known)
    assert [problem.file for problem in caught.value.problems] == ["bad.jsonl", "worse.jsonl"]


def test_a_release_is_forgotten_whole_also_what_cannot_be_read(tmp_path: Path) -> None:
    tree = write(tmp_path, V1, V1.model_copy(update={"at": "2026-02-01T00:00:00Z"}))
    broken, other = sorted(forgetting(tree, "v1"))
    (tmp_path / broken).write_text("{", encoding="utf-8")
    assert set(forgetting(tree, "v1")) == {broken, other}
    assert forgetting(tree, "v2") == {}


def test_a_release_comes_after_the_last_one_whatever_the_clock_says() -> None:
    assert later_than((), V1.at) == V1.at
    assert later_than((V1,), "2026-01-01T00:00:01Z") == "2026-01-01T00:00:01Z"
    assert later_than((V1,), V1.at) == "2026-01-01T00:00:01Z"
    assert later_than((V1,), "2025-01-01T00:00:00Z") == "2026-01-01T00:00:01Z"
    last = V1.model_copy(update={"at": "9999-12-31T23:59:59Z"})
    assert later_than((last,), V1.at) == last.at, "there is no later time"


def test_sums_stop_at_their_bound() -> None:
    most = EntryResult(content=A, passed=1, tokens=1_000_000_000, metered=1, seconds=1e9, timed=1)
    both = added(most, most)
    assert (both.passed, both.tokens, both.metered, both.seconds) == (2, 1_000_000_000, 2, 1e9)
