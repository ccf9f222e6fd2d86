"""The tools that an eval set expects stand beside the verdict, in every form of the report."""

from __future__ import annotations

import io
import time
from dataclasses import asdict, replace
from typing import Any

import pytest
from rich.console import Console

from incumbent.files.documents import Data
from incumbent.github.facts import classified_of, facts_of
from incumbent.intake.query import Query, Setup
from incumbent.pipeline.review import ClassifiedSubmission, Platform, Review, judge
from incumbent.pipeline.submission import Submission
from incumbent.report.console import Printer
from incumbent.report.query_context import ExpectedTool, evidence, expected_tools
from incumbent.report.review_console import print_text
from incumbent.report.review_json import ReviewOutput
from incumbent.report.review_markdown import render_markdown
from incumbent.report.verdict_text import PlainStyle
from tests.github.scenes import make_analysis, make_platform, make_query, reworded

STYLE = PlainStyle(make_platform().taxonomy)


def submission(tools: tuple[str, ...] | None = ("look_up", "create")) -> Submission:
    return Submission(customer="acme", agent="desk", folder="f", queries=(), tools=tools)


def query(expected: Data) -> Query:
    return Query(id="q", turns=("one", "two"), expected=expected, file="e", line=1)


VALLY = {
    "graders": [
        {"type": "tool-calls", "config": {"required": [{"command": "look_up"}], "disallowed": [{"command": "remove"}]}}
    ]
}


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (None, ""),
        ("an answer", ""),
        ({"expected_tools": []}, "Expected: no tool call."),
        ({"expected_tools": ["look_up"]}, "Expected tools: look_up."),
        ({"expected_tools": ["Look_up", "create"]}, "Expected tools: Look_up (not declared) and create."),
        ({"expected_tools": ["create", {"name": "create", "args": {"x": 1}}]}, "Expected tools: create."),
        (
            {"turns": [{"expected_tools": ["create"]}, {"expected_tools": ["look_up"]}]},
            "Expected tools: create and look_up.",
        ),
        (VALLY, "Expected tools: look_up; not to be called: remove (not declared)."),
        (
            {"graders": [{"type": "tool-calls", "config": {"disallowed": ["create"]}}]},
            "Tools not to be called: create.",
        ),
        (
            {"expected_tools": ["look_up", "create", "x"]},
            "Expected tools: x (not declared), look_up and create.",
        ),
        (
            {"expected_tools": list("abcde")},
            "Expected tools: {}, {}, {} and 2 more.".format(*(f"{x} (not declared)" for x in "abc")),
        ),
    ],
)
def test_the_expected_tools_are_told_in_a_sentence(expected: Data, text: str) -> None:
    assert evidence(query(expected), submission(), STYLE) == text


@pytest.mark.parametrize(
    ("tools", "declared"),
    [(None, None), ((), False), (("x",), True), (("y",), False), (("y", "*"), None), (("x", "*"), True)],
)
def test_a_tool_is_undeclared_only_where_tools_are_declared(
    tools: tuple[str, ...] | None, declared: bool | None
) -> None:
    found = expected_tools(query({"expected_tools": ["x"]}), submission(tools))
    assert found == (ExpectedTool(name="x", unwanted=False, declared=declared),)
    assert ("not declared" in evidence(query({"expected_tools": ["x"]}), submission(tools), STYLE)) is (
        declared is False
    )


def test_what_is_attached_is_told_since_the_classifier_hears_of_it() -> None:
    key = "ghp_" + "a1" * 18
    attached = replace(query({"expected_tools": ["create"]}), setup=Setup(attachments=("a.png", key)))
    text = evidence(attached, submission(), STYLE)
    assert text == "Attached: a.png and [looks like a secret]. Expected tools: create."


def test_a_name_that_looks_like_a_secret_is_not_repeated() -> None:
    key = "ghp_" + "a1" * 18
    assert key not in evidence(query({"expected_tools": [key]}), submission(), STYLE)


def test_many_expected_calls_are_told_quickly() -> None:
    calls: list[Any] = [{"name": f"tool{place}", "args": {"x": [place] * 3}} for place in range(50_000)]
    begun = time.process_time()
    assert len(expected_tools(query({"expected_tools": calls}), submission()) or ()) == 50_000
    assert time.process_time() - begun < 5


@pytest.fixture
def reviewed() -> Review:
    """A review of what the first job hands over, as the second one sees it."""
    asked = reworded(
        make_query("q01", {"d": 0.9}, "What is this :warning: sign?"),
        expected={"expected_tools": ["look_up", "x|y"]},
        setup=Setup(attachments=("a|b.png",)),
    )
    (facts,) = make_analysis([asked, make_query("q02", {"a": 0.7})]).judged.submissions
    carried = classified_of(facts.model_copy(update={"about": replace(facts.about, tools=("look_up",))}))
    again = classified_of(facts_of(carried, facts.specification, {}, {}))
    assert again.submission.tools == carried.submission.tools == ("look_up",)
    platform: Platform = make_platform()
    assert isinstance(carried, ClassifiedSubmission)
    return judge(platform, [carried], make_analysis().judged.identity)


def test_every_form_of_the_report_names_them(reviewed: Review) -> None:
    assert "<br>Attached: `a\\|b.png`. Expected tools: `x\\|y` (not declared) and `look_up`." in render_markdown(
        reviewed
    )
    assert render_markdown(reviewed).count("Expected tools") == 1
    for terminal in (False, True):
        stream = io.StringIO()
        print_text(reviewed, Printer(console=Console(file=stream, force_terminal=terminal, width=200)))
        text = "Attached: a|b.png. Expected tools: x|y (not declared) and look_up."
        assert stream.getvalue().count(text) == 1
    output = {item.verdict.id: item for item in ReviewOutput.of(reviewed).verdicts}
    assert [asdict(tool) for tool in output["q01"].expected_tools or ()] == [
        {"name": "look_up", "unwanted": False, "declared": True},
        {"name": "x|y", "unwanted": False, "declared": False},
    ]
    assert output["q01"].query.setup.attachments == ("a|b.png",)
    assert (output["q02"].expected_tools, output["q02"].query.setup.attachments) == (None, ())


def test_a_text_is_shown_as_it_is(reviewed: Review, capsys: pytest.CaptureFixture[str]) -> None:
    print_text(reviewed)
    assert ":warning:" in capsys.readouterr().out
