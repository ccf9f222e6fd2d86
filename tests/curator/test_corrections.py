"""Corrections by hand: files that are read whole, or refused with every fault at once."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from incumbent.classifier.corrections import Correction
from incumbent.curator.corrections import (
    FOLDER,
    CorrectedText,
    by_hand,
    corrected_costs,
    load_corrections,
    written,
)
from incumbent.curator.entry import CorrectedCost, total
from incumbent.curator.store import RegressionSet
from incumbent.curator.suggestions import suggest
from incumbent.errors import InputError
from incumbent.files.snapshot import Overlay, WorkingTree
from incumbent.intake.query import MOST_COST, SETUP_FILE, Setup
from incumbent.text.compare import text_key
from tests.factories import make_config, make_entry, make_taxonomy

TAXONOMY = make_taxonomy("a", "b")
KEY = text_key(["Which trains go  to Ulm?"])
AT = "2026-11-01T10:00:00Z"
ONE = CorrectedText(
    turns=("Which trains go to Ulm?",),
    tags={"a": Correction(value=False, by="Robin", at=AT, reason="no: it is\nanother")},
)


def load(folder: Path, files: dict[str, str]) -> dict[str, CorrectedText]:
    return load_corrections(Overlay(WorkingTree(folder), files), TAXONOMY)


def test_a_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    change = written(ONE, None)
    assert change.path == f"{FOLDER}/{KEY}.yaml"
    assert change.content is not None
    # What is beside it, whatever its name sorts to.
    beside = {f"{FOLDER}/{name}": "words" for name in (".gitkeep", "README.md")}
    assert load(tmp_path, {change.path: change.content, **beside}) == {KEY: ONE}
    assert by_hand({KEY: ONE}) == {KEY: ONE.tags}
    assert load(tmp_path, {}) == {}


def test_a_cost_is_corrected_alone_or_beside_tags(tmp_path: Path) -> None:
    cost = CorrectedCost(value=3, by="Cora", at=AT, reason="needs a tenant of its own")
    alone, both = (item.model_copy(update={"cost": cost}) for item in (ONE.model_copy(update={"tags": {}}), ONE))
    for item in (alone, both):
        text = written(item, written(ONE, None).content).content
        assert text is not None
        assert ("tags:" in text) == bool(item.tags)
        found = load(tmp_path, {item.path: text})
        assert found == {KEY: item}
        assert corrected_costs(found) == {KEY: cost}
    assert by_hand({KEY: alone}) == {}
    assert by_hand({KEY: both}) == by_hand({KEY: ONE})
    assert corrected_costs({KEY: ONE}) == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "corrections of `tags` or of `cost`"),
        ("tags: {}", "corrections of `tags` or of `cost`"),
        ("cost: null", "corrections of `tags` or of `cost`"),
        (f"cost: {{value: -1, at: {AT}}}", "cost.value"),
        (f"cost: {{value: .inf, at: {AT}}}", "is not a finite number"),
        (f"cost: {{value: dear, at: {AT}}}", "cost.value"),
        ("cost: {value: 1}", "cost.at"),
        ("cost: 3", "cost"),
    ],
)
def test_a_correction_of_nothing_and_a_cost_that_is_none_are_faults(text: str, told: str, tmp_path: Path) -> None:
    file = f"turns: [Which trains go to Ulm?]\n{text}\n"
    with pytest.raises(InputError) as error:
        load(tmp_path, {f"{FOLDER}/{KEY}.yaml": file})
    assert told in "\n".join(map(str, error.value.problems))


def test_comments_survive_an_edit() -> None:
    text = written(ONE, None).content
    assert text is not None
    more = ONE.model_copy(update={"tags": {**ONE.tags, "b": Correction(value=True, at=AT)}})
    edited = written(more, f"# Seen on Monday.\n{text}").content
    assert edited is not None
    assert edited.startswith("# Seen on Monday.\n")
    assert "b:" in edited


def test_every_fault_of_every_file_is_told(tmp_path: Path) -> None:
    good = written(ONE, None).content
    assert good is not None
    files = {
        f"{FOLDER}/{'0' * 24}.yaml": f"cost: {{value: 1, at: {AT}}}\n{good}",
        f"{FOLDER}/{'1' * 24}.yaml": "turns: []\ntags: {a: {value: perhaps}}\n",
        f"{FOLDER}/{KEY}.yaml": good.replace("a:", "aa:"),
        f"{FOLDER}/{KEY}.yml": good,
    }
    with pytest.raises(InputError) as error:
        load(tmp_path, files)
    shown = "\n".join(map(str, error.value.problems))
    misnamed = [
        item for item in error.value.problems if item.message.endswith("not named after the digest of its turns")
    ]
    assert [(item.file, item.line) for item in misnamed] == [
        (f"{FOLDER}/{'0' * 24}.yaml", 2),
        (f"{FOLDER}/{KEY}.yml", 1),
    ]
    assert f"name it {FOLDER}/{KEY}.yaml" in shown
    assert "tags.aa: the taxonomy has no such capability; perhaps you meant 'a'" in shown
    assert [item.line for item in error.value.problems if item.message.startswith("tags.aa")] == [
        next(number for number, line in enumerate(good.splitlines(), 1) if "a:" in line)
    ]
    assert "tags.a.value" in shown
    assert "turns" in shown
    assert {item.fix for item in error.value.problems} >= {
        f"name it {FOLDER}/{KEY}.yaml, or restore it from git",
        "use an id of taxonomy/taxonomy.yaml, or take the tag out",
    }
    # Without a taxonomy ids are not checked.
    text = files[f"{FOLDER}/{KEY}.yaml"]
    assert load_corrections(Overlay(WorkingTree(tmp_path), {f"{FOLDER}/{KEY}.yaml": text}), None).keys() == {KEY}


def test_a_link_is_left_out(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / f"{KEY}.yaml").symlink_to("/etc/hostname")
    assert load_corrections(WorkingTree(tmp_path), TAXONOMY) == {}


TEXT = "Which trains go to Ulm?"


def corrected(text: str, cost: float) -> dict[str, CorrectedCost]:
    """The cost that a curator gave ``text``."""
    return {text_key([text]): CorrectedCost(value=cost, by="Cora", at=AT)}


@pytest.mark.parametrize(
    ("costs", "turns", "own", "counts"),
    [
        ({}, (TEXT,), 2.0, 2.0),
        (corrected(TEXT, 7), (TEXT,), 2.0, 7.0),
        (corrected(TEXT, 0), (TEXT,), 2.0, 0.0),
        # Whatever the eval set says later of the same text; case and white space aside.
        (corrected(TEXT, 7), ("which trains  go to ulm?",), 9.0, 7.0),
        # Another text is another query.
        (corrected(TEXT, 7), ("Which trains go to Bern?",), 2.0, 2.0),
        (corrected(TEXT, 7), (TEXT, "And back?"), 2.0, 2.0),
    ],
)
def test_a_corrected_cost_counts_for_its_text_alone(
    costs: dict[str, CorrectedCost], turns: tuple[str, ...], own: float, counts: float
) -> None:
    entry = make_entry("e", {"a": 0.9}, turns=turns, setup=Setup(cost=own, tenant="t"))
    known = RegressionSet({"e": entry}, {"w": entry.model_copy(update={"id": "w"})}, {}, costs)
    assert known.cost_of(turns, entry.setup) == counts
    assert known.cost == counts
    (resident,), _ = known.residents(TAXONOMY)
    (waiting,), _ = known.in_line(TAXONOMY)
    assert (resident.setup_cost, waiting.setup_cost) == (counts, counts)
    # The entry's own file keeps the customer's figure.
    assert known.entries["e"].setup.cost == own


def test_no_entry_goes_for_its_cost() -> None:
    twins = [make_entry(id, {"a": 0.6}, text=id * 9, setup=Setup(cost=2.0)) for id in ("left", "right")]
    best = [make_entry(f"best{place}", {"a": 0.9}, text=f"best {place}") for place in "12"]
    entries = {item.id: item for item in (*twins, *best)}
    for costs in ({}, corrected("right" * 9, 3), corrected("left" * 9, 1)):
        found = suggest(RegressionSet(entries, {}, {}, costs), TAXONOMY, make_config(redundancy_floor=3))
        assert found.evictions[0].id == "left"


@given(st.lists(st.floats(0, MOST_COST), max_size=6))
def test_a_total_is_finite_and_the_same_in_any_order(costs: list[float]) -> None:
    totals = {total(order) for order in itertools.islice(itertools.permutations(costs), 24)}
    assert len(totals) == 1
    assert 0 <= min(totals) <= len(costs) * MOST_COST


@pytest.mark.parametrize("cost", [-1, MOST_COST * 2, float("inf"), float("nan")])
def test_no_cost_is_beyond_reason(cost: Any) -> None:
    with pytest.raises(ValidationError):
        SETUP_FILE.validate_python({"cost": cost})
    with pytest.raises(ValidationError):
        CorrectedCost(value=cost, at=AT)
