"""Files of the format `deepeval`."""

from __future__ import annotations

import json

from tests.hostile.templates import SHIPS, chat, template

TEMPLATES = (
    template(
        "deepeval",
        "goldens.json",
        [
            {
                "input": text,
                "actual_output": None,
                "expected_output": answer,
                "retrieval_context": ["Log"],
                "expected_tools": [{"name": "find_ship", "input_parameters": {"ship": "Petrel"}}],
                "name": id,
            }
            for id, text, answer in SHIPS
        ],
        text=("input",),
    ),
    template(
        "deepeval",
        "conversations.json",
        [
            {
                "scenario": "A ship is looked for",
                "turns": json.dumps(chat(text)[1:]),
                "expected_outcome": answer,
                "user_description": "A pilot",
            }
            for _, text, answer in SHIPS
        ],
        text=("turns",),
    ),
    template(
        "deepeval",
        "goldens.csv",
        [
            ["input", "actual_output", "expected_output", "retrieval_context", "expected_tools", "name"],
            *([text, "", answer, "Log|Map", '[{"name": "find_ship"}]', id] for id, text, answer in SHIPS),
        ],
        text=(0,),
    ),
    template(
        "deepeval",
        "conversations.csv",
        [
            ["scenario", "turns", "expected_outcome", "user_description", "context", "name"],
            *(["A ship", json.dumps(chat(text)[1:]), answer, "A pilot", "Log|Map", id] for id, text, answer in SHIPS),
        ],
        text=(1,),
    ),
)
SAMPLES = (
    ("deepeval.json", '[{"input": "Hello", "actual_output": null, "expected_output": "Good day.", "context": []}]'),
    ("deepeval.csv", "input,actual_output,expected_output,retrieval_context\nHello,,Good day.,a|b\n"),
    ("chats.json", '[{"scenario": "A greeting", "turns": [{"role": "user", "content": "Hello"}]}]'),
)
