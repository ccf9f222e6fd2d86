"""The smoke test that a maintainer runs on the real GitHub does what it says, as far as the emulator goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dev import smoke
from tests.e2e.bot import Bot, platform_files
from tests.e2e.harness.people import OUTSIDER, OWNER, token_of
from tests.e2e.harness.workflow import Workflow
from tests.e2e.harness.world import World
from tests.factories import REPOSITORY

WORKFLOW = REPOSITORY / ".github" / "workflows" / "smoke.yml"


@pytest.mark.exhaustive
def test_it_opens_reviews_looks_and_cleans_up(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("main", platform_files())
    rights = Workflow(WORKFLOW.read_text(encoding="utf-8")).permissions("smoke")
    for name, value in {
        "GITHUB_API_URL": world.url,
        "GITHUB_SERVER_URL": world.url,
        "GITHUB_REPOSITORY": world.full_name,
        "GITHUB_RUN_ID": "77",
        "GITHUB_TOKEN": world.job_token(rights),
    }.items():
        monkeypatch.setenv(name, value)
    assert smoke.main("here") == 0
    out = capsys.readouterr().out
    assert "NO " not in out
    assert out.count("yes: ") == 9
    assert world.pull(1)["state"] == "closed"
    assert world.head("incumbent-smoke/77") is None


@pytest.fixture
def scratch(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A repository whose workflow runs while somebody waits: on what is opened, on what is said, on what is merged."""
    world.push("main", platform_files())
    world.fork(OUTSIDER)
    bot, before = Bot(world, tmp_path / "bot", world.url), world.head("main")
    happened: Iterator[tuple[str, Callable[[], dict[str, Any]]]] = iter(
        [
            ("pull_request_target", lambda: {"number": 1}),
            ("issue_comment", lambda: {"number": 1, "comment": world.comments(1)[-1]}),
            ("push", lambda: {"before": before, "after": world.head("main")}),
        ]
    )
    for name, value in {
        "GITHUB_API_URL": world.url,
        "GITHUB_SERVER_URL": world.url,
        "GITHUB_RUN_ID": "78",
        "SMOKE_REPOSITORY": world.full_name,
        "SMOKE_TOKEN": token_of(OWNER),
        "SMOKE_AUTHOR_TOKEN": token_of(OUTSIDER),
    }.items():
        monkeypatch.setenv(name, value)

    def pause() -> None:
        name, about = next(happened)
        bot.on(name, **about())
        time.sleep(1.1)  # What is said in the second in which the bot spoke is on nothing that it showed.

    yield pause
    assert world.fork(OUTSIDER).bare.resolve("refs/heads/incumbent-smoke/78") is None


@pytest.mark.exhaustive
def test_it_follows_a_second_account_from_its_fork_into_the_set(
    world: World, scratch: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    world.gateway.settings[f"/repos/{world.full_name}/rules/branches/main"] = (200, [])
    assert smoke.main("scratch", scratch) == 0
    out = capsys.readouterr().out
    assert "yes: the push lets a query enter the regression set" in out
    assert "skipped: a protected default branch (lacking: a rule of main that asks for pull requests)" in out
    assert "NO " not in out
    assert f"to know: {OUTSIDER} is " in out


@pytest.mark.exhaustive
def test_where_the_branch_is_protected_it_expects_a_pull_request_that_admits(
    world: World, scratch: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    world.protect("main")
    assert smoke.main("scratch", scratch) == 0
    out = capsys.readouterr().out
    assert "yes: the push leads to a pull request that admits, since the branch is protected" in out
    assert "a protected default branch" not in out


def test_what_is_not_given_is_skipped_and_said(
    scratch: Callable[[], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SMOKE_AUTHOR_TOKEN")
    assert smoke.main("scratch", scratch) == 0
    out = capsys.readouterr().out
    assert out.startswith("skipped: ")
    assert "(lacking: SMOKE_AUTHOR_TOKEN)" in out
    monkeypatch.setenv("SMOKE_STRICT", "true")
    assert smoke.main("scratch", scratch) == 1


@pytest.mark.exhaustive
def test_a_workflow_that_never_answers_is_no_success(
    scratch: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="the workflow posts its check"):
        smoke.main("scratch", lambda: None)
    assert "NO : the workflow posts its check on the fork's commit" in capsys.readouterr().out
