from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.documents import Data
from bot.intake.agents.effects import effect_of_annotations, effect_of_data_handling, effect_of_operation
from bot.intake.agents.names import READ_VERBS, UNTOLD, effect_of_name
from tests.factories import REPOSITORY


@pytest.mark.parametrize(
    ("name", "effect", "reason"),
    [
        ("listRepairs", "read", "the name begins with 'list'"),
        ("GetBudgets", "read", "the name begins with 'get'"),
        ("look_up_berth", "read", "the name begins with 'look up'"),
        ("harbour_docs_search", "read", "the name ends with 'search'"),
        ("issue_read", "read", "the name ends with 'read'"),
        ("Products_SearchProducts", "read", "the name says 'search' after a prefix"),
        ("jira_create_issue", "write", "a part of the name begins with 'create'"),
        ("API-get-user", "read", "a part of the name begins with 'get'"),
        ("tide_get_details", "read", "a part of the name begins with 'get'"),
        ("port_team_create_key", "write", "a part of the name begins with 'create'"),
        ("mcp__harbour__reserve_berth", "write", "a part of the name begins with 'reserve'"),
        ("mcp__harbour__list_berths", "read", "the name begins with 'list'"),
        ("list_berths_api_v1_berths__port___post", "read", "the name begins with 'list'"),
        ("harbour.v1.berths.list", "read", "the name begins with 'list'"),
        ("berths/search-free", "read", "the name begins with 'search'"),
        ("berths.get.free", "read", "a part of the name begins with 'get'"),
        ("chat_post_message", "write", "the name says 'post' after a prefix"),
        ("chat_list_channels", "read", "the name says 'list' after a prefix"),
        ("API-post-search", "read", "the name ends with 'search'"),
        ("port-batch-read-logs", "unknown", UNTOLD.reason),
        ("port_batch_read_objects", "read", "the name says 'read' after a prefix"),
        ("bulkDeleteShips", "write", "the name begins with 'delete'"),
        ("todo_list_clear", "unknown", UNTOLD.reason),
        ("berth_cancel_reason", "unknown", UNTOLD.reason),
        ("place_details", "unknown", UNTOLD.reason),
        ("change_status", "write", "the name begins with 'change'"),
        ("deploy_logs_get", "read", "the name ends with 'get'"),
        ("resolve_berth_id", "unknown", UNTOLD.reason),
        ("resolve", "unknown", UNTOLD.reason),
        ("detectShips", "read", "the name begins with 'detect'"),
        ("suspendPilot", "write", "the name begins with 'suspend'"),
        ("batch", "unknown", UNTOLD.reason),
        ("find-unprotected", "read", "the name begins with 'find'"),
        ("createEvent", "write", "the name begins with 'create'"),
        ("label_write", "write", "the name ends with 'write'"),
        ("Products_UpdatePrice", "write", "a part of the name begins with 'update'"),
        ("mark_all_notifications_read", "write", "the name begins with 'mark'"),
        ("get_or_create_user", "write", "the name says 'or create'"),
        ("searchAndReplace", "write", "the name says 'and replace'"),
        ("check_out_book", "write", "the name begins with 'check out'"),
        ("checkAvailability", "read", "the name begins with 'check'"),
        ("search_index_delete", "write", "the name ends with 'delete'"),
        ("list_create", "write", "the name ends with 'create'"),
        ("book_search", "read", "the name ends with 'search'"),
        ("bookFlight", "write", "the name begins with 'book'"),
        ("post_search", "read", "the name ends with 'search'"),
        ("get_last_update", "read", "the name begins with 'get'"),
        ("samples_by_author", "unknown", "nothing declares it, and the name does not tell"),
        ("compute_vm", "unknown", "nothing declares it, and the name does not tell"),
        ("", "unknown", "nothing declares it, and the name does not tell"),
        ("検索", "unknown", "nothing declares it, and the name does not tell"),
    ],
)
def test_the_verb_of_a_name_tells_its_effect(name: str, effect: str, reason: str) -> None:
    decision = effect_of_name(name)
    assert (decision.effect, decision.reason) == (effect, reason)


@pytest.mark.parametrize(
    ("method", "route", "operation_id", "summary", "effect"),
    [
        ("get", "/berths", "deleteEverything", "Delete everything", "read"),
        ("head", "/berths", "", "", "read"),
        ("options", "/berths", "", "", "read"),
        ("query", "/berths", "", "", "read"),
        ("put", "/berths", "getBerth", "", "write"),
        ("patch", "/berths", "getBerth", "", "write"),
        ("delete", "/berths", "getBerth", "", "write"),
        ("post", "/berths", "search_query", "", "read"),
        ("post", "/berths/search", "createBerth", "Search", "write"),
        ("post", "/indexes/{index}/docs/search", "berths", "", "read"),
        ("post", "/search/harbour.graph.query", "", "Invoke an action", "read"),
        ("post", "/berths/{id}:search", "berths", "", "read"),
        ("post", "/berths/{id}", "berths", "", "write"),
        ("post", "/berths/{id}:close", "berths", "Returns the berth", "read"),
        ("post", "/berths", "berths", "<p>Detects ships.</p> Then creates a report.", "read"),
        ("post", "/berths", "berths", "Checks in a ship", "write"),
        ("post", "/berths", "berths", "Returns the berth or creates one", "write"),
        ("post", "/berths/{id}?q=list", "berths", "", "write"),
        ("post", "/berths", "berths", "Retrieves the free berths", "read"),
        ("post", "/berths", "berths", "Find a berth and reserve it", "write"),
        ("post", "/berths", "berths", "Berths", "write"),
        ("post", "/", "", "", "write"),
        ("post", "/a", "", "Lists the open orders", "read"),
        ("post", "/a", "", "Finds and cancels orders", "write"),
        ("post", "/a", "", "Fetch and publishes", "write"),
        ("post", "/a", "orderStatus", "", "write"),
    ],
)
def test_the_method_decides_and_a_post_writes_unless_words_say_that_it_reads(
    method: str, route: str, operation_id: str, summary: str, effect: str
) -> None:
    decision = effect_of_operation(method, route, operation_id, summary)
    assert decision.effect == effect
    assert decision.reason.startswith(f"{method.upper()} {route}")


@pytest.mark.parametrize(
    ("annotations", "effect"),
    [
        ({"readOnlyHint": True}, "read"),
        ({"readOnlyHint": False}, "write"),
        ({"readOnlyHint": True, "destructiveHint": True}, "read"),
        ({"destructiveHint": True}, "write"),
        ({"destructiveHint": False}, "write"),
        ({"title": "Berths"}, None),
        ({"readOnlyHint": "yes"}, None),
        (None, None),
        ([], None),
    ],
)
def test_mcp_annotations_declare_the_effect(annotations: Data, effect: str | None) -> None:
    decision = effect_of_annotations(annotations)
    assert (decision.effect if decision else None) == effect


@pytest.mark.parametrize(
    ("values", "effect"),
    [
        (["GetPrivateData"], "read"),
        (["GetPublicData", "DataTransform"], "read"),
        (["GetPrivateData", "ResourceStateUpdate"], "write"),
        (["DataExport"], "write"),
        (["SomethingNew"], None),
        ([], None),
        ("GetPublicData", None),
        (None, None),
    ],
)
def test_data_handling_attests_the_effect(values: Data, effect: str | None) -> None:
    decision = effect_of_data_handling(values)
    assert (decision.effect if decision else None) == effect


@given(st.text(max_size=40))
def test_any_name_gets_an_effect_and_a_reason(name: str) -> None:
    decision = effect_of_name(name)
    assert decision.effect in ("read", "write", "unknown")
    assert decision.reason


@pytest.mark.skipif("INCUMBENT_CORPUS" not in os.environ, reason="INCUMBENT_CORPUS is not set")
def test_the_name_rule_never_contradicts_the_annotations_of_a_real_server() -> None:
    corpus = Path(os.environ["INCUMBENT_CORPUS"])
    tools = json.loads((corpus / "agents/github_mcp_tools_list.json").read_text())["tools"]
    decided = 0
    for tool in tools:
        annotated = effect_of_annotations(tool["annotations"])
        by_name = effect_of_name(tool["name"])
        assert annotated is not None
        assert by_name.effect in (annotated.effect, "unknown"), tool["name"]
        decided += by_name.effect != "unknown"
    assert decided / len(tools) > 0.95


def test_the_docs_list_the_reading_verbs() -> None:
    text = " ".join((REPOSITORY / "docs" / "specification.md").read_text(encoding="utf-8").split())
    listed = text.split("The reading verbs are: ")[1].split(".")[0].split(", ")
    assert all(effect_of_operation("post", "/a", "", f"{verb} x").effect == "read" for verb in listed)
    assert len(listed) == len(set(listed)) == len(READ_VERBS)
    assert set(listed) == READ_VERBS
