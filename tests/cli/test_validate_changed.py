"""`incumbent validate --changed`: of eval sets only what differs from a commit is read; all else is checked whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import git
import pytest
import yaml

from bot.pipeline import submission
from tests.cli.conftest import Incumbent


def write(root: Path, customer: str, query: str = "Show my orders") -> Path:
    folder = root / f"eval_sets/{customer}/desk"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.yaml").write_text(yaml.safe_dump({"agent": 1, "name": customer, "platform": "any"}))
    rows = [{"id": "q1", "query": query}]
    (folder / "evals.yaml").write_text(yaml.safe_dump({"eval_set": 1, "queries": rows}))
    return folder


@pytest.fixture
def repository(platform: Path) -> Iterator[git.Repo]:
    """A branch that left `main`, which has moved on since."""
    with git.Repo(platform) as repository:
        repository.git.checkout("-B", "main")
        with repository.config_writer() as settings:
            settings.set_value("user", "name", "Robin")
            settings.set_value("user", "email", "robin@platform.example")
        for customer in ("amber", "birch", "cedar"):
            write(platform, customer)
        repository.git.add(all=True)
        repository.git.commit(message="three")
        repository.git.checkout("-b", "mine")
        repository.git.checkout("main")
        write(platform, "birch", "Show my bills")
        repository.git.commit(all=True, message="of others")
        repository.git.checkout("mine")
        yield repository


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders of the eval sets that are read."""
    folders: list[str] = []
    whole = submission.read_package

    def noted(tree: object, customer: str, agent: str, folder: str, limits: object) -> object:
        folders.append(folder)
        return whole(tree, customer, agent, folder, limits)  # type: ignore[arg-type]

    monkeypatch.setattr(submission, "read_package", noted)
    return folders


def test_only_what_differs_is_read(repository: git.Repo, platform: Path, incumbent: Incumbent, read: list[str]) -> None:
    call = ("validate", "--repo", platform, "--changed", "main")
    assert incumbent(*call).code == 0
    assert read == []
    write(platform, "amber", "Show my invoices")
    repository.git.commit(all=True, message="mine")
    write(platform, "dover")
    outcome = incumbent(*call)
    assert read == ["eval_sets/amber/desk", "eval_sets/dover/desk"]
    assert "the eval sets that differ (2) are valid" in outcome.out
    read.clear()
    (platform / "eval_sets/amber/desk/evals.yaml").write_text("eval_set: 1\nqueries: [{id: q1}]\n")
    (platform / "eval_sets/cedar/desk/agent.yaml").unlink()
    (platform / "eval_sets/cedar/desk/evals.yaml").unlink()
    outcome = incumbent(*call)
    assert outcome.code == 1
    assert "eval_sets/amber/desk/evals.yaml:2" in outcome.err
    assert read == ["eval_sets/amber/desk", "eval_sets/dover/desk"]


def test_reviewed_files_are_checked_whole(repository: git.Repo, platform: Path, incumbent: Incumbent) -> None:
    config = platform / "config/curation.yaml"
    config.write_text(config.read_text() + "odd: 1\n")
    repository.git.commit(all=True, message="odd")
    outcome = incumbent("validate", "--repo", platform, "--changed", "mine")
    assert outcome.code == 1
    assert "odd: unknown key" in outcome.err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--changed", "nowhere"], "unknown commit 'nowhere'"),
        (["--changed=--output=x"], "unknown commit"),
        (["--changed", "main", "--from", "main"], "give one of the two"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    repository: git.Repo, platform: Path, incumbent: Incumbent, options: list[str], text: str
) -> None:
    outcome = incumbent("validate", "--repo", platform, *options)
    assert (outcome.code, repository.bare) == (2, False)
    assert text in outcome.err


def test_without_a_repository_nothing_says_what_changed(platform: Path, incumbent: Incumbent) -> None:
    shutil.rmtree(platform / ".git")
    outcome = incumbent("validate", "--repo", platform, "--changed", "main")
    assert outcome.code == 2
    assert "is not inside a git repository" in outcome.err
