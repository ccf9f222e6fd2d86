"""Files of the format `inspect`."""

from __future__ import annotations

from tests.hostile.templates import SAID, SHIPS, chat, json_lines, template

TEMPLATES = (
    template(
        "inspect",
        "samples.json",
        [{"id": id, "input": text, "target": answer, "metadata": {"port": "north"}} for id, text, answer in SHIPS],
        text=("input",),
        name=("id",),
    ),
    template(
        "inspect",
        "samples.jsonl",
        [{"id": id, "input": chat(text), "target": [answer]} for id, text, answer in SHIPS],
        text=("input", 1, "content"),
        name=("id",),
    ),
    template(
        "inspect",
        "samples.csv",
        [
            ["id", "input", "target", "sandbox"],
            *([id, text, answer, '["docker","compose.yaml"]'] for id, text, answer in SHIPS),
        ],
        text=(1,),
        name=(0,),
    ),
)
SAMPLES = (
    ("inspect.json", '[{"input": "Hello", "target": "Good day."}]'),
    ("inspect.jsonl", json_lines({"input": SAID[:1], "target": ["a", "b"], "choices": ["x", "y"], "id": 1})),
    ("inspect.csv", "input,target,sandbox\nHello,Good day.,docker\n"),
)
