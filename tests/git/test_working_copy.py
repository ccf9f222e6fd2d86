"""The edge to git: addresses of remotes."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from bot.errors import UsageError
from bot.git.working_copy import owner_and_name, read_conflicts, read_remote, refuse_bare


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
