"""Writing the regression set: what is written is read back equal, and it is written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import git
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from incumbent.curator import file_changes as changes
from incumbent.curator import journal
from incumbent.curator.entry import Entry, Evicted, Tombstone
from incumbent.curator.file_changes import FileChange, apply, as_yaml, edit, render
from incumbent.curator.journal import refuse_half_written, settle, was_changed
from incumbent.errors import InputError, OutsideError
from incumbent.files.documents import parse_yaml
from incumbent.files.validation import validate
from incumbent.files.yaml_writer import amend
from incumbent.taxonomy.config import REVIEWED_FILES
from tests.factories import make_entry

pytestmark = pytest.mark.untraced

TRICKY = [
    "on",
    "yes",
    "null",
    "Null",
    "~",
    "12:30",
    "190:20:30",
    "0o7",
    "0x1F",
    "010",
    "1",
    "1.5",
    "1e3",
    ".5",
    "1.",
    "-0",
]
TRICKY += [
    "true",
    "False",
    ".inf",
    ".nan",
    "2001-01-01",
    "2001-12-14T21:59:43Z",
    "1_000",
    "0b1",
    "=",
    "<<",
    "",
    " ",
    "..",
]
TRICKY += [
    " leading",
    "trailing ",
    "\ttab",
    "a\t",
    "a: b",
    "a:",
    ":a",
    ":",
    "a:b",
    "a:?",
    "0:?",
    "[a:",
    "a #b",
    "#x",
    "x#y",
]
TRICKY += [
    "?",
    "?a",
    "? a",
    "what?",
    "-",
    "- a",
    "-a",
    "--",
    "---",
    "--- a",
    "...",
    "a ...",
    "!a",
    "&a",
    "*a",
    "%a",
    "@a",
]
TRICKY += [
    "`a`",
    "|",
    "|-",
    ">",
    "'",
    "''",
    "'a'",
    '"',
    '"a"',
    "{}",
    "[]",
    "{a",
    "a]",
    "a, b",
    ",",
    "\\",
    "\\n",
    "a\\",
    "\\x41",
]
TRICKY += [
    "\n",
    "a\n",
    "\na",
    "a\nb",
    "a\n\nb\n\n",
    " a\nb",
    "a\n b",
    "a \nb",
    "\r",
    "a\r\nb",
    "a\rb",
    "\x85",
    "a\x85b",
]
TRICKY += [
    "\u2028",
    "a\u2029b",
    "\x00",
    "\x01",
    "\x07\x1b[31m",
    "\x7f",
    "\x9f",
    "\xa0",
    "\xad",
    "\u200b",
    "\u202e",
    "\ufeff",
]
TRICKY += [
    "a\ufeffb",
    "\ufffe",
    "\uffff",
    "é",
    "e\u0301",
    "漢字",
    "😀",
    "👩\u200d🔧",
    "\U000e0041",
    "x" * 5_000,
    "a " * 100,
]

text = st.one_of(st.sampled_from(TRICKY), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
indicators = st.text("?:-,[]{}#&*!|>%@`\"' \n\tax0~=.<\\\x85\u2028\ufeff\x00", max_size=6)
words = st.one_of(text, indicators)
numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
data: st.SearchStrategy[JsonValue] = st.recursive(
    st.one_of(words, numbers, st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)),
    max_leaves=8,
)
visible = words.filter(lambda word: bool(word.strip()))


def read(content: str) -> Entry:
    return validate(Entry, parse_yaml(content.encode(), "f.yaml", REVIEWED_FILES))


def plain(content: str) -> Any:
    return parse_yaml(content.encode(), "f.yaml", REVIEWED_FILES).data


# Without backslashes, which pytest does not find again in the ids that `make mutate` hands it.
@pytest.mark.parametrize("value", TRICKY, ids=lambda value: ascii(value)[:20].replace("\\", "/"))
@pytest.mark.parametrize("padding", ["", "x" * 200], ids=["on one line", "on many lines"])
def test_every_text_is_read_back_as_it_was(value: str, padding: str) -> None:
    expected: JsonValue = {"padding": padding, "k": value, "items": [value, [value]], "keys": {value: {value: value}}}
    entry = make_entry("r", {"a": 0.5}, expected=expected)
    assert read(render(entry)) == entry


@given(st.lists(visible, min_size=1, max_size=3), data, st.none() | visible)
def test_an_entry_is_read_back_equal_and_its_bytes_are_always_the_same(
    turns: list[str], expected: JsonValue, pin: str | None
) -> None:
    entry = make_entry("r", {"a": 0.5, "b": 1.0}, turns=tuple(turns), expected=expected, pin=pin)
    content = render(entry)
    assert plain(content) == entry.model_dump(mode="json")
    assert repr(plain(content)["expected"]) == repr(expected)
    assert render(read(content)) == content


@given(data, data)
@example({"k": True}, {"k": 1})
@example([True, 1], [1, True])
@example({"\x85": 1}, {})
@example(8.44380990203509e-113, 8.44380990203509e-113)
def test_an_edited_file_says_what_the_new_entry_says(new: JsonValue, old: JsonValue) -> None:
    before, after = (make_entry("r", {"a": 0.5}, expected=value) for value in (old, new))
    edited = edit(render(before), after)
    assert plain(edited) == after.model_dump(mode="json")
    assert edit(render(after), after) == render(after)


def test_an_edit_keeps_comments_and_the_look_of_what_stays() -> None:
    before = render(make_entry("r", {"a": 0.5, "b": 0.25}, expected={"x": "one", "y": [1, 2]}, pin="keep it"))
    by_hand = "# why we have it\n" + before.replace("pin: keep it", 'pin: "keep it" # Dana').replace(
        "a: 0.5", "a: 0.50"
    )
    after = make_entry("r", {"a": 0.5, "c": 0.75}, expected={"x": "two", "y": [1, 2]}, pin="keep it")
    edited = edit(by_hand, after)
    assert edited.startswith("# why we have it\n")
    assert 'pin: "keep it" # Dana' in edited
    assert "a: 0.50" in edited
    assert "b:" not in edited.partition("classified")[0]
    assert read(edited) == after


def test_an_edit_keeps_the_look_of_mappings_in_lists_but_follows_the_order_of_their_keys() -> None:
    before = make_entry("r", {"a": 0.5}, expected=[{"x": "one", "z": 2}])
    by_hand = render(before).replace("x: one", 'x: "one"')
    assert edit(by_hand, before.model_copy(update={"pin": "why"})).count('x: "one"') == 1
    turned = edit(by_hand, before.model_copy(update={"expected": [{"z": 2, "x": "one"}]}))
    assert turned.index("z: 2") < turned.index("x: one")


def test_a_file_is_a_block_and_what_is_short_in_it_is_on_one_line() -> None:
    wide = {"x": "a" * 120}
    assert as_yaml({"a": {"b": [1, 2]}, "c": wide}) == f"a: {{b: [1, 2]}}\nc:\n  x: {'a' * 120}\n"
    assert as_yaml({"a": 1}) == "a: 1\n"
    # Short is what has 110 characters as Python writes it, brackets and quotes included.
    assert as_yaml({"a": ["b" * 106]}) == f"a: [{'b' * 106}]\n"
    assert as_yaml({"a": ["b" * 107]}) == f"a:\n  - {'b' * 107}\n"


def test_a_file_ends_in_one_line_break_and_has_only_such() -> None:
    content = render(make_entry("r", {"a": 0.5}, "two\nlines\r\n"))
    assert content.endswith("\n")
    assert not content.endswith("\n\n")
    assert "\r" not in content


# Plans


def test_admitting_waiting_and_stopping_to_wait_name_their_files() -> None:
    entry = make_entry("r", {"a": 0.5})
    assert changes.admit(entry) == FileChange("regression_set/r.yaml", render(entry))
    assert changes.let_wait(entry) == FileChange("regression_set/waiting/r.yaml", render(entry))
    assert changes.stop_waiting("r") == FileChange("regression_set/waiting/r.yaml", None)
    assert [changes.admit(entry).change, changes.stop_waiting("r").change] == ["write", "delete"]
    by_hand = "# kept\n" + render(entry)
    assert changes.admit(entry, by_hand).content == by_hand


def test_an_eviction_leaves_a_tombstone_from_which_the_same_bytes_return(tmp_path: Path) -> None:
    entry = make_entry("r", {"a": 0.5}, "What?\n: really", expected={"?": [None, "\x85"]}, pin="x")
    apply([changes.admit(entry)], tmp_path)
    before = tree(tmp_path)
    evicted = Evicted(at="2026-02-02T00:00:00Z", by="Robin", reason="on hold", grounds={"kind": "redundant"})
    apply(changes.evict(entry, evicted), tmp_path)
    (grave,) = tree(tmp_path)
    assert grave == "regression_set/evicted/r.yaml"
    document = parse_yaml((tmp_path / grave).read_bytes(), grave, REVIEWED_FILES)
    tombstone = validate(Tombstone, document)
    assert (tombstone.evicted, tombstone.entry, tombstone.restore) == (evicted, entry, "incumbent restore r")
    apply(changes.restore(tombstone.restored, wait=False), tmp_path)
    assert tree(tmp_path) == before


def test_what_is_restored_to_a_full_set_waits() -> None:
    entry = make_entry("r", {"a": 0.5})
    tombstone = Tombstone(id="r", evicted=Evicted(at="2026-02-02", reason="x"), restore="y", entry=entry)
    assert changes.restore(tombstone.restored, wait=True) == (
        changes.let_wait(entry),
        FileChange("regression_set/evicted/r.yaml", None),
    )


# Applying


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


PLAN = [
    FileChange("set/old.yaml", "new\n"),
    FileChange("set/fresh.yaml", "é\nline\n"),
    FileChange("set/gone.yaml", None),
    FileChange("set/deep/er/x.yaml", "x"),
]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "a repository"
    (root / "set").mkdir(parents=True)
    (root / "set" / "old.yaml").write_bytes(b"old\r\n")
    (root / "set" / "gone.yaml").write_bytes(b"gone")
    (root / "set" / "other.yaml").write_bytes(b"other")
    return root


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_plan_is_applied_and_a_second_time_changes_nothing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(PLAN, repository)
    assert was_changed(repository)
    assert settle(repository) is None
    assert not was_changed(repository)
    apply([FileChange("set/old.yaml", "newer\n")], repository)
    apply([FileChange("set/old.yaml", "new\n")], repository)
    with monkeypatch.context() as patch:
        patch.setattr(journal, "_clear", stop)
        with pytest.raises(KeyboardInterrupt):
            settle(repository)
    # A command that is stopped while it settles has changed nothing yet.
    assert not was_changed(repository)
    expected = {
        "set/deep/er/x.yaml": b"x",
        "set/fresh.yaml": "é\nline\n".encode(),
        "set/old.yaml": b"new\n",
        "set/other.yaml": b"other",
    }
    assert tree(repository) == expected
    apply(PLAN, repository)
    assert tree(repository) == expected
    assert not was_changed(repository)
    assert (repository / "set/fresh.yaml").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    "path", ["regression_set/r.yaml", "regression_set/waiting/r.yaml", "regression_set/evicted/r.yaml"]
)
def test_nothing_is_written_of_the_set_that_could_not_be_read_again(path: str, repository: Path) -> None:
    before = tree(repository)
    entry = make_entry("r", {})
    tombstone = Tombstone(id="r", evicted=Evicted(reason="x"), restore="x", entry=entry)
    right, wrong = (tombstone, entry) if "evicted" in path else (entry, tombstone)
    for content in ("id: [", render(make_entry("other", {})), render(wrong)):
        with pytest.raises(InputError) as error:
            apply([*PLAN, FileChange(path, content)], repository)
        assert {problem.file for problem in error.value.problems} == {path}
    assert tree(repository) == before
    apply([FileChange("regression_set/README.md", "id: ["), FileChange("set/r.yaml", "id: [")], repository)
    assert tree(repository) == {**before, "regression_set/README.md": b"id: [", "set/r.yaml": b"id: ["}
    apply([FileChange(path, render(right))], repository)
    assert tree(repository)[path] == render(right).encode()


def test_an_empty_plan_touches_nothing(repository: Path) -> None:
    before = tree(repository)
    apply([], repository)
    assert tree(repository) == before


def test_of_two_changes_of_one_file_the_last_one_stays(repository: Path) -> None:
    apply([FileChange("set/a", "1"), FileChange("set/a", "2")], repository)
    assert (repository / "set/a").read_text() == "2"
    apply([FileChange("set/a", "3"), FileChange("set/a", None)], repository)
    assert sorted(tree(repository)) == ["set/gone.yaml", "set/old.yaml", "set/other.yaml"]


def in_the_way_of_a_new_file(root: Path) -> None:
    (root / "set/fresh.yaml").mkdir()


def in_the_way_of_a_deletion(root: Path) -> None:
    (root / "set/gone.yaml").unlink()
    (root / "set/gone.yaml").mkdir()


def in_the_way_of_a_folder(root: Path) -> None:
    (root / "set/deep").write_text("a file")


def a_link_for_a_folder(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / "set/deep").symlink_to(root.parent / "elsewhere", target_is_directory=True)


def a_link_for_a_file(root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    (root / "set/fresh.yaml").symlink_to(root.parent / "elsewhere" / "x.yaml")


@pytest.mark.parametrize(
    "obstacle",
    [
        in_the_way_of_a_new_file,
        in_the_way_of_a_deletion,
        in_the_way_of_a_folder,
        a_link_for_a_folder,
        a_link_for_a_file,
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_plan_that_meets_an_obstacle_changes_nothing(
    obstacle: Callable[[Path], None], backwards: bool, repository: Path
) -> None:
    obstacle(repository)
    before = tree(repository)
    with pytest.raises(OutsideError, match="nothing was changed") as error:
        apply(PLAN[::-1] if backwards else PLAN, repository)
    linked = obstacle in (a_link_for_a_folder, a_link_for_a_file)
    assert (f"[Errno {errno.ELOOP}] a symbolic link is in the way: " in str(error.value)) == linked
    assert tree(repository) == before
    assert not list(repository.rglob(".incumbent-*"))
    assert not list((repository.parent / "elsewhere").glob("*"))


def test_a_failure_in_the_middle_is_undone(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file system takes two files and refuses the third."""
    (repository / "set/old.yaml").chmod(0o600)
    before, replace = tree(repository), Path.replace
    done: list[Path] = []

    def refuse_the_third(path: Path, target: Path) -> Path:
        done.append(target)
        if target.name == "x.yaml":
            raise OSError(28, "No space left on device")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", refuse_the_third)
    with pytest.raises(OutsideError, match=r"No space left on device.*nothing was changed"):
        apply(PLAN, repository)
    plan = "plan.json"
    assert [path.name for path in done] == [plan, "old.yaml", "fresh.yaml", "x.yaml", plan, "old.yaml", "gone.yaml"]
    assert tree(repository) == before
    assert (repository / "set/old.yaml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("step", ["replace", "chmod"])
def test_what_can_neither_go_on_nor_be_taken_back_is_finished_later(
    step: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk refuses everything from the second file on, for a while."""
    replace = Path.replace

    def refuse(path: Path, *_: object) -> Path:
        raise OSError(28, "No space left on device")

    def refuse_the_second(path: Path, target: Path) -> Path:
        if target.name == "fresh.yaml":
            monkeypatch.setattr(Path, step, refuse)
            refuse(path)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", refuse_the_second)
    with pytest.raises(OutsideError, match=r"No space left.*; a part of them is written: run this again to finish"):
        apply(PLAN, repository)
    assert (repository / "set/old.yaml").read_bytes() == b"new\n"
    assert (repository / "set/gone.yaml").exists()
    with pytest.raises(InputError, match="a change of these files was interrupted"):
        refuse_half_written(repository)
    monkeypatch.undo()
    assert settle(repository) == "a change that was interrupted is finished now: 4 files, see `git status`"
    assert not was_changed(repository)
    refuse_half_written(repository)
    assert settle(repository) is None
    after = tree(repository)
    apply(PLAN, repository)
    assert tree(repository) == after
    assert sorted(after) == ["set/deep/er/x.yaml", "set/fresh.yaml", "set/old.yaml", "set/other.yaml"]


@pytest.mark.parametrize("step", [Path.replace, Path.chmod, Path.unlink])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_run_that_the_user_stops_is_undone(
    step: Callable[..., Any], count: int, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(repository)
    done: list[Path] = []

    def stop(path: Path, *rest: Any, **more: Any) -> Any:
        done.append(path)
        if len(done) == count:
            raise KeyboardInterrupt
        return step(path, *rest, **more)

    monkeypatch.setattr(Path, step.__name__, stop)
    with pytest.raises(KeyboardInterrupt):
        apply([*PLAN, FileChange("set/other.yaml", None), FileChange("set/none.yaml", None)], repository)
    assert tree(repository) == before
    assert not (repository / "set/deep").exists()


@pytest.mark.parametrize(
    ("first", "then", "told"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt(), "the run was stopped"),
        (KeyboardInterrupt(), OSError(28, "No space left on device"), "No space left on device"),
        (OSError(5, "Input/output error"), OSError(28, "No space left on device"), "Input/output error"),
        (OSError(5, "Input/output error"), KeyboardInterrupt(), "Input/output error"),
    ],
)
def test_a_stopped_run_that_cannot_be_taken_back_says_so(
    first: BaseException, then: BaseException, told: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, failures = Path.replace, iter((first, then))

    def stop_from_the_second_on(path: Path, target: Path) -> Path:
        if target.name != "old.yaml" and (repository / "set/old.yaml").read_bytes() == b"new\n":
            raise next(failures)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", stop_from_the_second_on)
    with pytest.raises(OutsideError, match=rf"in order: .*{told}; a part of them is written: run this again"):
        apply(PLAN, repository)


@pytest.mark.parametrize(
    "word", ["yes", "No", "on", "OFF", "y", "12:30:45", "1:00", "~", "null", "2026-01-01", "=", "1_0"]
)
def test_other_readers_of_yaml_see_the_same_words(word: str) -> None:
    entry = make_entry("r", {"a": 0.9}, text=word, expected={word: word})
    found = yaml.safe_load(render(entry))
    assert (found["turns"], found["expected"]) == ([word], {word: word})


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip), min_size=1, max_size=3))
def test_other_readers_of_yaml_see_the_same_turns(turns: list[str]) -> None:
    entry = make_entry("r", {"a": 0.9}).model_copy(update={"turns": tuple(turns)})
    assert yaml.safe_load(render(entry))["turns"] == turns


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "knobs: 1\nchosen: {} # what differs\n\nlimits: 3\n",
            "knobs: 1\nchosen:    # what differs\n  a: {x: 0.5}\n\nlimits: 3\n",
        ),
        ("chosen:\n  a: {x: 0.1, y: 2} # why\n", "chosen:\n  a: {x: 0.5, y: 2} # why\n"),
        (
            "chosen:\n  a:\n    y: 0.20 # kept\n\n  # about b\n  b: {y: 1}\n",
            "chosen:\n  a:\n    y: 0.20 # kept\n    x: 0.5\n\n  # about b\n  b: {y: 1}\n",
        ),
        ("chosen:\n  b: {y: 1}\n", "chosen:\n  b: {y: 1}\n  a: {x: 0.5}\n"),
        (
            "chosen:\n  a: {y: 1} # why\n  # about b\n  b: 1\n",
            "chosen:\n  a: {y: 1, x: 0.5} # why\n  # about b\n  b: 1\n",
        ),
        ("chosen:\n  a:\n", "chosen:\n  a: {x: 0.5}\n"),
        ("{}\n", "chosen:\n  a: {x: 0.5}\n"),
    ],
)
def test_amending_changes_what_is_named_and_keeps_every_word_of_people(text: str, wanted: str) -> None:
    assert amend(text, {"chosen": {"a": {"x": 0.5}}}) == wanted


# Where a change is prepared


def prepared_in(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the plan of a change of ``root`` lay in."""
    found: list[Path] = []
    replace = Path.replace

    def note(path: Path, target: Path) -> Path:
        if target.name == "plan.json":
            found.append(target.parent)
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", note)
        apply([FileChange("set/fresh.yaml", "x")], root)
    (folder,) = found
    assert not folder.exists()
    return folder


def test_a_change_is_prepared_where_git_does_not_look(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert prepared_in(repository, monkeypatch) == repository / ".incumbent"
    # A folder of this name alone is no repository.
    (repository / ".git").mkdir()
    (repository / "set/fresh.yaml").unlink()
    assert prepared_in(repository, monkeypatch) == repository / ".incumbent"
    (repository / ".git").rmdir()
    # Nor is a file that names none.
    for content in (b"gitdir: \xff", b"gitdir: \0", b"gitdir: elsewhere"):
        (repository / ".git").write_bytes(content)
        (repository / "set/fresh.yaml").unlink()
        assert prepared_in(repository, monkeypatch) == repository / ".incumbent"
    (repository / ".git").unlink()
    with git.Repo.init(repository.parent) as parent:
        (repository / "set/fresh.yaml").unlink()
        inner = prepared_in(repository, monkeypatch)
        assert inner.parent == repository.parent / ".git"
        assert re.fullmatch("incumbent-[0-9a-f]{12}", inner.name)
        parent.git.add(all=True)
        parent.git.commit(message="Begin", author="a <a@b.example>", env={"EMAIL": "a@b.example"})
        parent.git.worktree("add", "../linked")
    linked = repository.parent.with_name("linked")
    folder = prepared_in(linked, monkeypatch)
    assert folder.parent.parent == repository.parent / ".git" / "worktrees"
    assert folder.name == "incumbent"
    # Two platforms in one repository do not meet.
    assert prepared_in(linked / repository.name / "set", monkeypatch).name != folder.name


def test_a_link_in_place_of_that_folder_is_not_followed(repository: Path) -> None:
    elsewhere = repository.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "plan.json").write_text("kept")
    (repository / ".incumbent").symlink_to(elsewhere, target_is_directory=True)
    before = tree(repository)
    with pytest.raises(OutsideError, match=rf"Errno {errno.ELOOP}\] a symbolic link is in the way: .*; nothing"):
        apply(PLAN, repository)
    settle(repository)
    assert tree(repository) == before
    assert [path.name for path in elsewhere.iterdir()] == ["plan.json"]


def test_files_on_another_disk_are_changed_likewise(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace
    stopped: list[Path] = []

    def other_disk(path: Path, target: Path) -> Path:
        if path.parent != target.parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        if target.name == "x.yaml" and not stopped:
            stopped.append(target)
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", other_disk)
    before = tree(repository)
    with pytest.raises(KeyboardInterrupt):
        apply(PLAN, repository)
    assert tree(repository) == before
    apply(PLAN, repository)
    assert sorted(tree(repository)) == ["set/deep/er/x.yaml", "set/fresh.yaml", "set/old.yaml", "set/other.yaml"]


def test_a_pipe_in_place_of_a_file_is_not_waited_for(repository: Path) -> None:
    os.mkfifo(repository / "set/fresh.yaml")
    with pytest.raises(OutsideError, match=rf"Errno {errno.EINVAL}\] not a regular file.*nothing was changed"):
        apply(PLAN, repository)


FINISHED = "a change that was interrupted is finished now: 2 files, see `git status`"
LEFT = "a change was interrupted, and is not finished: its files were changed since; see `git status`"


@pytest.mark.parametrize(
    ("now", "said", "after"),
    [
        (["before", "before"], None, ["before", "before"]),
        (["before", "other"], None, ["before", "other"]),
        (["after", "before"], FINISHED, ["after", "after"]),
        (["before", "after"], FINISHED, ["after", "after"]),
        (["after", "other"], LEFT, ["after", "other"]),
        (["after", "after"], None, ["after", "after"]),
    ],
)
def test_a_plan_that_is_found_is_finished_if_only_that_is_left(
    now: list[str], said: str | None, after: list[str], tmp_path: Path
) -> None:
    before, wanted = (hashlib.sha256(text).hexdigest() for text in (b"before", b"after"))
    steps = [{"path": f"set/{n}", "before": before, "after": wanted, "aside": f"new-{n}"} for n in range(2)]
    folder = tmp_path / ".incumbent"
    folder.mkdir()
    (folder / "plan.json").write_text(json.dumps({"steps": steps}))
    # As in a repository that a group shares.
    (folder / "plan.json").chmod(0o666)
    (tmp_path / "set").mkdir()
    for number, text in enumerate(now):
        (folder / f"new-{number}").write_text("after")
        (tmp_path / "set" / str(number)).write_text(text)
    if said == FINISHED:
        with pytest.raises(InputError) as caught:
            refuse_half_written(tmp_path)
        (problem,) = caught.value.problems
        assert problem.file == "regression_set"
        assert problem.message.endswith("was interrupted, or is being made, and a part of them is written")
        assert str(problem.fix).startswith("run the command that was interrupted again; any that changes")
    else:
        refuse_half_written(tmp_path)
    assert settle(tmp_path) == said
    assert list(tree(tmp_path).values()) == [text.encode() for text in after]
    assert not folder.exists()


def test_what_cannot_be_finished_says_so_and_is_finished_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, wanted = (hashlib.sha256(text).hexdigest() for text in (b"before", b"after"))
    steps = [{"path": f"set/{n}", "before": before, "after": wanted, "aside": f"new-{n}"} for n in range(2)]
    folder = tmp_path / ".incumbent"
    folder.mkdir()
    (folder / "plan.json").write_text(json.dumps({"steps": steps}))
    (folder / "new-1").write_text("after")
    (tmp_path / "set").mkdir()
    for number, text in enumerate(("after", "before")):
        (tmp_path / "set" / str(number)).write_text(text)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(
            OutsideError, match=r"could not be finished: .*No space left.*; fix that, and run this again"
        ):
            settle(tmp_path)
    assert not was_changed(tmp_path)
    assert (folder / "plan.json").exists()
    # A copy across disks that was cut goes, too.
    journal._beside(tmp_path / "set" / "1").write_text("aft")
    assert settle(tmp_path) == FINISHED
    assert tree(tmp_path) == {"set/0": b"after", "set/1": b"after"}


def test_a_plan_that_is_found_changes_nothing_outside(repository: Path) -> None:
    outside = repository.parent / "outside"
    outside.write_text("before")
    before, after = (hashlib.sha256(text).hexdigest() for text in (b"before", b"after"))
    folder = repository / ".incumbent"
    for path in (str(outside), "../outside"):
        folder.mkdir()
        (folder / "new-0").write_text("after")
        done = {"path": "set/gone.yaml", "before": after, "after": hashlib.sha256(b"gone").hexdigest(), "aside": "x"}
        steps = [done, {"path": path, "before": before, "after": after, "aside": "new-0"}]
        (folder / "plan.json").write_text(json.dumps({"steps": steps}))
        refuse_half_written(repository)
        assert settle(repository) in (None, LEFT)
        assert outside.read_text() == "before"


def test_each_step_is_on_the_disk_before_the_next(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a crash of the machine could leave a plan without what it needs."""
    events: list[tuple[str, int]] = []
    fsync, replace = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        events.append(("synced", os.fstat(descriptor).st_ino))
        fsync(descriptor)

    def moved(path: Path, target: Path) -> Path:
        assert ("synced", path.stat().st_ino) in events
        events.append(("moved", target.parent.stat().st_ino))
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", moved)
    apply(PLAN, repository)
    (decided, *files) = [place for place, (event, _) in enumerate(events) if event == "moved"]
    assert len(files) == 3
    # The plan's own folder first; once all files are moved, theirs.
    assert ("synced", events[decided][1]) in events[decided : files[0]]
    for folder in ("set", "set/deep/er"):
        assert ("synced", (repository / folder).stat().st_ino) in events[files[-1] :]


def test_where_folders_cannot_be_flushed_files_are_written_all_the_same(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def files_alone(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", files_alone)
    apply(PLAN, repository)
    assert (repository / "set/fresh.yaml").read_text(encoding="utf-8") == "é\nline\n"


def test_a_plan_that_cannot_be_read_is_told_and_forgotten(repository: Path) -> None:
    (repository / ".incumbent").mkdir()
    (repository / ".incumbent" / "plan.json").write_text('{"steps": 1}')
    before = tree(repository / "set")
    refuse_half_written(repository)
    assert settle(repository) == "a change was interrupted, and what it left cannot be read; see `git status`"
    assert settle(repository) is None
    assert tree(repository) == {f"set/{path}": content for path, content in before.items()}
