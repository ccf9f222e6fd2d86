"""A platform repository of its own for every test, and a way to run commands in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import git
import pytest

from incumbent.cli.main import run
from tests.copies import copy_of
from tests.factories import BY_HAND, REPOSITORY, config_with

EXAMPLE = REPOSITORY / "tests" / "service_desk"


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Incumbent = Callable[..., Outcome]


@pytest.fixture(scope="session", autouse=True)
def _cache(shared_cache: Path) -> Any:
    patch = pytest.MonkeyPatch()
    patch.setenv("INCUMBENT_CACHE", str(shared_cache))
    yield
    patch.undo()


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    """A committed copy of the example platform repository, with an empty regression set.

    Its knobs are ``BY_HAND``: with what ships hardly any of its queries
    enters without a person.
    """
    return make_platform(tmp_path / "platform é")


def make_platform(folder: Path) -> Path:
    """That platform at ``folder``."""
    return copy_of(_commit_example, folder)


def _commit_example(folder: Path) -> None:
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "regression_set", ignore_errors=True)
    config = folder / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(config_with(text, **BY_HAND), encoding="utf-8")
    repository = git.Repo.init(folder)
    with repository.config_writer() as settings:
        settings.set_value("user", "name", "Robin Example")
        settings.set_value("user", "email", "robin@platform.example")
    repository.git.add(all=True)
    repository.git.commit(
        message="Begin", date="2026-01-02T03:04:05Z", env={"GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"}
    )
    repository.close()


@pytest.fixture
def incumbent(capsys: pytest.CaptureFixture[str]) -> Incumbent:
    """Run one command in this process: what the shell does, without the second it takes to start."""

    def call(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
