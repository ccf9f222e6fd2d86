"""Which reader takes a file, by its content alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.formats import ai_agent_evals, azure_ai_evaluation, deepeval, openai_evals
from incumbent.intake.eval_sets.reader import glance, open_source
from tests.intake.eval_sets.folders import limits

READERS = (
    ai_agent_evals.READER,
    azure_ai_evaluation.READER,
    deepeval.READER,
    openai_evals.READER,
)
AGENT, AZURE, DEEP, OPENAI = (reader.name for reader in READERS)
HI: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]


def lines(*records: Any) -> str:
    """``records`` as JSON Lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


def taken(folder: Path, name: str, content: str) -> list[str]:
    """The names of the readers that take a file of this name and content."""
    (folder / name).write_text(content)
    source = open_source(WorkingTree(folder), name, limits())
    seen = glance(content.encode())
    return [
        reader.name
        for reader in READERS
        if name.endswith(reader.endings) and reader.mark.search(seen) and reader.recognises(source)
    ]


@pytest.mark.parametrize(
    ("name", "content", "readers"),
    [
        # Azure AI Evaluation
        ("a.jsonl", lines({"query": "Hi", "response": "Hello"}), [AZURE]),
        ("a.jsonl", lines({"response": "Hello"}, {"query": "Hi", "response": None}), [AZURE]),
        ("a.jsonl", lines({"query": HI, "tool_definitions": []}), [AZURE]),
        ("a.jsonl", lines({"query": "Hi", "ground_truth": ["search"]}), [AZURE]),
        ("a.jsonl", lines({"query": "Hi", "expected_actions": ["search"]}), [AZURE]),
        ("a.jsonl", lines({"query": "Hi", "retrieved_documents": []}), [AZURE]),
        ("a.jsonl", lines({"conversation": {"messages": HI}}), [AZURE]),
        ("a.jsonl", lines({"messages": HI, "tool_definitions": []}), [AZURE]),
        ("a.json", lines({"query": "Hi", "context": "x"}, {"query": "Ho", "context": "x"}), [AZURE]),
        ("a.csv", "query,response,ground_truth\nHi,Hello,x\n", [AZURE]),
        ("a.csv", 'id,conversation\n1,"{""messages"": [{""role"": ""user"", ""content"": ""Hi""}]}"\n', [AZURE]),
        ("a.jsonl", lines({"query": "Hi"}), []),
        ("a.jsonl", lines({"messages": HI}), []),
        ("a.jsonl", lines({"conversation": "c1", "query": "Hi"}), []),
        ("a.jsonl", lines({"response": "Hello", "ground_truth": "x"}), []),
        ("a.jsonl", "7\n[1]\n", []),
        ("a.csv", "query,topic\nHi,x\n", []),
        # ai-agent-evals
        ("a.json", json.dumps({"name": "n", "evaluators": [], "data": [{"query": "Hi"}]}), [AGENT]),
        ("a.json", json.dumps({"data_mapping": {"query": "q"}, "data": [{"q": "Hi"}]}), [AGENT]),
        ("a.json", json.dumps({"evaluators": ["x"], "data": None}), [AGENT]),
        ("a.json", json.dumps({"evaluators": ["x"]}), []),
        ("a.json", json.dumps({"data": [{"query": "Hi"}]}), []),
        # OpenAI evals
        ("a.jsonl", lines({"input": HI, "ideal": "Hello"}), [OPENAI]),
        ("a.jsonl", lines({"input": "Hi", "ideal": ["Hello", "Hi"]}), [OPENAI]),
        ("a.json", json.dumps([{"input": "Hi", "ideal": "Hello"}]), [OPENAI]),
        ("a.jsonl", lines({"input": HI, "criteria": "polite"}), [OPENAI]),
        ("a.jsonl", lines({"item": {"ticket_text": "Hi", "label": "x"}}), [OPENAI]),
        ("a.jsonl", lines({"item": {"query": "Hi", "ground_truth": "x"}, "sample": {"output_text": "x"}}), [OPENAI]),
        ("a.jsonl", lines({"item": {"query": "Hi"}, "sample.output_text": "x", "sample.output_items": []}), [OPENAI]),
        ("a.json", json.dumps([{"item": {"question": "Hi"}}]), [OPENAI]),
        ("a.json", json.dumps([{"item": {"sku": 7}}, {"item": {"sku": 8}}]), []),
        ("a.jsonl", lines({"item": {"question": "Hi"}, "quantity": 7}), []),
        ("a.jsonl", lines({"sample": HI}), []),
        ("a.jsonl", lines({"input": "Hi", "criteria": "polite"}), []),
        # DeepEval
        ("a.json", json.dumps([{"input": "Hi", "expected_output": "Hello"}]), [DEEP]),
        ("a.json", json.dumps([{"input": "Hi", "actualOutput": "Hello"}]), [DEEP]),
        ("a.json", json.dumps([{"scenario": "Greets", "turns": None}]), [DEEP]),
        ("a.json", json.dumps([{"scenario": "Greets", "expectedOutcome": "x"}]), [DEEP]),
        ("a.json", json.dumps([{"turns": HI, "expected_outcome": "x"}]), [DEEP]),
        ("a.json", json.dumps({"goldens": [{"input": "Hi", "expectedOutput": "x"}], "finalized": True}), [DEEP]),
        ("a.json", json.dumps({"conversationalGoldens": [{"scenario": "x", "turns": HI}]}), [DEEP]),
        ("a.jsonl", lines({"input": "Hi", "expected_tools": None}), [DEEP]),
        ("a.csv", "input,actual_output,expected_output\nHi,,Hello\n", [DEEP]),
        ("a.csv", "scenario,turns\nGreets,[]\n", [DEEP]),
        ("a.json", json.dumps([{"scenario": "Greets"}]), []),
        ("a.json", json.dumps([{"input": "Hi"}]), []),
        ("a.json", json.dumps([{"input": "Hi", "context": ["x"]}]), []),
        ("a.json", json.dumps({"goldens": []}), []),
        # Others
        ("a.json", json.dumps({"schemaVersion": "1.2.0", "items": [{"prompt": "Hi", "expected_response": "x"}]}), []),
        ("a.json", json.dumps({"items": [{"turns": [{"prompt": "Hi"}]}], "default_evaluators": {}}), []),
        ("a.json", json.dumps([{"prompt": "Hi", "expected_response": "x"}]), []),
        ("a.json", json.dumps({"eval_set": 1, "queries": [{"query": "Hi", "expected": "x"}]}), []),
        ("a.csv", "Prompt,Expected response,Test Method Type\nHi,Hello,x\n", []),
        ("a.csv", "Question,Conversation,Expected answer\nHi,1,Hello\n", []),
        ("a.jsonl", lines({"input": "Hi", "target": "Hello", "id": 1, "metadata": {}}), []),
        ("a.jsonl", lines({"input": HI, "target": ["Hello"], "choices": ["a"]}), []),
        ("a.csv", "input,target\nHi,Hello\n", []),
        ("a.json", json.dumps([{"inputs": {"question": "Hi"}, "outputs": {"answer": "x"}, "metadata": {}}]), []),
        ("a.jsonl", lines({"id": "e1", "inputs": {"messages": HI}, "outputs": {"messages": HI}}), []),
        ("a.csv", "id,inputs,outputs\n1,Hi,Hello\n", []),
        ("a.jsonl", lines({"input": "Hi", "expected": "x", "metadata": {}, "tags": []}), []),
        ("a.json", json.dumps([{"input": {"messages": HI}, "expected": {"answer": "x"}}]), []),
        ("a.csv", "input,expected,tags\nHi,Hello,\n", []),
        (
            "a.json",
            json.dumps({"skill_name": "s", "evals": [{"id": 1, "prompt": "Hi", "expected_output": "x", "files": []}]}),
            [],
        ),
        ("a.json", json.dumps([{"query": "Hi", "should_trigger": True}]), []),
        ("a.json", json.dumps({"prompts": ["{{q}}"], "tests": [{"vars": {"q": "Hi"}}]}), []),
        ("a.jsonl", lines({"messages": [*HI, {"role": "assistant", "content": "Hello"}]}), []),
        ("a.jsonl", lines({"prompt": "Hi", "completion": "Hello"}), []),
        ("a.json", json.dumps({"openapi": "3.0.0", "info": {"description": "query, input, scenario"}}), []),
        ("a.json", json.dumps({"query": {"input": "x"}, "response": "y"}), []),
        ("a.json", json.dumps("query"), []),
    ],
)
def test_a_file_is_taken_by_the_reader_of_its_format_alone(
    tmp_path: Path, name: str, content: str, readers: list[str]
) -> None:
    assert taken(tmp_path, name, content) == readers


def test_a_file_that_fits_two_formats_is_taken_by_both(tmp_path: Path) -> None:
    assert taken(tmp_path, "a.jsonl", lines({"input": "Hi", "ideal": "x", "expected_output": "x"})) == [DEEP, OPENAI]
