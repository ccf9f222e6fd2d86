"""Where git left conflicts, or no files at all: what commands say, and that they change nothing."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from tests.cli.conftest import Incumbent
from tests.cli.test_set_life import CARD_LINE, tree


def merge_with_conflict(platform: Path, name: str) -> None:
    """Leave the platform in the midst of a merge in which one side deletes ``name`` and the other changes it."""
    with git.Repo(platform) as repository:
        file = platform / name
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            file.write_text("text\n")
            repository.git.add(all=True)
            repository.git.commit(message="a file")
        repository.git.checkout("-b", "other")
        repository.git.rm(name)
        repository.git.commit(message="delete")
        repository.git.checkout("-")
        file.write_text(file.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
        repository.git.commit(message="change", all=True)
        with pytest.raises(git.GitCommandError):
            repository.git.merge("other")


@pytest.mark.parametrize("name", ["regression_set/notes.md", "config/curation.yaml", "taxonomy/taxonomy.yaml"])
@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_no_command_changes_a_set_that_a_merge_left_undecided(
    name: str, dry_run: list[str], platform: Path, incumbent: Incumbent
) -> None:
    merge_with_conflict(platform, name)
    before = tree(platform)
    for command in (["admit", platform / CARD_LINE], ["evict", "some-id-12345678", "--reason", "gone"]):
        outcome = incumbent(*command, *dry_run, "--repo", platform)
        assert outcome.code == 1
        assert f"{name}: the merge under way left a conflict in this file" in outcome.err
        assert "fix: resolve it and `git add` it, or abort the merge" in outcome.err
    assert tree(platform) == before
    with git.Repo(platform) as repository:
        repository.git.add(all=True)
    assert incumbent("admit", platform / CARD_LINE, *dry_run, "--repo", platform).code == 0


def test_a_conflict_elsewhere_is_no_matter_of_the_set(platform: Path, incumbent: Incumbent) -> None:
    merge_with_conflict(platform, "docs/notes.md")
    assert incumbent("admit", platform / CARD_LINE, "--repo", platform).code == 0


@pytest.mark.parametrize(
    "command", [["status"], ["list"], ["validate"], ["admit", "--waiting"], ["prune"], ["export", "--to", "jsonl"]]
)
def test_a_bare_repository_has_no_files_to_read(command: list[str], tmp_path: Path, incumbent: Incumbent) -> None:
    git.Repo.init(tmp_path / "bare.git", bare=True).close()
    outcome = incumbent(*command, "--repo", tmp_path / "bare.git")
    assert outcome.code == 2
    assert "bare.git is a bare repository: clone it, and go on in the clone" in outcome.err
