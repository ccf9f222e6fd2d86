"""Files of the format `plain-records`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

TEMPLATES = (
    template(
        "plain-records",
        "rows.jsonl",
        [{"id": id, "question": text, "note": answer} for id, text, answer in SHIPS],
        text=("question",),
        name=("id",),
    ),
    template(
        "plain-records",
        "rows.json",
        [{"id": id, "utterance": text, "conversation": id} for id, text, _ in SHIPS],
        text=("utterance",),
        name=("id",),
    ),
)
