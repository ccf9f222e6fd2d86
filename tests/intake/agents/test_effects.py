from __future__ import annotations

import json
import os
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.files.documents import Data
from incumbent.intake.agents.effects import METHODS, effect_of_annotations, effect_of_data_handling, effect_of_operation
from incumbent.intake.agents.name_effects import READ_VERBS, UNKNOWN_EFFECT, effect_of_name
from tests.factories import REPOSITORY
from tests.intake.agents.builders import NONE, Folder, notes_of, openapi, tools_of


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
        ("port-batch-read-logs", "unknown", UNKNOWN_EFFECT.reason),
        ("port_batch_read_objects", "read", "the name says 'read' after a prefix"),
        ("bulkDeleteShips", "write", "the name begins with 'delete'"),
        ("todo_list_clear", "unknown", UNKNOWN_EFFECT.reason),
        ("berth_cancel_reason", "unknown", UNKNOWN_EFFECT.reason),
        ("place_details", "unknown", UNKNOWN_EFFECT.reason),
        ("change_status", "write", "the name begins with 'change'"),
        ("deploy_logs_get", "read", "the name ends with 'get'"),
        ("resolve_berth_id", "unknown", UNKNOWN_EFFECT.reason),
        ("resolve", "unknown", UNKNOWN_EFFECT.reason),
        ("detectShips", "read", "the name begins with 'detect'"),
        ("suspendPilot", "write", "the name begins with 'suspend'"),
        ("batch", "unknown", UNKNOWN_EFFECT.reason),
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
        ("toggleLight", "write", "the name begins with 'toggle'"),
        ("turn_on_light", "write", "the name begins with 'turn on'"),
        ("turn_table", "unknown", UNKNOWN_EFFECT.reason),
        ("fetchAndStore", "write", "the name says 'and store'"),
        ("store_hours", "unknown", UNKNOWN_EFFECT.reason),
        ("SendGrid_getStats", "read", "a part of the name begins with 'get'"),
        ("GetStarted_deleteShip", "write", "a part of the name begins with 'delete'"),
        ("SendGrid_cancelReason", "write", "the name begins with 'send'"),
        ("SendGrid_twoShips", "write", "the name begins with 'send'"),
        ("query_then_drop", "write", "the name says 'then drop'"),
        ("compare_and_swap", "write", "the name says 'and swap'"),
        ("samples_by_author", "unknown", "nothing declares it, and the name does not tell"),
        ("compute_vm", "unknown", "nothing declares it, and the name does not tell"),
        ("", "unknown", "nothing declares it, and the name does not tell"),
        ("検索", "unknown", "nothing declares it, and the name does not tell"),
    ],
)
def test_the_verb_of_a_name_tells_its_effect(name: str, effect: str, reason: str) -> None:
    decision = effect_of_name(name)
    assert (decision.effect, decision.reason) == (effect, reason)


READS = "GET reads, but "
WRITES = "POST writes, but "


@pytest.mark.parametrize(
    ("method", "route", "operation_id", "effect", "doubt"),
    [
        # A reading method reads, unless the name or the route plainly says that it changes something.
        ("get", "/berths", "listBerths", "read", ""),
        ("head", "/berths", "", "read", ""),
        ("options", "/berths", "", "read", ""),
        ("query", "/berths", "", "read", ""),
        ("trace", "/berths", "", "read", ""),
        ("get", "/berths", "deleteBerth", "unknown", f"{READS}the operationId begins with 'delete'"),
        ("head", "/berths", "deleteBerth", "unknown", "HEAD reads, but the operationId begins with 'delete'"),
        ("get", "/berths", "getOrCreateBerth", "unknown", f"{READS}the operationId says 'or create'"),
        ("get", "/berths", "berths_cancel", "unknown", f"{READS}the operationId ends with 'cancel'"),
        ("get", "/berths/{id}/cancel", "", "unknown", f"{READS}the route ends with 'cancel'"),
        ("get", "/berths/{id}:cancel", "berth", "unknown", f"{READS}the route ends with 'cancel'"),
        ("get", "/sendReminder", "", "unknown", f"{READS}the route ends with 'sendReminder'"),
        ("get", "/berths/{id}/cancel", "getCancelPolicy", "read", ""),
        ("get", "/restore-jobs", "listRestoreJobs", "read", ""),
        ("get", "/archive", "", "read", ""),
        ("get", "/berths", "getBerth", "read", ""),
        # A verb that may be a thing says nothing.
        ("get", "/berths", "bookBerth", "read", ""),
        ("get", "/books", "book", "read", ""),
        ("get", "/orders", "purchaseOrders", "read", ""),
        ("get", "/orders", "order_share", "read", ""),
        # A writing method writes, unless the operationId of PUT or PATCH plainly says that it reads.
        ("put", "/berths", "updateBerth", "write", ""),
        ("patch", "/berths", "berth", "write", ""),
        ("put", "/berths", "listItem", "write", ""),
        ("put", "/berths", "searchBerths", "unknown", "PUT writes, but the operationId begins with 'search'"),
        ("patch", "/berths", "getBerth", "unknown", "PATCH writes, but the operationId begins with 'get'"),
        ("delete", "/berths", "getBerth", "write", ""),
        # POST: the operationId first.
        ("post", "/berths", "search_query", "read", ""),
        ("post", "/berths", "searchBerths", "read", ""),
        (
            "post",
            "/berths/delete",
            "getBerths",
            "unknown",
            "the operationId begins with 'get', but the route ends with 'delete'",
        ),
        ("post", "/berths", "createBerth", "write", ""),
        (
            "post",
            "/berths/search",
            "createBerth",
            "unknown",
            "the operationId begins with 'create', but the route ends with 'search'",
        ),
        # POST: then the route.
        ("post", "/indexes/{index}/docs/search", "berths", "read", ""),
        ("post", "/search/harbour.graph.query", "", "read", ""),
        ("post", "/berths/{id}:search", "berths", "read", ""),
        ("post", "/berths/{id}", "berths", "write", ""),
        ("post", "/berths/{id}?q=list", "berths", "write", ""),
        ("post", "/berths", "berths", "write", ""),
        ("post", "/", "", "write", ""),
        ("post", "/a", "", "write", ""),
        ("post", "/a", "orderStatus", "write", ""),
    ],
)
def test_the_method_decides_unless_words_contradict_it(
    method: str, route: str, operation_id: str, effect: str, doubt: str
) -> None:
    decision = effect_of_operation(method, route, operation_id)
    assert (decision.effect, decision.doubt) == (effect, doubt)
    assert decision.reason.startswith(f"{method.upper()} {route}")
    assert doubt in decision.reason
    assert (effect == "unknown") == bool(doubt)


@given(st.sampled_from(sorted(METHODS)), st.text(max_size=30), st.text(max_size=30))
def test_any_operation_gets_an_effect_and_a_reason(method: str, route: str, name: str) -> None:
    decision = effect_of_operation(method, route, name)
    assert decision.effect in ("read", "write", "unknown")
    assert (decision.effect == "unknown") == bool(decision.doubt)


def test_a_contradiction_is_a_remark_on_the_operation(folder: Folder) -> None:
    folder.rest(openapi({"/berths": {"get": {"operationId": "deleteBerth"}}}), auth=NONE)
    specification = folder.read()
    assert tools_of(specification)["deleteBerth"].effect == "unknown"
    (note,) = notes_of(specification)
    assert note == (
        "appPackage/api.json:9: paths['/berths'].get: GET reads, but the operationId begins with 'delete'; "
        "the effect of 'deleteBerth' is unknown"
    )
    assert "agent.yaml" in specification.notes[0].fix


def test_the_declaration_of_a_function_counts_for_more_than_its_operation(folder: Folder) -> None:
    document = openapi({"/berths": {"get": {"operationId": "cancelBerth"}}})
    function: dict[str, Any] = {"name": "cancelBerth"}
    specification = folder.rest(document, auth=NONE, functions=[function]).read()
    assert tools_of(specification)["cancelBerth"].effect == "unknown"
    assert len(specification.notes) == 1
    function["capabilities"] = {"security_info": {"data_handling": ["ResourceStateUpdate"]}}
    specification = folder.rest(document, auth=NONE, functions=[function]).read()
    assert tools_of(specification)["cancelBerth"].effect == "write"
    assert specification.notes == ()


def test_agent_yaml_settles_a_contradiction(folder: Folder) -> None:
    paths = {f"/{name}": {"get": {"operationId": name}} for name in ("deleteBerth", "deleteShip")}
    folder.write("api.json", openapi(paths))
    text = (
        "agent: 1\nextends: api.json\ntools:\n- {name: deleteBerth, effect: write}\n- {name: deleteShip, card: true}\n"
    )
    specification = folder.write("agent.yaml", text).read()
    assert [tool.effect for tool in specification.tools or ()] == ["write", "unknown"]
    (note,) = notes_of(specification)
    assert note.endswith("the effect of 'deleteShip' is unknown")


@pytest.mark.parametrize(
    ("annotations", "name", "effect", "doubt"),
    [
        ({"readOnlyHint": True}, "berths", "read", ""),
        ({"readOnlyHint": True}, "listBerths", "read", ""),
        ({"readOnlyHint": True, "destructiveHint": False}, "berths", "read", ""),
        ({"readOnlyHint": True, "destructiveHint": "yes"}, "berths", "read", ""),
        ({"readOnlyHint": False}, "listBerths", "write", ""),
        ({"readOnlyHint": False, "destructiveHint": False}, "berths", "write", ""),
        ({"readOnlyHint": True, "destructiveHint": True}, "berths", "unknown",
         "readOnlyHint is true, but destructiveHint is true"),
        ({"readOnlyHint": True}, "delete_berth", "unknown",
         "readOnlyHint is true, but the name begins with 'delete'"),
        ({"readOnlyHint": True}, "email_send", "unknown", "readOnlyHint is true, but the name ends with 'send'"),
        ({"readOnlyHint": True}, "getOrCreateBerth", "unknown", "readOnlyHint is true, but the name says 'or create'"),
        ({"readOnlyHint": True}, "book_berth", "read", ""),
        ({"destructiveHint": True}, "listBerths", "write", ""),
        ({"destructiveHint": False}, "listBerths", None, ""),
        ({"title": "Berths"}, "berths", None, ""),
        ({"readOnlyHint": "yes"}, "berths", None, ""),
        (None, "berths", None, ""),
        ([], "berths", None, ""),
    ],
)  # fmt: skip
def test_mcp_annotations_declare_the_effect(annotations: Data, name: str, effect: str | None, doubt: str) -> None:
    decision = effect_of_annotations(annotations, name)
    assert (decision.effect if decision else None) == effect
    assert (decision.doubt if decision else "") == doubt


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


def test_reading_a_long_name_takes_memory_of_its_length() -> None:
    peaks = []
    for parts in (500, 4_000):
        tracemalloc.start()
        assert effect_of_name("zq_" * parts + "x") is UNKNOWN_EFFECT
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 16 * peaks[0]


def test_of_a_long_name_the_beginning_and_the_end_are_read() -> None:
    long = "zq_" * 45_000
    assert effect_of_name(f"delete_{long}").effect == "write"
    assert effect_of_name(f"jira_create_{long}").effect == "write"
    assert effect_of_name(f"{long}search").effect == "read"
    assert effect_of_name(f"{long}create_{long}") is UNKNOWN_EFFECT


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
        annotated = effect_of_annotations(tool["annotations"], tool["name"])
        by_name = effect_of_name(tool["name"])
        assert annotated is not None
        assert by_name.effect in (annotated.effect, "unknown"), tool["name"]
        decided += by_name.effect != "unknown"
    assert decided / len(tools) > 0.95


def test_the_docs_list_the_reading_verbs() -> None:
    text = " ".join((REPOSITORY / "docs" / "specification.md").read_text(encoding="utf-8").split())
    listed = re.split(r"[,;] (?:- )?", text.split("The reading verbs are: - ")[1].split(".")[0])
    assert len(listed) == len(set(listed)) == len(READ_VERBS)
    assert set(listed) == READ_VERBS
