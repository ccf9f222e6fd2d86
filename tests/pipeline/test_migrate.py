"""What curators corrected, in files, under the ids of a new taxonomy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.classifier.corrections import Correction
from incumbent.curator.corrections import CorrectedText, load_corrections, written
from incumbent.curator.entry import CorrectedCost, migrated_values
from incumbent.files.snapshot import Overlay, WorkingTree
from incumbent.pipeline.migrate import _move_values, plan_migration
from incumbent.taxonomy.config import CONFIG_FILE
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.taxonomy.migration import Migration
from tests.pipeline.impact.platforms import BASE
from tests.pipeline.impact.test_measure import SPLIT
from tests.reconcile.runs import config_text

AT = "2026-11-01T10:00:00Z"
MIGRATION = Migration(renames={"old": "new"}, splits={"whole": ("half", "rest")})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"old": True, "a": False}, {"new": True, "a": False}),
        ({"whole": False, "a": True}, {"a": True, "half": False, "rest": False}),
        ({"whole": True, "a": True}, {"a": True}),
        ({"whole": False, "half": True}, {"half": True, "rest": False}),
    ],
)
def test_values_in_a_file_move_as_those_of_the_model_do(before: dict[str, bool], after: dict[str, bool]) -> None:
    assert migrated_values(before, MIGRATION) == after
    mapping: dict[str, Any] = dict(before)
    _move_values(mapping, after, MIGRATION)
    assert mapping == after


@pytest.mark.parametrize("cost", [None, CorrectedCost(value=3, by="Cora", at=AT)])
def test_a_cost_outlives_the_tags_beside_it(cost: CorrectedCost | None, tmp_path: Path) -> None:
    """TRUE of a capability that is split says nothing of its parts, so that no tag is left."""
    tags = {"a": Correction(value=True, by="Cora", at=AT)}
    text = CorrectedText(turns=("Which trains go to Ulm?",), tags=tags, cost=cost)
    files = {
        TAXONOMY_FILE: yaml.safe_dump(SPLIT.model_dump(mode="json"), sort_keys=False),
        CONFIG_FILE: config_text(),
        text.path: written(text, None).content,
    }
    tree = WorkingTree(tmp_path)
    plan = plan_migration(Overlay(tree, files), BASE, {}, CONFIG_FILE)
    after = {item.path: item.content for item in plan.file_changes}
    assert text.path in after
    left = load_corrections(Overlay(tree, {text.path: after[text.path]}), SPLIT)
    assert [item.cost for item in left.values()] == ([] if cost is None else [cost])
    assert [item.tags for item in left.values()] == ([] if cost is None else [{}])
