"""Reading the regression set from real folders: everything, or every fault at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.curator import file_changes as changes
from incumbent.curator.entry import Entry, Evicted, Source, Tombstone, entry_id
from incumbent.curator.file_changes import FileChange, apply, render
from incumbent.curator.store import (
    RegressionSet,
    entry_in,
    entry_path,
    is_part,
    load_regression_set,
    tombstone_path,
    waiting_path,
)
from incumbent.errors import InputError
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy
from tests.factories import REPOSITORY, make_entry, make_taxonomy

pytestmark = pytest.mark.untraced

TAXONOMY = make_taxonomy("a", "b", retired=("old",))
ENTRY = make_entry("r1", {"a": 0.9, "b": 0.5}, "First\nquery: with lines?", expected={"k": [1, None]}, pin="audit")


def write(root: Path, **files: str) -> None:
    """Files of the regression set by their names; ``__`` stands for a folder's slash."""
    for name, text in files.items():
        path = root / f"regression_set/{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def load(root: Path) -> RegressionSet:
    return load_regression_set(WorkingTree(root), TAXONOMY)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def faults(root: Path) -> list[tuple[str, int | None, str]]:
    with pytest.raises(InputError) as caught:
        load(root)
    assert all(problem.fix for problem in caught.value.problems)
    return [
        (problem.file.removeprefix("regression_set/"), problem.line, problem.message)
        for problem in caught.value.problems
    ]


def tombstone(entry: Entry) -> Tombstone:
    evicted = Evicted(at="2026-02-02T00:00:00Z", by="Robin", reason="no longer needed", grounds={"kind": "redundant"})
    return Tombstone(id=entry.id, evicted=evicted, restore=f"incumbent restore {entry.id}", entry=entry)


@pytest.mark.parametrize("prepare", [False, True], ids=["no folder", "empty folder"])
def test_an_absent_or_empty_set_is_empty(prepare: bool, tmp_path: Path) -> None:
    if prepare:
        (tmp_path / "regression_set" / "waiting").mkdir(parents=True)
    found = load(tmp_path)
    assert (found.entries, found.waiting, found.tombstones, found.identity) == ({}, {}, {}, None)
    assert found.residents(TAXONOMY) == ((), ())


def test_what_was_written_is_loaded_equal_and_sorted(tmp_path: Path) -> None:
    entries = [ENTRY, make_entry("r0", {"b": 1.0}), make_entry("A", {})]
    waiting, grave = make_entry("w", {"a": 0.5}), tombstone(make_entry("t", {"a": 0.7}))
    plan = [*map(changes.admit, entries), changes.let_wait(waiting), FileChange(tombstone_path("t"), render(grave))]
    apply(plan, tmp_path)
    found = load(tmp_path)
    assert list(found.entries) == ["A", "r0", "r1"]
    assert found.entries["r1"] == ENTRY
    assert found.waiting == {"w": waiting}
    assert found.tombstones == {"t": grave}


def test_loading_rendering_and_loading_again_changes_no_byte(tmp_path: Path) -> None:
    apply([changes.admit(ENTRY), changes.let_wait(make_entry("w", {"a": 0.5}))], tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.yaml")}
    found = load(tmp_path)
    apply([*map(changes.admit, found.entries.values()), *map(changes.let_wait, found.waiting.values())], tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.yaml")} == before


def test_an_evicted_entry_that_is_restored_is_byte_identical(tmp_path: Path) -> None:
    apply([changes.admit(ENTRY)], tmp_path)
    before = (tmp_path / entry_path("r1")).read_bytes()
    apply(changes.evict(ENTRY, tombstone(ENTRY).evicted), tmp_path)
    assert load(tmp_path).entries == {}
    apply(changes.restore(load(tmp_path).tombstones["r1"].restored, wait=False), tmp_path)
    assert (tmp_path / entry_path("r1")).read_bytes() == before
    assert load(tmp_path).tombstones == {}


def test_stale_entries_are_told_apart(tmp_path: Path) -> None:
    other = make_entry("r2", {"a": 0.8}, classified=ENTRY.classified.model_copy(update={"model": "m0"}))
    apply([changes.admit(ENTRY), changes.admit(make_entry("r3", {"a": 0.7})), changes.admit(other)], tmp_path)
    found = load(tmp_path)
    residents, stale = found.residents(TAXONOMY)
    assert {resident.id: len(resident.scores) for resident in residents} == {"r1": 2, "r2": 0, "r3": 1}
    assert [item.id for item in stale] == ["r2"]
    assert found.identity == ENTRY.classified.identity
    under_the_other = found.residents(TAXONOMY, other.classified.identity)
    assert [item.id for item in under_the_other[1]] == ["r1", "r3"]


def test_those_in_line_are_seen_as_residents_under_the_identity_of_the_set(tmp_path: Path) -> None:
    other = make_entry("w1", {"a": 0.8}, classified=ENTRY.classified.model_copy(update={"samples": 1}))
    apply([changes.admit(ENTRY), changes.let_wait(other), changes.let_wait(make_entry("w2", {"a": 0.7}))], tmp_path)
    residents, stale = load(tmp_path).in_line(TAXONOMY)
    assert {resident.id: dict(resident.scores) for resident in residents} == {"w1": {}, "w2": {"a": 0.7}}
    assert [item.id for item in stale] == ["w1"]


def test_newcomers_are_judged_against_the_set_and_the_line(tmp_path: Path) -> None:
    other = make_entry("w1", {"a": 0.8}, classified=ENTRY.classified.model_copy(update={"samples": 1}))
    apply([changes.admit(ENTRY), changes.let_wait(other), changes.let_wait(make_entry("w2", {"a": 0.7}))], tmp_path)
    found = load(tmp_path)
    residents, stale = found.present(TAXONOMY)
    assert [resident.id for resident in residents] == ["r1", "w1", "w2"]
    assert [item.id for item in stale] == ["w1"]
    assert [item.id for item in found.present(TAXONOMY, other.classified.identity)[1]] == ["r1", "w2"]


def test_changed_entries_take_their_own_place_and_nobody_elses() -> None:
    line = {id: make_entry(id, {"a": 0.8}) for id in ("w1", "w2")}
    known = RegressionSet(entries={"r1": ENTRY, "r2": make_entry("r2", {"a": 0.7})}, waiting=line, tombstones={})
    changed = {"r1": ENTRY.model_copy(update={"pin": "why"}), "w2": line["w2"].model_copy(update={"pin": "wait"})}
    found = known.updated({**changed, "gone": ENTRY})
    assert {id: entry.pin for id, entry in found.entries.items()} == {"r1": "why", "r2": None}
    assert {id: entry.pin for id, entry in found.waiting.items()} == {"w1": None, "w2": "wait"}


@pytest.mark.parametrize(
    ("path", "part", "id"),
    [
        ("regression_set/r1.yaml", True, "r1"),
        ("regression_set/a.b-c_D.yaml", True, "a.b-c_D"),
        ("regression_set/r1.yml", True, None),
        ("regression_set/r1.YML", False, None),
        ("regression_set/r1", False, None),
        ("regression_set/.yaml", True, None),
        ("regression_set/-r1.yaml", True, None),
        ("regression_set/r 1.yaml", True, None),
        ("regression_set/README.md", False, None),
        ("regression_set/waiting/r1.yaml", True, None),
        ("regression_set/evicted/r1.yaml", True, None),
        ("regression_set", True, None),
        ("regression_set/waiting", True, None),
        ("regression_set/evicted", True, None),
        ("regression_set/other", False, None),
        ("r1.yaml", False, None),
        ("docs/regression_set/r1.yaml", False, None),
        (f"regression_set/{'r' * 150}.yaml", True, "r" * 150),
        (f"regression_set/{'r' * 151}.yaml", True, None),
    ],
)
def test_which_paths_are_of_the_set_and_of_an_entry(path: str, part: bool, id: str | None) -> None:
    assert (is_part(path), entry_in(path)) == (part, id)
    assert id is None or entry_path(id) == path


def test_files_of_another_kind_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "regression_set"
    folder.mkdir()
    for name in ("README.md", ".gitkeep", "notes.txt", ".incumbent-x1y2"):
        (folder / name).write_text("not an entry")
    assert load(tmp_path).entries == {}


# Faults


def test_a_file_must_be_called_as_its_entry(tmp_path: Path) -> None:
    write(tmp_path, r2=render(ENTRY), waiting__w2=render(make_entry("w", {})), evicted__x=render(tombstone(ENTRY)))
    (tmp_path / "regression_set" / "r3.yml").write_text(render(make_entry("r3", {})), encoding="utf-8")
    assert faults(tmp_path) == [
        ("evicted/x.yaml", 1, "id: 'r1' is not the file's name"),
        ("r2.yaml", 1, "id: 'r1' is not the file's name"),
        ("r3.yml", 1, "id: 'r3' is not the file's name"),
        ("waiting/w2.yaml", 1, "id: 'w' is not the file's name"),
    ]


def test_an_entry_waits_or_is_in_the_set_but_not_both(tmp_path: Path) -> None:
    write(tmp_path, r1=render(ENTRY), waiting__r1=render(ENTRY))
    assert faults(tmp_path) == [
        ("waiting/r1.yaml", None, "r1.yaml waits for a slot and is in the regression set as well")
    ]


def test_an_entry_is_there_or_was_evicted_but_not_both(tmp_path: Path) -> None:
    write(tmp_path, r1=render(ENTRY), evicted__r1=render(tombstone(ENTRY)))
    other = make_entry("w1", {})
    write(tmp_path, waiting__w1=render(other), evicted__w1=render(tombstone(other)))
    told = "the entry was evicted, and is there all the same as regression_set/"
    assert faults(tmp_path) == [
        ("evicted/r1.yaml", None, f"{told}r1.yaml"),
        ("evicted/w1.yaml", None, f"{told}waiting/w1.yaml"),
    ]


def test_a_file_in_place_of_a_folder_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path, r1=render(ENTRY))
    (tmp_path / "regression_set" / "waiting").write_text("a file")
    assert faults(tmp_path) == [("waiting", None, "this is a file, and a folder is expected")]


def test_every_fault_says_what_to_do(tmp_path: Path) -> None:
    entry, grave = render(ENTRY), render(tombstone(ENTRY))
    write(tmp_path, r1=entry, r2=entry, r3=render(make_entry("r3", {"zz": 0.9})), waiting__r1=entry)
    write(tmp_path, evicted__r1=grave, evicted__r4=grave.replace("\nid: r1", "\nid: r4").replace("id: r1", "id: r4", 1))
    write(tmp_path, other__x=entry)
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert {problem.file.removeprefix("regression_set/"): str(problem.fix) for problem in caught.value.problems} == {
        "evicted/r1.yaml": "delete one of the two files",
        "evicted/r4.yaml": "write r4, or restore the file from git",
        "other/x.yaml": "move the file to regression_set/",
        "r2.yaml": "name the file r1.yaml",
        "r3.yaml": "use an id of taxonomy/taxonomy.yaml, or list a removed one under `retired`",
        "waiting/r1.yaml": "delete the waiting file",
    }
    (tmp_path / "regression_set").rename(tmp_path / "elsewhere")
    (tmp_path / "regression_set").write_text("a file")
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert [(problem.file, problem.fix) for problem in caught.value.problems] == [
        ("regression_set", "make it a folder")
    ]


def test_scores_of_capabilities_that_never_were_are_typing_errors(tmp_path: Path) -> None:
    taxonomy = make_taxonomy("auth.oauth", "tools.read", retired=("old",))
    entry, in_line = make_entry("r", {"tools.read": 0.9, "auth.oath": 0.5, "old": 0.5}), make_entry("w", {"zzz": 0.5})
    apply([changes.admit(entry), changes.let_wait(in_line)], tmp_path)
    with pytest.raises(InputError) as caught:
        load_regression_set(WorkingTree(tmp_path), taxonomy)
    first, second = caught.value.problems
    assert first.message == "scores.auth.oath: the taxonomy has no such capability; perhaps you meant 'auth.oauth'"
    lines = (tmp_path / entry_path("r")).read_text().splitlines()
    assert "auth.oath" in lines[(first.line or 0) - 1]
    assert (second.file, second.message) == (waiting_path("w"), "scores.zzz: the taxonomy has no such capability")


def test_a_tombstone_holds_its_own_entry(tmp_path: Path) -> None:
    write(tmp_path, evicted__r1=render(tombstone(ENTRY)).replace("  id: r1", "  id: r2"))
    ((file, line, message),) = faults(tmp_path)
    assert (file, message) == ("evicted/r1.yaml", "entry.id: 'r2' is another entry's id")
    lines = (tmp_path / tombstone_path("r1")).read_text(encoding="utf-8").splitlines()
    assert line == 1 + lines.index("  id: r2")


def test_unknown_folders_are_faults(tmp_path: Path) -> None:
    write(tmp_path, archive__r1=render(ENTRY), waiting__deep__w=render(ENTRY))
    assert faults(tmp_path) == [
        ("archive/r1.yaml", None, "no such folder is known"),
        ("waiting/deep/w.yaml", None, "no such folder is known"),
    ]


def test_every_fault_of_every_file_comes_at_once(tmp_path: Path) -> None:
    good = render(ENTRY)
    write(
        tmp_path,
        r1=good.replace("a: 0.9", "a: 1.9").replace("decision: INCLUDE", "decision: MAYBE"),
        broken="id: [",
        empty="",
        twice="id: twice\nid: twice\n",
        name=good,
        time=render(make_entry("time", {})).replace("2026-01-01T00:00:00Z", "yesterday"),
        unknown=render(make_entry("unknown", {"c": 0.5})),
        waiting__w="id: w\n",
        evicted__t="id: t\nentry: {}\n",
        archive__x="x",
    )
    (tmp_path / "regression_set" / "binary.yaml").write_bytes(b"id: \xff")
    found = faults(tmp_path)
    assert {file for file, _, _ in found} == {
        "r1.yaml", "broken.yaml", "empty.yaml", "twice.yaml", "name.yaml", "time.yaml", "unknown.yaml", "binary.yaml",
        "waiting/w.yaml", "evicted/t.yaml", "archive/x.yaml",
    }  # fmt: skip
    messages = [message for file, _, message in found if file == "r1.yaml"]
    assert messages == [
        "scores.a: must be less than or equal to 1",
        "admitted.decision: must be 'INCLUDE', 'REPLACE', 'KEEP-BOTH' or 'EXCLUDE'",
    ]
    assert ("time.yaml", "admitted.at: must be an ISO 8601 time such as 2026-11-21T10:00:00Z") in {
        (file, message) for file, _, message in found
    }
    assert {file for file, line, _ in found if line is None} == {"archive/x.yaml", "empty.yaml"}


def test_a_set_that_is_a_link_is_a_fault_and_not_empty(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    apply([changes.admit(ENTRY)], elsewhere)
    root = tmp_path / "root"
    root.mkdir()
    (root / "regression_set").symlink_to(elsewhere / "regression_set", target_is_directory=True)
    assert [message for _, _, message in faults(root)] == ["the path is a symbolic link"]


def test_links_in_the_set_are_left_out_and_stop_no_other_file(tmp_path: Path) -> None:
    write(tmp_path, r1=render(ENTRY))
    folder = tmp_path / "regression_set"
    (folder / "r2.yaml").symlink_to("r1.yaml")
    for place in ("waiting", "evicted"):
        (folder / place).symlink_to(".", target_is_directory=True)
    found = load(tmp_path)
    assert [sorted(part) for part in (found.entries, found.waiting, found.tombstones)] == [["r1"], [], []]


@pytest.mark.parametrize("place", [REPOSITORY, REPOSITORY / "tests" / "service_desk"], ids=["seed", "example"])
def test_the_shipped_sets_are_as_the_curator_would_write_them(place: Path) -> None:
    tree = WorkingTree(place)
    found = load_regression_set(tree, load_taxonomy(tree))
    assert found.entries
    for entry in found.entries.values():
        assert (place / entry_path(entry.id)).read_text(encoding="utf-8") == render(entry)


def test_an_entry_is_found_by_its_source_which_a_rename_changes() -> None:
    def of(id: str, *place: str) -> Entry:
        customer, agent, item = place
        return make_entry(id, {"a": 0.9}, source=Source(customer=customer, agent=agent, eval_set="e.yaml", item=item))

    native = entry_id("acme", "desk", "q1")
    moved = of("acme-old-q2", "acme", "desk", "q2")
    entries = {
        item.id: item
        for item in (of("a-copy", "acme", "desk", "q1"), of(native, "acme", "desk", "q1"), moved, make_entry("r", {}))
    }
    buried = tombstone(of("gone", "acme", "desk", "q3"))
    known = RegressionSet(entries, {"w": of("w", "acme", "desk", "q4")}, {"gone": buried})
    assert known.by_source == {
        ("acme", "desk", "q1"): native,
        ("acme", "desk", "q2"): "acme-old-q2",
        ("acme", "desk", "q3"): "gone",
        ("acme", "desk", "q4"): "w",
    }


def test_a_key_that_is_not_known_stops_nothing_and_survives(tmp_path: Path) -> None:
    text = render(ENTRY) + "later: {of: [1]}\n"
    text = text.replace("  samples: 5\n", "  samples: 5\n  sampel: 1\n")
    write(tmp_path, r1=text, r2=render(make_entry("r2", {"a": 0.9})))
    known = load(tmp_path)
    assert [*known.entries] == ["r1", "r2"]
    place = "regression_set/r1.yaml"
    assert [(note.file, note.line, note.message) for note in known.notes] == [
        (place, text.count("\n"), "later: unknown key, which has no effect"),
        (
            place,
            line_of(text, "sampel"),
            "classified.sampel: unknown key, which has no effect; perhaps you meant 'samples'",
        ),
    ]
    assert all(note.fix.startswith("take it out, or use one of: ") for note in known.notes)
    apply(changes.evict(known.entries["r1"], Evicted(reason="r")), tmp_path)
    again = load(tmp_path)
    assert again.tombstones["r1"].entry == known.entries["r1"]
    assert "later:\n" in render(again.tombstones["r1"].restored) or "later: {of:" in render(
        again.tombstones["r1"].restored
    )
    assert [note.message.partition(":")[0] for note in again.notes] == ["entry.later", "entry.classified.sampel"]


def test_of_a_file_of_a_later_format_that_alone_is_said(tmp_path: Path) -> None:
    write(
        tmp_path, one="format: 99\nid: 1\nodd: 1\n", waiting__two="format: 99\n", evicted__three="format: 99\nid: 7\n"
    )
    said = "format: 99 was written by a later version, nothing was changed"
    assert faults(tmp_path) == [(f"{name}.yaml", 1, said) for name in ("evicted/three", "one", "waiting/two")]
