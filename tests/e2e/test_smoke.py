"""The smoke test that a maintainer runs on the real GitHub does what it says, as far as the emulator goes."""

from __future__ import annotations

import pytest

from tests.e2e.bot import platform_files
from tests.e2e.harness.workflow import Workflow
from tests.e2e.harness.world import World
from tests.factories import REPOSITORY
from tools import smoke

WORKFLOW = REPOSITORY / ".github" / "workflows" / "smoke.yml"


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
    assert smoke.main() == 0
    out = capsys.readouterr().out
    assert "NO " not in out
    assert out.count("yes: ") == 9
    assert world.pull(1)["state"] == "closed"
    assert world.head("incumbent-smoke/77") is None
