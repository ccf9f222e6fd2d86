"""What a writer writes, the reader of the format reads: the same ids, turns, set-ups, answers and tool calls."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incumbent.curator.entry import Entry
from incumbent.files.documents import as_mapping
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.expectation import Expectation, understand
from incumbent.intake.export_round_trip import CARRIED, carried
from incumbent.intake.query import Query
from incumbent.runners.export.item import ExportItem, is_flat, is_flat_mapping, returned
from incumbent.runners.export.plan import Export, plan_export, writers
from tests.export.strategies import sets
from tests.factories import SHIPPED, make_entry

READER = {name: name for name in writers()} | {"jsonl": "plain-records"}
PLAIN = {"azure-ai-evaluation"}
"""Rows with nothing but a query are of no format in particular."""
EXAMPLES = int(os.environ.get("INCUMBENT_CASES", settings().max_examples // 3))
ROUND_TRIP = settings(
    deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def read(export: Export, name: str) -> list[Query]:
    """The queries that the format's reader finds in the files of ``export``."""
    with tempfile.TemporaryDirectory() as folder:
        for file, text in export.written.files.items():
            (Path(folder) / file).write_bytes(text.encode())
        found = read_eval_sets(WorkingTree(Path(folder)), SHIPPED.limits)
    formats = {eval_set.format for eval_set in found}
    assert formats == {READER[name]} or (name in PLAIN and formats == {"plain-records"})
    assert not [str(problem) for eval_set in found for problem in eval_set.problems]
    return [query for eval_set in found for query in eval_set.queries]


def came_back(export: Export, name: str, by_id: Mapping[str, Entry]) -> list[Entry]:
    """The entries of ``export`` as they come back."""
    return [
        by_id[query.id].model_copy(update={"expected": query.expected, "setup": query.setup})
        for query in sorted(read(export, name), key=lambda query: query.id)
    ]


def meaning(expected: Any, turns: tuple[str, ...]) -> tuple[tuple[str | None, ...], list[str]]:
    """The answers, and the tool calls in any order."""
    found: Expectation = understand(expected, len(turns))
    return found.answers, sorted(map(repr, found.tool_calls))


@pytest.mark.parametrize("name", writers())
@ROUND_TRIP
@given(data=st.data())
def test_what_is_exported_is_read_alike(name: str, data: st.DataObject) -> None:
    chosen: list[Entry] = data.draw(sets())
    export = plan_export(chosen, writers()[name], keep_placeholders=True)
    if not export.ids:
        return
    by_id = {entry.id: entry for entry in chosen}
    found = {query.id: query for query in read(export, name)}
    assert found.keys() == set(export.ids)
    for id, query in found.items():
        assert query.turns == by_id[id].turns
        assert query.setup == by_id[id].setup
        assert meaning(query.expected, query.turns) == meaning(by_id[id].expected, query.turns)


@pytest.mark.parametrize("name", writers())
@ROUND_TRIP
@given(data=st.data())
def test_what_came_back_is_exported_to_the_same_bytes(name: str, data: st.DataObject) -> None:
    chosen: list[Entry] = data.draw(sets())
    export = plan_export(chosen, writers()[name], keep_placeholders=True)
    if not export.ids:
        return
    by_id = {entry.id: entry for entry in chosen}
    back = came_back(export, name, by_id)
    assert plan_export(back, writers()[name], keep_placeholders=True).written.files == export.written.files
    # Another target is not told of what the first one wrote, either.
    assert not any(carried(returned(entry, writers().values()).expected) for entry in back)


@pytest.mark.parametrize("name", writers())
@ROUND_TRIP
@given(data=st.data())
def test_what_people_changed_in_an_export_is_kept(name: str, data: st.DataObject) -> None:
    chosen: list[Entry] = data.draw(sets())
    export = plan_export(chosen, writers()[name], keep_placeholders=True)
    if not export.ids:
        return
    by_id = {entry.id: entry for entry in chosen}
    changed = [
        entry.model_copy(update={"expected": {**entry.expected, "note": "changed"}})
        for entry in came_back(export, name, by_id)
        if isinstance(entry.expected, dict)
    ]
    again = plan_export(changed, writers()[name], keep_placeholders=True)
    back = came_back(again, name, by_id)
    assert plan_export(back, writers()[name], keep_placeholders=True).written.files == again.written.files
    for entry, before in zip(back, changed, strict=True):
        assert as_mapping(carried(entry.expected)["expected"])["note"] == "changed"
        assert meaning(entry.expected, entry.turns) == meaning(before.expected, entry.turns)


@pytest.mark.parametrize("name", list(writers()))
@ROUND_TRIP
@given(data=st.data())
def test_the_same_entries_in_any_order_give_the_same_bytes(name: str, data: st.DataObject) -> None:
    chosen: list[Entry] = data.draw(sets())
    shuffled = data.draw(st.permutations(chosen))
    one, other = (plan_export(each, writers()[name], keep_placeholders=True) for each in (chosen, shuffled))
    assert one == other
    assert set(one.ids) | {remark.id for remark in one.left_out} == {entry.id for entry in chosen}


@given(chosen=sets(1))
def test_the_record_of_an_entry_says_what_was_expected_unless_the_target_did(chosen: list[Entry]) -> None:
    item = ExportItem.of(chosen[0])
    record = item.record(said=False)
    assert carried({CARRIED: record}).get("expected") == item.expected
    assert all(is_flat(value) or is_flat_mapping(value) for value in record.values())
    assert not {"expected", "expected_json"} & item.record(said=True).keys()


SAID = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "1"},
    {"role": "user", "content": "two"},
]
THREAD = {"turns": [{"expected_response": "1", "evaluators": {}}, {"expected_response": "2"}], "name": "n"}
GROUND_TRUTH = {"ground_truth": '["f", "g"]', "actions": [1]}
"""Tools, but only beside the actions of an agent."""


@pytest.mark.parametrize("name", writers())
@pytest.mark.parametrize(
    ("expected", "turns"),
    [
        (None, ("one",)),
        (None, ("one", "two")),
        ("a text", ("one",)),
        ({"input": SAID, "target": ["x", "y"]}, ("one", "two")),
        ({"query": SAID, "ground_truth": "x"}, ("one", "two")),
        ({"query": SAID[:1], "input": SAID[:1]}, ("one",)),
        (THREAD, ("one", "two")),
        (THREAD | {"default_evaluators": {"Relevance": {}}}, ("one", "two")),
        ({"turns": [{}]}, ("one", "two")),
        ({"default_evaluators": {"Relevance": {}}, "evaluators": {"Coherence": {}}}, ("one",)),
        ({"Expected response": "counts", "target": "x", "ground_truth": "x", "expected_output": "x"}, ("one",)),
        (GROUND_TRUTH, ("one",)),
        ({"expected_tools": [{"name": "f", "arguments": {"a": 1}}], "metadata": {"k": 1}}, ("one",)),
        ({"assert": [{"type": "equals", "value": "x"}], "metadata": {"k": 1}}, ("one",)),
    ],
)
def test_what_comes_back_means_the_same_and_is_exported_to_the_same_bytes(
    name: str, expected: Any, turns: tuple[str, ...]
) -> None:
    entry = make_entry("e1", {"a": 0.9}, turns=turns, expected=expected)
    export = plan_export([entry], writers()[name])
    if not export.ids:
        assert len(turns) > 1
        return
    (back,) = came_back(export, name, {entry.id: entry})
    assert back.id == entry.id
    assert meaning(back.expected, turns) == meaning(expected, turns)
    assert plan_export([back], writers()[name]).written.files == export.written.files
