"""Corrections by hand: files that are read whole, or refused with every fault at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.classifier.corrections import Correction
from bot.curator.corrections import (
    FOLDER,
    CorrectedText,
    CorrectionByHand,
    by_hand,
    corrected_costs,
    load_corrections,
    written,
)
from bot.curator.costs import CorrectedCost
from bot.errors import InputError
from bot.files.snapshot import Overlay, WorkingTree
from bot.text.compare import text_key
from tests.factories import make_taxonomy

TAXONOMY = make_taxonomy("a", "b")
KEY = text_key(["Which trains go  to Ulm?"])
AT = "2026-11-01T10:00:00Z"
ONE = CorrectedText(
    turns=("Which trains go to Ulm?",),
    tags={"a": CorrectionByHand(value=False, by="Robin", at=AT, reason="no: it is\nanother")},
)


def load(folder: Path, files: dict[str, str]) -> dict[str, CorrectedText]:
    return load_corrections(Overlay(WorkingTree(folder), files), TAXONOMY)


def test_a_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    change = written(ONE, None)
    assert change.path == f"{FOLDER}/{KEY}.yaml"
    assert change.content is not None
    assert load(tmp_path, {change.path: change.content, f"{FOLDER}/README.md": "words"}) == {KEY: ONE}
    assert by_hand({KEY: ONE}) == {KEY: {"a": Correction(value=False, by="Robin", at=AT)}}
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
    more = ONE.model_copy(update={"tags": {**ONE.tags, "b": CorrectionByHand(value=True, at=AT)}})
    edited = written(more, f"# Seen on Monday.\n{text}").content
    assert edited is not None
    assert edited.startswith("# Seen on Monday.\n")
    assert "b:" in edited


def test_every_fault_of_every_file_is_told(tmp_path: Path) -> None:
    good = written(ONE, None).content
    assert good is not None
    files = {
        f"{FOLDER}/{'0' * 24}.yaml": good,
        f"{FOLDER}/{'1' * 24}.yaml": "turns: []\ntags: {a: {value: perhaps}}\n",
        f"{FOLDER}/{KEY}.yaml": good.replace("a:", "aa:"),
    }
    with pytest.raises(InputError) as error:
        load(tmp_path, files)
    shown = "\n".join(map(str, error.value.problems))
    assert "not named after the digest of its turns" in shown
    assert f"name it {FOLDER}/{KEY}.yaml" in shown
    assert "tags.aa: the taxonomy has no such capability; perhaps you meant 'a'" in shown
    assert "tags.a.value" in shown
    assert "turns" in shown
    # Without a taxonomy ids are not checked.
    text = files[f"{FOLDER}/{KEY}.yaml"]
    assert load_corrections(Overlay(WorkingTree(tmp_path), {f"{FOLDER}/{KEY}.yaml": text}), None).keys() == {KEY}


def test_a_link_is_no_file(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / f"{KEY}.yaml").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match="symbolic link"):
        load_corrections(WorkingTree(tmp_path), TAXONOMY)
