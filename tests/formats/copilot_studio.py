"""Files of the format `copilot-studio`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

TEMPLATES = (
    template(
        "copilot-studio",
        "tests.csv",
        [
            ["Prompt", "Expected response", "Test Method Type", "Passing Score", "Test id"],
            *([text, answer, "CompareMeaning", "70", id] for id, text, answer in SHIPS),
        ],
        text=(0,),
        name=(4,),
    ),
)
SAMPLES = (("studio.csv", "Prompt,Expected response,Test Method Type\nHello,Good day.,CompareMeaning\n"),)
