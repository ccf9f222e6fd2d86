"""The object store: commits are read and compared as git's objects, whatever they hold, and tokens stay hidden."""

from __future__ import annotations

import base64
import gzip
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.errors import IncompleteError, InputError, OutsideError, Problem, UsageError
from incumbent.files.git import ChangedFile, CommitSnapshot, ObjectStore, tree_id
from incumbent.files.git.process import GitProcess, is_ref_name
from incumbent.files.snapshot import ReadingLimits, Snapshot, WorkingTree
from tests.origin import ENVIRONMENT, Origin

LIMITS = ReadingLimits(file_bytes=100, nesting_depth=5, nodes=50)
MISSING = "1" * 40
TOKEN = "ghs_very+secret/token=="
HEADER = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin.make(tmp_path / "origin.git")


@pytest.fixture
def store(origin: Origin) -> Iterator[ObjectStore]:
    """The objects of ``origin``, opened where they lie."""
    with ObjectStore.open(origin.folder) as opened:
        yield opened


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[ObjectStore]:
    """An empty store to fetch into."""
    with ObjectStore.create(tmp_path / "copies" / "store.git") as created:
        yield created


def unwaited(seconds: float) -> None:
    raise AssertionError(f"waited {seconds} seconds")


# Snapshots


@pytest.fixture
def snapshot(origin: Origin, store: ObjectStore) -> CommitSnapshot:
    """Files, links of both kinds, and a file that is too large."""
    commit = origin.commit(
        {
            "a.txt": b"a",
            "b/c.txt": b"c",
            "b/d/\u00e9 f.txt": b"",
            "b/run.sh": ("100755", origin.blob(b"#!")),
            "b.txt": b"beside b",
            "b0": b"beside b too",
            "link.txt": ("120000", origin.blob(b"a.txt")),
            "b/outside": ("120000", origin.blob(b"/etc")),
            "b/module": ("160000", MISSING),
            "large": b"x" * 101,
            "full": b"x" * 100,
        }
    )
    return store.snapshot(commit)


def fault(snapshot: CommitSnapshot, path: str) -> Problem:
    with pytest.raises(InputError) as caught:
        snapshot.read(path, LIMITS)
    (problem,) = caught.value.problems
    return problem


def test_files_and_links_are_listed_sorted(snapshot: Snapshot) -> None:
    in_b = ("b/c.txt", "b/d/\u00e9 f.txt", "b/run.sh")
    assert snapshot.paths() == ("a.txt", "b.txt", *in_b, "b0", "full", "large")
    assert snapshot.paths("b") == snapshot.paths("b/") == snapshot.paths("./b/d/..") == in_b
    assert snapshot.links() == ("b/module", "b/outside", "link.txt")
    assert snapshot.links("b") == ("b/module", "b/outside")
    assert snapshot.links("b/d") == ()


@pytest.mark.parametrize("folder", ["absent", "a.txt", "..", "b/../..", "/", "/etc", "../outside", "~", "C:\\", "."])
def test_an_absent_folder_or_one_outside_has_no_files(snapshot: CommitSnapshot, folder: str) -> None:
    assert snapshot.paths(folder) == snapshot.links(folder) == ()


def test_files_are_read(snapshot: CommitSnapshot) -> None:
    assert snapshot.read("b/c.txt", LIMITS) == b"c"
    assert snapshot.read("./b//d/../c.txt", LIMITS) == b"c"
    assert snapshot.read("b/d/\u00e9 f.txt", LIMITS) == b""
    assert snapshot.read("b/run.sh", LIMITS) == b"#!"
    assert snapshot.read("full", LIMITS) == b"x" * 100
    assert snapshot.exists("b/c.txt")
    assert snapshot.exists("b/d/\u00e9 f.txt")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "the path leaves its folder"),
        ("../a.txt", "the path leaves its folder"),
        ("/etc/passwd", "the path leaves its folder"),
        ("b\\c.txt", "the path leaves its folder"),
        ("~/x", "the path leaves its folder"),
        ("a.txt\0", "the path leaves its folder"),
        ("link.txt", "the path is a symbolic link"),
        ("b/outside/passwd", "the path is a symbolic link"),
        ("b/module", "the path is a submodule"),
        ("b/module/x", "the path is a submodule"),
        ("absent", "the file cannot be read: No such file or directory"),
        ("absent/x", "the file cannot be read: No such file or directory"),
        ("x/" * 100_000, "the file cannot be read: No such file or directory"),
        ("a.txt/x", "the file cannot be read: Not a directory"),
        ("b", "not a regular file"),
    ],
)
def test_what_is_no_file_is_refused_with_its_reason(snapshot: CommitSnapshot, path: str, message: str) -> None:
    problem = fault(snapshot, path)
    assert (problem.message, problem.file) == (message, path)
    assert not snapshot.exists(path)


def test_a_large_file_is_refused_by_its_size_before_it_is_read(origin: Origin, store: ObjectStore) -> None:
    large = origin.blob(b"x" * 101)
    snapshot = store.snapshot(origin.commit({"large": ("100644", large)}))
    origin.loose(large).unlink()
    assert fault(snapshot, "large").message == "the file has 101 bytes, more than the limit of 100"
    assert snapshot.exists("large")


def test_a_folder_is_a_snapshot_whose_files_are_called_from_the_root(snapshot: CommitSnapshot) -> None:
    inner = snapshot.within("b")
    assert inner.paths() == ("c.txt", "d/\u00e9 f.txt", "run.sh")
    assert inner.paths("d") == ("d/\u00e9 f.txt",)
    assert inner.within("d").paths("../d") == ()
    assert inner.within("./d/").paths() == ("\u00e9 f.txt",)
    assert inner.links() == ("module", "outside")
    assert inner.read("c.txt", LIMITS) == b"c"
    assert inner.name("c.txt") == "b/c.txt"
    assert inner.within("d").name("x") == "b/d/x"
    assert fault(inner, "../a.txt").message == "the path leaves its folder"
    assert fault(inner, "absent").file == "b/absent"


@pytest.mark.parametrize("folder", ["absent", "..", "/etc", "~", "a\\b", "\0", "a.txt", "\udcff"])
def test_a_folder_that_is_none_is_an_empty_snapshot(snapshot: CommitSnapshot, folder: str) -> None:
    inner = snapshot.within(folder)
    assert inner.paths() == inner.links() == ()
    assert not inner.exists("c.txt")


def test_a_linked_folder_is_refused_file_by_file(origin: Origin, store: ObjectStore) -> None:
    commit = origin.commit({"set": ("120000", origin.blob(b"other")), "other/x.yaml": b"x"})
    inner = store.snapshot(commit, "set")
    assert inner.paths() == ()
    problem = fault(inner, "x.yaml")
    assert (problem.message, problem.file) == ("the path is a symbolic link", "set/x.yaml")


ODD = [
    "new\nline",
    "tab\there",
    "bytes-\udcff\udcfe",
    "back\\slash",
    "~/home",
    "C:drive",
    "\u2028\U0001f980",
    "-option",
]
ODD += ["'quoted \"name", "\x1b[31m", " space ", "a*?[b]", "..."]


@pytest.mark.parametrize("odd", ODD)
def test_odd_names_are_treated_as_on_disk(origin: Origin, store: ObjectStore, tmp_path: Path, odd: str) -> None:
    paths = [f"f/{odd}", f"f/{odd}.d/x", odd]
    for path in paths:
        place = Path(tmp_path, "disk", path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"content")
    snapshot = store.snapshot(origin.commit(dict.fromkeys(paths, b"content")))
    disk = WorkingTree(tmp_path / "disk")
    assert snapshot.paths() == disk.paths() == tuple(sorted(paths))
    assert snapshot.within(f"f/{odd}.d").paths() == ("x",)
    assert snapshot.within(f"f/{odd}.d").read("x", LIMITS) == b"content"
    for path in paths:
        assert snapshot.exists(path) == disk.exists(path)
        assert snapshot.name(path) == disk.name(path)
        snapshot.name(path).encode()
        if disk.exists(path):
            assert snapshot.read(path, LIMITS) == disk.read(path, LIMITS) == b"content"
        else:
            with pytest.raises(InputError) as on_disk:
                disk.read(path, LIMITS)
            assert (fault(snapshot, path),) == on_disk.value.problems


def test_a_tree_that_git_itself_would_not_make_harms_nobody(origin: Origin, store: ObjectStore) -> None:
    inner = origin.tree({"x": b"x"})
    blob, link = origin.blob(b"y"), origin.blob(b"/etc")
    entries = [f"040000 tree {inner}\t..", f"040000 tree {inner}\t.git", f"120000 blob {link}\tset"]
    entries += [f"100644 blob {blob}\t.", f"040000 tree {inner}\tset"]
    snapshot = store.snapshot(origin.commit(origin.git("mktree", stdin="\n".join(entries).encode())))
    assert "../x" in snapshot.paths()
    assert fault(snapshot, "../x").message == "the path leaves its folder"
    assert fault(snapshot, "set/x").message == "the path is a symbolic link"


def test_two_thousand_files_are_listed_and_read(origin: Origin, store: ObjectStore) -> None:
    shared = ("100644", origin.blob(b"same"))
    snapshot = store.snapshot(origin.commit({f"d{number % 40}/f{number}": shared for number in range(2_000)}))
    assert len(snapshot.paths()) == 2_000
    assert len(snapshot.paths("d7")) == 50
    assert all(snapshot.read(path, LIMITS) == b"same" for path in snapshot.paths())


def test_a_tree_of_repeated_trees_is_given_up_in_time(origin: Origin) -> None:
    tree = origin.tree({"x": b"x"})
    for _ in range(30):
        entries = "".join(f"040000 tree {tree}\t{name}\n" for name in "abcd")
        tree = origin.git("mktree", stdin=entries.encode())
    small, bomb = origin.commit({}), origin.commit(tree)
    with ObjectStore.open(origin.folder, output_bytes=100_000) as store:
        for ask in (lambda: store.snapshot(bomb), lambda: store.changes(small, bomb)):
            with pytest.raises(IncompleteError, match="more than 100,000 bytes"):
                ask()
        assert store.snapshot(small).paths() == ()


def damage(origin: Origin, id: str, content: bytes | None) -> None:
    place = origin.loose(id)
    place.chmod(0o644)
    if content is None:
        place.unlink()
    else:
        place.write_bytes(content)


@pytest.mark.parametrize("content", [None, b"", b"no zlib", b"\x78\x9c\x00"])
def test_a_damaged_file_is_an_error_from_outside_and_others_can_still_be_read(
    origin: Origin, store: ObjectStore, content: bytes | None
) -> None:
    early, late = origin.blob(b"early"), origin.blob(b"late")
    commit = origin.commit({"early": ("100644", early), "good": b"good", "late": ("100644", late)})
    damage(origin, early, content)
    snapshot = store.snapshot(commit)
    assert snapshot.read("good", LIMITS) == b"good"
    damage(origin, late, content)
    for path in ("early", "late", "early", "late"):
        with pytest.raises(OutsideError, match="missing or damaged"):
            snapshot.read(path, LIMITS)
        assert snapshot.read("good", LIMITS) == b"good"


def test_content_that_does_not_match_its_id_is_refused(origin: Origin, store: ObjectStore) -> None:
    true, false = origin.blob(b"true"), origin.blob(b"fals")
    snapshot = store.snapshot(origin.commit({"x": ("100644", true)}))
    damage(origin, true, origin.loose(false).read_bytes())
    with pytest.raises(OutsideError, match="missing or damaged"):
        snapshot.read("x", LIMITS)


def test_a_damaged_tree_or_commit_is_an_error_from_outside(origin: Origin, store: ObjectStore) -> None:
    good, inner = origin.commit({}), origin.tree({"x": b"x"})
    tree = origin.git("mktree", stdin=f"040000 tree {inner}\td\n".encode())
    commit = origin.commit(tree)
    damage(origin, inner, b"no zlib")
    for ask in (lambda: store.snapshot(commit), lambda: store.changes(good, commit)):
        with pytest.raises(OutsideError, match=r"git ls-tree fails: .*; check the repository"):
            ask()
    damage(origin, commit, b"no zlib")
    for question in (store.snapshot, store.commit_time, store.tree):
        with pytest.raises(OutsideError, match=r"fails|missing or damaged"):
            question(commit)
    for pair in ((good, commit), (commit, good)):
        with pytest.raises(OutsideError, match="fails"):
            store.is_ancestor(*pair)
    assert not store.exists(commit)


def test_replaced_objects_are_not_followed(origin: Origin, store: ObjectStore) -> None:
    commit = origin.commit({"x": b"true"})
    origin.git("replace", commit, origin.commit({"x": b"false"}))
    origin.git("replace", origin.blob(b"true"), origin.blob(b"false"))
    assert store.snapshot(commit).read("x", LIMITS) == b"true"


def test_a_repository_with_longer_ids_is_read_too(tmp_path: Path) -> None:
    origin = Origin.make(tmp_path / "long.git", "sha256")
    old = origin.commit({"x": b"x"})
    new = origin.commit({"x": b"x", "y": b"y"}, old)
    with ObjectStore.open(origin.folder) as store:
        assert len(new) == 64
        assert store.snapshot(new).read("y", LIMITS) == b"y"
        assert [change.path for change in store.changes(old, new)] == ["y"]


def test_a_working_tree_is_never_looked_at(tmp_path: Path) -> None:
    Origin(tmp_path).git("init", "--quiet", str(tmp_path / "tree"), anywhere=True)
    origin = Origin(tmp_path / "tree" / ".git")
    commit = origin.commit({"x": b"committed"}, ref="HEAD")
    (tmp_path / "tree" / "x").write_text("on disk")
    with ObjectStore.open(tmp_path / "tree") as store:
        assert store.snapshot(commit).read("x", LIMITS) == b"committed"


# Changes


TEXT = b"".join(b"line %d\n" % number for number in range(40))


def test_changes_are_those_since_the_merge_base(origin: Origin, store: ObjectStore) -> None:
    fork = origin.commit({"both": b"1", "gone": b"2", "kept": b"3", "old name": TEXT, "moved": TEXT * 2})
    base = origin.commit({"both": b"1", "only on the base": b"4", "kept": b"changed on the base"}, fork)
    edited = TEXT.replace(b"line 7\n", b"line seven\n")
    head = origin.commit({"both": b"11", "kept": b"3", "new": b"5", "new name": edited, "f/moved": TEXT * 2}, fork)
    ids = {content: origin.blob(content) for content in (b"1", b"11", b"2", b"5", TEXT, edited, TEXT * 2)}
    assert store.changes(base, head) == (
        ChangedFile("both", "modified", None, ids[b"1"], ids[b"11"]),
        ChangedFile("f/moved", "renamed", "moved", ids[TEXT * 2], ids[TEXT * 2]),
        ChangedFile("gone", "deleted", None, ids[b"2"], None),
        ChangedFile("new", "added", None, None, ids[b"5"]),
        ChangedFile("new name", "renamed", "old name", ids[TEXT], ids[edited]),
    )
    assert store.changes(head, head) == store.changes(head, fork) == ()


def test_a_merge_that_takes_back_what_one_side_had_is_seen(origin: Origin, store: ObjectStore) -> None:
    """Histories that met twice: compared with the side that was merged, ``head`` shows its page alone."""
    first = {"config": b"1", "entry": b"1", "kept": b"1"}
    side_files = first | {"side": b"1"}
    fork = origin.commit(first)
    changed = origin.commit({"config": b"2", "kept": b"2", "new": b"2"}, fork)
    side = origin.commit(side_files, fork)
    base = origin.commit({"config": b"2", "kept": b"2", "new": b"2", "side": b"1"}, changed, side)
    head = origin.commit(side_files | {"kept": b"2", "page": b"1"}, origin.commit(side_files, side, changed))
    ids = {content: origin.blob(content) for content in (b"1", b"2")}
    assert store.changes(base, head) == (
        ChangedFile("config", "modified", None, ids[b"2"], ids[b"1"]),
        ChangedFile("entry", "added", None, None, ids[b"1"]),
        ChangedFile("new", "deleted", None, ids[b"2"], None),
        ChangedFile("page", "added", None, None, ids[b"1"]),
    )
    assert store.common_ancestor(base, head) == base
    assert store.changes(base, origin.commit(side_files | {"config": b"2", "kept": b"2", "new": b"2"}, head)) == (
        ChangedFile("entry", "added", None, None, ids[b"1"]),
    )


def test_what_the_base_alone_changed_is_no_change_though_histories_met_twice(
    origin: Origin, store: ObjectStore
) -> None:
    fork = origin.commit({"x": b"1", "y": b"1"})
    left, right = origin.commit({"x": b"2", "y": b"1"}, fork), origin.commit({"x": b"1", "y": b"2"}, fork)
    both = {"x": b"2", "y": b"2"}
    base = origin.commit(both | {"later": b"1"}, origin.commit(both, left, right))
    assert store.changes(base, origin.commit(both, right, left)) == ()


def test_a_file_that_keeps_less_than_half_is_no_rename(origin: Origin, store: ObjectStore) -> None:
    base = origin.commit({"old": TEXT})
    head = origin.commit({"new": TEXT[: len(TEXT) // 3] + b"".join(b"other %d\n" % n for n in range(60))}, base)
    assert [(change.path, change.kind) for change in store.changes(base, head)] == [
        ("new", "added"),
        ("old", "deleted"),
    ]


def test_links_modules_and_modes_are_changes_too(origin: Origin, store: ObjectStore) -> None:
    blob = origin.blob(b"x")
    base = origin.commit({"mode": ("100644", blob), "kind": ("100644", blob), "module": ("160000", MISSING)})
    other = {"mode": ("100755", blob), "kind": ("120000", blob), "module": ("160000", "2" * 40)}
    changes = store.changes(base, origin.commit(other, base))
    assert [(change.path, change.kind) for change in changes] == [(path, "modified") for path in sorted(other)]


def test_changes_of_odd_names_are_called_as_the_snapshot_calls_them(origin: Origin, store: ObjectStore) -> None:
    base = origin.commit({f"old {odd}": TEXT + os.fsencode(odd) for odd in ODD[:3]})
    head = origin.commit(
        {f"new {odd}": TEXT + os.fsencode(odd) for odd in ODD[:3]} | {odd: os.fsencode(odd) for odd in ODD}, base
    )
    changes = store.changes(base, head)
    assert tuple(change.path for change in changes) == store.snapshot(head).paths()
    renamed = {change.before for change in changes if change.kind == "renamed"}
    assert renamed == {f"old {odd}" for odd in ODD[:3]}


def test_histories_that_never_met_add_and_modify_only(origin: Origin, store: ObjectStore) -> None:
    base = origin.commit({"a": TEXT, "b": b"same", "c": b"base"})
    head = origin.commit({"a2": TEXT, "b": b"same", "c": b"head"})
    kinds = [(change.path, change.kind, change.before) for change in store.changes(base, head)]
    assert kinds == [("a2", "added", None), ("c", "modified", None)]


def test_no_setting_or_attribute_changes_what_is_seen(
    origin: Origin, store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "ran"
    command = f"sh -c 'touch {trace}'"
    for key in ("diff.external", "diff.evil.textconv", "diff.evil.command", "core.fsmonitor"):
        origin.git("config", key, command)
    origin.git("config", "diff.renames", "false")
    origin.git("config", "diff.noprefix", "true")
    (origin.folder / "info" / "attributes").write_text("* diff=evil\n")
    for key, value in {
        "GIT_EXTERNAL_DIFF": command,
        "GIT_DIR": "/nowhere",
        "GIT_CONFIG_PARAMETERS": "'a.b'='c",
    }.items():
        monkeypatch.setenv(key, value)
    base = origin.commit({"old": TEXT, ".gitattributes": b"* diff=evil"})
    head = origin.commit({"new": TEXT + b"more", ".gitattributes": b"* diff=evil"}, base)
    assert [change.before for change in store.changes(base, head)] == ["old"]
    assert store.snapshot(head).read("new", ReadingLimits(10_000, 5, 50)) == TEXT + b"more"
    assert not trace.exists()


# Commits


def test_ancestors_times_and_existence(origin: Origin, store: ObjectStore) -> None:
    first = origin.commit({"x": b"1"})
    second = origin.commit({"x": b"2"}, first, at="1772330400 -0730")
    other = origin.commit({"x": b"3"})
    assert store.is_ancestor(first, second)
    assert store.is_ancestor(first, first)
    assert not store.is_ancestor(second, first)
    assert not store.is_ancestor(other, second)
    assert store.commit_time(first) == "2026-01-01T00:00:00Z"
    assert store.commit_time(second) == "2026-03-01T02:00:00Z"
    assert store.exists(second)
    assert store.tree(first) == origin.git("rev-parse", f"{first}^{{tree}}")
    assert not store.exists(MISSING)
    assert not store.exists(store.tree(first))
    with pytest.raises(OutsideError):
        store.snapshot(MISSING)


def test_a_reference_of_the_store_leads_to_its_commit(origin: Origin, store: ObjectStore) -> None:
    commit = origin.commit({"a": b"1"}, ref="refs/heads/team/one")
    origin.git("update-ref", "refs/tags/blob", origin.blob(b"x"))
    assert store.find("refs/heads/team/one") == commit
    assert store.find("refs/heads/one") is None
    assert store.find("refs/tags/blob") is None
    for name in ("main", "--all", "-x/y", "refs/heads/a b", "refs/heads/x^{tree}"):
        with pytest.raises(UsageError, match="unknown reference"):
            store.find(name)


def test_first_parents_are_one_commit_for_each_merge(origin: Origin, store: ObjectStore) -> None:
    first = origin.commit({"x": b"1"})
    side = origin.commit({"x": b"1", "y": b"1"}, origin.commit({"x": b"1", "y": b"0"}, first))
    second = origin.commit({"x": b"2"}, first)
    merge = origin.commit({"x": b"2", "y": b"1"}, second, side)
    last = origin.commit({"x": b"3", "y": b"1"}, merge)
    assert store.first_parents(first, last) == (second, merge, last)
    assert store.first_parents(merge, last) == (last,)
    assert store.first_parents(last, last) == ()
    for outside in (side, origin.commit({"x": b"9"})):
        assert store.first_parents(outside, last) == ()
    with pytest.raises(OutsideError):
        store.first_parents(MISSING, last)


@pytest.mark.parametrize("seconds", ["99999999999999999999", "999999999999", "-5"])
def test_a_time_that_no_calendar_knows_is_no_crash(origin: Origin, store: ObjectStore, seconds: str) -> None:
    text = f"tree {origin.tree({})}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> {seconds} +0000\n\nx\n"
    commit = origin.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=text.encode())
    with pytest.raises(OutsideError, match="a time that no calendar knows"):
        store.commit_time(commit)


BAD_IDS = ["", "HEAD", "main", "--help", "-h", "1" * 39, "1" * 41, "g" * 40, "A" * 40, "1" * 40 + "\n", "1" * 40 + "^"]
BAD_IDS += [f"{MISSING}:a", "\u0661" * 40]


@pytest.mark.parametrize("id", BAD_IDS)
def test_what_is_no_commit_id_never_reaches_git(origin: Origin, store: ObjectStore, id: str) -> None:
    good = origin.commit({})
    questions: list[Callable[[], object]] = [
        lambda: store.snapshot(id),
        lambda: store.changes(id, good),
        lambda: store.changes(good, id),
        lambda: store.is_ancestor(id, good),
        lambda: store.is_ancestor(good, id),
        lambda: store.commit_time(id),
        lambda: store.tree(id),
        lambda: store.exists(id),
    ]
    for question in questions:
        with pytest.raises(UsageError, match="is no id of a commit"):
            question()


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path, tmp_path / "absent", tmp_path / "file"):
        with pytest.raises(UsageError, match="is no git repository"):
            ObjectStore.open(folder)
    with pytest.raises(UsageError, match="is not empty"):
        ObjectStore.create(tmp_path)
    with pytest.raises(OutsideError, match="cannot be made"):
        ObjectStore.create(tmp_path / "file" / "x")


def test_a_store_is_of_use_after_its_close(origin: Origin) -> None:
    commit = origin.commit({"x": b"x"})
    with ObjectStore.open(origin.folder) as store:
        assert store.snapshot(commit).read("x", LIMITS) == b"x"
    assert store.snapshot(commit).read("x", LIMITS) == b"x"
    store.close()


# Fetching


MAIN = "refs/heads/main"


def test_references_and_commits_are_fetched_without_tags_and_hooks(
    origin: Origin, copy: ObjectStore, tmp_path: Path
) -> None:
    first = origin.commit({"x": b"1"})
    main = origin.commit({"x": b"2"}, first, ref=MAIN)
    pull = origin.commit({"x": b"3"}, first, ref="refs/pull/1/head")
    origin.git("tag", "-a", "-m", "x", "v1", main)
    refs = {"base": MAIN, "head": "refs/pull/1/head", "old/one": first, "tag": "refs/tags/v1", "HEAD": "HEAD"}
    origin.git("symbolic-ref", "HEAD", MAIN)
    found = copy.fetch(str(origin.folder), refs, None, sleep=unwaited)
    assert found == {"base": main, "head": pull, "old/one": first, "tag": main, "HEAD": main}
    assert copy.changes(main, pull)[0].path == "x"
    created = Origin(tmp_path / "copies" / "store.git")
    assert created.git("for-each-ref", "--format=%(refname)").split() == [
        f"refs/incumbent/{name}" for name in sorted(refs)
    ]
    assert not (created.folder / "hooks").exists()
    assert not (created.folder / "FETCH_HEAD").exists()


def test_a_reference_that_moved_by_force_is_fetched_again(origin: Origin, copy: ObjectStore) -> None:
    for content in (b"1", b"2", b"3"):
        commit = origin.commit({"x": content}, ref=MAIN)
        assert copy.fetch(f"file://{origin.folder}", {"base": MAIN}, None, sleep=unwaited) == {"base": commit}


def test_a_missing_reference_is_absent_where_optional_and_else_an_error(origin: Origin, copy: ObjectStore) -> None:
    url = str(origin.folder)
    gone = "refs/heads/gone"
    assert copy.fetch(url, {"ledger": gone}, None, optional=["ledger"], sleep=unwaited) == {}
    main = origin.commit({}, ref="refs/heads/x/refs/heads/gone")
    refs = {"ledger": gone, "old": MISSING, "older": "2" * 40, "base": "refs/heads/x/refs/heads/gone"}
    found = copy.fetch(url, refs, None, optional=["ledger", "old", "older"], sleep=unwaited)
    assert found == {"base": main}
    for name in ("ledger", "old"):
        with pytest.raises(OutsideError, match=f"has no {refs[name]}"):
            copy.fetch(url, refs, None, optional={"ledger", "old", "older"} - {name}, sleep=unwaited)
    assert copy.fetch(url, {}, None, sleep=unwaited) == {}


def test_a_shallow_remote_gives_what_it_has_and_nothing_is_concluded_from_the_rest(
    origin: Origin, copy: ObjectStore, tmp_path: Path
) -> None:
    fork = origin.commit({"x": b"1"})
    base = origin.commit({"x": b"2"}, fork, ref=MAIN)
    head = origin.commit({"x": b"3"}, fork, ref="refs/heads/head")
    shallow = tmp_path / "shallow.git"
    clone = ("clone", "--quiet", "--bare", "--depth=1", "--no-single-branch", f"file://{origin.folder}", str(shallow))
    origin.git(*clone, anywhere=True)
    refs = {"base": MAIN, "head": "refs/heads/head"}
    assert copy.fetch(str(shallow), refs, None, sleep=unwaited) == {"base": base, "head": head}
    assert copy.snapshot(head).read("x", LIMITS) == b"3"
    for question in (copy.changes, copy.is_ancestor):
        with pytest.raises(OutsideError, match="fetch the whole"):
            question(base, head)
    assert copy.fetch(str(origin.folder), refs, None, sleep=unwaited) == {"base": base, "head": head}
    assert [change.path for change in copy.changes(base, head)] == ["x"]
    assert not copy.is_ancestor(base, head)


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% x",
        "ext://x",
        "git://example.com/x",
        "ssh://example.com/x",
        "git@example.com:x",
        "ftp://example.com/x",
        "relative/path",
        "-option",
        "--upload-pack=touch x",
        "",
        "https://user:password@example.com/x",
        "https:///x",
        "https://example.com/\nx",
        "/x\0",
    ],
)
def test_an_address_of_another_kind_is_not_followed(copy: ObjectStore, url: str) -> None:
    with pytest.raises(UsageError) as caught:
        copy.fetch(url, {"base": MAIN}, TOKEN, sleep=unwaited)
    assert "password@" not in str(caught.value)


@pytest.mark.parametrize(
    ("local", "remote"),
    [
        ("base", "main"),
        ("base", "--upload-pack=x"),
        ("base", "refs/heads/*"),
        ("base", "+refs/heads/main"),
        ("base", "refs/heads/a:refs/heads/b"),
        ("base", "^refs/heads/main"),
        ("base", "refs/heads/\ud800"),
        ("base", "1" * 39),
        ("base", ""),
        ("../heads/main", MAIN),
        ("", MAIN),
        ("a b", MAIN),
    ],
)
def test_a_name_that_is_none_never_reaches_git(copy: ObjectStore, local: str, remote: str) -> None:
    with pytest.raises(UsageError, match="cannot be fetched as"):
        copy.fetch("/nowhere", {local: remote}, None, sleep=unwaited)


def allowed_by_git(name: str) -> bool:
    return subprocess.run(["git", "check-ref-format", name], check=False, capture_output=True).returncode == 0


NAMES = ["refs/heads/a", "a", "a/b", "a//b", "/a/b", "a/b/", "a/.b", ".a/b", "a/b.lock", "a.lock/b", "a/b..c", "a/b."]
NAMES += ["a/@", "a/@{b", "a/{@", "a/b c", "a/~", "a/^", "a/:", "a/?", "a/*", "a/[", "a/\\", "a/\x7f", "a/\n", "a./b"]
NAMES += ["a/\u00e9", "a/-b", "a/b.lock.", "a/.lock", "a/]", "@/@", "a/b.locks", "a/\u2028"]


@pytest.mark.parametrize("name", NAMES)
def test_reference_names_follow_the_rules_of_git(name: str) -> None:
    assert is_ref_name(name) == allowed_by_git(name)


@given(st.text(alphabet="a/.@{lock~^:?*[\\ \t-\u00e9", min_size=1, max_size=8).filter(lambda name: name[0] != "-"))
def test_any_reference_name_follows_the_rules_of_git(tail: str) -> None:
    name = f"refs/{tail}"
    assert is_ref_name(name) == allowed_by_git(name)


def test_a_failure_is_tried_again_three_times_and_then_named(copy: ObjectStore, tmp_path: Path) -> None:
    waits: list[float] = []
    with pytest.raises(OutsideError, match=f"cannot fetch {MAIN} from {tmp_path}/absent.git: .*; check the network"):
        copy.fetch(f"{tmp_path}/absent.git", {"base": MAIN}, None, sleep=waits.append)
    assert waits == [1.0, 4.0, 16.0]


class Server(ThreadingHTTPServer):
    """``git http-backend`` behind a password."""

    def __init__(self, root: Path, header: str | None = f"Basic {HEADER}") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = root
        self.header = header
        self.failures = 0
        self.moved_to = ""
        self.seen: list[list[str]] = []
        self.bytes = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/origin.git"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        given = self.headers.get_all("Authorization", [])
        server.seen.append(given)
        if server.moved_to:
            return self.reply(302, [("Location", server.moved_to + self.path)], b"")
        if server.failures:
            server.failures -= 1
            return self.reply(503, [("Content-Type", "text/plain")], f"bad day, {given} {TOKEN}".encode())
        if server.header is not None and given != [server.header]:
            headers = [("WWW-Authenticate", 'Basic realm="x"'), ("Content-Type", "text/plain")]
            return self.reply(401, headers, f"who is {given}?".encode())
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        parts = urlsplit(self.path)
        variables = {
            "GIT_PROJECT_ROOT": str(server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=ENVIRONMENT | variables, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        headers = [(name, value) for name, value in lines if name != "Status"]
        status = next((int(value.split()[0]) for name, value in lines if name == "Status"), 200)
        return self.reply(status, headers, content)

    def reply(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.server.bytes += len(content)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(origin: Origin, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server(origin.folder.parent) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def refusal(store: ObjectStore, server: Server, token: str | None, waits: list[float] | None = None) -> str:
    """The error of a fetch, in which nothing secret may stand."""
    with pytest.raises(OutsideError) as caught:
        store.fetch(server.url, {"base": MAIN}, token, sleep=unwaited if waits is None else waits.append)
    message = str(caught.value)
    assert TOKEN not in message
    assert HEADER not in message
    assert MAIN in message
    assert server.url in message
    return message


def test_the_token_opens_the_remote(origin: Origin, copy: ObjectStore, server: Server, tmp_path: Path) -> None:
    first = origin.commit({"x": b"1"})
    main = origin.commit({"x": b"2"}, first, ref=MAIN)
    refs = {"base": MAIN, "old": first, "ledger": "refs/heads/gone", "never": MISSING}
    found = copy.fetch(server.url, refs, TOKEN, optional=("ledger", "never"), sleep=unwaited)
    assert found == {"base": main, "old": first}
    assert copy.snapshot(main).read("x", LIMITS) == b"2"
    assert all(given == [f"Basic {HEADER}"] for given in server.seen)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "copies").rglob("*") if path.is_file())
    assert TOKEN.encode() not in kept
    assert HEADER.encode() not in kept


def test_a_missing_reference_over_http_is_told_from_a_failure(
    origin: Origin, copy: ObjectStore, server: Server
) -> None:
    origin.commit({}, ref="refs/heads/other")
    assert "has no refs/heads/main: check that it was not deleted" in refusal(copy, server, TOKEN)


def test_a_wrong_or_absent_token_is_not_tried_again(origin: Origin, copy: ObjectStore, server: Server) -> None:
    server.header = "Basic other"
    assert "cannot fetch" in refusal(copy, server, TOKEN)
    assert server.seen[-1] == [f"Basic {HEADER}"]
    refusal(copy, server, None)
    refusal(copy, server, "")
    assert server.seen[-1] == []


def test_a_passing_failure_is_waited_for(origin: Origin, copy: ObjectStore, server: Server) -> None:
    main = origin.commit({}, ref=MAIN)
    server.failures = 2
    waits: list[float] = []
    assert copy.fetch(server.url, {"base": MAIN}, TOKEN, sleep=waits.append) == {"base": main}
    assert waits == [1.0, 4.0]


@pytest.mark.parametrize("trace", ["0", "1"])
def test_a_lasting_failure_is_named_and_the_token_is_not(
    copy: ObjectStore, server: Server, monkeypatch: pytest.MonkeyPatch, trace: str
) -> None:
    monkeypatch.setenv("GIT_CURL_VERBOSE", trace)
    monkeypatch.setenv("GIT_TRACE_REDACT", "0")
    server.failures = 1_000
    waits: list[float] = []
    assert "503" in refusal(copy, server, TOKEN, waits)
    assert waits == [1.0, 4.0, 16.0]


def test_a_redirection_does_not_get_the_token(origin: Origin, copy: ObjectStore, server: Server) -> None:
    with Server(origin.folder.parent) as elsewhere:
        server.moved_to = elsewhere.url.removesuffix("/origin.git")
        assert "302" in refusal(copy, server, TOKEN)
        assert len(server.seen) == 1


LARGE = 400_000
OURS = ("config", "eval_sets")


def mono_repo(origin: Origin) -> tuple[str, str]:
    """A base and a head of a pull request, in a history full of large files that are none of ours."""
    parents: tuple[str, ...] = ()
    files: dict[str, bytes | tuple[str, str]] = {
        "config/a.yaml": b"a: 1",
        "eval_sets/x/y/old.yaml": TEXT,
        "assets/former": TEXT,
    }
    for number in range(5):
        files[f"assets/{number}"] = os.urandom(LARGE)
        parents = (origin.commit(files, *parents, ref=MAIN),)
    del files["eval_sets/x/y/old.yaml"], files["assets/former"]
    edited = TEXT.replace(b"line 7\n", b"line seven\n")
    more: dict[str, bytes | tuple[str, str]] = {
        "eval_sets/x/y/new.yaml": edited,
        "assets/latter": edited,
        "assets/9": os.urandom(LARGE),
        "docs/a.md": b"# A",
        "docs/b.md": b"# B",
    }
    return parents[0], origin.commit(files | more, *parents, ref="refs/pull/1/head")


REFS = {"base": MAIN, "head": "refs/pull/1/head"}
FOLDERS = dict.fromkeys(REFS, OURS)


@pytest.mark.parametrize("can_filter", [True, False])
def test_of_a_large_repository_only_our_folders_are_fetched_where_the_server_can_choose(
    origin: Origin, copy: ObjectStore, server: Server, can_filter: bool
) -> None:
    base, head = mono_repo(origin)
    origin.git("config", "uploadpack.allowFilter", str(can_filter).lower())
    assert copy.fetch(server.url, REFS, TOKEN, sleep=unwaited, folders=FOLDERS) == {"base": base, "head": head}
    assert (server.bytes < LARGE) == can_filter
    requests, limits = len(server.seen), ReadingLimits(10 * LARGE, 5, 50)
    assert copy.snapshot(base).read("config/a.yaml", limits) == b"a: 1"
    assert copy.snapshot(head, "eval_sets").read("x/y/new.yaml", limits).startswith(b"line 0")
    assert [(change.path, change.kind, change.before) for change in copy.changes(base, head)] == [
        ("assets/9", "added", None),
        ("assets/former", "deleted", None),
        ("assets/latter", "added", None),
        ("docs/a.md", "added", None),
        ("docs/b.md", "added", None),
        ("eval_sets/x/y/new.yaml", "renamed", "eval_sets/x/y/old.yaml"),
    ]
    assert len(server.seen) == requests, "all of that had been fetched, in one lot"
    assert copy.snapshot(head).read("docs/a.md", limits) == b"# A"
    assert copy.snapshot(head).read("docs/b.md", limits) == b"# B"
    assert len(server.seen) - requests == (2 if can_filter else 0), "one more lot: what is said, what is asked for"
    copy.close()
    with pytest.raises(InputError, match="more than the limit"):
        copy.snapshot(head).read("assets/9", LIMITS)


def test_of_a_branch_only_its_end_is_fetched_and_the_others_have_their_whole_history(
    origin: Origin, copy: ObjectStore, tmp_path: Path
) -> None:
    for name in ("allowFilter", "allowAnySHA1InWant"):
        origin.git("config", f"uploadpack.{name}", "true")
    first = origin.commit({"config/a.yaml": b"a: 1"})
    main = origin.commit({"config/a.yaml": b"a: 2"}, first, ref=MAIN)
    stray = origin.commit({"config/a.yaml": b"a: 3"})
    lines = [origin.commit({"events/1.jsonl": b"1"}, ref="refs/heads/log")]
    url, refs = f"file://{origin.folder}", {"base": MAIN, "log": "refs/heads/log"}
    for number in range(2, 5):
        lines.append(origin.commit({"events/1.jsonl": b"%d" % number}, lines[-1], ref="refs/heads/log"))
        found = copy.fetch(url, refs, None, sleep=unwaited, folders={"log": ("config",)}, ends=["log"])
        assert found == {"base": main, "log": lines[-1]}
        assert copy.snapshot(lines[-1]).read("events/1.jsonl", LIMITS) == b"%d" % number
    assert not copy.exists(lines[0])
    main = origin.commit({"config/a.yaml": b"a: 4"}, main, ref=MAIN)
    assert copy.fetch(url, {**refs, "stray": stray}, None, sleep=unwaited, ends=["log"])["base"] == main
    assert copy.is_ancestor(first, main)
    assert not copy.is_ancestor(first, stray)
    assert copy.common_ancestor(main, stray) is None, "these never met, which a cut history could not tell"
    gone = copy.fetch(url, {"base": MAIN, "no": "refs/heads/no"}, None, ["no"], unwaited, ends=["no"])
    assert gone == {"base": main}


def test_only_what_moved_is_fetched_again(origin: Origin, copy: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("allowFilter", "allowAnySHA1InWant"):
        origin.git("config", f"uploadpack.{name}", "true")
    base = origin.commit({"config/a.yaml": b"a"}, ref=MAIN)
    refs, url = {"base": MAIN, "end": "refs/heads/end"}, f"file://{origin.folder}"

    def fetched() -> tuple[dict[str, str], list[str]]:
        commands: list[tuple[str, ...]] = []
        with monkeypatch.context() as patch:
            run = GitProcess.run

            def heard(self: GitProcess, *arguments: str, **more: Any) -> tuple[int, bytes, str]:
                commands.append(arguments)
                return run(self, *arguments, **more)

            patch.setattr(GitProcess, "run", heard)
            folders = {"base": ("config",), "end": ("runs.json",)}
            found = copy.fetch(url, refs, None, optional=("end",), sleep=unwaited, folders=folders, ends=("end",))
        said = [item for each in commands for item in each]
        return found, [name for name in ("ls-remote", f"+{MAIN}:refs/incumbent/base") if name in said]

    asked, brought = "ls-remote", f"+{MAIN}:refs/incumbent/base"
    assert fetched() == ({"base": base}, [brought])
    assert fetched() == ({"base": base}, [asked])
    for text in (b"1", b"2"):
        end = origin.commit({"runs.json": text}, ref="refs/heads/end")
        assert fetched() == ({"base": base, "end": end}, [asked])
        assert copy.snapshot(end).read("runs.json", LIMITS) == text
    moved = origin.commit({"config/a.yaml": b"b"}, base, ref=MAIN)
    assert fetched() == ({"base": moved, "end": end}, [asked, brought])
    assert copy.snapshot(moved).read("config/a.yaml", LIMITS) == b"b"
    assert copy.is_ancestor(base, moved)


def test_what_is_prepared_is_fetched_at_once_and_what_lies_beside_it_is_not(
    origin: Origin, copy: ObjectStore, server: Server
) -> None:
    origin.git("config", "uploadpack.allowFilter", "true")
    agents = {f"eval_sets/c{number}/a/skills/x/{name}": os.urandom(9) for number in range(300) for name in "pq"}
    base = origin.commit(
        {**agents, "eval_sets/c7/a/agent.yaml": b"a: 1", "top": b"0", "config/a.yaml": b"b: 2"}, ref=MAIN
    )
    copy.fetch(server.url, {"base": MAIN}, TOKEN, sleep=unwaited, folders={"base": ("config",)}, ours=OURS)
    snapshot, requests = copy.snapshot(base), len(server.seen)

    def lots(work: Callable[[], object]) -> float:
        nonlocal requests
        before, requests = requests, -1
        work()
        requests = len(server.seen)
        return (requests - before) / 2

    assert lots(lambda: copy.prepare(base, ())) == 0
    assert lots(lambda: copy.prepare(base, [f"eval_sets/c{number}/a" for number in range(250)])) == 1
    assert lots(lambda: [snapshot.read(path, LIMITS) for path in agents if int(path.split("/")[1][1:]) < 250]) == 0
    assert lots(lambda: snapshot.read("eval_sets/c7/a/agent.yaml", LIMITS)) == 0
    assert lots(lambda: snapshot.read("eval_sets/c299/a/skills/x/p", LIMITS)) == 1
    assert lots(lambda: snapshot.read("eval_sets/c299/a/skills/x/q", LIMITS)) == 0
    assert lots(lambda: (snapshot.read("top", LIMITS), snapshot.read("top", LIMITS))) == 1


def test_git_names_the_content_of_folders(store: ObjectStore, origin: Origin) -> None:
    before = origin.commit({"eval_sets/x/y/a": TEXT, "eval_sets/x/z/a": TEXT, "config/a": TEXT, "docs/a": TEXT})
    after = origin.commit(
        {"eval_sets/x/y/a": TEXT, "eval_sets/x/z/a": TEXT + TEXT, "config/a": TEXT, "eval_sets/b": TEXT}
    )
    old, new = (store.trees(commit, "config", "eval_sets") for commit in (before, after))
    assert old.keys() == {"config", "eval_sets", "eval_sets/x", "eval_sets/x/y", "eval_sets/x/z"}
    assert {path for path in old if old[path] == new[path]} == {"config", "eval_sets/x/y"}


def test_the_id_of_a_tree_of_folders_can_be_computed_without_git(store: ObjectStore, origin: Origin) -> None:
    folders = ("x/y", "x/y.z", "x-1/y", "x.2/y", "\u00e9 e/y", "x/\udcff")
    files = {f"eval_sets/{folder}/a": TEXT + folder.encode(errors="replace") for folder in folders}
    for more, same in (({}, True), ({"eval_sets/README.md": b"note"}, False), ({"eval_sets/x/note": b"note"}, False)):
        found = store.trees(origin.commit({**files, **more}), "eval_sets")
        own = {folder: found[f"eval_sets/{folder}"] for folder in folders}
        assert (tree_id(own) == found["eval_sets"]) == same
    assert tree_id({}) == origin.tree({})
    assert store.trees(origin.commit(files), "eval_sets", "none", below=False) == {"eval_sets": tree_id(own)}


def asked_of_git(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What git says from now on."""
    answers: list[bytes] = []
    run = GitProcess.run

    def heard(self: GitProcess, *arguments: str, **more: Any) -> tuple[int, bytes, str]:
        answer = run(self, *arguments, **more)
        answers.append(answer[1])
        return answer

    monkeypatch.setattr(GitProcess, "run", heard)
    return answers


def test_of_a_fetched_commit_only_what_is_asked_for_is_listed(
    origin: Origin, copy: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("allowFilter", "allowAnySHA1InWant"):
        origin.git("config", f"uploadpack.{name}", "true")
    base = origin.commit(
        {"config/a.yaml": b"a: 1", "eval_sets/c/a/q": b"q", "docs/a.md": b"# A", "top": b"0"}, ref=MAIN
    )
    copy.fetch(f"file://{origin.folder}", {"base": MAIN}, None, sleep=unwaited, folders={"base": ("config",)})
    answers, snapshot = asked_of_git(monkeypatch), copy.snapshot(base)
    assert snapshot.read("config/a.yaml", LIMITS) == b"a: 1"
    assert not snapshot.exists("config/b.yaml")
    assert len(answers) == 1
    assert snapshot.paths("docs") == ("docs/a.md",)
    assert not snapshot.exists("taxonomy/taxonomy.yaml")
    assert b"eval_sets" not in b"".join(answers)
    assert snapshot.within("eval_sets").paths() == ("c/a/q",)
    assert snapshot.read("eval_sets/c/a/q", LIMITS) == b"q"
    assert snapshot.paths() == ("config/a.yaml", "docs/a.md", "eval_sets/c/a/q", "top")
    assert snapshot.read("top", LIMITS) == b"0"


def test_git_is_asked_once_what_is_missing_of_a_commit(
    origin: Origin, copy: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("allowFilter", "allowAnySHA1InWant"):
        origin.git("config", f"uploadpack.{name}", "true")
    base = origin.commit({"config/a.yaml": b"a: 1", "docs/a.md": b"# A", "top": b"0"}, ref=MAIN)
    other = origin.commit({"config/a.yaml": b"a: 2", "docs/a.md": b"# B", "top": b"0"}, base)
    answers = asked_of_git(monkeypatch)

    def asked(*folders: str, commit: str = base) -> int:
        before = len(answers)
        copy.fetch(
            f"file://{origin.folder}", {"base": commit}, None, sleep=unwaited, folders={"base": folders}, ends=["base"]
        )
        return len(answers) - before

    assert asked("config", "top") == 3, "the commit, what of it is missing, and that"
    assert asked("config", "top") == asked("top") == asked("config") == 1
    assert asked("config", "docs") == 3
    assert copy.snapshot(base).read("docs/a.md", LIMITS) == b"# A"
    assert asked("docs", commit=other) == 3, "the other commit has other contents"
    assert copy.snapshot(other).read("docs/a.md", LIMITS) == b"# B"
    assert asked(commit=other) == 3
    assert asked(commit=other) == asked("config", "top", commit=other) == 1, "everything is here"


LEDGER = "refs/heads/ledger"
OTHERS = {"a/b.json": b"1", "a/c.json": b"2", "huge.json": b"x" * 90}
BEFORE = {**OTHERS, "top.json": b"3"}
WRITTEN: list[tuple[str, str | None]] = [
    ("a/b.json", "\u00e9"),
    ("a/c.json", None),
    ("d/e.json", ""),
    ("top.json", "3"),
]
AFTER = {"a/b.json": "\u00e9".encode(), "d/e.json": b"", "top.json": b"3", "huge.json": b"x" * 90}


def known_ledger(origin: Origin, copy: ObjectStore) -> str:
    """What of a ledger is read at first, fetched alone: its last commit."""
    for name in ("allowFilter", "allowAnySHA1InWant"):
        origin.git("config", f"uploadpack.{name}", "true")
    first = origin.commit(BEFORE, origin.commit({"older": b"0"}), ref=LEDGER)
    assert fetched_ledger(origin, copy) == first
    return first


def fetched_ledger(origin: Origin, copy: ObjectStore) -> str:
    url = f"file://{origin.folder}"
    wanted = {"ledger": ["a", "d", "top.json"]}
    return copy.fetch(url, {"ledger": LEDGER}, None, sleep=unwaited, folders=wanted, ends=["ledger"])["ledger"]


def test_what_this_process_wrote_is_not_fetched(
    origin: Origin, copy: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = known_ledger(origin, copy)
    written = origin.commit(AFTER, first, ref=LEDGER)
    assert copy.take_in("ledger", written, origin.git("rev-parse", f"{written}^{{tree}}"), first, WRITTEN)
    again = origin.commit({**AFTER, "f": b"6"}, written, ref=LEDGER)
    assert copy.take_in("ledger", again, origin.git("rev-parse", f"{again}^{{tree}}"), written, [("f", "6")])
    commands = []
    run = GitProcess.run

    def heard(self: GitProcess, *arguments: str, **more: Any) -> tuple[int, bytes, str]:
        commands.append(arguments)
        return run(self, *arguments, **more)

    monkeypatch.setattr(GitProcess, "run", heard)
    assert fetched_ledger(origin, copy) == again
    assert not [words for words in commands if "fetch" in words]
    for commit, files in ((written, AFTER), (again, {**AFTER, "f": b"6"})):
        snapshot = copy.snapshot(commit)
        assert snapshot.paths() == tuple(sorted(files))
        assert {path: snapshot.read(path, LIMITS) for path in files} == files
        assert copy.tree(commit) == origin.git("rev-parse", f"{commit}^{{tree}}")
        assert copy.trees(commit, "a") == {"a": origin.git("rev-parse", f"{commit}:a")}
    # What others write on top of it is fetched as ever.
    last = origin.commit({**AFTER, "f": b"7"}, again, ref=LEDGER)
    assert fetched_ledger(origin, copy) == last
    assert copy.snapshot(last).read("f", LIMITS) == b"7"


@pytest.mark.parametrize(
    ("tree", "files"), [(MISSING, WRITTEN), (None, [*WRITTEN, ("a b", "1")]), (None, [*WRITTEN, ("g", "\ud800")])]
)
def test_what_is_not_as_it_should_be_is_fetched(
    origin: Origin, copy: ObjectStore, tree: str | None, files: list[tuple[str, str | None]]
) -> None:
    first = known_ledger(origin, copy)
    written = origin.commit(AFTER, first, ref=LEDGER)
    assert not copy.take_in("ledger", written, tree or origin.git("rev-parse", f"{written}^{{tree}}"), first, files)
    assert not copy.exists(written)
    assert fetched_ledger(origin, copy) == written
    assert copy.exists(written)
    assert copy.snapshot(written).read("a/b.json", LIMITS) == "\u00e9".encode()


def test_the_first_commit_of_a_branch_is_taken_in_as_well(origin: Origin, copy: ObjectStore) -> None:
    written = origin.commit({"a/b.json": b"1"}, ref=LEDGER)
    tree = origin.git("rev-parse", f"{written}^{{tree}}")
    assert copy.take_in("ledger", written, tree, None, [("a/b.json", "1")])
    assert fetched_ledger(origin, copy) == written
    assert not copy.exists(written), "its tree is here, and no commit was fetched"
    assert copy.snapshot(written).read("a/b.json", LIMITS) == b"1"


@pytest.mark.parametrize(
    ("files", "after"),
    [
        (WRITTEN, AFTER),
        ([("a", "a file")], {"a": b"a file", "top.json": b"3", "huge.json": b"x" * 90}),
        ([("top.json/x", "in a folder")], {**OTHERS, "top.json/x": b"in a folder"}),
        ([("a/b.json", None), ("a/c.json", None)], {"top.json": b"3", "huge.json": b"x" * 90}),
    ],
)
def test_what_was_listed_before_a_write_is_not_listed_again(
    origin: Origin,
    copy: ObjectStore,
    monkeypatch: pytest.MonkeyPatch,
    files: list[tuple[str, str | None]],
    after: dict[str, bytes],
) -> None:
    first = known_ledger(origin, copy)
    assert copy.snapshot(first).paths() == tuple(sorted(BEFORE))
    written = origin.commit(after, first, ref=LEDGER)
    assert copy.take_in("ledger", written, origin.git("rev-parse", f"{written}^{{tree}}"), first, files)
    answers = asked_of_git(monkeypatch)
    snapshot = copy.snapshot(written)
    assert snapshot.paths() == tuple(sorted(after))
    small = after.keys() - {"huge.json"}
    assert {path: snapshot.read(path, LIMITS) for path in small} == {path: after[path] for path in small}
    assert answers == []


def test_common_ancestors_are_looked_for_once_for_both_sides(
    store: ObjectStore, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = origin.commit({"a": b"0"})
    left, right = origin.commit({"a": b"1"}, base), origin.commit({"a": b"2"}, base)
    answers = asked_of_git(monkeypatch)
    assert store.common_ancestor(left, right) == base
    assert store.common_ancestor(right, left) == base
    assert len(answers) == 1


@pytest.mark.parametrize("odd", ODD)
def test_odd_names_of_a_fetched_commit_are_listed_too(origin: Origin, copy: ObjectStore, odd: str) -> None:
    base = origin.commit({odd: b"content", f"{odd}.d/x": b"content"}, ref=MAIN)
    copy.fetch(f"file://{origin.folder}", {"base": MAIN}, None, sleep=unwaited, folders={"base": ("config",)})
    assert copy.snapshot(base).exists(odd) == ("\\" not in odd and odd[0] != "~" and odd != "C:drive")
    assert copy.snapshot(base).within(f"{odd}.d").paths() == ("x",)
    assert copy.snapshot(base).paths() == tuple(sorted([odd, f"{odd}.d/x"]))


def test_a_file_that_moves_into_our_folders_unchanged_is_a_rename_and_an_edited_one_is_new(
    origin: Origin, copy: ObjectStore, server: Server
) -> None:
    origin.git("config", "uploadpack.allowFilter", "true")
    other = TEXT + b"other"
    base = origin.commit({"drafts/a": TEXT, "drafts/b": other, "eval_sets/c": TEXT * 2}, ref=MAIN)
    moved = {"eval_sets/a": TEXT, "eval_sets/b": other + b"edited", "eval_sets/d": TEXT * 2 + b"edited"}
    head = origin.commit(moved, base, ref="refs/pull/1/head")
    copy.fetch(server.url, REFS, TOKEN, sleep=unwaited, folders=FOLDERS)
    assert [(change.path, change.kind, change.before) for change in copy.changes(base, head)] == [
        ("drafts/b", "deleted", None),
        ("eval_sets/a", "renamed", "drafts/a"),
        ("eval_sets/b", "added", None),
        ("eval_sets/d", "renamed", "eval_sets/c"),
    ]


def test_a_server_that_fails_when_contents_are_asked_for_is_named(
    origin: Origin, copy: ObjectStore, server: Server
) -> None:
    origin.git("config", "uploadpack.allowFilter", "true")
    base, _ = mono_repo(origin)
    waits: list[float] = []
    copy.fetch(server.url, REFS, TOKEN, sleep=waits.append)
    server.failures = 1_000
    with pytest.raises(OutsideError, match=r"cannot fetch 1 files from .*503") as caught:
        copy.snapshot(base).read("config/a.yaml", LIMITS)
    assert TOKEN not in str(caught.value)
    assert waits == [1.0, 4.0, 16.0]


@pytest.mark.parametrize("name", ["GIT_TRACE", "GIT_TRACE_CURL", "GIT_TRACE2_EVENT", "GIT_TRACE_PACKET"])
def test_what_git_does_is_traced_for_nobody(
    origin: Origin, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    origin.commit({}, ref=MAIN)
    trace = tmp_path / "trace"
    for variable, value in {name: str(trace), "GIT_TRACE_REDACT": "0", "GIT_CURL_VERBOSE": "1"}.items():
        monkeypatch.setenv(variable, value)
    with ObjectStore.create(tmp_path / "store.git") as store:
        store.fetch(server.url, {"base": MAIN}, TOKEN, sleep=unwaited)
    assert not trace.exists()
    assert os.environ[name] == str(trace), "the variables of the process stay as they are"


def test_credentials_of_the_repository_itself_do_not_go_along(origin: Origin, server: Server, tmp_path: Path) -> None:
    """A checkout keeps the job's token in its configuration, and two tokens at once are refused."""
    main = origin.commit({}, ref=MAIN)
    Origin(tmp_path).git("init", "--quiet", str(tmp_path / "tree"), anywhere=True)
    tree = Origin(tmp_path / "tree" / ".git")
    host = server.url.removesuffix("origin.git")
    tree.git("config", f"http.{host}.extraheader", "Authorization: Basic c3RhbGU=")
    with ObjectStore.open(tmp_path / "tree") as store:
        assert store.fetch(server.url, {"base": MAIN}, TOKEN, sleep=unwaited) == {"base": main}
    assert all(given == [f"Basic {HEADER}"] for given in server.seen)


def test_names_and_ids_are_compared_without_a_content(origin: Origin, store: ObjectStore) -> None:
    edited = TEXT.replace(b"line 7\n", b"line seven\n")
    base = origin.commit({"a/moved": TEXT * 2, "a/edited": TEXT, "kept": b"1"})
    head = origin.commit({"b/moved": TEXT * 2, "b/edited": edited, "kept": b"1"}, base)
    found = [(item.path, item.kind, item.before) for item in store.changes(base, head, contents=False)]
    assert found == [
        ("a/edited", "deleted", None),
        ("b/edited", "added", None),
        ("b/moved", "renamed", "a/moved"),
    ]
