"""By what content is known again: what changes a verdict is part of it, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.classifier.model import Classification, Findings, Identity, Sample, agree
from incumbent.intake.expectation import ExpectedTools
from incumbent.ledger.keys import classification_key, content_key, under
from incumbent.text.digests import digest

ADD = ExpectedTools(steps=(("add",),))
IDENTITY = Identity(backend="embedded", model="m", prompt="p", samples=5)


def key(**changes: Any) -> str:
    facts: dict[str, Any] = {
        "turns": ("Show my bills",),
        "specification": "s",
        "definitions": "d",
        "identity": IDENTITY,
        "conditions": "",
    }
    return classification_key(**facts | changes)


def test_a_classification_depends_on_what_is_expected_and_attached() -> None:
    keys = [
        key(),
        key(expected=ExpectedTools()),
        key(expected=ADD),
        key(expected=replace(ADD, order=None)),
        key(expected=replace(ADD, different=1)),
        key(expected=replace(ADD, steps=(("add",), ("get",)))),
        key(attachments=("add",)),
        key(attachments=("image",)),
        key(attachments=("image",), expected=ADD),
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("more", [{}, {"expected": None, "attachments": None}])
def test_without_them_what_is_known_by_its_former_key_still_counts(more: dict[str, None]) -> None:
    assert key(**more) == digest([["Show my bills"], "s", "d", ["embedded", "m", "p", 5, ""]])


def test_a_decision_is_bound_to_text_agent_and_expected_calls() -> None:
    assert content_key(["A  text"], "s") == content_key(["a text"], "s", None) == digest([["a text"], "s"])
    assert content_key(["a text"], "s", ADD) == digest([["a text"], "s", ["add"]])
    others = (ExpectedTools(), ADD, replace(ADD, steps=(("add", "get"),)), replace(ADD, forbidden=("get",)))
    chain = replace(ADD, order="chain")
    assert len({content_key(["a text"], "s", expected) for expected in (None, *others, chain)}) == 6


def test_answers_to_earlier_questions_count_for_their_present_form() -> None:
    found = agree([Sample(votes={"a": True}, probabilities={"a": 0.9})], ("a",), 1) or {}
    stored = Classification(judgements={}, findings={"k": Findings(capabilities={"old": found["a"]})})
    known = {"x": stored, "y": Classification(judgements={})}
    carried = under(known, {"old": "new", "other": "another"})
    assert carried["x"].findings["k"].capabilities == {"old": found["a"], "new": found["a"]}
    assert carried["y"] == known["y"]
    assert under(known, {}) == known
