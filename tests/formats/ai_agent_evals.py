"""Files of the format `ai-agent-evals`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

TEMPLATES = (
    template(
        "ai-agent-evals",
        "dataset.json",
        {
            "name": "harbour",
            "evaluators": ["builtin.groundedness"],
            "data_mapping": {"query": "asked", "ground_truth": "told"},
            "data": [{"asked": text, "told": answer} for _, text, answer in SHIPS],
        },
        items=("data",),
        text=("asked",),
    ),
)
SAMPLES = (
    ("foundry.json", '{"name": "n", "evaluators": ["builtin.relevance"], "data": [{"query": "Hello"}]}'),
    (
        "mapped.json",
        '{"evaluators": [], "data_mapping": {"query": "input"}, "data": [{"input": "Hello", "expected": "x"}]}',
    ),
)
