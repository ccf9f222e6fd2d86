"""The example of a platform without agents: its set follows from the documented steps; its figures are measured."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from incumbent.cli.main import run
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy
from tests.factories import REPOSITORY

EXAMPLE: Final = REPOSITORY / "examples" / "data-pipelines"
PAGE: Final = REPOSITORY / "docs" / "other-platforms.md"
ACCEPTED: Final = {
    "osterby-clinics/patient-copy": ("2026-11-02T09:00:00Z", ["p06", "p07"]),
    "holmgate-grocers/till-receipts": ("2026-11-09T09:00:00Z", ["t06", "t08", "t10"]),
}
"""When each customer in the set was admitted, and the queries that were accepted after review."""


@pytest.fixture(autouse=True)
def _cache(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INCUMBENT_CACHE", str(shared_cache))


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a command prints as JSON."""
    assert run([*words, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def entries(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in (folder / "regression_set").glob("*.yaml")
    }


def test_the_set_is_what_the_pipeline_and_its_reviewers_make_of_the_customers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "platform"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("regression_set"))
    for customer, (at, accepted) in ACCEPTED.items():
        words = [word for id in accepted for word in ("--accept", id)]
        where = ["--repo", str(folder), "--by", "platform-team", "--at", at]
        answer(capsys, "admit", str(folder / "eval_sets" / customer), *where, *words)
    assert entries(folder) == entries(EXAMPLE)
    assert len(entries(folder)) == 9
    assert answer(capsys, "prune", "--repo", str(folder))["suggestions"] == []
    status = answer(capsys, "status", "--repo", str(folder))
    assert (status["size"], sum(bool(item["coverers"]) for item in status["capabilities"])) == (9, 15)
    assert run(["export", "--repo", str(folder), "--to", "jsonl"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 9


def test_facts_decide_what_they_say_and_close_what_they_exclude(capsys: pytest.CaptureFixture[str]) -> None:
    folder = EXAMPLE / "eval_sets" / "osterby-clinics" / "patient-copy"
    for query in answer(capsys, "classify", str(folder), "--repo", str(EXAMPLE))["queries"]:
        tags = {id for id, found in query["values"].items() if found["value"]}
        assert {"engine.batch", "delivery.exactly-once", "security.customer-key", "security.one-region"} <= tags
        assert not tags & {"source.files", "source.events", "source.api", "engine.streaming"}


def test_the_published_figures_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    report = answer(capsys, "evaluate", "--repo", str(EXAMPLE))
    page = PAGE.read_text(encoding="utf-8")
    names = {item.id: item.name for item in load_taxonomy(WorkingTree(EXAMPLE)).capabilities}
    rows = re.findall(r"([A-Z][\w ]+) \| (\d\.\d\d) \| (\d\.\d\d) \| (\d\.\d\d) \|", page)
    published = {name: [float(figure) for figure in figures] for name, *figures in rows}
    measured = {
        names[id]: [item["phi"], item["precision"], item["recall"]] for id, item in report["capabilities"].items()
    }
    assert published.keys() == measured.keys()
    for name, figures in measured.items():
        assert figures == pytest.approx(published[name], abs=0.006), name
    macro = re.search(r"is \*\*(\d\.\d\d)\*\*", page)
    assert macro is not None
    assert report["macro_phi"] == pytest.approx(float(macro[1]), abs=0.006)
