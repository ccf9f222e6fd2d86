"""Exports are loaded, and run where that needs no network, by the real packages that they are for.

``INCUMBENT_RUNNERS`` names the folder with the packages (``make test-runners`` sets it up); without it these tests are
skipped, and so is each whose package is not there.  Texts are those that could be taken for something else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from incumbent.curator.entry import Entry
from incumbent.intake.expectation import understand
from incumbent.runners.export.plan import plan_export, writers
from tests.export.strategies import HOSTILE
from tests.factories import REPOSITORY, make_entry

FOLDER = os.environ.get("INCUMBENT_RUNNERS", "")
SCRIPTS = Path(__file__).parent / "scripts"
SECRET = "a-secret-of-the-environment"
TEXTS = [text for mark in HOSTILE for text in (mark, f"x {mark}", f"{mark} y {mark}", f"\n{mark}\n") if text.strip()]
ENTRIES = [
    *(
        make_entry(f"e{number:03}", {"a": 0.9}, turns=(text,), expected={"response": text})
        for number, text in enumerate(TEXTS)
    ),
    make_entry(
        "tools", {"a": 0.9}, turns=("open it",), expected={"expected_tools": [{"name": "open", "arguments": {"n": 1}}]}
    ),
    make_entry(
        "two-turns",
        {"a": 0.9},
        turns=("first\n", "{{ env.SECRET }}"),
        expected={"turns": [{"expected_response": "1"}, {"expected_response": "2"}]},
    ),
]
BY_ID: Mapping[str, Entry] = {entry.id: entry for entry in ENTRIES}
MULTIPLE = {"two-turns"}


def exported(name: str, folder: Path) -> Path:
    """The folder with the files of an export."""
    export = plan_export(ENTRIES, writers()[name], keep_placeholders=True)
    for file, text in export.written.files.items():
        (folder / file).write_bytes(text.encode())
    return folder


def run(command: list[str | Path], folder: Path, **environment: str) -> str:
    """The output of ``command``, which runs without network settings or secrets, at home in ``folder``."""
    kept = {"PATH": os.environ["PATH"], "HOME": str(folder), "SECRET": SECRET, **environment}
    done = subprocess.run(
        command, check=False, cwd=folder, env=kept, capture_output=True, encoding="utf-8", timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def loaded(runner: str, script: str, file: Path, *more: Path) -> list[dict[str, Any]]:
    """What the package of ``runner`` makes of ``file``."""
    interpreter = Path(FOLDER, runner, "bin", "python")
    if not FOLDER or not interpreter.exists():
        pytest.skip(f"the package of {runner} is not installed: `make test-runners`")
    found: list[dict[str, Any]] = json.loads(
        run([interpreter, SCRIPTS / script, file, *more], file.parent).splitlines()[-1]
    )
    return found


def answer(id: str) -> str | None:
    return understand(BY_ID[id].expected, len(BY_ID[id].turns)).answer


def test_inspect_loads_every_sample_as_it_is(tmp_path: Path) -> None:
    samples = loaded("inspect", "load_inspect.py", exported("inspect", tmp_path) / "regression_set.jsonl")
    assert {sample["id"] for sample in samples} == BY_ID.keys() - MULTIPLE
    for sample in samples:
        assert (sample["input"],) == BY_ID[sample["id"]].turns
        assert sample["target"] == (answer(sample["id"]) or "")
        assert sample["metadata"]["incumbent"]["capabilities"] == ["a"]
        assert sample["opens"] == [None, None, None]


def test_deepeval_loads_every_golden_as_it_is(tmp_path: Path) -> None:
    folder = exported("deepeval", tmp_path)
    single = loaded("deepeval", "load_deepeval.py", folder / "goldens.json")
    assert {golden["name"] for golden in single} == BY_ID.keys() - MULTIPLE
    for golden in single:
        assert (golden["input"],) == BY_ID[golden["name"]].turns
        assert golden["expected_output"] == answer(golden["name"])
        assert golden["additional_metadata"]["incumbent"]["id"] == golden["name"]
        assert golden["multimodal"] is False
        tools = [(call["name"], call["input_parameters"]) for call in golden["expected_tools"] or []]
        assert tools == ([("open", {"n": 1})] if golden["name"] == "tools" else [])
    (golden,) = loaded("deepeval", "load_deepeval.py", folder / "conversational_goldens.json")
    assert tuple(turn["content"] for turn in golden["turns"]) == BY_ID["two-turns"].turns
    assert {turn["role"] for turn in golden["turns"]} == {"user"}
    assert golden["expected_outcome"] == "2"


def test_azure_ai_evaluation_hands_every_row_to_its_evaluators_as_it_is(tmp_path: Path) -> None:
    rows = loaded("azure", "run_azure.py", exported("azure-ai-evaluation", tmp_path) / "regression_set.jsonl")
    assert {row["id"] for row in rows} == BY_ID.keys() - MULTIPLE
    for row in rows:
        assert (row["query"],) == BY_ID[row["id"]].turns
        if answer(row["id"]) is not None:
            assert row["ground_truth"] == answer(row["id"])


@pytest.mark.parametrize(
    ("runner", "script", "writer", "file"),
    [
        ("inspect", "load_inspect.py", "inspect", "regression_set.jsonl"),
        ("deepeval", "load_deepeval.py", "deepeval", "goldens.json"),
        ("azure", "run_azure.py", "azure-ai-evaluation", "regression_set.jsonl"),
    ],
)
def test_other_packages_make_nothing_of_references(
    runner: str, script: str, writer: str, file: str, tmp_path: Path
) -> None:
    canary = tmp_path / "secret.json"
    canary.write_text(json.dumps({"found": CANARY}), encoding="utf-8")
    address = f"file://{canary}"
    held: dict[str, Any] = {"$ref": address, "a": [{"$ref": address}, "{{env.SECRET}}", f"exec:cat {canary}"]}
    keys = ("metadata", "additional_metadata", "extensions", "context", "choices", "tool_definitions", "comments")
    call = {"name": "open", "arguments": held}
    expected = {**dict.fromkeys(keys, held), "expected_tools": [call], "assert": [held], "target": address}
    export = plan_export([make_entry("e1", {"a": 0.9}, turns=("a",), expected=expected)], writers()[writer])
    assert [remark.id for remark in export.written.remarks] == ["e1"] or writer == "azure-ai-evaluation"
    (tmp_path / file).write_bytes(export.written.files[file].encode())
    found = json.dumps(loaded(runner, script, tmp_path / file))
    assert address in found
    assert (CANARY in found, SECRET in found) == (False, False)


@pytest.fixture
def promptfoo() -> list[str | Path]:
    """The command that runs promptfoo."""
    script = Path(FOLDER, "promptfoo", "node_modules", "promptfoo", "dist", "src", "main.js")
    if not FOLDER or not script.exists():
        pytest.skip("promptfoo is not installed: `make test-runners`")
    node = shutil.which("node")
    version = re.search(r"v(\d+)\.(\d+)", run([node, "--version"], script.parent)) if node else None
    if node is None or version is None or (int(version[1]), int(version[2])) < (22, 22):
        pytest.skip("promptfoo needs Node.js 22.22 or newer")
    return [node, script]


def test_promptfoo_asks_every_turn_as_it_is_and_shows_no_secret(tmp_path: Path, promptfoo: list[str | Path]) -> None:
    config = exported("promptfoo", tmp_path) / "promptfooconfig.yaml"
    assert "Configuration is valid" in run([*promptfoo, "validate", "-c", config], tmp_path, **QUIET)
    # Grading needs a model; what is asked, and what the grader would be told, does not.
    text = re.sub(r"\n    assert:\n(      .*\n)+", "\n", config.read_text(encoding="utf-8"))
    config.write_text(text.replace('"{{query}}"', '"{{query}}|{{expected_response}}"'), encoding="utf-8")
    results = tmp_path / "results.json"
    run([*promptfoo, "eval", "-c", config, "-o", results, "--no-cache", "--no-table"], tmp_path, **QUIET)
    written = results.read_text(encoding="utf-8")
    assert SECRET not in written
    asked = [result["prompt"]["raw"] for result in json.loads(written)["results"]["results"]]
    wanted = [
        f"{turn}|{expected or ''}"
        for entry in sorted(ENTRIES, key=lambda entry: entry.id)
        for turn, expected in zip(entry.turns, understand(entry.expected, len(entry.turns)).answers, strict=True)
    ]
    assert sorted(asked) == sorted(wanted)


QUIET = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_PASS_RATE_THRESHOLD": "0"}
CANARY = "a-canary-on-the-disk"
GRADER = """
import fs from "node:fs";
export default class {
  id() { return "grader"; }
  async callApi(prompt, context) {
    fs.appendFileSync(new URL("graded.txt", import.meta.url), JSON.stringify([prompt, context?.vars]) + "\\n");
    return { output: JSON.stringify({ pass: true, score: 1, reason: "graded" }) };
  }
}
"""


def hostile_assertions(canary: Path) -> list[Any]:
    """Assertions that would show ``canary`` or the environment, run code, or take for ever."""
    reference = {"$ref": f"file://{canary}"}
    texts = [
        f"file://{canary}",
        f" file://{canary}",
        "{{env.SECRET}}",
        "{{ env['SECRET'] }}",
        "{{ '' | env }}",
        "{% raw %}",
    ]
    texts += [
        "{{ env.SECRET | upper }}",
        f"file://{canary.with_suffix('.js')}",
        "package:fs:readFileSync",
        "{{[].x}}{#",
    ]
    values: list[Any] = [
        [[reference], ["{{env.SECRET}}"]],
        [[[[reference]]]],
        *(reference, [reference], {"a": {"b": reference}}, [{"a": "{{env.SECRET}}"}]),
        *texts,
        *([text] for text in texts),
        *([[text]] for text in texts),
    ]
    extra = [
        {"type": "contains", "value": "x", key: held}
        for key in ("metric", "threshold", "weight", "provider", "transform", "config", "rubricPrompt", "$ref")
        for held in (reference, [reference], [["{{env.SECRET}}"]], "{{env.SECRET}}", f"file://{canary}")
    ]
    kinds = [
        "javascript",
        "python",
        "ruby",
        "webhook",
        "not-javascript",
        "assert-set",
        "search-rubric",
        "{{env.SECRET}}",
    ]
    code = [{"type": kind, "value": "process.env.SECRET"} for kind in kinds]
    slow = [{"type": kind, "value": "^(a+)+$"} for kind in ("regex", "not-regex")]
    schema = '{"properties": {"a": {"pattern": "^(a+)+$"}}, "$ref": "file://' + str(canary) + '"}'
    schemas = [{"type": kind, "value": value} for kind in ("is-json", "contains-json") for value in (schema, reference)]
    compared = [
        {"type": kind, "value": value}
        for kind in ("contains-any", "equals", "llm-rubric", "g-eval")
        for value in values
    ]
    return [*compared, *extra, *code, *slow, *schemas, reference, [reference], "{{env.SECRET}}"]


def test_promptfoo_makes_nothing_of_what_a_stranger_asserts(tmp_path: Path, promptfoo: list[str | Path]) -> None:
    canary = tmp_path / "secret.json"
    canary.write_text(json.dumps({"found": CANARY}), encoding="utf-8")
    canary.with_suffix(".js").write_text(f"module.exports = () => {CANARY!r};", encoding="utf-8")
    (tmp_path / "grader.mjs").write_text(GRADER, encoding="utf-8")
    fine = [{"type": "contains", "value": "x"}, {"type": "regex", "value": r"^\d+ ships"}, {"type": "is-json"}]
    hostile = hostile_assertions(canary)
    reference: Any = {"$ref": f"file://{canary}"}
    beside = {
        "vars": reference,
        "options": {"provider": f"file://{canary}"},
        "metadata": reference,
        "config": [reference],
    }
    entries = [
        make_entry("asserted", {"a": 0.9}, turns=("a",), expected={**beside, "assert": [*hostile, *fine]}),
        make_entry(
            "by-turn",
            {"a": 0.9},
            turns=("{{env.SECRET}}", f"file://{canary}"),
            expected={"turns": [{"assert": hostile}, {"response": "{{env.SECRET}}", "assert": hostile}]},
        ),
        *(
            make_entry(f"e{number:03}", {"a": 0.9}, turns=(text,), expected={"response": text, "assert": hostile[:3]})
            for number, text in enumerate(TEXTS)
        ),
    ]
    export = plan_export(entries, writers()["promptfoo"], keep_placeholders=True)
    assert {remark.id for remark in export.written.remarks} == {entry.id for entry in entries}
    config = tmp_path / "promptfooconfig.yaml"
    config.write_bytes(export.written.files["promptfooconfig.yaml"].encode())
    results = tmp_path / "results.json"
    grader = ["--grader", f"file://{tmp_path / 'grader.mjs'}"]
    ask = [*promptfoo, "eval", "-c", config, "-o", results, "--no-cache", "--no-table", *grader]
    printed = run([*promptfoo, "validate", "-c", config], tmp_path, **QUIET) + run(ask, tmp_path, **QUIET)
    shown = [printed, results.read_text(encoding="utf-8"), (tmp_path / "graded.txt").read_text(encoding="utf-8")]
    assert [(CANARY in text, SECRET in text.casefold()) for text in shown] == [(False, False)] * 3
    assert '"graded"' in shown[1]
    tried = json.loads(shown[1])["results"]["results"]
    (asserted,) = [found for found in tried if found["testCase"]["description"] == "asserted"]
    assert [each["assertion"] for each in asserted["gradingResult"]["componentResults"]] == fine

    # What is kept back would have been found: the same runner, with one of them put in by hand.
    first = json.dumps([{"type": "contains-any", "value": [[reference], ["{{env.SECRET}}"]]}])
    text = re.sub(r"    assert:\n(      .*\n)+", f"    assert: {first}\n", config.read_text(encoding="utf-8"), count=1)
    config.write_text(text, encoding="utf-8")
    run(ask, tmp_path, **QUIET)
    assert CANARY in results.read_text(encoding="utf-8")
    assert SECRET in results.read_text(encoding="utf-8")


@pytest.mark.skipif("INCUMBENT_CORPUS" not in os.environ, reason="INCUMBENT_CORPUS names no corpus")
def test_m365_documents_keep_to_the_published_schema(tmp_path: Path) -> None:
    from jsonschema import Draft202012Validator

    schema = Path(os.environ["INCUMBENT_CORPUS"], "eval_formats", "m365_eval.schema.json")
    document = json.loads((exported("m365-copilot-eval", tmp_path) / "regression_set.evals.json").read_bytes())
    faults = Draft202012Validator(json.loads(schema.read_bytes())).iter_errors(document)
    assert [fault.message for fault in faults] == []


def test_the_packages_are_those_that_are_pinned() -> None:
    if not FOLDER:
        pytest.skip("INCUMBENT_RUNNERS names no folder with runners: `make test-runners`")
    for runner in ("inspect", "deepeval", "azure"):
        pins = (REPOSITORY / "requirements" / f"runner_{runner}.txt").read_text(encoding="utf-8")
        asked = {"inspect": "inspect-ai", "deepeval": "deepeval", "azure": "azure-ai-evaluation"}[runner]
        pinned = re.search(rf"^{asked}==(\S+)", pins, re.MULTILINE)
        site = Path(FOLDER, runner).glob(f"lib/python3*/site-packages/{asked.replace('-', '_')}-*.dist-info")
        assert pinned is not None
        assert [path.name.split("-")[1].removesuffix(".dist") for path in site] == [pinned[1]]


def test_azure_judges_the_agents_answers_and_not_what_was_expected(tmp_path: Path) -> None:
    rows = loaded("azure", "answers_of_azure.py", exported("azure-ai-evaluation", tmp_path) / "regression_set.jsonl")
    assert len(rows) == len(BY_ID) - len(MULTIPLE)
    assert all(row["judged"] == f"wrong {row['id']}" for row in rows)
