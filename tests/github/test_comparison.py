"""The page of a pull request: what its facts and the reviewed files say, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incumbent.curator.entry import Evicted
from incumbent.curator.store import RegressionSet, entry_path, tombstone_path, waiting_path
from incumbent.files.git import ChangedFile
from incumbent.github.comparison import comparison_of
from incumbent.github.facts import ChangedEntryFile, EvictionFacts
from incumbent.github.judgement import judge_facts, without_derived
from incumbent.pipeline.review import Platform
from incumbent.site.comparison import MergeComparison
from tests.factories import make_config, make_entry, make_taxonomy
from tests.github.scenes import BASE, HEAD, make_analysis, make_platform, make_query
from tests.github.test_judgement import buried

IN, LINE, OLD = (make_entry(name, {"a": 0.9}) for name in ("here", "line", "old"))


def platform() -> Platform:
    """One entry in R, one on the waitlist, one evicted."""
    known = RegressionSet({"here": IN}, {"line": LINE}, {"old": buried(OLD)})
    config = make_config(redundancy_floor=1)
    return Platform(taxonomy=make_taxonomy("a", "b"), config=config, regression_set=known)


def change(path: str, kind: str = "modified", before: str | None = None, evicts: str | None = None) -> ChangedEntryFile:
    file = ChangedFile(path=path, kind=kind, before=before)  # type: ignore[arg-type]
    eviction = None if evicts is None else EvictionFacts(entry=evicts, evicted=Evicted(reason="out of use"))
    return ChangedEntryFile(file=file, buried=evicts is not None, eviction=eviction)


def compared(*changes: ChangedEntryFile, of: Platform | None = None) -> MergeComparison:
    known = of or platform()
    analysis = make_analysis((), set_changes=changes)
    return comparison_of(analysis, judge_facts(without_derived(analysis.judged, known), known, None, ()))


SET_CHANGES = [
    ((), {}, ()),
    ((change(entry_path("here"), "deleted"),), {"here": "leaves"}, ()),
    ((change(waiting_path("line"), "deleted"),), {"line": "leaves"}, ()),
    # A tombstone that goes alone changes nothing that counts.
    ((change(tombstone_path("old"), "deleted"),), {}, ()),
    (
        (change(entry_path("here"), "deleted"), change(tombstone_path("here"), "added", evicts="here")),
        {"here": "leaves"},
        (),
    ),
    ((change(tombstone_path("here"), "renamed", entry_path("here"), evicts="here"),), {"here": "leaves"}, ()),
    ((change(tombstone_path("line"), "renamed", waiting_path("line"), evicts="line"),), {"line": "leaves"}, ()),
    # Whoever only adds a tombstone has evicted nothing, and of an entry that is not there nothing is known.
    ((change(tombstone_path("here"), "added", evicts="here"),), {}, ()),
    ((change(tombstone_path("ghost"), "added", evicts="ghost"),), {}, ()),
    ((change(entry_path("here")),), {}, (entry_path("here"),)),
    ((change(entry_path("new"), "added"),), {}, (entry_path("new"),)),
    ((change(entry_path("line"), "renamed", waiting_path("line")),), {"line": "leaves"}, (entry_path("line"),)),
    ((change("regression_set", "added"),), {}, ()),
]


@pytest.mark.parametrize(("changes", "moved", "unread"), SET_CHANGES)
def test_what_the_head_removes_is_gone_and_what_it_writes_is_not_known(
    changes: tuple[ChangedEntryFile, ...], moved: dict[str, str], unread: tuple[str, ...]
) -> None:
    found = compared(*changes)
    assert {item.id: item.change for item in found.entries} == moved
    assert found.unread == unread
    assert found.numbers_after.entries == found.numbers_before.entries - (moved.get("here") == "leaves")


def test_an_eviction_that_the_bot_would_suggest_is_told_as_well() -> None:
    """The judgement leaves it out, since it needs nobody; what it changes is on the page."""
    names = {"best1": 0.9, "best2": 0.8, "spare": 0.6}
    entries = {name: make_entry(name, {"a": score}) for name, score in names.items()}
    known = replace(platform(), regression_set=RegressionSet(entries, {}, {}))
    found = compared(change(tombstone_path("spare"), "renamed", entry_path("spare"), evicts="spare"), of=known)
    assert [(item.id, item.change, item.how) for item in found.entries] == [("spare", "leaves", "evicted")]


def test_the_verdicts_are_those_of_the_judgement_and_the_facts_are_handed_on() -> None:
    known = make_platform()
    analysis = make_analysis([make_query("q01", {"d": 0.9}), make_query("q04", {"a": 0.7})], held=True)
    judgement = judge_facts(analysis.judged, known, None, ())
    found = comparison_of(analysis, judgement)
    assert found.review is judgement.review
    assert found.outcomes == {"q01": "enters", "q04": "stays out"}
    assert (found.name, found.base, found.head, found.at) == ("o/r", BASE, HEAD, analysis.at)
    assert found.held
    assert (found.numbers_before.entries, found.numbers_after.entries) == (6, 7)
    (gained,) = (item for item in found.capabilities if item.differs)
    assert (gained.after, gained.coverers_before, gained.coverers_after) == ("d", 0, 1)
