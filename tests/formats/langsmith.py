"""Files of the format `langsmith`."""

from __future__ import annotations

from tests.hostile.templates import SAID, SHIPS, chat, json_lines, template

TEMPLATES = (
    template(
        "langsmith",
        "examples.jsonl",
        [
            {
                "id": id,
                "inputs": {"question": text},
                "outputs": {"answer": answer},
                "metadata": {"dataset_split": ["base"]},
                "dataset_id": "harbour",
                "created_at": "2026-01-01T00:00:00Z",
            }
            for id, text, answer in SHIPS
        ],
        text=("inputs", "question"),
        name=("id",),
    ),
    template(
        "langsmith",
        "examples.json",
        {
            "examples": [
                {"id": id, "inputs": {"messages": chat(text)}, "outputs": {"answer": answer}}
                for id, text, answer in SHIPS
            ]
        },
        items=("examples",),
        text=("inputs", "messages", 1, "content"),
        name=("id",),
    ),
)
SAMPLES = (
    ("langsmith.json", '[{"inputs": {"question": "Hello"}, "outputs": {"answer": "Good day."}}]'),
    ("langsmith.jsonl", json_lines({"inputs": {"messages": SAID[:1]}, "outputs": None, "dataset_id": "d"})),
    ("langsmith.csv", "input_question,output_answer\nHello,Good day.\n"),
    ("fine-tuning.jsonl", json_lines({"messages": SAID})),
)
