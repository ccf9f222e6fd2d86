"""`incumbent repack` on a platform where one excluded query carries what three entries carry between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.main import run
from tests.e2e.test_suggestions import ALL, PAIRS, repacking_files

OCCASION = ("--at", "2026-11-21T10:00:00Z", "--by", "curator")


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    for name, text in repacking_files().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def said(platform: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run(["repack", *arguments, "--repo", str(platform), *OCCASION]) == 0
    return capsys.readouterr().out


def files(platform: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (platform / "regression_set").rglob("*.yaml")}


def test_it_lists_what_could_be_done_and_does_what_is_named(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(platform)
    (found,) = json.loads(said(platform, capsys, "--json"))["repacks"]
    assert found["admit"].startswith(ALL)
    assert sorted(found["remove"]) == sorted(PAIRS)
    assert found["cost_freed"] > found["cost_needed"]
    assert found["admit"] in said(platform, capsys)
    assert "would be admitted" in said(platform, capsys, found["admit"], "--dry-run")
    assert files(platform) == before
    said(platform, capsys, found["admit"])
    after = files(platform)
    assert f"{found['admit']}.yaml" in after
    assert "by: curator" in (platform / "regression_set/evicted/pic-rec.yaml").read_text(encoding="utf-8")
    assert not any((platform / f"regression_set/{id}.yaml").exists() for id in PAIRS)
    assert json.loads(said(platform, capsys, "--json"))["repacks"] == []


def test_an_unknown_one_is_refused_and_an_eval_set_that_cannot_be_read_is_named(
    platform: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["repack", "nothing", "--repo", str(platform), *OCCASION]) != 0
    assert "see `incumbent repack`" in capsys.readouterr().err
    broken = platform / "eval_sets/tarnbeck-bank/card-line/evals.yaml"
    broken.write_text("eval_set: 1\nqueries: 7\n", encoding="utf-8")
    assert run(["repack", "--json", "--repo", str(platform), *OCCASION]) == 1
    out, err = capsys.readouterr()
    assert len(json.loads(out)["repacks"]) == 1
    assert "evals.yaml:2" in err
