"""Files of the format `vally`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

_GRADERS = [{"type": "tool-calls", "config": {"required": [{"name": "harbour", "command": "find_ship"}]}}]

TEMPLATES = (
    template(
        "vally",
        "harbour.eval.yaml",
        {
            "name": "harbour-eval",
            "type": "capability",
            "config": {"runs": 1},
            "scoring": {"threshold": 0.8},
            "stimuli": [{"name": id, "prompt": text, "graders": _GRADERS} for id, text, _ in SHIPS],
        },
        items=("stimuli",),
        text=("prompt",),
        name=("name",),
    ),
)
SAMPLES = (("vally.eval.yaml", "name: x\nstimuli: [{name: a, prompt: Hello, graders: []}]\n"),)
