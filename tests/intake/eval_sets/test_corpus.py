"""Eval sets that nobody on this project wrote, counted by other means."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incumbent.errors import InputError
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.expectation import understand
from tests.intake.eval_sets.folders import limits, read_one

pytestmark = pytest.mark.skipif("INCUMBENT_CORPUS" not in os.environ, reason="INCUMBENT_CORPUS is not set")
CORPUS = Path(os.environ.get("INCUMBENT_CORPUS", "."))
FORMATS = CORPUS / "eval_formats"


def expected_of(path: Path) -> list[tuple[list[str], list[Any]]]:
    """Per query its prompts, and what is expected of each."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file) if row]
        column = [name.strip() for name in header].index("Expected response")
        return [([row[0]], [row[column]]) for row in rows]
    data = json.loads(path.read_text(encoding="utf-8-sig"))
    if isinstance(data, dict) and "prompts" in data:
        return [([one], [two]) for one, two in zip(data["prompts"], data["expected_responses"], strict=True)]
    items = data if isinstance(data, list) else data["items"]
    per_item = [item.get("turns", [item]) for item in items]
    return [
        ([turn["prompt"] for turn in turns], [turn.get("expected_response") for turn in turns]) for turns in per_item
    ]


FILES = sorted(
    path
    for pattern in ("m365_*.json", "copilotstudio_*.csv")
    for path in FORMATS.glob(pattern)
    if "schema" not in path.name
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_eval_set_is_read_without_loss(tmp_path: Path, path: Path) -> None:
    found = read_one(tmp_path, path.name, path.read_bytes())
    expected = expected_of(path)
    assert found.problems == ()
    assert [list(query.turns) for query in found.queries] == [prompts for prompts, _ in expected]
    assert len({query.id for query in found.queries}) == len(expected)
    for query, (_, answers) in zip(found.queries, expected, strict=True):
        assert isinstance(query.expected, dict)
        per_turn = query.expected.get("turns", [query.expected])
        assert isinstance(per_turn, list)
        reported = [
            turn.get("expected_response", turn.get("Expected response")) for turn in per_turn if isinstance(turn, dict)
        ]
        assert reported == answers


def test_there_are_real_eval_sets() -> None:
    assert len(FILES) >= 5


@pytest.mark.parametrize("source", ["ess_starter_csv", "m365_copilot_eval_samples"])
def test_real_queries_survive_the_formats_they_came_from(tmp_path: Path, source: str) -> None:
    customers: dict[str, list[dict[str, Any]]] = {}
    for line in (CORPUS / "queries" / f"{source}.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        customers.setdefault(query["customer"], []).append(query)
    for customer, queries in customers.items():
        if source == "ess_starter_csv":
            path = tmp_path / customer / "evals.csv"
            path.parent.mkdir()
            with path.open("w", encoding="utf-8-sig", newline="") as file:
                rows = [
                    (query["turns"][0], query["labels"]["expected"], query["labels"]["method"]) for query in queries
                ]
                csv.writer(file).writerows([("Prompt", "Expected response ", "Test Method Type"), *rows])
            found = read_one(path.parent, path.name, path.read_bytes())
        else:
            items = [{"turns": [{"prompt": turn} for turn in query["turns"]]} for query in queries]
            found = read_one(tmp_path / customer, "evals.json", json.dumps({"schemaVersion": "1.2.0", "items": items}))
        assert found.problems == ()
        assert [list(query.turns) for query in found.queries] == [query["turns"] for query in queries]


def test_no_file_of_a_real_agent_package_is_taken_for_an_eval_set_or_reported_as_a_stray() -> None:
    packages = sorted({path.parent for path in (CORPUS / "agents").rglob("manifest.json")})
    assert packages
    for package in packages:
        with pytest.raises(InputError, match="no eval set was found") as caught:
            read_eval_sets(WorkingTree(package), limits())
        assert [problem.file for problem in caught.value.problems] == ["."]


def records_of(path: Path) -> list[dict[str, Any]]:
    """The records of a file as Python's own modules read them, cells without content left out."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".csv":
        return [
            {key: cell for key, cell in row.items() if cell.strip()}
            for row in csv.DictReader(io.StringIO(text, newline=""))
        ]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    data = json.loads(text)
    return list(data["data"] if isinstance(data, dict) else data)


def said_in(messages: list[dict[str, Any]]) -> list[str]:
    """What the user says in messages."""
    contents = [message["content"] for message in messages if message["role"] == "user"]
    return [
        content if isinstance(content, str) else "\n".join(part["text"] for part in content) for content in contents
    ]


def azure_ai_evaluation(record: dict[str, Any], path: Path) -> tuple[list[str], dict[str, Any]]:
    if "conversation" in record:
        return said_in(record["conversation"]["messages"]), record
    if isinstance(record["query"], list):
        return said_in(record["query"]), record
    return [record["query"]], {key: value for key, value in record.items() if key != "query"}


def ai_agent_evals(record: dict[str, Any], path: Path) -> tuple[list[str], dict[str, Any]]:
    whole = json.loads(path.read_text(encoding="utf-8-sig"))
    column = whole.get("data_mapping", {}).get("query", "query").removeprefix("{{item.").removesuffix("}}")
    rest = {key: value for key, value in record.items() if key != column}
    return [record[column]], rest | {key: value for key, value in whole.items() if key not in ("name", "data")}


def deepeval(record: dict[str, Any], path: Path) -> tuple[list[str], dict[str, Any]]:
    found = dict(record)
    if path.suffix == ".csv":
        for key in {"context", "retrieval_context"} & found.keys():
            found[key] = found[key].split("|")
        for key in {"tools_called", "expected_tools"} & found.keys():
            found[key] = json.loads(found[key])
    if "scenario" not in found:
        return [found.pop("input")], found
    found["turns"] = json.loads(found["turns"])
    return said_in(found["turns"]), found


OTHERS = {"azure_ai_evaluation": azure_ai_evaluation, "foundry_ai-agent-evals": ai_agent_evals, "deepeval": deepeval}
OTHER_FILES = [(path, split) for name, split in OTHERS.items() for path in sorted(FORMATS.glob(f"{name}_*"))]


@pytest.mark.parametrize(("path", "split"), OTHER_FILES, ids=[path.name for path, _ in OTHER_FILES])
def test_real_eval_set_of_another_format_is_read_without_loss(
    tmp_path: Path, path: Path, split: Callable[[dict[str, Any], Path], tuple[list[str], dict[str, Any]]]
) -> None:
    records = records_of(path)
    assert records
    found = read_one(tmp_path, path.name, path.read_bytes())
    assert found.problems == ()
    assert found.format == split.__name__.replace("_", "-")
    assert [(list(query.turns), query.expected) for query in found.queries] == [
        split(record, path) for record in records
    ]
    assert len({query.id for query in found.queries}) == len(records)


def test_there_are_real_eval_sets_of_other_formats() -> None:
    assert all(len([path for path, split in OTHER_FILES if split is one]) >= 2 for one in OTHERS.values())


def test_a_real_golden_is_the_same_in_json_and_in_a_table(tmp_path: Path) -> None:
    for name in ("deepeval_goldens", "deepeval_convo_goldens"):
        files = [(FORMATS / f"{name}{ending}").read_bytes() for ending in (".json", ".csv")]
        one, two = (
            read_one(tmp_path / name / ending, f"g.{ending}", content)
            for ending, content in zip(("json", "csv"), files, strict=True)
        )
        assert [(query.id, query.turns) for query in one.queries] == [(query.id, query.turns) for query in two.queries]
        for first, second in zip(one.queries, two.queries, strict=True):
            assert isinstance(first.expected, dict)
            assert isinstance(second.expected, dict)
            shared = first.expected.keys() & second.expected.keys()
            assert shared
            assert {key: first.expected[key] for key in shared} == {key: second.expected[key] for key in shared}


def test_expected_tools_of_real_goldens_are_understood(tmp_path: Path) -> None:
    path = FORMATS / "deepeval_goldens.csv"
    found = read_one(tmp_path, path.name, path.read_bytes())
    for query, record in zip(found.queries, records_of(path), strict=True):
        tools = json.loads(record["expected_tools"])
        understood = understand(query.expected)
        assert understood.answer == record["expected_output"]
        assert [(call.name, call.arguments) for call in understood.tool_calls] == [
            (tool["name"], tool["inputParameters"]) for tool in tools
        ]


INSPECT_FILES = sorted((CORPUS / "eval_formats").glob("inspect_*"))


def samples_of(path: Path) -> list[dict[str, Any]]:
    """The samples as the file has them."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def spoken(sample: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What the user says in a sample, and the images beside it."""
    if isinstance(sample["input"], str):
        return [sample["input"]], []
    said: list[str] = []
    images: list[str] = []
    for message in sample["input"]:
        if message["role"] == "user":
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            said.append("\n".join(part["text"] for part in parts if part["type"] == "text"))
            images += [part["image"] for part in parts if part["type"] == "image"]
    return said, images


@pytest.mark.parametrize("path", INSPECT_FILES, ids=lambda path: path.name)
def test_real_samples_are_read_without_loss(tmp_path: Path, path: Path) -> None:
    found = read_one(tmp_path, path.name, path.read_bytes())
    samples = samples_of(path)
    assert (found.format, found.problems) == ("inspect", ())
    assert len(found.queries) == len(samples)
    for query, sample in zip(found.queries, samples, strict=True):
        said, images = spoken(sample)
        assert list(query.turns) == said
        assert list(query.setup.attachments) == images
        expected = query.expected
        assert isinstance(expected, dict)
        rest = {key: value for key, value in sample.items() if not (key == "input" and isinstance(value, str))}
        assert expected.keys() == rest.keys()
        for key, value in rest.items():
            # A cell of a table may hold JSON, which is then read.
            assert expected[key] == value or expected[key] == json.loads(value)
        assert understand(expected, len(said)).answer == sample["target"]


def test_there_are_real_samples() -> None:
    assert len(INSPECT_FILES) >= 3
    assert {path.suffix for path in INSPECT_FILES} >= {".csv", ".jsonl"}


SPECS = sorted((CORPUS / "eval_formats").glob("vally_*"))
QUERIES = sorted((CORPUS / "queries").iterdir()) if (CORPUS / "queries").is_dir() else []


def test_there_are_real_files() -> None:
    assert len(SPECS) >= 2
    assert len(QUERIES) >= 7


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_a_real_vally_spec_is_read_without_loss(tmp_path: Path, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = read_one(tmp_path, path.name, text)
    names = re.findall(r"^  - name: (.+)$", text, re.MULTILINE)
    prompts = [prompt.strip('"') for prompt in re.findall(r"^    prompt: (.+)$", text, re.MULTILINE)]
    assert (found.format, found.problems) == ("vally", ())
    assert [query.id for query in found.queries] == names
    assert [query.turns for query in found.queries] == [(prompt,) for prompt in prompts]
    everything = json.dumps([query.expected for query in found.queries])
    for value in re.findall(r"(?:substring|command|threshold|executor|area|environment): (.+)$", text, re.MULTILINE):
        assert value.strip('"') in everything
    calls = [call for query in found.queries for call in understand(query.expected).tool_calls]
    assert len(calls) == len(re.findall(r"^            - name:", text, re.MULTILINE))


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.name)
def test_a_real_list_of_queries_is_read_without_loss(tmp_path: Path, path: Path) -> None:
    content = path.read_bytes()
    found = read_one(tmp_path, path.name, content)
    rows: list[dict[str, Any]] = [json.loads(line) for line in content.split(b"\n") if line.strip()]
    assert (found.format, found.problems) == ("plain-records", ())
    assert len(found.queries) == len(rows) == content.count(b"\n")
    for number, (query, row) in enumerate(zip(found.queries, rows, strict=True), 1):
        assert (query.id, list(query.turns), query.line) == (row.pop("qid"), row.pop("turns"), number)
        assert query.expected == row
        tools = [call.name for call in understand(query.expected).tool_calls]
        assert tools == list(dict.fromkeys(row["tools"] or []))
