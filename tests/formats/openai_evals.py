"""Files of the format `openai-evals`."""

from __future__ import annotations

from tests.hostile.templates import SAID, SHIPS, chat, json_lines, template

TEMPLATES = (
    template(
        "openai-evals",
        "samples.jsonl",
        [{"input": chat(text), "ideal": [answer]} for _, text, answer in SHIPS],
        text=("input", 1, "content"),
    ),
)
SAMPLES = (("openai.jsonl", json_lines({"input": SAID[:1], "ideal": "Good day."})),)
