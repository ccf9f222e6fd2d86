"""The file that says of other files which format they have."""

from __future__ import annotations

from tests.hostile.templates import BESIDE, template

TEMPLATES = (
    template(
        "formats.yaml",
        "formats.yaml",
        {
            "formats": 1,
            "files": {"asked.csv": {"format": "plain-table", "columns": {"query": "asked", "answer": "told"}}},
        },
        items=None,
        beside={**BESIDE, "asked.csv": "asked,told\nWhere is the Petrel?,At berth four\n"},
    ),
)
