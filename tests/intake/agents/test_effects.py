from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.documents import Data
from bot.intake.agents.effects import (
    _READ_VERBS,
    effect_of_annotations,
    effect_of_data_handling,
    effect_of_name,
    effect_of_operation,
)
from tests.factories import REPOSITORY


@pytest.mark.parametrize(
    ("name", "effect", "reason"),
    [
        ("listRepairs", "read", "the name begins with 'list'"),
        ("GetBudgets", "read", "the name begins with 'get'"),
        ("look_up_berth", "read", "the name begins with 'look up'"),
        ("harbour_docs_search", "read", "the name ends with 'search'"),
        ("issue_read", "read", "the name ends with 'read'"),
        ("Products_SearchProducts", "read", "the name's last part begins with 'search'"),
        ("find-unprotected", "read", "the name begins with 'find'"),
        ("createEvent", "write", "the name begins with 'create'"),
        ("label_write", "write", "the name ends with 'write'"),
        ("Products_UpdatePrice", "write", "the name's last part begins with 'update'"),
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
    assert len(listed) == len(set(listed)) == len(_READ_VERBS)
    assert set(listed) == _READ_VERBS
