"""Contradicted expectations, called tools and unfamiliar queries, in every form of a report."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, replace

import pytest
from rich.console import Console

from incumbent.classifier.classify import ClassifierResult
from incumbent.classifier.model import CalledTools, Classification, Contradiction, Judgement
from incumbent.files.snapshot import EmptySnapshot, Overlay
from incumbent.github.facts import classified_of, facts_of
from incumbent.ledger.classifications import shards_of
from incumbent.ledger.keys import with_tool_names
from incumbent.ledger.model import FolderRecord
from incumbent.ledger.store import load_shard
from incumbent.mcp.answers import ClassifiedRow
from incumbent.mcp.tool_runner import shown_in_chat
from incumbent.pipeline.review import Review, judge
from incumbent.report.classify import ClassifiedQuery, ClassifyOutput
from incumbent.report.console import Printer
from incumbent.report.review_console import print_text
from incumbent.report.review_json import ReviewOutput
from incumbent.report.review_markdown import render_markdown
from incumbent.report.verdict_text import MarkdownStyle, PlainStyle, called, contradicts
from incumbent.text.masking import masked_json
from tests.classifier.factories import query, specification, tool
from tests.factories import make_taxonomy
from tests.github.scenes import make_analysis, make_platform, make_query

PLAIN, MARKDOWN = PlainStyle(make_taxonomy("a")), MarkdownStyle(make_taxonomy("a"))
KEY = "ghp_" + "a1" * 18


def found(expected: tuple[str, ...], likeliest: tuple[str, ...], probability: float = 0.9) -> Contradiction:
    return Contradiction(expected=expected, likeliest=likeliest, probability=probability)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (
            found(("createIssue",), ("createIssue",), 0.2),
            "`q15`: the eval set expects `createIssue`; the classifier expected no tool call. The expectation counts.",
        ),
        (
            found((), ("a", "b", "a")),
            "`q15`: the eval set expects no tool call; the classifier expected `a` and `b`. The expectation counts.",
        ),
        (
            found(("a", "a", "b"), ("*",)),
            (
                "`q15`: the eval set expects `a` and `b`; the classifier expected a tool that is not listed. "
                "The expectation counts."
            ),
        ),
        (
            found(("a",), ()),
            "`q15`: the eval set expects `a`; the classifier expected a tool call. The expectation counts.",
        ),
        (
            found(("a",), ("b",), 0.5 - 1e-12),
            "`q15`: the eval set expects `a`; the classifier expected `b`. The expectation counts.",
        ),
    ],
)
def test_a_contradiction_is_told_with_names(item: Contradiction, said: str) -> None:
    assert contradicts("q15", item, MARKDOWN) == said
    assert contradicts("q15", item, PLAIN) == said.replace("`", "")


def test_names_of_tools_are_untrusted_text() -> None:
    hostile = found((KEY, "@everyone"), ("x\u202ey",))
    assert "ghp_" not in contradicts("q", hostile, MARKDOWN)
    assert "`@everyone`" in contradicts("q", hostile, MARKDOWN)
    assert "\u202e" not in contradicts("q", hostile, PLAIN)


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (CalledTools(0.92, ({"a": 0.8, "b": 0.2}, {"b": 1.0})), "a 0.80, then b 1.00 (any call: 0.92)"),
        (CalledTools(0.92, ({"a": 0.8}, {"b": 0.1})), "a 0.80 (any call: 0.92)"),
        (CalledTools(0.6, ({"a": 0.3}, {"b": 0.1})), "a 0.30 (any call: 0.60)"),
        (CalledTools(0.6, ({"a": 0.0},)), "none (any call: 0.60)"),
        (CalledTools(0.03, ({"a": 0.8},)), "none (any call: 0.03; nearest: a 0.80)"),
        (CalledTools(0.0), "none (any call: 0.00)"),
    ],
)
def test_the_likeliest_tool_of_each_step_is_shown(calls: CalledTools, said: str) -> None:
    assert called(calls, PLAIN) == said


CONTRADICTED = "q01: the eval set expects look_up; the classifier expected no tool call. The expectation counts."
UNFAMILIAR = "q02: the classifier cannot judge this kind of text: it is code or data."


@pytest.fixture
def reviewed() -> Review:
    """A review of what the first job hands over, as the second one sees it."""
    (facts,) = make_analysis([make_query("q01", {"d": 0.9}), make_query("q02", {"a": 0.7})]).judged.submissions
    carried = classified_of(facts)
    first, second = carried.result.classifications.values()
    said = found(("look_up",), ("look_up",), 0.3)
    result = replace(
        carried.result,
        classifications={"q01": replace(first, contradiction=said), "q02": replace(second, unfamiliar="code")},
    )
    keys = {item.query.id: item.key or "" for item in facts.queries}
    again = facts_of(replace(carried, result=result), facts.specification, keys, {})
    through_json = type(again).model_validate_json(again.model_dump_json())
    return judge(make_platform(), [classified_of(through_json)], make_analysis().judged.identity)


def test_every_form_of_a_review_has_the_remarks(reviewed: Review) -> None:
    markdown = render_markdown(reviewed)
    for remark in (CONTRADICTED.replace("look_up", "`look_up`"), UNFAMILIAR):
        name, rest = remark.split(":", 1)
        assert f"- `{name}`:{rest}\n" in f"{markdown}\n"
    for terminal in (False, True):
        stream = io.StringIO()
        print_text(reviewed, Printer(console=Console(file=stream, force_terminal=terminal, width=200)))
        assert stream.getvalue().count(f"  {CONTRADICTED}\n") == 1
        assert stream.getvalue().count(f"  {UNFAMILIAR}\n") == 1
    output = ReviewOutput.of(reviewed)
    assert output.unfamiliar == {"q02": "code"}
    assert {name: asdict(item) for name, item in output.contradictions.items()} == {
        "q01": {"expected": ("look_up",), "likeliest": ("look_up",), "probability": 0.3}
    }


def test_an_unfamiliar_query_keeps_its_verdict(reviewed: Review) -> None:
    assert {verdict.id for verdict in reviewed.verdicts} == {"q01", "q02"}


def test_without_them_there_is_nothing_to_remark() -> None:
    (facts,) = make_analysis([make_query("q01", {"d": 0.9})]).judged.submissions
    review = judge(make_platform(), [classified_of(facts)], make_analysis().judged.identity)
    assert (review.contradictions, review.unfamiliar) == ({}, {})
    assert "The expectation counts" not in render_markdown(review)


# What `classify` shows.

JUDGED = {"a": Judgement(True, 0.9, "tool")}
CALLS = CalledTools(0.9, ({"look_up": 0.8, KEY: 0.2}, {KEY: 1.0}))


def classification(**more: object) -> Classification:
    return replace(Classification(judgements=JUDGED, calls=CALLS), **more)  # type: ignore[arg-type]


def test_the_json_of_classify_has_the_called_tools() -> None:
    item = classification(contradiction=found(("look_up",), (KEY,)), unfamiliar="code")
    result = ClassifierResult(classifications={"q": item})
    output = ClassifyOutput.of(result, (query("q"),), make_taxonomy("a"), None)
    (row,) = json.loads(masked_json(output.model_dump(mode="json")))["queries"]
    assert row["values"]["a"]["path"] == "tool"
    assert row["calls"]["steps"] == [
        {"tool": "look_up", "probability": 0.8},
        {"tool": "[looks like a secret]", "probability": 1.0},
    ]
    assert row["contradiction"]["likeliest"] == ["[looks like a secret]"]
    assert row["unfamiliar"] == "code"
    bare = ClassifierResult(classifications={"q": classification(calls=None)})
    (plain,) = ClassifyOutput.of(bare, (query("q"),), make_taxonomy("a"), None).model_dump()["queries"]
    assert (plain["calls"], plain["contradiction"], plain["unfamiliar"]) == (None, None, None)


def test_an_assistant_is_told_of_called_tools_by_marked_names() -> None:
    item = classification(contradiction=found(("look_up",), (KEY,)), unfamiliar="code")
    row = shown_in_chat(ClassifiedQuery("q", item, ("hi",)), ClassifiedRow)
    assert (row["calls"]["steps"], row["calls"]["first"][0]["tool"]) == (2, "<untrusted>look_up</untrusted>")
    assert row["contradiction"]["expected"] == {"count": 1, "first": ["<untrusted>look_up</untrusted>"]}
    assert "ghp_" not in json.dumps(row)
    plain = shown_in_chat(ClassifiedQuery("q", classification(calls=None), ("hi",)), ClassifiedRow)
    assert (plain["calls"], plain["contradiction"], plain["unfamiliar"]) == (None, None, None)


# What the ledger keeps.

KEPT_AS = "0" * 24


def read_back(item: object) -> Classification:
    """A classification as the ledger has it."""
    record = {"format": 1, "folder": "f", "classifications": {KEPT_AS: item}}
    return FolderRecord.model_validate(record).classifications[KEPT_AS]


def test_the_ledger_keeps_what_reports_say() -> None:
    item = classification(contradiction=found(("look_up",), ()), unfamiliar="code")
    shards = shards_of("folders/f.json", {KEPT_AS: item})
    assert "look_up" not in "".join(shards.values())
    kept = load_shard(Overlay(EmptySnapshot(), shards), *shards)[KEPT_AS]
    assert (kept.calls, kept.unfamiliar, kept.judgements) == (None, "code", item.judgements)
    assert with_tool_names(kept, specification(tools=(tool("look_up"),))) == replace(item, calls=None)


@pytest.mark.parametrize("path", ["specification", "inference", "arbitration", "undeclared"])
def test_a_record_of_an_earlier_version_is_familiar_and_contradicts_nothing(path: str) -> None:
    old = {"judgements": {"a": {"value": True, "confidence": 0.9, "path": path}}, "basis": None, "attempt": False}
    found = read_back(old)
    assert (found.unfamiliar, found.contradiction) == (None, None)


def test_a_record_with_another_path_is_refused() -> None:
    with pytest.raises(ValueError, match="path"):
        read_back({"judgements": {"a": {"value": True, "confidence": 0.9, "path": "magic"}}})
