"""What differs between two configs: keys as paths, values as they would be written."""

from __future__ import annotations

from typing import Any

import pytest

from bot.pipeline.impact.comparison import config_changes
from tests.factories import make_config

BEFORE = make_config()

CASES: list[tuple[str, dict[str, Any], list[tuple[str, str | None, str | None]]]] = [
    ("nothing", {}, []),
    ("a knob", {"competence_bar": 0.6}, [("knobs.competence_bar", "0.5", "0.6")]),
    ("ceiling", {"ceiling": 7}, [("ceiling", str(BEFORE.ceiling), "7")]),
    ("a text", {"honesty_scope": "all"}, [("options.honesty_scope", '"evidence"', '"all"')]),
    ("a truth", {"block_on_review": True}, [("block_on_review", "false", "true")]),
    ("a list", {"curators": ("é",)}, [("curators", "[]", '["é"]')]),
    (
        "overrides that are new",
        {"per_capability": {"a.b": {"redundancy_floor": 0}}},
        [("per_capability.a.b.redundancy_floor", None, "0")],
    ),
    ("an override that says nothing", {"per_capability": {"a.b": {}}}, []),
]


@pytest.mark.parametrize(("values", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_key_is_told_that_differs(
    values: dict[str, Any], expected: list[tuple[str, str | None, str | None]]
) -> None:
    changed = make_config(**values)
    assert [(item.key, item.before, item.after) for item in config_changes(BEFORE, changed)] == expected
    back = [(item.key, item.after, item.before) for item in config_changes(changed, BEFORE)]
    assert back == expected


def test_keys_are_sorted() -> None:
    found = config_changes(BEFORE, make_config(winning_margin=0.2, ceiling=7, competence_bar=0.6))
    assert [item.key for item in found] == ["ceiling", "knobs.competence_bar", "knobs.winning_margin"]
