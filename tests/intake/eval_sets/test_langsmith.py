from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.intake.expectation import understand
from incumbent.intake.query import EvalSet
from incumbent.intake.tool_calls import ToolCall
from tests.hostile.templates import json_lines
from tests.intake.eval_sets.folders import check_one_fault, messages_of, read, read_one, turns

UUID = "4d5b3e0e-0c0f-4f5c-8a52-1c9f9c1f0a01"


def read_lines(folder: Path, *records: Any) -> EvalSet:
    """The examples in JSON Lines: a good one in line 1, then ``records``."""
    return read_one(folder, "examples.jsonl", json_lines({"inputs": {"question": "first"}, "outputs": None}, *records))


def read_example(folder: Path, **example: Any) -> EvalSet:
    """The dataset of one example."""
    return read_one(folder, "examples.json", json.dumps([{"outputs": None, **example}]))


EXAMPLE: dict[str, Any] = {
    "id": UUID,
    "dataset_id": "4d5b3e0e-0c0f-4f5c-8a52-1c9f9c1f0a02",
    "inputs": {"question": "Which river is the longest?", "context": "Rivers of Europe", "top_k": 3},
    "outputs": {"answer": "The Volga", "source": ""},
    "metadata": {"dataset_split": ["base"]},
    "split": ["base", "test"],
    "created_at": "2026-01-01T00:00:00Z",
    "source_run_id": None,
    "attachments": {"map.png": {"mime_type": "image/png", "presigned_url": "https://example.com/map.png"}},
}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps([EXAMPLE], indent=2)),
        ("a.json", json.dumps({"examples": [EXAMPLE], "name": "Rivers"})),
        ("a.jsonl", json_lines(EXAMPLE)),
    ],
)
def test_an_example_is_read_with_all_it_holds(tmp_path: Path, name: str, content: str) -> None:
    found = read_one(tmp_path, name, content)
    assert (found.format, messages_of(found)) == ("langsmith", [])
    (query,) = found.queries
    assert (query.id, query.turns) == (UUID, ("Which river is the longest?",))
    assert query.expected == {
        **{key: value for key, value in EXAMPLE.items() if key != "id"},
        "inputs": {"context": "Rivers of Europe", "top_k": 3},
    }
    assert query.setup.attachments == ("map.png",)
    assert understand(query.expected).answer == "The Volga"


_HUMAN = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "HumanMessage"],
    "kwargs": {"content": "a", "type": "human"},
}
_SYSTEM = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "SystemMessage"], "kwargs": {"content": "s"}}


@pytest.mark.parametrize(
    ("inputs", "said", "kept"),
    [
        ({"question": "a"}, ["a"], None),
        ({"input": "a"}, ["a"], None),
        ({"query": "a", "k": 4}, ["a"], {"k": 4}),
        ({"topic": "a"}, ["a"], None),
        ({"a-question": "a", "n": 1, "flags": [True], "config": {"x": "y"}}, ["a"], "rest"),
        ({"question": "a", "context": "b", "language": "en"}, ["a"], {"context": "b", "language": "en"}),
        ({"question": "a", "input": None, "query": "", "prompt": [], "messages": {}}, ["a"], "rest"),
        ({"input": {"question": "a", "user": "u"}, "trace": 1}, ["a"], {"input": {"user": "u"}, "trace": 1}),
        ({"input": {"question": "a"}}, ["a"], None),
        ({"state": {"input": {"text": "a"}}}, ["a"], None),
        ({"questions": 1, "question": ["a", "b"]}, [["a", "b"]], {"questions": 1}),
        ("a", ["a"], None),
        ({"messages": "a"}, ["a"], None),
        ({"messages": [{"role": "user", "content": "a"}]}, ["a"], "all"),
        ({"messages": [{"type": "human", "content": "a"}, {"type": "ai", "content": "b"}]}, ["a"], "all"),
        ({"messages": [{"type": "human", "data": {"content": "a"}}]}, ["a"], "all"),
        ({"input": [{"type": "human", "data": {"content": "a"}}]}, ["a"], "all"),
        ({"messages": [_SYSTEM, _HUMAN]}, ["a"], "all"),
        ({"messages": [[_SYSTEM, _HUMAN]]}, ["a"], "all"),
        ({"messages": [["system", "s"], ["user", "a"], ["ai", "b"], ["human", "c"]]}, [["a", "c"]], "all"),
        ({"messages": {"role": "user", "content": "a"}}, ["a"], "all"),
        ({"messages": [{"role": "user", "content": "a"}], "context": "b"}, ["a"], "all"),
        ({"conversation": [{"role": "user", "content": "a"}], "k": 1}, ["a"], "all"),
        ({"state": {"messages": [{"role": "user", "content": "a"}]}, "config": {}}, ["a"], "all"),
        ({"question": "a", "chat_history": [{"role": "user", "content": "before"}]}, ["a"], "rest"),
        ([{"role": "user", "content": "a"}], ["a"], "all"),
        ({"role": "user", "content": "a"}, ["a"], "all"),
    ],
)
def test_the_query_is_found_among_the_inputs_and_the_rest_is_kept(
    tmp_path: Path, inputs: Any, said: list[Any], kept: Any
) -> None:
    # The first example makes the file one of LangSmith, whatever the second one's inputs are.
    found = read_lines(tmp_path, {"inputs": inputs, "outputs": {"answer": "x"}})
    assert messages_of(found) == []
    assert turns(found)[1:] == said
    rest = {key: value for key, value in inputs.items() if value != "a"} if isinstance(inputs, dict) else None
    left = {"all": inputs, "rest": rest}.get(kept, kept) if isinstance(kept, str) else kept
    expected = {"outputs": {"answer": "x"}} | ({} if left is None else {"inputs": left})
    assert found.queries[1].expected == expected


@pytest.mark.parametrize(
    ("inputs", "names", "suggested"),
    [
        ({"question": "a", "query": "b"}, "`inputs.question` and `inputs.query`", "inputs.question"),
        ({"title": "a", "body": "b"}, "`inputs.title` and `inputs.body`", "inputs.title"),
        ({"instruction": "a", "input": "b"}, "`inputs.instruction` and `inputs.input`", "inputs.instruction"),
        (
            {"messages": [{"role": "user", "content": "a"}], "question": "b"},
            "`inputs.messages` and `inputs.question`",
            "inputs.messages",
        ),
        ({"input": {"title": "a", "body": "b"}}, "`inputs.input.title` and `inputs.input.body`", "inputs.input.title"),
        ({"a": {"x": 1}, "b": {"y": 2}}, "`inputs.a` and `inputs.b`", "inputs.a"),
    ],
)
def test_inputs_that_do_not_decide_name_the_line_that_does(
    tmp_path: Path, inputs: Any, names: str, suggested: str
) -> None:
    found = read_lines(tmp_path, {"inputs": inputs}, {"inputs": {"question": "last"}})
    assert turns(found) == ["first", "last"]
    ((line, message),) = messages_of(found)
    assert line == 2
    assert message.endswith(f"several could be the query: {names}")
    declared = f'{{"examples.jsonl": {{format: langsmith, columns: {{query: "{suggested}"}}}}}}'
    assert f"files: {declared}" in found.problems[0].fix


def test_the_line_that_the_fault_names_mends_it(tmp_path: Path) -> None:
    records = [{"inputs": {"title": f"t{n}", "body": f"b{n}"}, "outputs": {"answer": "x"}} for n in range(2)]
    broken = read_one(tmp_path, "a.json", json.dumps(records))
    assert not broken.queries
    fix = broken.problems[0].fix
    declared = "formats: 1\n" + fix[fix.index("files:") : fix.index("` into")]
    (fixed,) = read(tmp_path, {"formats.yaml": declared})
    assert messages_of(fixed) == []
    assert turns(fixed) == ["t0", "t1"]
    (other,) = read(tmp_path, {"formats.yaml": declared.replace("inputs.title", "inputs.body")})
    assert turns(other) == ["b0", "b1"]
    assert other.queries[0].expected == {"inputs": {"title": "t0"}, "outputs": {"answer": "x"}}


@pytest.mark.parametrize(
    ("header", "row", "said", "expected"),
    [
        (
            "inputs,outputs,metadata,split",
            '"{""question"": ""a"", ""k"": 1}","{""answer"": ""x""}","{""m"": 1}",base',
            "a",
            {"inputs": {"k": 1}, "outputs": {"answer": "x"}, "metadata": {"m": 1}, "split": "base"},
        ),
        (
            "id,inputs.question,inputs.context,outputs.answer,note",
            "7,a,c,x,n",
            "a",
            {"inputs": {"context": "c"}, "outputs": {"answer": "x"}, "note": "n"},
        ),
        ("input_question,output_answer", "a,x", "a", {"outputs": {"answer": "x"}}),
        ("inputs_question,reference_outputs_answer", "a,x", "a", {"reference_outputs": {"answer": "x"}}),
        (
            "inputs.question,outputs.answer,outputs.trajectory",
            'a,"{""x"": 1}","[""f"", ""g""]"',
            "a",
            {"outputs": {"answer": '{"x": 1}', "trajectory": ["f", "g"]}},
        ),
        (
            "input_messages,output_output",
            '"[{""role"": ""user"", ""content"": ""a""}]",x',
            "a",
            {"inputs": {"messages": [{"role": "user", "content": "a"}]}, "outputs": {"output": "x"}},
        ),
        ("input_question,output_answer", '"[1] is odd","[see 2]"', "[1] is odd", {"outputs": {"answer": "[see 2]"}}),
        ("input_question,output_answer", '"{""a"": 1}",x', '{"a": 1}', {"outputs": {"answer": "x"}}),
        ("inputs,outputs", "a,x", "a", {"outputs": "x"}),
        ("inputs,outputs", "{name} asks,{x}", "{name} asks", {"outputs": "{x}"}),
        ("inputs,inputs.k,outputs", '"{""question"": ""a""}",1,x', "a", {"inputs": {"k": "1"}, "outputs": "x"}),
        (
            "inputs,inputs.k,outputs",
            '"{""question"": ""a"", ""k"": 2}",1,x',
            "a",
            {"inputs": {"k": 2}, "inputs.k": "1", "outputs": "x"},
        ),
        ("inputs.question\tdataset_id", "a\td", "a", {"dataset_id": "d"}),
        ("inputs.user.question,outputs.answer", "a,x", "a", {"outputs": {"answer": "x"}}),
    ],
)
def test_tables_are_read_as_the_examples_that_they_were_written_from(
    tmp_path: Path, header: str, row: str, said: str, expected: Any
) -> None:
    found = read_one(tmp_path, "examples.csv", f"{header}\n{row}\n")
    assert (found.format, messages_of(found)) == ("langsmith", [])
    (query,) = found.queries
    assert (query.turns, query.expected, query.line) == ((said,), expected, 2)


@pytest.mark.parametrize("name", ["inputs.question", "input_question"])
def test_columns_of_tables_may_be_named_as_they_stand(tmp_path: Path, name: str) -> None:
    declared = f"formats: 1\nfiles: {{a.csv: {{format: langsmith, columns: {{query: {name}}}}}}}\n"
    table = "input_question,input_query,output_answer\na,b,x\n"
    (found,) = read(tmp_path, {"formats.yaml": declared, "a.csv": table})
    assert messages_of(found) == []
    assert turns(found) == ["a"]
    assert found.queries[0].expected == {"inputs": {"query": "b"}, "outputs": {"answer": "x"}}


@pytest.mark.parametrize(
    ("record", "message", "fix"),
    [
        ({"outputs": {}}, "inputs: the record has no query", "under `inputs`"),
        ({"input": {"question": "a"}}, "inputs: the record has no query; perhaps you meant 'input'", "under `inputs`"),
        ({"inputs": None}, "inputs: the record has no query", "under `inputs`"),
        ({"inputs": {}}, "inputs: the record has no query", "under `inputs`"),
        ({"inputs": ""}, "inputs: the record has no query", "under `inputs`"),
        ({"inputs": {"question": " "}}, "inputs: none of them is what a user says", "inputs.NAME"),
        ({"inputs": {"k": 1, "flag": True}}, "inputs: none of them is what a user says", "inputs.NAME"),
        ({"inputs": {"question": 7}}, "inputs: none of them is what a user says", "inputs.NAME"),
        ({"inputs": 7}, "inputs: must be a text or a list of messages", "in quotes"),
        ({"inputs": False}, "inputs: must be a text or a list of messages", "in quotes"),
        ({"inputs": {"messages": [1]}}, "inputs.messages[0]: is no message of a known role", '"role": "user"'),
        ({"inputs": {"messages": [{"role": "user"}]}}, "inputs.messages[0].content: must be a text", "in quotes"),
        ({"inputs": {"messages": [_SYSTEM]}}, "inputs.messages: holds no message of the user", '"role": "user"'),
        ({"inputs": {"question": "a"}, "id": False}, "id: must be a string or a whole number", '"false"'),
        ({"inputs": {"question": "a"}, "id": 0.5}, "id: must be a string or a whole number", '"0.5"'),
        ({"inputs": {"question": "a"}, "attachments": 5}, "attachments: must be an object", '{"name"'),
        ({"inputs": {"question": "a"}, "attachments": [{}]}, "attachments[0]: has no name", '{"name"'),
    ],
)
def test_a_broken_example_is_a_fault_at_its_line_and_the_others_are_read(
    tmp_path: Path, record: Any, message: str, fix: str
) -> None:
    found = read_lines(tmp_path, record, {"inputs": {"question": "last"}})
    assert turns(found) == ["first", "last"]
    check_one_fault(found, 2, message, fix)


def test_faults_stand_at_their_lines_in_json(tmp_path: Path) -> None:
    content = '[\n {"inputs": {"question": "a"}},\n {"inputs": {\n  "question": "b",\n  "query": "c"}},\n "x"\n]'
    assert [line for line, _ in messages_of(read_one(tmp_path, "a.json", content))] == [3, 6]


def test_a_broken_cell_is_a_fault_of_its_row(tmp_path: Path) -> None:
    rows = 'inputs,outputs\n"{""question"": ""a",x\n"{""question"": ""b""}",y\n'
    found = read_one(tmp_path, "a.csv", rows)
    assert turns(found) == ["b"]
    assert [(line, text.partition(":")[0]) for line, text in messages_of(found)] == [(2, "inputs")]


@pytest.mark.parametrize(
    ("attachments", "names"),
    [
        ({"a.png": {}, "b": None}, ("a.png", "b")),
        (["a.png", {"name": "b"}, {"filename": "c"}], ("a.png", "b", "c")),
        ("a.png", ("a.png",)),
        ({}, ()),
        ("", ()),
        (None, ()),
    ],
)
def test_attachments_are_named(tmp_path: Path, attachments: Any, names: tuple[str, ...]) -> None:
    found = read_example(tmp_path, inputs={"question": "a"}, attachments=attachments)
    assert messages_of(found) == []
    assert found.queries[0].setup.attachments == names
    assert found.queries[0].expected == {"outputs": None, "attachments": attachments}


def test_answer_and_tools_may_be_named(tmp_path: Path) -> None:
    columns = "{query: inputs.q, id: metadata.key, answer: outputs.result.text, tools: metadata.steps}"
    record = {
        "inputs": {"q": "a", "p": "b"},
        "outputs": {"result": {"text": "x"}, "draft": "y", "note": "z"},
        "metadata": {"key": 5, "steps": ["search", {"name": "book", "args": {"room": 4}}]},
        "expected_response": "kept",
    }
    (found,) = read(
        tmp_path,
        {
            "formats.yaml": f"formats: 1\nfiles: {{a.jsonl: {{format: langsmith, columns: {columns}}}}}\n",
            "a.jsonl": json_lines(record),
        },
    )
    assert messages_of(found) == []
    (query,) = found.queries
    assert (query.id, query.turns) == ("5", ("a",))
    assert query.expected == {
        "inputs": {"p": "b"},
        "outputs": {"draft": "y", "note": "z"},
        "expected_response (2)": "kept",
        "expected_response": "x",
        "expected_tools": record["metadata"]["steps"],  # type: ignore[index]
    }
    understood = understand(query.expected)
    assert understood.answer == "x"
    assert understood.tool_calls == (ToolCall("search"), ToolCall("book", {"room": 4}))


_CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}


@pytest.mark.parametrize(
    ("outputs", "answer", "tools"),
    [
        ({"answer": "x"}, "x", []),
        ({"expected_response": "x", "confidence": 0.5}, "x", []),
        ({"completion": "x"}, "x", []),
        ({"output": {"type": "ai", "data": {"content": "x"}}}, "x", []),
        ({"output": {"content": "x", "role": "assistant"}}, "x", []),
        ({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}]}, "x", []),
        ({"messages": [{"type": "ai", "content": "", "tool_calls": [_CALL]}]}, None, ["search"]),
        (
            {
                "expected_output": {
                    "messages": [{"type": "ai", "content": "x", "tool_calls": [{"name": "f", "args": {}}]}]
                }
            },
            "x",
            ["f"],
        ),
        (
            {"messages": [{"type": "ai", "data": {"content": "x", "additional_kwargs": {"tool_calls": [_CALL]}}}]},
            "x",
            ["search"],
        ),
        ({"output": {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}}, None, ["f"]),
        ({"expected_trajectory": ["list_tables", "query"]}, None, ["list_tables", "query"]),
        ({"trajectory": ["a"], "response": "x"}, "x", ["a"]),
        ({"tool_calls": [{"name": "a", "args": {}}], "answer": "x"}, "x", ["a"]),
        (
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": "x", "tool_calls": [_CALL]}}]},
            "x",
            ["search"],
        ),
        ({"generations": [[{"text": "x"}]]}, "x", []),
        ({"generations": [{"text": "x"}, {"text": "y"}]}, "x", []),
        ({"title": "x", "body": "y"}, None, []),
        ({}, None, []),
        (None, None, []),
        (["x"], "x", []),
    ],
)
@pytest.mark.parametrize("key", ["outputs", "reference_outputs"])
def test_outputs_are_the_expected_answer_and_calls(
    tmp_path: Path, key: str, outputs: Any, answer: str | None, tools: list[str]
) -> None:
    (query,) = read_one(
        tmp_path, "examples.json", json.dumps([{"inputs": {"question": "a"}, key: outputs, "dataset_id": "d"}])
    ).queries
    assert query.expected == {key: outputs, "dataset_id": "d"}
    understood = understand(query.expected)
    assert understood.answer == answer
    assert [call.name for call in understood.tool_calls] == tools


def test_what_was_said_before_in_the_inputs_is_not_expected(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "before", "tool_calls": [_CALL]},
        {"role": "user", "content": "b"},
    ]
    (query,) = read_one(
        tmp_path, "a.json", json.dumps([{"inputs": {"messages": said}, "outputs": {"answer": "x"}}])
    ).queries
    understood = understand(query.expected, len(query.turns))
    assert understood.answers == (None, "x")
    assert understood.tool_calls == ()


def test_chats_for_fine_tuning_are_read_with_the_answers_of_each_turn(tmp_path: Path) -> None:
    definition = {
        "type": "function",
        "function": {"name": "unused", "description": "d", "parameters": {"type": "object"}},
    }
    chat = {
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "x"},
            {"role": "user", "content": "b"},
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            {"role": "assistant", "content": "y"},
        ],
        "tools": [definition],
    }
    found = read_one(tmp_path, "chats.jsonl", json_lines(chat, {"messages": []}, {"messages": None}))
    assert found.format == "langsmith"
    assert [(line, text.partition(":")[0]) for line, text in messages_of(found)] == [(2, "messages"), (3, "messages")]
    (query,) = found.queries
    assert query.turns == ("a", "b")
    assert query.expected == chat
    understood = understand(query.expected, 2)
    assert understood.answers == ("x", "y")
    assert understood.tool_calls == (ToolCall("search", '{"q": "x"}'),)
