"""Entries that were classified again, on their way from the job that reads to the job that writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.classifier.classify import ClassifierResult
from incumbent.classifier.model import Classification, Judgement
from incumbent.curator.entry import Entry
from incumbent.github.reclassified_entries import RenewalFacts, entry_digest, renewal_facts, renewed
from incumbent.intake.specification import UNDECLARED
from incumbent.pipeline.reclassify import ReclassifyTask, Renewal
from incumbent.taxonomy.model import Taxonomy
from tests.factories import make_entry, make_taxonomy
from tests.github.scenes import IDENTITY

NEW = make_taxonomy("a", "n", "c", version="1.1.0")
X, Y, Z = (make_entry(id, {"a": 0.9, "was": 0.4}) for id in "xyz")


def task(entry: Entry, *asked: str) -> ReclassifyTask:
    carried = entry.model_copy(update={"scores": {"a": 0.9, "n": 0.4}})
    return ReclassifyTask(entry=entry, carried=carried, capabilities=asked, carried_ids={"was": "n"})


def found(taxonomy: Taxonomy = NEW, **true: float) -> Classification:
    judgements = {name: Judgement(name in true, true.get(name, 0.1), "inference") for name in taxonomy.by_id}
    return Classification(judgements=judgements)


def renewal(**more: Any) -> Renewal:
    defaults: dict[str, Any] = {
        "tasks": (task(X, "c"), task(Y, "a"), task(Z, "c")),
        "specifications": {None: UNDECLARED},
        "result": ClassifierResult(classifications={"x": found(c=0.7, a=0.2), "y": found(a=0.6)}),
        "kept": {"z": "its agent is not known"},
    }
    return Renewal(**defaults | more)


ENTRIES = {item.id: item for item in (X, Y, Z)}
KEYS = {"x": "0" * 24, "y": "1" * 24}


def test_the_facts_lead_to_the_same_entries_as_what_they_are_of() -> None:
    facts = tuple(
        RenewalFacts.model_validate_json(item.model_dump_json(), strict=False)
        for item in renewal_facts(renewal(), KEYS, {})
    )
    after = renewed(facts, ENTRIES, NEW, IDENTITY)
    assert after == renewal().renewed(NEW, IDENTITY)
    assert {id: dict(item.scores) for id, item in after.items()} == {
        "x": {"a": 0.9, "c": 0.7, "n": 0.4},
        "y": {"a": 0.6, "n": 0.4},
    }
    assert {(item.entry, item.key, item.kept, item.missing) for item in facts} == {
        ("x", "0" * 24, None, False), ("y", "1" * 24, None, False), ("z", None, "its agent is not known", False),
    }  # fmt: skip


def test_nothing_changes_while_one_is_missing() -> None:
    found = replace(renewal().result, shortfalls={"z": "0 of 5 samples are valid"})
    facts = renewal_facts(renewal(kept={}, result=found), KEYS, {})
    assert [item.missing for item in facts] == [False, False, True]
    assert facts[2].shortfall == "0 of 5 samples are valid"
    assert renewed(facts, ENTRIES, NEW, IDENTITY) == {}


@pytest.mark.parametrize(
    "update",
    [
        {"turns": ("another",)},
        {"scores": {"a": 0.8}},
        {"classified": X.classified.model_copy(update={"model": "m2"})},
        {"setup": replace(X.setup, attachments=("a.pdf",))},
    ],
    ids=lambda item: next(iter(item)),
)
def test_an_entry_that_somebody_changed_meanwhile_is_left(update: dict[str, Any]) -> None:
    changed = X.model_copy(update=update)
    facts = renewal_facts(renewal(), KEYS, {})
    assert entry_digest(changed) != entry_digest(X)
    assert list(renewed(facts, ENTRIES | {"x": changed}, NEW, IDENTITY)) == ["y"]


def test_an_entry_that_has_gone_is_left_and_what_no_score_rests_on_may_change() -> None:
    facts = renewal_facts(renewal(), KEYS, {})
    pinned = Y.model_copy(update={"pin": "an audit"})
    after = renewed(facts, {"y": pinned}, NEW, IDENTITY)
    assert (list(after), after["y"].pin) == (["y"], "an audit")
