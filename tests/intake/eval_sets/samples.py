"""One small eval set of each format, by the names of the formats, for tests of what readers take for theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bot.intake.eval_sets.registry import readers
from bot.intake.eval_sets.sources import open_source
from bot.snapshot import WorkingTree
from tests.intake.eval_sets.folders import limits


def json_lines(*records: Any) -> str:
    """``records`` as JSON Lines."""
    return "".join(f"{json.dumps(record)}\n" for record in records)


_SAID = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day."}]

SAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "inspect": (
        ("inspect.json", '[{"input": "Hello", "target": "Good day."}]'),
        ("inspect.jsonl", json_lines({"input": _SAID[:1], "target": ["a", "b"], "choices": ["x", "y"], "id": 1})),
        ("inspect.csv", "input,target,sandbox\nHello,Good day.,docker\n"),
    ),
    "langsmith": (
        ("langsmith.json", '[{"inputs": {"question": "Hello"}, "outputs": {"answer": "Good day."}}]'),
        ("langsmith.jsonl", json_lines({"inputs": {"messages": _SAID[:1]}, "outputs": None, "dataset_id": "d"})),
        ("langsmith.csv", "input_question,output_answer\nHello,Good day.\n"),
        ("fine-tuning.jsonl", json_lines({"messages": _SAID})),
    ),
    "braintrust": (
        ("braintrust.json", '[{"input": "Hello", "expected": "Good day.", "tags": ["a"]}]'),
        ("events.json", '{"events": [{"id": "1", "_xact_id": "7", "input": {"question": "Hello"}}], "cursor": null}'),
        ("braintrust.csv", "id,input,expected,metadata,tags\n1,Hello,Good day.,{},[]\n"),
    ),
    "m365-copilot-eval": (("m365.json", '{"schemaVersion": "1.2.0", "items": [{"prompt": "Hello"}]}'),),
    "incumbent": (("own.yaml", "eval_set: 1\nqueries: [{query: Hello}]\n"),),
    "copilot-studio": (("studio.csv", "Prompt,Expected response,Test Method Type\nHello,Good day.,CompareMeaning\n"),),
    "azure-ai-evaluation": (
        ("azure.jsonl", json_lines({"query": "Hello", "response": "Good day.", "ground_truth": "Good day."})),
        ("azure-agent.jsonl", json_lines({"query": _SAID[:1], "response": _SAID[1:], "tool_definitions": []})),
        ("azure-chat.jsonl", json_lines({"conversation": {"messages": _SAID}})),
    ),
    "ai-agent-evals": (
        ("foundry.json", '{"name": "n", "evaluators": ["builtin.relevance"], "data": [{"query": "Hello"}]}'),
        (
            "mapped.json",
            '{"evaluators": [], "data_mapping": {"query": "input"}, "data": [{"input": "Hello", "expected": "x"}]}',
        ),
    ),
    "promptfoo": (("promptfoo.yaml", "prompts: ['{{q}}']\ntests: [{vars: {q: Hello}}]\n"),),
    "deepeval": (
        ("deepeval.json", '[{"input": "Hello", "actual_output": null, "expected_output": "Good day.", "context": []}]'),
        ("deepeval.csv", "input,actual_output,expected_output,retrieval_context\nHello,,Good day.,a|b\n"),
        ("chats.json", '[{"scenario": "A greeting", "turns": [{"role": "user", "content": "Hello"}]}]'),
    ),
    "vally": (("vally.eval.yaml", "name: x\nstimuli: [{name: a, prompt: Hello, graders: []}]\n"),),
    "openai-evals": (("openai.jsonl", json_lines({"input": _SAID[:1], "ideal": "Good day."})),),
    "agent-skill": (
        (
            "evals.json",
            '{"skill_name": "s", "evals": [{"id": 1, "prompt": "Hello", "expected_output": "x", "files": []}]}',
        ),
    ),
    "mlflow": (("mlflow.json", '[{"inputs": {"question": "Hello"}, "expectations": {"expected_response": "x"}}]'),),
    "plain": (
        ("plain.jsonl", json_lines({"query": "Hello", "answer": "Good day."})),
        ("plain.csv", "question,answer\nHello,Good day.\n"),
        ("alone.jsonl", json_lines({"input": "Hello"})),
        ("chat.jsonl", json_lines({"messages": _SAID, "topic": "greetings"})),
    ),
    "none": (
        ("mcp.json", '{"servers": {}, "inputs": [{"id": "key", "type": "promptString"}]}'),
        ("build.json", '{"input": "src/main.ts", "target": "es2022", "output": "dist"}'),
        ("package.csv", "name,target\na,b\n"),
    ),
}


def takes(folder: Path, name: str) -> dict[str, bool]:
    """Per sample file whether the format ``name`` takes it for its own by its ending, mark and content."""
    (reader,) = (reader for reader in readers() if reader.name == name)
    found: dict[str, bool] = {}
    for files in SAMPLES.values():
        for file, content in files:
            (folder / file).write_text(content, encoding="utf-8")
            source = open_source(WorkingTree(folder), file, limits())
            possible = file.endswith(reader.endings) and reader.mark.search(content) is not None
            found[file] = possible and reader.recognises(source)
    return found


def own_samples(name: str) -> dict[str, bool]:
    """What :func:`takes` is to say of the format ``name``: its own samples and no others."""
    return {file: format_ == name for format_, files in SAMPLES.items() for file, _ in files}
