"""Files of the format `agent-skill`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

TEMPLATES = (
    template(
        "agent-skill",
        "evals/evals.json",
        {
            "skill_name": "harbour",
            "evals": [
                {"id": place, "prompt": text, "expected_output": answer, "files": [], "assertions": [answer]}
                for place, (_, text, answer) in enumerate(SHIPS)
            ],
        },
        items=("evals",),
        text=("prompt",),
        name=("id",),
    ),
)
SAMPLES = (
    (
        "evals.json",
        '{"skill_name": "s", "evals": [{"id": 1, "prompt": "Hello", "expected_output": "x", "files": []}]}',
    ),
)
