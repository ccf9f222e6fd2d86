"""A commit on a branch that is not checked out."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from bot.errors import OutsideError
from bot.files.limits import ReadingLimits
from bot.git import ObjectStore
from bot.git.branch_commit import commit_on_branch

AT = "2026-11-28T05:00:00Z"
_LIMITS = ReadingLimits(file_bytes=100, nesting_depth=1, nodes=1)


@pytest.fixture
def repository(tmp_path: Path) -> git.Repo:
    found = git.Repo.init(tmp_path / "a clone", initial_branch="main")
    (tmp_path / "a clone" / "README.md").write_text("Platform\n")
    found.index.add(["README.md"])
    found.index.commit("First")
    return found


def commit(repository: git.Repo, parent: str | None, **files: str | None) -> str:
    named = {name.replace("__", "/"): text for name, text in files.items()}
    return commit_on_branch(Path(repository.working_dir), "bot/notes", parent, named, "Notes", AT, "Robin <x>")


def test_the_branch_has_the_files_and_the_working_tree_stays(repository: git.Repo) -> None:
    first = commit(repository, None, README="one\r\n", deep__er="é")
    second = commit(repository, first, README=None, deep__new="two")
    assert repository.heads["bot/notes"].commit.hexsha == second
    with ObjectStore.open(Path(repository.working_dir)) as store:
        assert sorted(store.snapshot(first).paths("")) == ["README", "deep/er"]
        assert store.snapshot(second).read("deep/new", _LIMITS) == b"two"
        assert sorted(store.snapshot(second).paths("")) == ["deep/er", "deep/new"]
        assert store.is_ancestor(first, second)
        assert store.commit_time(second) == AT
    made = repository.commit(second)
    assert (made.author.name, made.message.strip()) == ("Robin  x", "Notes")
    assert repository.active_branch.name == "main"
    assert not repository.is_dirty(untracked_files=True)


def test_a_branch_that_moved_meanwhile_is_not_overwritten(
    repository: git.Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = commit(repository, None, README="one")
    moved: list[str] = []

    def move(*arguments: object) -> str:
        if not moved:
            moved.append(first)
            moved.append(commit(repository, first, README="meanwhile"))
        return tree(*arguments)  # type: ignore[arg-type]

    from bot.git import branch_commit

    tree = branch_commit._tree
    monkeypatch.setattr(branch_commit, "_tree", move)
    with pytest.raises(OutsideError, match="moved meanwhile"):
        commit(repository, first, README="two")
    assert repository.heads["bot/notes"].commit.hexsha == moved[1]


@pytest.mark.parametrize("name", ["two..dots", "", "a b"])
def test_what_git_refuses_is_an_error_that_says_so(repository: git.Repo, name: str) -> None:
    with pytest.raises(OutsideError, match="cannot be the name of a branch"):
        commit_on_branch(Path(repository.working_dir), name, None, {"a": "b"}, "x", AT, "")
    with pytest.raises(OutsideError, match="read-tree"):
        commit(repository, "0" * 40, README="x")
    with pytest.raises(OutsideError, match="update-index"):
        commit_on_branch(Path(repository.working_dir), "x", None, {"../out": "b"}, "x", AT, "")
