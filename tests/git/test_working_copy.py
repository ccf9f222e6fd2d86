"""The edge to git: addresses of remotes, and a commit on a branch that is not checked out."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from incumbent.errors import OutsideError, UsageError
from incumbent.files.git import ObjectStore, working_copy
from incumbent.files.git.working_copy import commit_on_branch, owner_and_name, read_conflicts, read_remote, refuse_bare
from incumbent.files.snapshot import ReadingLimits

AT = "2026-11-28T05:00:00Z"
_LIMITS = ReadingLimits(file_bytes=100, nesting_depth=1, nodes=1)


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://github.com/acme/platform", "acme/platform"),
        ("https://github.com/acme/platform.git", "acme/platform"),
        ("https://robin:x@github.com/acme/platform/", "acme/platform"),
        ("git@github.com:acme/platform.git", "acme/platform"),
        ("ssh://git@github.com:22/acme/my.platform", "acme/my.platform"),
        ("http://localhost:8080/acme/platform", "acme/platform"),
        ("/srv/git/acme/platform", None),
        ("file:///srv/acme/platform", None),
        ("../acme/platform", None),
        ("https://github.com/acme", None),
        ("https://github.com/a/b/c", None),
        ("", None),
    ],
)
def test_a_remotes_address_names_owner_and_repository(address: str, found: str | None) -> None:
    assert owner_and_name(address) == found


def test_without_a_repository_or_a_remote_there_is_none(tmp_path: Path) -> None:
    assert read_remote(tmp_path) is None
    repository = git.Repo.init(tmp_path / "r")
    assert read_remote(tmp_path / "r") is None
    repository.create_remote("origin", "git@github.com:acme/platform.git")
    repository.close()
    assert read_remote(tmp_path / "r") == "acme/platform"


def test_a_bare_repository_is_told_from_a_folder_of_files(tmp_path: Path) -> None:
    git.Repo.init(tmp_path / "bare.git", bare=True).close()
    git.Repo.init(tmp_path / "clone").close()
    refuse_bare(tmp_path / "clone")
    for bare in ("bare.git", "clone/.git"):
        with pytest.raises(UsageError, match="bare repository: clone it"):
            refuse_bare(tmp_path / bare)


def conflict(folder: Path, *files: str) -> git.Repo:
    """A repository in the midst of a merge in which both sides changed the ``files``."""
    repository = git.Repo.init(folder, initial_branch="main")
    with repository.config_writer() as settings:
        settings.set_value("user", "name", "Robin")
        settings.set_value("user", "email", "robin@platform.example")
    for branch, text in (("main", "one"), ("other", "two"), ("main", "three")):
        if branch == "other":
            repository.git.checkout("-b", branch)
        elif text == "three":
            repository.git.checkout(branch)
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        repository.git.add(all=True)
        repository.git.commit(message=text)
    with pytest.raises(git.GitCommandError):
        repository.git.merge("other")
    return repository


def test_conflicts_of_a_merge_are_named_below_the_folder(tmp_path: Path) -> None:
    with conflict(tmp_path, "docs/näme\t.md", "platform/config/a.yaml") as repository:
        assert set(read_conflicts(tmp_path)) == {"docs/näme\t.md", "platform/config/a.yaml"}
        assert read_conflicts(tmp_path / "platform") == ("config/a.yaml",)
        repository.git.add(all=True)
        assert read_conflicts(tmp_path) == ()


def test_without_a_repository_there_is_no_conflict(tmp_path: Path) -> None:
    assert read_conflicts(tmp_path) == ()


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


@pytest.mark.parametrize(
    ("at", "kept"),
    [
        ("2100-01-01T00:00:00Z", "2100-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ("1970-01-01T02:00:00+02:00", "1970-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
    ],
)
def test_a_commit_has_the_stated_time_or_the_first_that_git_knows(repository: git.Repo, at: str, kept: str) -> None:
    folder = Path(repository.working_dir)
    made = commit_on_branch(folder, "bot/notes", None, {"a": "b"}, "Notes", at, "")
    with ObjectStore.open(folder) as store:
        assert store.commit_time(made) == kept


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

    tree = working_copy._tree
    monkeypatch.setattr(working_copy, "_tree", move)
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
