"""Each field of a document between the jobs has one rule, which the documentation repeats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from incumbent.github.border import FIELDS, PARTS
from incumbent.github.facts import Analysis
from incumbent.reconcile.inventory import Inventory
from tests.factories import REPOSITORY


def fields(model: type[BaseModel]) -> Iterator[str]:
    """Class and field of all that ``model`` is made of, down to where one rule holds of all below."""
    schema = model.model_json_schema()
    classes: dict[str, Any] = {model.__name__: schema, **schema.get("$defs", {})}
    left, seen = [model.__name__], set()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        for field, below in classes[name].get("properties", {}).items():
            yield f"{name}.{field}"
            if FIELDS.get(f"{name}.{field}", PARTS) is PARTS:
                left += re.findall(r"#/\$defs/(\w+)", str(below))


@pytest.mark.parametrize("model", [Analysis, Inventory])
def test_each_field_of_a_document_has_a_rule(model: type[BaseModel]) -> None:
    assert [field for field in fields(model) if field not in FIELDS] == []


def test_each_rule_is_of_a_field() -> None:
    known = {field for model in (Analysis, Inventory) for field in fields(model)}
    assert sorted(FIELDS.keys() - known) == []


def test_what_is_made_of_others_has_others() -> None:
    known = [field for model in (Analysis, Inventory) for field in fields(model)]
    for field, rule in FIELDS.items():
        if rule is PARTS:
            after = known[known.index(field) + 1 :]
            assert any(not other.startswith(field.partition(".")[0]) for other in after), field


def test_the_documentation_has_the_same_table() -> None:
    rows = [f"| `{field}` | {rule.kind} | {rule.how} |" for field, rule in FIELDS.items() if rule is not PARTS]
    text = Path(REPOSITORY, "docs/trust.md").read_text(encoding="utf-8")
    assert "\n".join(rows) in text
