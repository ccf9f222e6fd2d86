"""The excluded queries that may be admitted after all: those on which neither a person nor gate 7 has the last word."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.classifier.classify import ClassifierResult
from incumbent.classifier.model import Classification, Identity, Judgement, StatedCalls
from incumbent.curator.entry import Source
from incumbent.curator.staging import AuditStamp
from incumbent.curator.store import RegressionSet
from incumbent.intake.query import Query
from incumbent.pipeline.admit import archived_entries
from incumbent.pipeline.review import ClassifiedSubmission, Platform
from incumbent.pipeline.submission import Submission
from tests.factories import make_config, make_entry, make_taxonomy

TAXONOMY = make_taxonomy("a", "b", "c")
STAMP = AuditStamp(at="2026-11-21T10:00:00Z", commit=None, by=None)
TEXT = "Where is the parcel that I sent last week?"


def archived(
    queries: dict[str, tuple[str, dict[str, Any]]], entries: int = 1, by_rule: str = "", **config: Any
) -> list[str]:
    """Those of ``queries``, each with its text and more of its classification, that may be admitted after all."""
    source = Source(customer="acme", agent="desk", eval_set="e", item="r")
    held = [
        make_entry(f"r{place}", {"a": 0.95}, f"text of entry {place}", source=source, by_rule=tuple(by_rule))
        for place in range(entries)
    ]
    platform = Platform(
        taxonomy=TAXONOMY,
        config=make_config(**{"redundancy_floor": 1, "ceiling": 10} | config),
        regression_set=RegressionSet({item.id: item for item in held}, {}, {}),
    )
    rows = tuple(Query(id=id, turns=(text,), file="e", line=None) for id, (text, _) in queries.items())
    found = {
        id: Classification(
            judgements={
                name: Judgement(name in more.get("tags", "a"), 0.9, more.get("path", "inference")) for name in "abc"
            },
            **{key: value for key, value in more.items() if key not in ("tags", "path")},
        )
        for id, (_, more) in queries.items()
    }
    submission = Submission(customer="acme", agent="desk", folder="", queries=rows)
    classified = ClassifiedSubmission(submission=submission, result=ClassifierResult(classifications=found))
    identity = platform.regression_set.identity
    assert isinstance(identity, Identity)
    kept = archived_entries(platform, [classified], identity, STAMP, {"rejected"})
    return sorted(item.source.item for item in kept.values() if item.source is not None)


DOUBTED: dict[str, Any] = {
    "path": "expected",
    "stated": StatedCalls(probability=0.1, different=1, capabilities=frozenset({"a"})),
}


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ({}, ["q"]),
        ({"attempt": True}, []),
        ({"unfamiliar": "code"}, []),
        ({"tags": ""}, []),
        ({"tags": "ab"}, []),
        (DOUBTED, []),
    ],
    ids=["redundant", "an attempt", "unfamiliar", "nothing exercised", "it has merit", "a doubted expectation"],
)
def test_only_what_was_excluded_without_a_doubt_is_on_record(more: dict[str, Any], kept: list[str]) -> None:
    assert archived({"q": (TEXT, more)}) == kept


def test_what_only_rule_values_cover_has_no_champion_and_is_on_record_all_the_same() -> None:
    assert archived({"q": (TEXT, {})}, by_rule="a") == ["q"]


def test_what_a_person_rejected_or_holds_personal_data_is_not() -> None:
    assert archived({"rejected": (TEXT, {})}) == []
    assert archived({"q": (f"{TEXT} Write to jo.smith@posteo.de.", {})}) == []


def test_a_clone_of_an_entry_or_of_a_query_with_merit_is_not() -> None:
    assert archived({"q": ("text of entry 0!", {})}) == []
    waiting = {"q": (f"{TEXT}!", {}), "w": (TEXT, {"tags": "ab"}), "z": ("Show my calendar.", {})}
    assert archived(waiting) == ["z"]


@pytest.mark.parametrize(("share", "kept"), [(0.4, ["q"]), (0.3, [])])
def test_what_would_exceed_the_share_of_its_customer_is_not(share: float, kept: list[str]) -> None:
    limits = make_config().limits.model_copy(update={"customer_share": share})
    assert archived({"q": (TEXT, {})}, entries=3, limits=limits.model_dump()) == kept
