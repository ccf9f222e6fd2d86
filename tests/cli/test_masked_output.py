"""No command repeats a secret: neither what people read nor what programs read; files that are data keep it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from incumbent.text.secrets import STAND_IN
from tests.cli.conftest import Incumbent
from tests.cli.test_set_life import CARD_LINE

SECRET = "hunter2secret99"
HIDDEN = "\u202e\U000e0041"
FIRST = "tarnbeck-bank-card-line-c04-e7382bcc"


@pytest.fixture
def platform_with_secrets(platform: Path) -> Path:
    """Each turn of the card line tells a password; the first query turns the writing round."""
    file = platform / CARD_LINE / "evals.yaml"
    lines = file.read_text(encoding="utf-8").splitlines()
    text = [f"{line} password= {SECRET}" if line.strip().startswith(("query:", "- ")) else line for line in lines]
    text = [line.replace(f" password= {SECRET}", "") if "- id:" in line else line for line in text]
    text[3] += f" {HIDDEN}."
    file.write_text("\n".join(text) + "\n", encoding="utf-8")
    return platform


def test_no_command_repeats_a_secret(platform_with_secrets: Path, incumbent: Incumbent) -> None:
    repo = platform_with_secrets
    said = {}

    def call(name: str, *arguments: str | Path) -> str:
        for form in ([], ["--json"]):
            outcome = incumbent(name, *arguments, "--repo", repo, *form)
            assert outcome.code in (0, 1), (name, outcome)
            assert SECRET not in outcome.out + outcome.err, (name, form)
            assert not any(sign in outcome.out + outcome.err for sign in HIDDEN), (name, form)
            said[name] = outcome.out
        json.loads(said[name])
        return said[name]

    for name in ("classify", "review"):
        assert STAND_IN in call(name, repo / CARD_LINE)
    assert STAND_IN in incumbent("review", repo / CARD_LINE, "--format", "markdown", "--repo", repo).out
    query = json.loads(said["review"])["verdicts"][0]["id"]
    call("explain", repo / CARD_LINE, query)
    call("admit", repo / CARD_LINE, "--dry-run")
    assert incumbent("admit", repo / CARD_LINE, "--repo", repo).code == 0
    entries = json.loads(call("list"))["entries"]
    assert entries
    assert STAND_IN in call("show", entries[0]["id"])
    for name in ("status", "prune", "validate"):
        call(name)
    call("pin", entries[0]["id"], "--reason", f"token={SECRET}", "--dry-run")
    call("evict", entries[0]["id"], "--reason", f"token={SECRET}", "--dry-run")
    # Data to be used are whole.
    assert SECRET in (repo / "regression_set" / f"{entries[0]['id']}.yaml").read_text(encoding="utf-8")
    assert SECRET in incumbent("export", "--to", "jsonl", "--repo", repo).out


def test_the_report_of_a_bug_repeats_no_secret(
    platform: Path, incumbent: Incumbent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(f"token={SECRET}")

    monkeypatch.setattr("incumbent.cli.entries.open_platform", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    outcome = incumbent("status", "--repo", platform, "--config", f"password={SECRET}")
    assert outcome.code == 70
    (report,) = tmp_path.glob("incumbent-bug-*.txt")
    assert report.name in outcome.err
    text = report.read_text(encoding="utf-8")
    assert "arguments: ['status', '--repo'" in text
    assert "RuntimeError: token[looks like a secret]" in text
    assert SECRET not in text
    assert report.stat().st_mode & 0o077 == 0
