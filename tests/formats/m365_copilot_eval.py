"""Files of the format `m365-copilot-eval`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

TEMPLATES = (
    template(
        "m365-copilot-eval",
        "evals.json",
        {
            "schemaVersion": "1.2.0",
            "default_evaluators": {"Relevance": {}},
            "items": [{"id": id, "prompt": text, "expected_response": answer} for id, text, answer in SHIPS],
        },
        items=("items",),
        text=("prompt",),
        name=("id",),
    ),
    template(
        "m365-copilot-eval",
        "older.json",
        {"prompts": [text for _, text, _ in SHIPS], "expected_responses": [answer for *_, answer in SHIPS]},
        items=("prompts",),
        text=(),
    ),
)
SAMPLES = (("m365.json", '{"schemaVersion": "1.2.0", "items": [{"prompt": "Hello"}]}'),)
