"""Files of the format `promptfoo`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

TEMPLATES = (
    template(
        "promptfoo",
        "promptfooconfig.yaml",
        {
            "description": "harbour",
            "prompts": ["You help at the {{port}}. {{question}}"],
            "providers": ["openai:gpt-5"],
            "defaultTest": {"vars": {"port": "harbour"}, "assert": [{"type": "is-json"}]},
            "tests": [
                {"description": id, "vars": {"question": text}, "assert": [{"type": "contains", "value": answer}]}
                for id, text, answer in SHIPS
            ],
        },
        items=("tests",),
        text=("vars", "question"),
    ),
    template(
        "promptfoo",
        "promptfooconfig.json",
        {
            "prompts": ["{{question}}"],
            "providers": ["echo"],
            "tests": [
                {"vars": {"question": text}, "metadata": {"conversationId": "one"}, "assert": []}
                for _, text, _ in SHIPS
            ],
        },
        items=("tests",),
        text=("vars", "question"),
    ),
)
SAMPLES = (("promptfoo.yaml", "prompts: ['{{q}}']\ntests: [{vars: {q: Hello}}]\n"),)
