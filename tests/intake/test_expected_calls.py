from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.files.documents import Data
from bot.files.snapshot import WorkingTree
from bot.intake.agents.reading import read_specification
from bot.intake.eval_sets.folder import read_eval_sets
from bot.intake.expected_calls import MAX_PREFIXES, expected_tools
from bot.intake.specification import Tool
from tests.factories import REPOSITORY
from tests.intake.agents.builders import make_limits


def make_tools(*names: str) -> tuple[Tool, ...]:
    return tuple(
        Tool(
            name=name,
            description="",
            protocol="rest",
            effect="read",
            effect_from="",
            confirmation=None,
            card=None,
            auth=None,
            declared_in="a.json",
        )
        for name in names
    )


@pytest.mark.parametrize(
    ("called", "names", "meant"),
    [
        ("listIssues", ["listIssues", "getIssue"], "listIssues"),
        ("listissues", ["listIssues", "getIssue"], "listIssues"),
        ("list_issues", ["listIssues", "list-issues"], None),
        ("list-issues", ["listIssues", "list-issues"], "list-issues"),
        ("List issues", ["listIssues"], "listIssues"),
        *(
            (f"tracker{mark}listIssues", ["listIssues", "getIssue"], "listIssues")
            for mark in (".", "__", "-", "/", ":")
        ),
        *((f"tracker{mark}list_issues", ["listIssues"], "listIssues") for mark in (".", "__", "-", "/", ":")),
        ("mcp__tracker__listIssues", ["listIssues", "tracker__listIssues"], "tracker__listIssues"),
        ("tracker_listIssues", ["listIssues"], None),
        ("tracker.list", ["listIssues"], None),
        ("list", ["tracker.list"], "tracker.list"),
        ("LIST", ["tracker__list"], "tracker__list"),
        ("list", ["tracker.list", "files.list"], None),
        ("tracker.list", ["tracker__list", "files.list"], "tracker__list"),
        ("mail.list", ["tracker.list"], None),
        ("tracker.search", ["search", "Search"], "search"),
        ("tracker.SEARCH", ["search", "Search"], None),
        ("tracker.", ["tracker"], "tracker"),
        ("...", ["_", "-"], None),
        ("-", ["-"], None),
        ("*", ["*"], None),
        ("search", [], None),
        ("search", ["search", "search"], "search"),
        ("a." * MAX_PREFIXES + "search", ["search"], "search"),
        ("a." * (MAX_PREFIXES + 1) + "search", ["search"], "search"),
        ("listIssues", ["listIssues", "*"], "listIssues"),
        ("tracker.LIST_ISSUES", ["listIssues", "*"], "listIssues"),
        ("elsewhere", ["listIssues", "*"], "*"),
        ("elsewhere", ["*"], "*"),
        ("list_issues", ["listIssues", "list-issues", "*"], None),
        ("*", ["listIssues", "*"], None),
        ("...", ["*"], None),
    ],
)
def test_a_name_means_the_one_declared_tool_that_it_fits(called: str, names: list[str], meant: str | None) -> None:
    found = expected_tools({"expected_tools": [called]}, 1, make_tools(*names))
    assert found == (None if meant is None else (meant,))


@pytest.mark.parametrize(
    ("expected", "turns", "found"),
    [
        (None, 1, None),
        ({"expected_response": "A list."}, 1, None),
        ({"expected_tools": []}, 1, ()),
        ({"expected_tools": "none"}, 1, ()),
        ({"expected_tools": ["other"]}, 1, None),
        ({"expected_tools": ["get", "other", "list", "get"]}, 1, ("get", "list", "get")),
        ({"expected_tools": ["GET", "tracker.get"]}, 1, ("get", "get")),
        ({"turns": [{"expected_tools": ["list"]}, {"expected_tools": ["list", "get"]}]}, 2, ("list", "list", "get")),
        ({"graders": [{"type": "tool-calls", "config": {"disallowed": ["list"]}}]}, 1, None),
        ({"constraints": {"expect_tools": ["get"], "reject_tools": ["list"]}}, 1, ("get",)),
    ],
)
def test_the_calls_that_an_eval_set_expects_of_declared_tools(
    expected: Any, turns: int, found: tuple[str, ...] | None
) -> None:
    assert expected_tools(expected, turns, make_tools("list", "get")) == found


def test_an_agent_without_tools_calls_none_that_are_named() -> None:
    assert expected_tools({"expected_tools": ["list"]}, 1, ()) is None
    assert expected_tools({"expected_tools": []}, 1, ()) == ()


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (None, None),
        ({"expected_response": "A list."}, None),
        ({"expected_tools": []}, ()),
        ({"expected_tools": ["list", "get", "list"]}, ("*", "*", "*")),
        ({"expected_tools": ["*"]}, None),
        ({"constraints": {"reject_tools": ["list"]}}, None),
    ],
)
def test_without_a_word_on_tools_every_name_is_that_of_one_that_is_not_listed(
    expected: Any, found: tuple[str, ...] | None
) -> None:
    assert expected_tools(expected, 1, None) == found


def test_many_names_are_told_apart_in_no_time() -> None:
    tools = make_tools(*(f"server-{number}.tool-{number}" for number in range(500)), "a." * 100_000)
    calls: list[Any] = [*(f"tool_{number}" for number in range(30_000)), "b." * 500_000]
    assert expected_tools({"expected_tools": calls}, 1, tools) == tuple(
        f"server-{number}.tool-{number}" for number in range(500)
    )


def test_the_calls_of_the_examples_are_understood() -> None:
    folder = WorkingTree(REPOSITORY / "examples" / "customers" / "northwind-tracker" / "tracker")
    tools = read_specification(folder, make_limits()).tools or ()
    (eval_set,) = read_eval_sets(folder, make_limits())
    found = {query.id: expected_tools(query.expected, len(query.turns), tools) for query in eval_set.queries}
    assert {name: calls for name, calls in found.items() if calls is not None} == {
        **dict.fromkeys(("q01", "q04", "q05", "q06", "q14", "q16"), ("listIssues",)),
        **dict.fromkeys(("q10", "q13", "q15"), ("createIssue",)),
        **dict.fromkeys(("q03", "q17"), ()),
        "q07": ("getTeamWorkload",) * 3,
        "q08": ("listIssues", "getTeamWorkload", "createIssue"),
        "q09": ("listMilestones", "createIssue"),
        "q12": ("listIssues", "listIssues", "getTeamWorkload"),
        "q18": ("listMilestones", "listIssues", "getIssue"),
    }


NAMES = st.text(alphabet="abAB._-/:*", max_size=8)


@given(called=st.lists(NAMES, max_size=5), declared=st.lists(NAMES, max_size=5))
def test_only_declared_names_come_out_and_exact_ones_always(called: list[Data], declared: list[str]) -> None:
    found = expected_tools({"expected_tools": called}, 1, make_tools(*declared))
    assert set(found or ()) <= set(declared)
    exact = Counter(name for name in called if name in declared and name not in ("", "-", "*"))
    assert exact <= Counter(found or ())
    assert found is None or len(found) <= len(called)
    assert (found == ()) == (called == [])
