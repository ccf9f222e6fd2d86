"""``incumbent candidates`` over a small repository."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from incumbent.cli.main import run
from incumbent.text.secrets import STAND_IN
from tests.extension.builders import KNOWN, OTHERS, THINGS
from tests.factories import REPOSITORY


def make_repository(folder: Path) -> Path:
    """Five customers with a known and a new behaviour each."""
    (folder / "config").mkdir()
    (folder / "taxonomy").mkdir()
    shutil.copy(REPOSITORY / "config/curation.yaml", folder / "config/curation.yaml")
    capabilities = [
        {
            "id": f"deeds.{verb}",
            "name": verb,
            "group": "deeds",
            "description": f"about {verb}",
            "source": "intent",
            "exemplars": {"positive": [f"{verb} the {thing}" for thing in THINGS]},
        }
        for verb in KNOWN
    ]
    taxonomy = {"version": "1.0.0", "groups": [{"id": "deeds", "name": "Deeds"}], "capabilities": capabilities}
    (folder / "taxonomy/taxonomy.yaml").write_text(json.dumps(taxonomy))
    for number in range(5):
        place = folder / f"eval_sets/customer-{number}/agent"
        place.mkdir(parents=True)
        (place / "agent.yaml").write_text("agent: 1\nname: agent\nplatform: test\n")
        texts = [f"{verb} the {thing}q" for verb in KNOWN for thing in THINGS[number::5][:2]]
        texts += [f"zigzag around {thing} quickly" for thing in OTHERS[number::5]]
        (place / "evals.yaml").write_text(
            json.dumps({"eval_set": 1, "queries": [{"id": f"q{n}", "query": text} for n, text in enumerate(texts)]})
        )
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path)


def test_candidates_say_why_they_were_raised(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["candidates", "--repo", str(repository)]) == 0
    said = capsys.readouterr().out
    assert "“zigzag around”: 20 of its queries; 20 of all, 0.0 expected" in said
    assert "20 queries of 5 customers (customer-0, " in said
    assert "signals: " in said
    assert "and 15 more" in said
    assert said.endswith("1 candidate in 60 queries\n")


def test_entries_that_were_imported_are_looked_at(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(5):
        folder = repository / f"eval_sets/customer-{number}/agent"
        moved = repository / f"old-{number}.json"
        moved.write_text((folder / "evals.yaml").read_text())
        shutil.rmtree(folder)
        named = ["--customer", f"customer-{number}", "--agent", "agent", "--at", "2026-01-01T00:00:00Z", "--by", "me"]
        assert run(["import", str(moved), *named, "--repo", str(repository)]) == 0
    capsys.readouterr()
    assert run(["candidates", "--repo", str(repository)]) == 0
    said = capsys.readouterr().out
    assert "20 queries of 5 customers (customer-0, " in said
    assert said.endswith("1 candidate in 60 queries\n")


def test_it_is_said_why_there_is_none(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(1, 5):
        shutil.rmtree(repository / f"eval_sets/customer-{number}")
    assert run(["candidates", "--repo", str(repository)]) == 0
    assert "none was found, since the queries come from 1 customer" in capsys.readouterr().out


def test_no_secret_is_repeated(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret, password = "https://admin:hunter2secret@db.example/", "password: hunter3secret"
    for file in repository.glob("eval_sets/*/agent/evals.yaml"):
        data = json.loads(file.read_text())
        new = [query for query in data["queries"] if "zigzag" in query["query"]]
        for query in new[:1]:
            query["query"] += f" {secret} {password}"
        file.write_text(json.dumps(data))
    for more in ([], ["--json"]):
        assert run(["candidates", "--repo", str(repository), *more]) == 0
        said = capsys.readouterr().out
        assert "zigzag around" in said
        assert "admin:" not in said
        assert password not in said
    assert STAND_IN in said


def test_a_refused_candidate_stays_away(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["candidates", "--repo", str(repository), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["candidates"]
    assert found["kind"] in ("new-behaviour", "missed-capability")
    refused = repository / "refused.yaml"
    refused.write_text(json.dumps({"cores": [found["core"]]}))
    assert run(["candidates", "--repo", str(repository), "--refused", str(refused), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["candidates"] == []


def test_faults_of_the_input_are_told(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = repository / "refused.yaml"
    refused.write_text("cores: [[no digest]]")
    assert run(["candidates", "--repo", str(repository), "--refused", str(refused)]) == 1
    (repository / "eval_sets/customer-1/agent/agent.yaml").write_text("name: [")
    assert run(["candidates", "--repo", str(repository)]) == 1
    assert "agent.yaml" in capsys.readouterr().err
