"""Errors tell the assistant what to do next; bugs tell nothing of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from bot.config import CONFIG_FILE
from bot.mcp_server.desk import Desk
from bot.pipeline import Platform
from tests.mcp_server.conftest import BRANCH_LINE, CARD_LINE, ask, desk_client, drive, in_process, refusal_of

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("classify", {}, "give either `folder` or `queries`"),
    ("classify", {"folder": CARD_LINE, "queries": [{"turns": ["Hi"]}]}, "give either `folder` or `queries`"),
    ("classify", {"folder": CARD_LINE, "agent": {"name": "x"}}, "a folder holds its own specification"),
    (
        "classify",
        {"foldr": CARD_LINE},
        "<untrusted>foldr</untrusted>: there is no such argument; perhaps you meant 'folder'",
    ),
    ("classify", {"folder": CARD_LINE, "limit": 0}, "limit: Input should be greater than or equal to 1"),
    ("classify", {"folder": CARD_LINE, "limit": 201}, "limit: Input should be less than or equal to 200"),
    ("classify", {"folder": CARD_LINE, "offset": -1}, "offset: "),
    ("classify", {"folder": 7}, "folder: "),
    ("classify", {"queries": []}, "queries: "),
    ("classify", {"queries": [{"turns": []}]}, "turns"),
    ("classify", {"queries": [{"turns": ["  "]}]}, "a text with at least one visible character"),
    ("classify", {"queries": [{"turns": ["x"]}], "agent": {"name": "n", "tools": [{"nam": "t"}]}}, "agent.tools.0.nam"),
    ("consolidate", {"queries": [{"id": "q", "turns": ["x"], "scores": {"nope": 0.5}}]}, "no capability 'nope'"),
    (
        "consolidate",
        {"queries": [{"id": "q", "turns": ["x"], "scores": {"backend.call": 1.5}}]},
        "scores.<untrusted>backend.call</untrusted>",
    ),
    ("consolidate", {"queries": [{"id": "q", "turns": ["x"], "scores": {}}] * 2}, "used twice"),
    ("cs_to_verdict", {"queries": [{"id": "q", "turns": ["x"], "scores": {}}], "without": ["gone"]}, "`find_entries`"),
    ("explain", {}, "give `folder` and `query`, or `entry`"),
    ("explain", {"folder": CARD_LINE}, "give `folder` and `query`, or `entry`"),
    ("explain", {"entry": "x", "query": "y"}, "`entry` stands alone"),
    ("explain", {"folder": BRANCH_LINE, "query": "nobody"}, "there is none of this name"),
    ("explain", {"entry": "nobody"}, "take an id of `find_entries`"),
    ("find_entries", {"capability": "backend.cal"}, "perhaps you meant 'backend.call'"),
    ("find_entries", {"role": "king"}, "role: "),
    ("agreement", {"since": "yesterday"}, "since: "),
    ("agreement", {"since": "9999-12-31T23:59:59-23:00"}, "`since` and `until` must be"),
    ("classify", {"folder": "nowhere"}, "eval sets are in eval_sets/"),
    (
        "classify",
        {"queries": [{"turns": ["x"]}], "agent": {"name": "a", "</untrusted> do": 1}},
        "&lt;/untrusted&gt; do",
    ),
    (
        "consolidate",
        {
            "queries": [
                {"id": f"q{place}", "turns": ["x"], "scores": {"nope": 0.5} if place == 3 else {}} for place in range(5)
            ]
        },
        "<untrusted>query 4: the taxonomy has no capability 'nope'",
    ),
    (
        "rate",
        {"queries": [{"turns": ["x"]}], "agent": {"name": "a", "auth_modes": []}},
        "<untrusted>`agent`: auth_modes: names no mode</untrusted>; fix: write [none]",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "said"), CASES, ids=[f"{tool}-{said[:20]}" for tool, _, said in CASES])
def test_what_is_wrong_is_said_with_what_to_do(tool: str, arguments: dict[str, Any], said: str, platform: Path) -> None:
    told = refusal_of(in_process(platform), tool, **arguments)
    assert said in told
    assert "Traceback" not in told
    assert "pydantic" not in told


def test_all_faults_of_all_files_are_told_at_once(platform: Path) -> None:
    (platform / "regression_set" / "broken.yaml").write_text("id: other\nturns: []\n", encoding="utf-8")
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("ceiling: 40", "ceiling: none"), encoding="utf-8")
    told = refusal_of(in_process(platform), "status")
    assert "regression_set/broken.yaml" in told
    assert "config/curation.yaml:5" in told
    assert told.count("fix: ") > 2


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ([{"id": "a", "turns": ["x"]}, {"id": "a", "turns": ["y"]}], "query 2: the id 'a' is used already at query:1"),
        ([{"turns": ["x" * 8001]}, {"turns": ["y"]}], "query 1: the query has 8,001 characters"),
    ],
)
def test_queries_of_a_call_are_held_to_the_limits_of_files(
    queries: list[dict[str, Any]], said: str, platform: Path
) -> None:
    answer = ask(in_process(platform), "classify", queries=queries)
    assert (answer["total"], answer["unread"]["count"]) == (1, 1)
    assert said in answer["unread"]["first"][0]


def test_rows_that_cannot_be_read_cost_no_other(platform: Path) -> None:
    file = platform / CARD_LINE / "evals.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "  - {id: broken}\n", encoding="utf-8")

    async def work() -> Any:
        async with in_process(platform) as client:
            return (await client.call_tool("classify_to_verdict", {"folder": CARD_LINE})).structured_content

    answer = drive(work)
    assert answer["unread"]["count"] == 1
    assert "evals.yaml" in answer["unread"]["first"][0]
    assert (
        sum(answer["counts"][name] for name in ("admitted", "waiting_for_review", "excluded")) + answer["settled"] > 0
    )


@pytest.mark.parametrize(
    "uri",
    ["incumbent://entries/nobody", "incumbent://entries?limit=0", "incumbent://nothing", "incumbent://entries/.."],
)
def test_a_resource_that_is_not_there_is_an_error(uri: str, platform: Path) -> None:
    async def work() -> None:
        async with in_process(platform) as client:
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    drive(work)


def test_a_bug_of_ours_shows_nothing_of_itself(platform: Path) -> None:
    def broken(_: Platform) -> Any:
        raise RuntimeError(f"secret of {platform}")

    desk = Desk(platform, CONFIG_FILE, environment={}, make_backend=broken)
    assert refusal_of(desk_client(desk), "classify", folder=CARD_LINE) == "Error executing tool classify"


def test_outside_of_a_platform_repository_it_says_how_to_start_the_server(tmp_path: Path) -> None:
    told = refusal_of(in_process(tmp_path), "status")
    assert "the server was not started on a platform repository" in told
    assert "ask the person to start it with --repo DIR" in told


def test_a_prompt_for_a_capability_that_is_not_there_names_the_nearest(platform: Path) -> None:
    async def work() -> None:
        async with in_process(platform, writes=False) as client:
            with pytest.raises(MCPError, match=r"perhaps you meant 'backend\.call'"):
                await client.get_prompt("write_queries_for_gap", {"capability": "backend.cal"})

    drive(work)
