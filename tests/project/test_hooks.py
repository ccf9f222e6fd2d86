"""The hooks of pre-commit: ours for platform repositories, and those for work on this repository."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.cli.main import run
from tests.factories import REPOSITORY


def load(name: str) -> Any:
    return yaml.safe_load((REPOSITORY / name).read_text(encoding="utf-8"))


def test_the_hook_for_platforms_checks_what_a_platform_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (hook,) = load(".pre-commit-hooks.yaml")
    platform = REPOSITORY / "tests" / "service_desk"
    files = [path.relative_to(platform).as_posix() for path in platform.rglob("*.yaml")]
    assert {path.split("/")[0] for path in files if re.search(hook["files"], path)} == {
        "taxonomy",
        "config",
        "regression_set",
        "eval_sets",
    }
    program, *words = shlex.split(hook["entry"])
    assert program == "incumbent"
    monkeypatch.chdir(platform)
    assert run(words) == 0, capsys.readouterr().err


def test_the_hooks_for_this_repository_run_what_make_check_runs() -> None:
    (repository,) = load(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    for hook in repository["hooks"]:
        program = Path(hook["entry"].split()[0])
        assert program.parent == Path(".venv/bin")
        tool = hook["entry"].removeprefix(".venv/bin/").removesuffix(" --force-exclude")
        assert f'"{tool}"' in makefile
