"""``incumbent triage``, in processes of its own: what it reads, masks, refuses, and how it goes on."""

from __future__ import annotations

import csv
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from bot.schemas import schema
from bot.snapshot import WorkingTree
from bot.taxonomy.loading import load_taxonomy
from tests.cli.conftest import Incumbent
from tests.factories import REPOSITORY

duckdb = pytest.importorskip("duckdb")

AGENT = "examples/customers/northwind-tracker/tracker"
ADDRESS = "ellen.marsh@fabrikam.org"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A platform that classifies without an embedding, some rows at a time."""
    for name in ("taxonomy", "regression_set", "examples", "config"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    config = tmp_path / "config/curation.yaml"
    text = config.read_text(encoding="utf-8").replace("embedding: auto", "embedding: none")
    config.write_text(f"{text}\ntriage: {{shard_rows: 25}}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def traffic(size: int) -> list[dict[str, object]]:
    draw = random.Random(7)
    texts = [row.turns[0] for row in load_taxonomy(WorkingTree(REPOSITORY)).exemplars if len(row.turns) == 1]
    chosen = draw.sample([text for text in texts if len(text) > 60], size)
    rows: list[dict[str, object]] = [{"id": f"t{place}", "query": text} for place, text in enumerate(chosen)]
    rows += [{"query": f"  {text.upper()} "} for text in chosen[:10]]
    rows += [{"query": f"{text}!"} for text in chosen[10:15]]
    rows.append({"query": [f"Write to {ADDRESS} that the printer is out of paper.", "Then file it."]})
    return rows


def write_lines(path: Path, rows: list[dict[str, object]], *broken: str) -> None:
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join([*lines, *broken, ""]), encoding="utf-8")


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("root")
def test_duplicates_are_counted_and_what_is_personal_is_written_nowhere(incumbent: Incumbent) -> None:
    write_lines(Path("t.jsonl"), traffic(60), "{", '{"query": ""}', '{"query": 5}', "[]")
    arguments = ["triage", "t.jsonl", "--agent", AGENT, "--out", "out", "--processes", "1", "--json"]
    outcome = incumbent(*arguments)
    assert outcome.code == 1, outcome.err
    assert "t.jsonl:77: the line is no JSON" in outcome.err
    said = json.loads(outcome.out)
    Draft202012Validator(schema("triage-output")).validate(said)
    assert (said["rows"], said["unreadable"], said["texts"], said["representatives"]) == (76, 4, 66, 61)
    assert said["shortlist"]
    for folder in ("out", "out.work"):
        for name, held in content(Path(folder)).items():
            assert ADDRESS.encode() not in held, name
    connection, table = duckdb.connect(), "'out.work/representatives/*.parquet'"
    texts = connection.execute(f"SELECT turns FROM {table}").fetchall()
    assert not any(ADDRESS in turn for (turns,) in texts for turn in turns)
    masked = connection.execute(f"SELECT turns, masked FROM {table} WHERE turns[2] = 'Then file it.'").fetchall()
    assert masked == [(["Write to [e-mail 1] that the printer is out of paper.", "Then file it."], ["e-mail"])]
    assert connection.execute(f"SELECT sum(exact), sum(near) FROM {table}").fetchall() == [(71, 5)]
    listed = yaml.safe_load(Path("out/eval_set.yaml").read_text(encoding="utf-8"))["queries"]
    assert [query["id"] for query in listed] == [each["id"] for each in said["shortlist"]]

    again = incumbent(*arguments)
    assert again.code == 2
    assert "--force" in again.err
    before = content(Path("out"))
    assert incumbent(*arguments, "--force").code == 1
    assert content(Path("out")) == before
    shutil.rmtree("out")
    write_lines(Path("t.jsonl"), traffic(5))
    other = incumbent(*arguments)
    assert other.code == 2
    assert "begin anew" in other.err


@pytest.mark.usefixtures("root")
def test_every_kind_of_input_is_read_alike_and_several_agents_are_told_apart(incumbent: Incumbent) -> None:
    rows = [{"id": row["id"], "query": row["query"], "bot": "northwind-tracker/tracker"} for row in traffic(20)[:20]]
    write_lines(Path("t.jsonl"), rows)
    with gzip.open("t.csv.gz", "wt", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ["bot", "query", "id"])
        table.writeheader()
        table.writerows(rows)
    duckdb.connect().execute("COPY (SELECT * FROM 't.jsonl') TO 't.parquet' (FORMAT parquet)")
    lists = []
    for name in ("t.jsonl", "t.csv.gz", "t.parquet"):
        agents = ["--agents", "examples/customers", "--agent-column", "bot"]
        outcome = incumbent("triage", name, *agents, "--out", f"out-{name}", "--processes", "1", "--json")
        assert outcome.code == 0, outcome.err
        lists.append(json.loads(outcome.out)["shortlist"])
        assert Path(f"out-{name}/eval_sets/northwind-tracker/tracker/eval_set.yaml").exists()
    assert lists[0]
    assert lists[0] == lists[1] == lists[2]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["t.jsonl", "--agent", AGENT, "--query-column", "qery"], 1, "perhaps you meant"),
        (["none.jsonl", "--agent", AGENT], 1, "there are words"),
        (["t.txt", "--agent", AGENT], 2, ".parquet, .jsonl, .ndjson, .csv"),
        (["t.jsonl"], 2, "--agent DIR"),
        (["broken.csv.gz", "--agent", AGENT], 1, "compress it anew"),
        (["broken.parquet", "--agent", AGENT], 1, "should be a Parquet file"),
    ],
)
@pytest.mark.usefixtures("root")
def test_what_cannot_be_read_is_refused_with_its_fix(
    arguments: list[str], code: int, said: str, incumbent: Incumbent
) -> None:
    write_lines(Path("t.jsonl"), traffic(3))
    write_lines(Path("none.jsonl"), [{"words": "hello"}])
    for name in ("t.txt", "broken.csv.gz", "broken.parquet"):
        Path(name).write_text("this is something else", encoding="utf-8")
    outcome = incumbent("triage", *arguments, "--out", "out")
    assert outcome.code == code, outcome.err
    assert said in outcome.err
    assert not Path("out").exists()


@pytest.mark.usefixtures("root")
def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_bytes_in_any_number_of_processes() -> None:
    write_lines(Path("t.jsonl"), traffic(200))
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "bot", "triage", "t.jsonl", "--agent", AGENT]
    subprocess.run([*command, "--out", "whole", "--processes", "1"], env=environment, check=True)
    kept = Path("killed.work/classified")
    with subprocess.Popen(
        [*command, "--out", "killed", "--processes", "2"], env=environment, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 120
        while not (kept.exists() and any(kept.glob("*.parquet"))) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    assert not Path("killed").exists()
    done = {path: path.stat().st_mtime_ns for path in kept.glob("*.parquet")}
    assert done
    subprocess.run([*command, "--out", "killed", "--processes", "2"], env=environment, check=True)
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert content(Path("killed")) == content(Path("whole"))
