"""``formats.yaml``: what a customer says of files that do not say it themselves."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from incumbent.cli.schemas import schema
from incumbent.intake.eval_sets.columns import FORMATS_FILE
from incumbent.intake.expectation import understand
from incumbent.intake.tool_calls import ToolCall
from tests.intake.eval_sets.folders import messages_of, read, refused, turns

OWN = "eval_set: 1\nqueries: [{id: q, query: x}]\n"


def declared(line: str) -> str:
    return f"formats: 1\nfiles:\n  {line}\n"


def test_columns_are_named(tmp_path: Path) -> None:
    rows = 'Nr,Was,Antwort,Werkzeuge,Faden\n7,Wo?,Hier,"[{""name"": ""find""}]",\n8,Wer?,Ich,,t\n9,Und du?,,,t\n'
    columns = "{query: Was, id: Nr, answer: Antwort, tools: Werkzeuge, conversation: Faden}"
    (found,) = read(
        tmp_path,
        {"a.csv": rows, FORMATS_FILE: declared(f"a.csv: {{format: plain-table, columns: {columns}}}")},
    )
    where, who = found.queries
    assert not found.problems
    assert (where.id, where.turns) == ("7", ("Wo?",))
    assert where.expected == {"expected_response": "Hier", "expected_tools": [{"name": "find"}]}
    assert understand(where.expected).tool_calls == (ToolCall("find"),)
    assert (who.id, who.turns) == ("t", ("Wer?", "Und du?"))
    assert understand(who.expected, 2).answers == ("Ich", None)


def test_what_stands_in_a_sub_folder_is_said_there_or_above(tmp_path: Path) -> None:
    both = '{"eval_set": 1, "queries": [{"query": "own"}], "items": [{"prompt": "m365"}]}'
    below = {"sub/e.json": both, f"sub/{FORMATS_FILE}": declared("e.json: {format: incumbent}")}
    assert [turns(found) for found in read(tmp_path, below)] == [["own"]]
    above = {FORMATS_FILE: declared("sub/e.json: {format: m365-copilot-eval}")}
    assert [turns(found) for found in read(tmp_path, above)] == [["own"]], "the nearer one counts"
    assert [turns(found) for found in read(tmp_path, {f"sub/{FORMATS_FILE}": "other: 1\n"})] == [["m365"]]
    found, wrong = read(tmp_path, {f"sub/{FORMATS_FILE}": declared("f.json: {format: incumbent}")})
    assert (wrong.file, messages_of(wrong)) == (
        f"sub/{FORMATS_FILE}",
        [(3, "files.f.json: there is no such file; perhaps you meant 'e.json'")],
    )
    assert turns(found) == ["m365"]


def test_a_file_of_the_other_ending_is_said_to_be_passed_over(tmp_path: Path) -> None:
    _, wrong = read(tmp_path, {"formats.yml": declared("e.yaml: {format: incumbent}"), "e.yaml": OWN})
    assert messages_of(wrong) == [(None, "the file is not read: it is called formats.yaml")]


def test_an_ambiguous_file_is_decided(tmp_path: Path) -> None:
    both = '{"eval_set": 1, "queries": [{"query": "own"}], "items": [{"prompt": "m365"}]}'
    (undecided,) = read(tmp_path, {"e.json": both})
    assert undecided.queries == ()
    for name, expected in [("incumbent", "own"), ("m365-copilot-eval", "m365")]:
        (found,) = read(tmp_path, {FORMATS_FILE: declared(f"e.json: {{format: {name}}}")})
        assert (found.format, turns(found)) == (name, [expected])


ODD = 'q, "x" #y/b ü.'
UNDECIDED = {
    "json": '[{"input": "one", "expected_output": "two", "target": "two"}]',
    "csv": "question,prompt\none,two\n",
    "jsonl": [{"inputs": {"a: b": "one", "c": "two"}, "outputs": {"x": "y"}}],
    "ndjson": [{"item": {"question": "one", "prompt": "two"}}],
}


@pytest.mark.parametrize("ending", UNDECIDED)
def test_the_lines_that_a_fault_names_decide_as_they_stand(tmp_path: Path, ending: str) -> None:
    content = UNDECIDED[ending]
    text = content if isinstance(content, str) else "\n".join(map(json.dumps, content))
    name = f"{ODD}{ending}"
    (undecided,) = read(tmp_path, {name: text})
    (problem,) = undecided.problems
    assert f"into {FORMATS_FILE};" in problem.fix
    lines = problem.fix.split("`")
    (decided,) = read(tmp_path, {FORMATS_FILE: f"{lines[1]}\n{lines[3]}\n"})
    assert (decided.problems, len(decided.queries)) == ((), 1)


FAULTS: list[tuple[str, int | None, str, str]] = [
    (declared("b.csv: {format: plain-table}"), 3, "there is no such file; perhaps you meant 'a.csv'", "name a file"),
    (declared("a.csv: {format: plain-tabel}"), 3, "perhaps you meant 'plain-table'", "use one of: "),
    (declared("a.csv: {format: plain-table, colums: {}}"), 3, "unknown key; perhaps you meant 'columns'", "columns"),
    (declared("a.csv: {format: plain-table, columns: {querry: x}}"), 3, "perhaps you meant 'query'", "use one of"),
    (declared("a.csv: {format: copilot-studio, columns: {query: q}}"), 3, "has columns of its own", "plain-table"),
    (declared("a.csv: {columns: {query: q}}"), 3, "the key is missing", "add `format`"),
    (declared("a.csv: 7"), 3, "must be a mapping", "write `key: value` pairs"),
    ("formats: 2\nfiles: {}\n", 1, "formats: 2 was written by a later version", "install the version"),
    ("files: {}\n", 1, "formats: the key is missing", "add `formats: 1`"),
    ("formats: 1\nfiles: [\n", 2, "not valid YAML", "correct the YAML"),
    ("formats: 1\nfiles: {a.csv: &a {format: x}, a.csv: *a}\n", 2, "given twice", "keep one"),
    ("", None, "must be a mapping", "write `key: value` pairs"),
]


@pytest.mark.parametrize(("content", "line", "message", "fix"), FAULTS)
def test_what_is_wrong_with_it_is_said_and_the_files_are_read(
    tmp_path: Path, content: str, line: int | None, message: str, fix: str
) -> None:
    found = {item.file: item for item in read(tmp_path, {FORMATS_FILE: content, "a.csv": "question,n\na,1\n"})}
    assert turns(found["a.csv"]) == ["a"]
    (problem,) = found[FORMATS_FILE].problems
    assert message in problem.message
    assert fix in problem.fix
    assert problem.line == line


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("{query: nix}", "no record has the column 'nix', which is named for the query"),
        ("{id: nix}", "which is named for the id"),
        ("{answer: n}", "the column 'expected_response' is next to 'n'"),
    ],
)
def test_columns_that_are_not_there_are_faults_of_the_file(tmp_path: Path, columns: str, message: str) -> None:
    declaration = declared(f"a.csv: {{format: plain-table, columns: {columns}}}")
    (found,) = read(tmp_path, {"a.csv": "question,n,expected_response\na,1,x\n", FORMATS_FILE: declaration})
    assert found.queries == ()
    ((_, text),) = messages_of(found)
    assert message in text


def test_a_format_is_not_read_from_files_of_another_name(tmp_path: Path) -> None:
    (found, _) = read(
        tmp_path, {"a.csv": "question,n\na,1\n", "e.yaml": OWN, FORMATS_FILE: declared("a.csv: {format: vally}")}
    )
    assert messages_of(found) == [(None, "vally is not read from files of this name")]


def test_it_is_no_eval_set_itself(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, {FORMATS_FILE: "formats: 1\nfiles: {}\n"})
    assert "no eval set was found" in problem.message


def test_the_published_schema_is_that_of_the_model(tmp_path: Path) -> None:
    published = json.loads(Path("schemas/formats.schema.json").read_text(encoding="utf-8"))
    assert published == schema("formats")
    validator = jsonschema.Draft202012Validator(published)
    assert validator.is_valid({"formats": 1, "files": {"a.csv": {"format": "plain-table", "columns": {"query": "q"}}}})
    assert not validator.is_valid({"formats": 1, "files": {"a.csv": {"columns": {}}}})
