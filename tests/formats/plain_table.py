"""Files of the format `plain-table`."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

TEMPLATES = (
    template(
        "plain-table",
        "rows.csv",
        [["id", "utterance", "note"], *([id, text, answer] for id, text, answer in SHIPS)],
        text=(1,),
        name=(0,),
    ),
    template(
        "plain-table",
        "rows.tsv",
        [["id", "utterance", "note"], *([id, text, answer] for id, text, answer in SHIPS)],
        text=(1,),
        name=(0,),
    ),
)
