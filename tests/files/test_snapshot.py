"""Snapshots: nothing outside the folder is ever read, whatever a path says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import (
    ByteBudgetSnapshot,
    EmptySnapshot,
    Overlay,
    ReadingLimits,
    WorkingTree,
    normal_path,
    path_beside,
)

LIMITS = ReadingLimits(file_bytes=100, nesting_depth=5, nodes=50)


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    """A folder with files, links of every kind, and a secret beside it."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "inner.txt").write_text("secret")
    root = tmp_path / "root"
    for name in ("a.txt", "b/c.txt", "b/d/é f.txt", "b/.hidden", ".git/config", "b/.git/HEAD"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "inside.txt").symlink_to("a.txt")
    (root / "broken.txt").symlink_to("nowhere")
    (root / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
    (root / "b" / "loop").symlink_to("..", target_is_directory=True)
    return WorkingTree(root, "shown")


def fault(tree: WorkingTree, path: str) -> Problem:
    with pytest.raises(InputError) as caught:
        tree.read(path, LIMITS)
    (problem,) = caught.value.problems
    return problem


def test_files_are_listed_sorted_without_links_and_git(tree: WorkingTree) -> None:
    assert tree.paths() == ("a.txt", "b/.hidden", "b/c.txt", "b/d/é f.txt")
    assert tree.paths("b") == ("b/.hidden", "b/c.txt", "b/d/é f.txt")
    assert tree.paths("b/d/") == ("b/d/é f.txt",)


@pytest.mark.parametrize("folder", ["absent", "a.txt", "..", "b/../..", "/", "/etc", "../outside", "~", "C:\\"])
def test_an_absent_folder_or_one_outside_has_no_files(tree: WorkingTree, folder: str) -> None:
    assert tree.paths(folder) == ()


def test_a_file_is_read(tree: WorkingTree) -> None:
    assert tree.read("b/c.txt", LIMITS) == b"b/c.txt"
    assert tree.read("./b//d/../c.txt", LIMITS) == b"b/c.txt"
    assert tree.exists("b/c.txt")
    assert tree.exists("b/d/é f.txt")
    # A name that no system takes is none of a file.
    assert tree.exists("x" * 5_000) is False


OUTSIDE = [
    "",
    ".",
    "..",
    "../secret.txt",
    "b/../../secret.txt",
    "b/c.txt/../../../secret.txt",
    "/etc/passwd",
    "//etc/hosts",
]
OUTSIDE += [
    "..\\secret.txt",
    "b\\c.txt",
    "C:/secret.txt",
    "C:secret.txt",
    "file:///etc/passwd",
    "~/secret",
    "a.txt\0.json",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leaves_the_folder_is_refused(tree: WorkingTree, path: str) -> None:
    assert fault(tree, path).message == "the path leaves its folder"
    assert not tree.exists(path)


@pytest.mark.parametrize(
    "path", ["link.txt", "inside.txt", "broken.txt", "folder/inner.txt", "b/loop/a.txt", "b/loop/b/loop/a.txt"]
)
def test_a_symbolic_link_is_refused_wherever_it_stands(tree: WorkingTree, path: str) -> None:
    assert fault(tree, path).message == "the path is a symbolic link"
    assert not tree.exists(path)


def test_nothing_behind_a_linked_folder_is_listed_and_it_is_a_link_itself(tree: WorkingTree) -> None:
    """A set that is a link must not look like an empty one."""
    assert (tree.paths("folder"), tree.links("folder"), tree.links("folder/x")) == ((), ("folder",), ())
    assert fault(tree, "folder/inner.txt").message == "the path is a symbolic link"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("absent.txt", "No such file"),
        ("a.txt/x", "Not a directory"),
        ("b", "not a regular file"),
        ("x" * 5_000, "File name too long"),
        ("x/" * 3_000, "File name too long"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_reason(tree: WorkingTree, path: str, message: str) -> None:
    problem = fault(tree, path)
    assert message in problem.message
    assert problem.file == f"shown/{path}"
    assert not tree.exists(path)


def test_a_pipe_is_refused_and_not_waited_for(tree: WorkingTree) -> None:
    os.mkfifo(tree.root / "pipe")
    assert "not a regular file" in fault(tree, "pipe").message
    assert not tree.exists("pipe")


def test_a_file_may_have_as_many_bytes_as_the_limit_says(tree: WorkingTree) -> None:
    (tree.root / "just.txt").write_bytes(b"x" * 100)
    (tree.root / "large.txt").write_bytes(b"x" * 101)
    assert len(tree.read("just.txt", LIMITS)) == 100
    problem = fault(tree, "large.txt")
    assert "101 bytes, more than the limit of 100" in problem.message
    assert "limits.file_bytes" in problem.fix


def test_messages_name_a_file_as_people_did(tree: WorkingTree) -> None:
    assert tree.name("b/c.txt") == "shown/b/c.txt"
    assert WorkingTree(tree.root).name("b/c.txt") == "b/c.txt"


def test_a_file_name_that_is_no_text_can_be_listed_read_and_printed(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff.json")).write_bytes(b"{}")
    tree = WorkingTree(tmp_path)
    (path,) = tree.paths()
    assert tree.read(path, LIMITS) == b"{}"
    assert tree.name(path) == "odd?.json"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a", "a"),
        ("a/b", "a/b"),
        ("./a//b/", "a/b"),
        ("a/../b", "b"),
        ("a/b/../../c", "c"),
        ("a/:b", "a/:b"),
        ("...", "..."),
        ("a/..", None),
        ("a/../..", None),
        ("a\nb", "a\nb"),
    ],
)
def test_paths_are_normalised(path: str, expected: str | None) -> None:
    assert normal_path(path) == expected


@given(st.lists(st.sampled_from(["..", ".", "a", "b", "", "\\", "~", "C:", "\0", " "]), max_size=8).map("/".join))
def test_a_normal_path_stays_in_its_folder_and_is_normal(path: str) -> None:
    clean = normal_path(path)
    if clean is not None:
        assert not Path(clean).is_absolute()
        assert ".." not in clean.split("/")
        assert normal_path(clean) == clean


def test_no_more_is_read_of_a_folder_than_its_ration_and_each_file_counts_once(tmp_path: Path) -> None:
    for name, size in {"a": 6, "b": 5, "c": 4}.items():
        (tmp_path / name).write_bytes(b"x" * size)
    folder = ByteBudgetSnapshot(WorkingTree(tmp_path, "eval_sets"), 10)
    assert [len(folder.read("a", LIMITS)) for _ in range(3)] == [6, 6, 6]
    for _ in range(2):
        with pytest.raises(InputError, match=r"eval_sets/b: .* more than the limit of 10 bytes") as caught:
            folder.read("b", LIMITS)
        assert "limits.package_bytes" in caught.value.problems[0].fix
    assert len(folder.read("c", LIMITS)) == 4
    with pytest.raises(InputError, match="more than the limit of 10 bytes"):
        folder.read("b", LIMITS)
    assert (folder.paths(), folder.links(), folder.exists("b")) == (("a", "b", "c"), (), True)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("b.md", "x/b.md"),
        (" ./b.md ", "x/b.md"),
        ("../b.md", "b.md"),
        ("..\\b.md", "b.md"),
        ("../../b.md", None),
        ("/b.md", None),
        ("//host/b.md", None),
        ("https://host/b.md", None),
        ("mailto:a", None),
    ],
)
def test_a_reference_is_read_beside_the_file_that_has_it(reference: str, expected: str | None) -> None:
    assert path_beside("x/a.md", reference) == expected


def test_planned_files_lie_over_those_that_are_there(tree: WorkingTree) -> None:
    over = Overlay(tree, {"a.txt": None, "b/c.txt": "é", "b/new.txt": b"\xff", "bb.txt": "x", "gone.txt": None})
    assert over.paths() == ("b/.hidden", "b/c.txt", "b/d/é f.txt", "b/new.txt", "bb.txt")
    assert over.paths("b") == ("b/.hidden", "b/c.txt", "b/d/é f.txt", "b/new.txt")
    assert (over.links("b"), over.name("a.txt")) == (tree.links("b"), "shown/a.txt")
    assert tree.links("b") == ("b/loop",)
    assert [over.exists(path) for path in ("a.txt", "b/c.txt", "b/.hidden", "b/new.txt", "x")] == [
        *(False, True, True, True, False)
    ]
    assert over.read("b/c.txt", LIMITS) == "é".encode()
    assert (over.read("b/new.txt", LIMITS), over.read("b/.hidden", LIMITS)) == (b"\xff", b"b/.hidden")
    with pytest.raises(InputError, match=r"shown/a\.txt.*the file is not there"):
        over.read("a.txt", LIMITS)


def test_an_empty_folder_has_nothing() -> None:
    empty = EmptySnapshot()
    assert (empty.paths(), empty.links("a"), empty.exists("a"), empty.name("a")) == ((), (), False, "a")
    with pytest.raises(InputError, match=r"a: the file is not there"):
        empty.read("a", LIMITS)
