"""Files of the format `braintrust`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, chat, template

TEMPLATES = (
    template(
        "braintrust",
        "dataset.jsonl",
        [
            {"id": id, "input": {"messages": chat(text)}, "expected": answer, "tags": ["north"], "metadata": {}}
            for id, text, answer in SHIPS
        ],
        text=("input", "messages", 1, "content"),
        name=("id",),
    ),
)
SAMPLES = (
    ("braintrust.json", '[{"input": "Hello", "expected": "Good day.", "tags": ["a"]}]'),
    ("events.json", '{"events": [{"id": "1", "_xact_id": "7", "input": {"question": "Hello"}}], "cursor": null}'),
    ("braintrust.csv", "id,input,expected,metadata,tags\n1,Hello,Good day.,{},[]\n"),
)
