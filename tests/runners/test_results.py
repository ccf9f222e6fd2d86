"""What the real packages write of a run is read back as it was: entry by entry, outcome by outcome."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from incumbent.curator.entry import Entry, Evicted, Tombstone
from incumbent.curator.store import RegressionSet, load_regression_set
from incumbent.files.snapshot import WorkingTree
from incumbent.ledger.releases.history import histories
from incumbent.ledger.releases.ledger_records import with_results
from incumbent.ledger.releases.record import ReleaseRecord, match
from incumbent.runners.export.plan import plan_export, writers
from incumbent.runners.results.reader import match_files, read_results
from incumbent.taxonomy.config import RESULT_FILES
from incumbent.taxonomy.loading import load_taxonomy
from tests.factories import REPOSITORY, SHIPPED, make_entry
from tests.runners.test_runners import loaded

ENTRIES = [
    make_entry(
        f"e{number}", {"a": 0.9}, turns=(f"What is {number} **times** two?",), expected={"response": f"it is {number}"}
    )
    for number in range(6)
]
KNOWN = RegressionSet({entry.id: entry for entry in ENTRIES}, {}, {})
PASSED, FAILED, ERROR = "passed", "failed", "error"
ONCE = {
    "e0": [PASSED],
    "e1": [FAILED],
    "e2": [ERROR],
    "e3": [PASSED],
    "e4": [FAILED],
    "e5": [PASSED],
}
TWICE = {id: [*first, PASSED] for id, first in ONCE.items()}


@pytest.mark.parametrize(
    ("runner", "writer", "file", "plan"),
    [
        ("inspect", "inspect", "regression_set.jsonl", TWICE),
        ("deepeval", "deepeval", "goldens.json", TWICE),
        ("azure", "azure-ai-evaluation", "regression_set.jsonl", ONCE),
    ],
)
def test_a_run_is_read_back_entry_by_entry(
    runner: str, writer: str, file: str, plan: dict[str, list[str]], tmp_path: Path
) -> None:
    for name, text in plan_export(ENTRIES, writers()[writer]).written.files.items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    loaded(runner, f"results_of_{runner}.py", tmp_path / file, tmp_path / "plan.json", tmp_path / "results.json")
    results, problems = read_results((tmp_path / "results.json").read_bytes(), "results.json", None, RESULT_FILES)
    assert problems == ()
    found = match(results, KNOWN)
    assert found.unmatched == ()
    for id, outcomes in plan.items():
        counts, read = Counter(outcomes), found.entries[id]
        assert (read.passed, read.failed, read.errors) == (counts[PASSED], counts[FAILED], counts[ERROR]), id


RUNNERS = (
    ("inspect", "inspect", "regression_set.jsonl", 2),
    ("deepeval", "deepeval", "goldens.json", 2),
    ("azure", "azure-ai-evaluation", "regression_set.jsonl", 1),
)
RELEASES = ("v1", "v2", "v3", "v4")


def planned(id: str, release: str, runs: int) -> list[str]:
    """What becomes of an entry in a release, by a seed: a third never fail, a third fail from v3 on, a third flap."""
    draw = random.Random(f"{id} {release}")
    kind = random.Random(id).choice(("passes", "breaks", "flaps"))
    outcomes = [FAILED if kind == "breaks" and release >= "v3" else PASSED for _ in range(runs)]
    if kind == "flaps":
        outcomes = [draw.choice((PASSED, FAILED)) for _ in outcomes]
    return [ERROR if draw.random() < 0.1 else outcome for outcome in outcomes]


AT = "2026-01-01T00:00:00Z"


def set_of(entries: Mapping[str, Entry], evicted: Sequence[Entry] = ()) -> RegressionSet:
    graves = {
        entry.id: Tombstone(id=entry.id, evicted=Evicted(at=AT, by="x", reason="x"), restore="x", entry=entry)
        for entry in evicted
    }
    return RegressionSet(dict(entries), {}, graves)


@pytest.mark.parametrize(("runner", "writer", "file", "runs"), RUNNERS)
def test_releases_of_the_example_set_are_told_as_they_were_through_renames_edits_and_a_restore(
    runner: str, writer: str, file: str, runs: int, tmp_path: Path
) -> None:
    shipped = load_regression_set(WorkingTree(REPOSITORY), load_taxonomy(WorkingTree(REPOSITORY))).entries
    # Conversations are in a file of their own, or in none.
    single = [entry for entry in shipped.values() if len(entry.turns) == 1]
    ready = plan_export(single, writers()[writer], keep_placeholders=True).ids
    renamed, edited, restored = ready[:3]
    entries = {id: shipped[id] for id in ready}
    gone = entries.pop(restored)
    before, after = entries[edited], entries[edited].model_copy(update={"turns": ("What else is there?",)})
    moved = {id: entry for id, entry in entries.items() if id != renamed}
    moved["renamed"] = entries[renamed].model_copy(update={"id": "renamed"})
    stages = {
        "v1": set_of(entries | {restored: gone}),
        "v2": set_of(moved, [gone]),
        "v3": set_of(moved | {edited: after}, [gone]),
        "v4": set_of(moved | {edited: after, restored: gone}),
    }
    records = []
    for number, release in enumerate(RELEASES, 1):
        known, folder = stages[release], tmp_path / release
        folder.mkdir()
        export = plan_export(known.entries.values(), writers()[writer], keep_placeholders=True)
        for name, text in export.written.files.items():
            (folder / name).write_bytes(text.encode())
        plan = {id: planned(_name(id, renamed), release, runs) for id in export.ids}
        (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        loaded(runner, f"results_of_{runner}.py", folder / file, folder / "plan.json", folder / "results.json")
        matched = match_files({"results.json": (folder / "results.json").read_bytes()}, None, known)
        added = with_results(ReleaseRecord(release=release, at=f"2026-01-0{number}T00:00:00Z"), matched)
        assert added.unmatched == ()
        records.append(added.record)
    now = stages["v4"].entries
    found = histories(now, records, SHIPPED.results)
    assert before.turns != after.turns
    for id in now:
        ran = {edited: RELEASES[2:], restored: (RELEASES[0], RELEASES[3])}.get(id, RELEASES)
        told = [Counter(planned(_name(id, renamed), release, runs)) for release in ran]
        counts, judged = sum(told, Counter[str]()), [each for each in told if each[PASSED] or each[FAILED]]
        plain = [each[FAILED] > 0 for each in judged if not (each[PASSED] and each[FAILED])]
        history = found[id]
        assert (history.releases, history.runs, history.errors) == (
            len(judged),
            counts[PASSED] + counts[FAILED],
            counts[ERROR],
        ), id
        assert history.failing == sum(each[FAILED] > 0 for each in judged), id
        assert history.mixed == sum(bool(each[PASSED] and each[FAILED]) for each in judged), id
        assert history.flips == sum(one is not other for one, other in pairwise(plain)), id
    assert any(item.flips for item in found.values())
    assert any(item.errors for item in found.values())


def _name(id: str, renamed: str) -> str:
    """What an entry was called first: what becomes of it hangs on that."""
    return renamed if id == "renamed" else id
