from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.intake.expectation import understand
from incumbent.intake.query import EvalSet
from tests.hostile.templates import json_lines
from tests.intake.eval_sets.folders import check_one_fault, messages_of, read, read_one, turns


def read_lines(folder: Path, *records: Any) -> EvalSet:
    """The samples in JSON Lines: a good one in line 1, then ``records``."""
    return read_one(folder, "samples.jsonl", json_lines({"input": "first", "target": "x"}, *records))


def test_a_sample_is_read_with_all_its_fields(tmp_path: Path) -> None:
    sample = {
        "input": "Which of these is a mammal?",
        "target": "B",
        "choices": ["Trout", "Whale"],
        "id": 17,
        "metadata": {"topic": "biology", "level": 2},
        "sandbox": ["docker", "sandboxes/compose.yaml"],
        "files": {"flag.txt": "the flag", "data/a.csv": "data/input.csv", "b.bin": "data:;base64,AAAA"},
        "setup": "#!/bin/sh\necho ready",
        "checkpoint": {"sandboxes": []},
        "extra": None,
    }
    (query,) = read_one(tmp_path, "one.json", json.dumps([sample])).queries
    assert (query.id, query.turns, query.line) == ("17", ("Which of these is a mammal?",), 1)
    assert query.expected == {key: value for key, value in sample.items() if key not in ("id", "input")}
    assert query.setup.fixtures == ("data/input.csv", "sandboxes/compose.yaml")
    assert query.setup.attachments == ()
    assert understand(query.expected).answers == ("B",)


@pytest.mark.parametrize(
    ("spoken", "said", "attached"),
    [
        ([{"role": "user", "content": "a"}], ["a"], ()),
        ([{"role": "system", "content": "s"}, {"role": "user", "content": "a"}], ["a"], ()),
        (
            [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": "b", "tool_calls": [{"id": "1", "function": "f", "arguments": {}}]},
                {"role": "tool", "content": "c", "tool_call_id": "1", "function": "f"},
                {"role": "user", "content": "d"},
            ],
            [["a", "d"]],
            (),
        ),
        (
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image", "image": "i.png", "detail": "low"},
                        {"type": "audio", "audio": "s.wav", "format": "wav"},
                        {"type": "video", "video": "v.mp4", "format": "mp4"},
                        {"type": "document", "document": "d.pdf"},
                        {"type": "text", "text": "b"},
                    ],
                }
            ],
            ["a\nb"],
            ("i.png", "s.wav", "v.mp4", "d.pdf"),
        ),
    ],
)
def test_messages_are_turns_and_are_kept(tmp_path: Path, spoken: Any, said: Any, attached: Any) -> None:
    found = read_one(tmp_path, "one.json", json.dumps([{"input": spoken, "target": "x"}]))
    assert turns(found) == said
    (query,) = found.queries
    assert query.expected == {"input": spoken, "target": "x"}
    assert query.setup.attachments == attached


def test_a_file_may_hold_one_sample(tmp_path: Path) -> None:
    found = read_one(tmp_path, "one.json", '{"input": "a", "target": "b", "id": "x"}')
    assert [(query.id, query.turns, query.expected) for query in found.queries] == [("x", ("a",), {"target": "b"})]


def test_cells_that_hold_json_are_read_as_what_they_hold(tmp_path: Path) -> None:
    rows = (
        "id,input,target,choices,metadata,sandbox,files,checkpoint,label\n"
        '1,"[{""role"": ""user"", ""content"": ""a""}]",B,"x,y","{""k"": [1]}","[""docker"", ""c.yaml""]",'
        '"{""f.txt"": ""f.txt""}","{""a"": 1}","{""not"": ""decoded""}"\n'
        '2,"[urgent] help me","[""p"", ""q""]",x y,,docker,,,\n'
        '3,"{name}, please answer",,,,,,,\n'
    )
    found = read_one(tmp_path, "samples.csv", rows)
    assert messages_of(found) == []
    first, second, third = found.queries
    assert first.turns == ("a",)
    assert first.expected == {
        "input": [{"role": "user", "content": "a"}],
        "target": "B",
        "choices": "x,y",
        "metadata": {"k": [1]},
        "sandbox": ["docker", "c.yaml"],
        "files": {"f.txt": "f.txt"},
        "checkpoint": {"a": 1},
        "label": '{"not": "decoded"}',
    }
    assert first.setup.fixtures == ("f.txt", "c.yaml")
    assert (second.turns, second.expected) == (
        ("[urgent] help me",),
        {"target": '["p", "q"]', "choices": "x y", "sandbox": "docker"},
    )
    assert (third.id, third.turns, third.expected) == ("3", ("{name}, please answer",), None)


@pytest.mark.parametrize(
    ("target", "answer"),
    [("yes", "yes"), (["yes", "no"], "yes"), (3, "3"), ("", None), (None, None), ([], None), (True, None)],
)
def test_the_target_is_the_expected_answer(tmp_path: Path, target: Any, answer: str | None) -> None:
    (query,) = read_one(tmp_path, "one.json", json.dumps([{"input": "a", "target": target}])).queries
    assert query.expected == {"target": target}
    assert understand(query.expected).answer == answer


@pytest.mark.parametrize(
    ("setup", "fixtures"),
    [
        ({"sandbox": "docker"}, ()),
        ({"sandbox": ["docker", "compose.yaml"]}, ("compose.yaml",)),
        ({"sandbox": {"type": "docker", "config": "compose.yaml"}}, ("compose.yaml",)),
        ({"sandbox": '["k8s", "values.yaml"]'}, ("values.yaml",)),
        ({"sandbox": ["docker", ""]}, ()),
        ({"files": {"a": "in/a.txt", "b": "in/a.txt"}}, ("in/a.txt",)),
        ({"files": {"a": "just some words."}}, ()),
        ({"files": {"a": ""}}, ()),
        ({"files": '{"a": "b.txt"}'}, ("b.txt",)),
        ({"setup": "scripts/setup.sh"}, ("scripts/setup.sh",)),
        ({"setup": "apt-get install -y x"}, ()),
        ({"setup": "data:text/plain;base64,AAAA"}, ()),
    ],
)
def test_files_that_a_runner_needs_are_fixtures(tmp_path: Path, setup: Any, fixtures: tuple[str, ...]) -> None:
    found = read_one(tmp_path, "one.json", json.dumps([{"input": "a", "target": "b", **setup}]))
    assert messages_of(found) == []
    (query,) = found.queries
    assert query.setup.fixtures == fixtures
    assert query.expected == {"target": "b", **setup}


@pytest.mark.parametrize(
    ("record", "message", "fix"),
    [
        ({"target": "x"}, "input: the record has no query", "write what the user says under `input`"),
        ({"inptu": "a", "target": "x"}, "input: the record has no query; perhaps you meant 'inptu'", "under `input`"),
        ({"input": None, "target": "x"}, "input: the record has no query", "write what the user says"),
        ({"input": "", "target": "x"}, "input: the record has no query", "write what the user says"),
        ({"input": " \n", "target": "x"}, "input: the record has no query", "write what the user says"),
        ({"input": []}, "input: the record has no query", "write what the user says"),
        ({"input": 7}, "input: must be a text or a list of messages", "in quotes"),
        ({"input": True}, "input: must be a text or a list of messages", "in quotes"),
        ({"input": {"question": "a"}}, "input: must be a text or a list of messages", '[{"role": "user"'),
        ({"input": ["a", "b"]}, "input: must be a text or a list of messages", '[{"role": "user"'),
        ({"input": [{"role": "robot", "content": "a"}]}, "input[0]: is no message of a known role", '"role": "user"'),
        ({"input": [{"content": "a"}]}, "input[0]: is no message of a known role", '"role": "user"'),
        ({"input": [{"role": "user"}]}, "input[0].content: must be a text or a list of parts", "in quotes"),
        ({"input": [{"role": "user", "content": 5}]}, "input[0].content: must be a text or a list of", "in quotes"),
        ({"input": [{"role": "system", "content": "s"}]}, "input: holds no message of the user", '"role": "user"'),
        ({"input": "a", "id": 1.5}, "id: must be a string or a whole number", '"1.5"'),
        ({"input": "a", "id": ["x"]}, "id: must be a string or a whole number", "write a string"),
        ({"input": "a", "id": ""}, "the id is empty", "write a short id"),
        ({"input": "a", "metadata": "easy"}, "metadata: must be an object", "{"),
        ({"input": "a", "metadata": [1]}, "metadata: must be an object", "{"),
        ({"input": "a", "metadata": "{broken"}, "metadata: must be an object", "{"),
        ({"input": "a", "sandbox": 5}, "sandbox: must be a type, or a list of a type and a file", '"docker"'),
        ({"input": "a", "sandbox": ["docker"]}, "sandbox: must be a type, or a list of a type and a file", '"docker"'),
        ({"input": "a", "sandbox": {"config": "x"}}, "sandbox: must be a type, or a list of a type", '"docker"'),
        ({"input": "a", "files": ["x"]}, "files: must be an object", "{"),
        ({"input": "a", "files": {"x": 1}}, "files.x: must be a text", "in quotes"),
        ({"input": "a", "checkpoint": "soon"}, "checkpoint: must be an object", "{"),
    ],
)
def test_a_broken_sample_is_a_fault_at_its_line_and_the_others_are_read(
    tmp_path: Path, record: Any, message: str, fix: str
) -> None:
    found = read_lines(tmp_path, record, {"input": "last", "target": "y"})
    assert turns(found) == ["first", "last"]
    check_one_fault(found, 2, message, fix)


def test_all_faults_of_a_sample_are_told_at_once(tmp_path: Path) -> None:
    found = read_lines(tmp_path, {"input": "a", "metadata": 1, "sandbox": 2, "files": 3})
    assert [text.partition(":")[0] for _, text in messages_of(found)] == ["files", "metadata", "sandbox"]


def test_a_broken_cell_is_a_fault_of_its_row(tmp_path: Path) -> None:
    rows = 'input,target,metadata\na,x,"{""k"": 1"\nb,y,\n"[{""role"": ""user"", ",z,\n'
    found = read_one(tmp_path, "samples.csv", rows)
    assert turns(found) == ["b"]
    assert [(line, text.partition(":")[0]) for line, text in messages_of(found)] == [(2, "metadata"), (4, "input")]


def test_fields_under_other_names_are_named_in_formats_yaml(tmp_path: Path) -> None:
    declared = (
        "formats: 1\nfiles:\n  a.jsonl: {format: inspect, columns: {query: question.text, id: key, answer: gold}}\n"
    )
    samples = json_lines(
        {"question": {"text": "a", "lang": "en"}, "gold": "x", "key": 1},
        {"question": {"text": "b"}, "gold": "y", "key": "k2", "target": "z"},
        {"question": {"lang": "en"}, "gold": "y"},
    )
    (found,) = read(tmp_path, {"formats.yaml": declared, "a.jsonl": samples})
    assert [(query.id, query.turns, query.expected) for query in found.queries] == [
        ("1", ("a",), {"question": {"lang": "en"}, "expected_response": "x"}),
        ("k2", ("b",), {"target": "z", "expected_response": "y"}),
    ]
    assert [understand(query.expected).answer for query in found.queries] == ["x", "y"]
    assert messages_of(found) == [(3, "question.text: the record has no query")]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("query: qestion", "columns.query: no record has 'qestion'; perhaps you meant 'question'"),
        ("query: question, id: kee", "columns.id: no record has 'kee'"),
        ("query: question, answer: z", "columns.answer: no record has 'z'"),
        ("query: question, tools: z", "columns.tools: no record has 'z'"),
        ("query: question, conversation: key", "columns.conversation: inspect has one record for each conversation"),
    ],
)
def test_a_name_that_no_record_has_is_told_once(tmp_path: Path, columns: str, message: str) -> None:
    declared = f"formats: 1\nfiles:\n  a.jsonl: {{format: inspect, columns: {{{columns}}}}}\n"
    samples = json_lines({"question": "a", "key": 1}, {"question": "b", "key": 2})
    (found,) = read(tmp_path, {"formats.yaml": declared, "a.jsonl": samples})
    ((line, text),) = messages_of(found)
    assert line is None
    assert text.startswith(message)
