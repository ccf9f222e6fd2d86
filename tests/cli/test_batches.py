"""Commands with ``--batch`` whose process is killed in between: the next goes on, and pays for nothing twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.classifier.batch_server import BatchServer
from tests.classifier.factories import openai_settings
from tests.classifier.model_server import Model, Reply, failure
from tests.classifier.test_language_model import KEY, names_of, voting
from tests.cli.conftest import Incumbent, make_platform
from tests.factories import REPOSITORY
from tests.variants import exhaustive

MODEL = Model(lambda body: voting(body, names_of(body)[:2]))
AT = ["--at", "2026-05-05T03:05:05Z"]
COMMANDS = {
    "triage": ["t.jsonl", "--agent", "eval_sets/line/branch", "--out", "out"],
    "import": ["eval_sets/line/branch", "--customer", "old", "--agent", "set", *AT],
    "reclassify": [],
}


def ask_by(server: BatchServer, platform: Path) -> None:
    """From now on the platform asks ``server``."""
    path = platform / "config/curation.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    settings = openai_settings(endpoint=server.endpoint, batch={"poll_seconds": 0.05})
    config["classifier"] |= {"backend": "openai", "samples": 2, "openai": settings.model_dump(mode="json")}
    path.write_text(yaml.safe_dump(config), encoding="utf-8")


def begun(platform: Path, cache: Path, *words: str) -> subprocess.Popen[str]:
    clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment = {**clean, "PYTHONPATH": str(REPOSITORY), "TEST_KEY": KEY, "INCUMBENT_CACHE": str(cache)}
    command = [sys.executable, "-m", "incumbent", *words]
    return subprocess.Popen(command, cwd=platform, env=environment, text=True, stdout=-1, stderr=-1)


def continues(monkeypatch: pytest.MonkeyPatch, platform: Path, cache: Path) -> None:
    """Let the commands from now on run in ``platform``, in this process."""
    monkeypatch.chdir(platform)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("INCUMBENT_CACHE", str(cache))


def results(platform: Path) -> dict[str, bytes]:
    """What a command wrote, but for the work of a triage."""
    found = [*platform.rglob("regression_set/**/*.yaml"), *(platform / "out").rglob("*")]
    return {path.relative_to(platform).as_posix(): path.read_bytes() for path in found if path.is_file()}


def answer(body: dict[str, Any]) -> Reply:
    return MODEL(body, 0)


@pytest.mark.parametrize(
    ("command", "moment"),
    [("triage", "POST batches"), ("import", "GET batches/ID"), *exhaustive([("reclassify", "POST batches")])],
)
def test_a_command_that_is_killed_between_submission_and_answers_goes_on_and_pays_once(
    command: str, moment: str, tmp_path: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = make_platform(tmp_path / "platform")
    rows = [{"id": f"t{number}", "query": f"What does branch {number} of the bank open at?"} for number in range(5)]
    (platform / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    place = next(path.parent for path in sorted(platform.rglob("evals.yaml")))
    shutil.copytree(place, platform / "eval_sets/line/branch", dirs_exist_ok=True)
    if command == "reclassify":
        given = [str(platform / word) if word.startswith("eval_sets") else word for word in COMMANDS["import"]]
        assert incumbent("import", *given, "--repo", platform).code == 0
    shutil.copytree(platform, tmp_path / "plain")
    process: list[subprocess.Popen[str]] = []

    def kill(method: str, kind: str, number: int) -> Reply | None:
        if f"{method} {kind}" != moment or number > 1:
            return None
        process[0].send_signal(signal.SIGKILL)
        process[0].wait()
        return failure(500)

    words = [command, *COMMANDS[command], "--batch", "--wait"]
    with BatchServer(answer, replies=kill, made_anyway=True) as server:
        ask_by(server, platform)
        process.append(begun(platform, tmp_path / "cache", *words))
        process[0].communicate()
        assert process[0].returncode == -signal.SIGKILL
        assert len(server.batches) == 1
        before = results(platform)
        # It says how the batch stands, and changes nothing, until the answers are there.
        continues(monkeypatch, platform, tmp_path / "cache")
        early = incumbent(*words[:-1])
        assert early.code == 3, early.err
        assert "batch_1 in_progress" in early.err
        assert results(platform) == before
        server.finish()
        last = incumbent(*words)
        assert last.code == 0, last.err
        assert results(platform) != before
        asked = [line["custom_id"] for line in server.submitted]
        assert len(asked) == len(set(asked)) >= 5
        assert len(server.batches) == 1
        assert server.files == {}
        # The same as without batches.
        ask_by(server, tmp_path / "plain")
        continues(monkeypatch, tmp_path / "plain", tmp_path / "other")
        plain = incumbent(*words[:-2])
        assert plain.code == 0, plain.err
        assert results(tmp_path / "plain") == results(platform)
