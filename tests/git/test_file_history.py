"""Which commits of the main line changed each file of a folder."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from incumbent.errors import OutsideError
from incumbent.files.git.file_history import file_history
from incumbent.files.git.store import ObjectStore


def commit(repository: git.Repo, message: str, at: str, *words: str, who: str = "Kim") -> None:
    repository.git.add(all=True)
    person = ("-c", f"user.name={who}", "-c", "user.email=kim@platform.example")
    environment = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    repository.git.execute(["git", *person, *(words or ("commit",)), f"--message={message}"], env=environment)


@pytest.fixture
def repository(tmp_path: Path) -> git.Repo:
    """A file that is added, then changed on a branch that is merged, then removed; and one whose name is odd."""
    found = git.Repo.init(tmp_path, initial_branch="main")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.yaml").write_text("1")
    (tmp_path / "set" / "A\tnon-ASCII ü.yaml").write_text("1")
    (tmp_path / "beside.yaml").write_text("1")
    commit(found, "M\x1f\x1e two files", "2026-01-01T00:00:00+02:00")
    found.git.checkout("-b", "side")
    (tmp_path / "set" / "a.yaml").write_text("2")
    commit(found, "on the side", "2026-01-02T00:00:00Z")
    found.git.checkout("main")
    commit(found, "Merge pull request #1", "2026-01-03T00:00:00Z", "merge", "--no-ff", "side", who="Robin")
    (tmp_path / "set" / "a.yaml").unlink()
    commit(found, "gone", "2026-01-04T00:00:00Z")
    return found


def test_each_file_has_its_changes_and_a_merge_is_one(repository: git.Repo, tmp_path: Path) -> None:
    history = file_history(tmp_path, "set", "HEAD")
    assert history.is_whole
    found = history.changes
    assert list(found) == ["set/A\tnon-ASCII ü.yaml", "set/a.yaml"]
    told = [(item.change, item.at, item.author, item.subject) for item in found["set/a.yaml"]]
    assert told == [
        ("D", "2026-01-04T00:00:00Z", "Kim", "gone"),
        ("M", "2026-01-03T00:00:00Z", "Robin", "Merge pull request #1"),
        ("A", "2025-12-31T22:00:00Z", "Kim", "M\x1f\x1e two files"),
    ]
    assert found["set/a.yaml"][0].commit == repository.head.commit.hexsha


def test_a_shallow_clone_does_not_say_that_its_oldest_commit_added_all(repository: git.Repo, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    repository.git.clone("--quiet", "--depth=2", tmp_path.as_uri(), str(shallow))
    found = file_history(shallow, "set", "HEAD")
    assert not found.is_whole
    assert {path: [item.subject for item in items] for path, items in found.changes.items()} == {"set/a.yaml": ["gone"]}


def test_kinds_of_changes_and_a_folder_are_told_apart(repository: git.Repo, tmp_path: Path) -> None:
    found = file_history(tmp_path, "set", "HEAD", ("A", "D"))
    assert [item.change for item in found.changes["set/a.yaml"]] == ["D", "A"]
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "b.yaml").write_text("1")
    commit(repository, "beside", "2026-01-05T00:00:00Z")
    everything = file_history(tmp_path, "", "HEAD")
    assert list(everything.within("set").changes) == ["A\tnon-ASCII ü.yaml", "a.yaml"]
    assert everything.within("") == everything


def test_a_store_knows_the_same_and_forgives_a_commit_that_was_fetched_alone(
    repository: git.Repo, tmp_path: Path
) -> None:
    head = repository.head.commit.hexsha
    with ObjectStore.open(tmp_path) as store:
        assert store.file_history(head, "set") == file_history(tmp_path, "set", head, ("A", "D"))
    refs = {"refs/incumbent/a": "refs/heads/main", "refs/incumbent/b": "refs/heads/side"}
    with ObjectStore.create(tmp_path / "other") as store:
        found = store.fetch(tmp_path.as_uri(), refs, None, ends=["refs/incumbent/b"])
        assert store.file_history(found["refs/incumbent/a"], "set").is_whole


def test_a_folder_without_changes_has_none(repository: git.Repo, tmp_path: Path) -> None:
    assert file_history(tmp_path, "nothing", "HEAD").changes == {}
    assert set(file_history(tmp_path, "set", f"{repository.head.commit.hexsha}~2").changes["set/a.yaml"]) == {
        file_history(tmp_path, "set", "HEAD").changes["set/a.yaml"][-1]
    }
    with pytest.raises(OutsideError):
        file_history(tmp_path, "set", "no-such-commit")


def test_a_commit_of_no_time_is_told_and_breaks_nothing(repository: git.Repo, tmp_path: Path) -> None:
    (tmp_path / "set" / "b.yaml").write_text("1")
    commit(repository, "in the year 300,000", "@9400000000000 +0000")
    with pytest.raises(OutsideError, match="a time that no calendar knows: amend its date"):
        file_history(tmp_path, "set", "HEAD")
