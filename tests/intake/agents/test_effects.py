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
from incumbent.intake.agents.prose import MAX_CHARACTERS, stated_answer, stated_change
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
    ("method", "route", "operation_id", "summary", "effect", "doubt"),
    [
        # A reading method reads, unless a name or the prose plainly says that it changes something.
        ("get", "/berths", "listBerths", "All berths", "read", ""),
        ("head", "/berths", "", "", "read", ""),
        ("options", "/berths", "", "", "read", ""),
        ("query", "/berths", "", "", "read", ""),
        ("trace", "/berths", "", "Berths", "read", ""),
        ("get", "/berths", "deleteBerth", "", "unknown", f"{READS}the operationId begins with 'delete'"),
        ("head", "/berths", "deleteBerth", "", "unknown", "HEAD reads, but the operationId begins with 'delete'"),
        ("get", "/berths", "getOrCreateBerth", "", "unknown", f"{READS}the operationId says 'or create'"),
        ("get", "/berths", "berths_cancel", "", "unknown", f"{READS}the operationId ends with 'cancel'"),
        ("get", "/berths/{id}/cancel", "", "", "unknown", f"{READS}the route ends with 'cancel'"),
        ("get", "/berths/{id}:cancel", "berth", "", "unknown", f"{READS}the route ends with 'cancel'"),
        ("get", "/sendReminder", "", "", "unknown", f"{READS}the route ends with 'sendReminder'"),
        ("get", "/berths/{id}/cancel", "getCancelPolicy", "The policy", "read", ""),
        ("get", "/restore-jobs", "listRestoreJobs", "", "read", ""),
        ("get", "/archive", "", "", "read", ""),
        ("get", "/berths", "berths", "Cancels a berth", "unknown", f"{READS}its description says 'cancels'"),
        ("get", "/berths", "getBerth", "Delete the berth.", "unknown", f"{READS}its description says 'delete'"),
        ("get", "/berths", "getBerth", "Get a berth. Delete it later.", "read", ""),
        # A verb that may be a thing needs what it is done to.
        ("get", "/berths", "bookBerth", "", "unknown", f"{READS}the operationId begins with 'book'"),
        ("get", "/berths", "bookBerth", "Returns the cover of the log book", "read", ""),
        ("get", "/berths", "bookBerth", "Books a berth", "unknown", f"{READS}the operationId begins with 'book'"),
        ("get", "/berths", "berth", "Books a berth", "unknown", f"{READS}its description says 'books'"),
        ("get", "/books", "book", "Books by author", "read", ""),
        ("get", "/orders", "purchaseOrders", "", "read", ""),
        ("get", "/orders", "order_share", "", "read", ""),
        # A writing method writes, unless the operationId of PUT or PATCH plainly says that it reads.
        ("put", "/berths", "updateBerth", "Returns the berth", "write", ""),
        ("patch", "/berths", "berth", "Get the berth", "write", ""),
        ("put", "/berths", "listItem", "", "write", ""),
        ("put", "/berths", "searchBerths", "", "unknown", "PUT writes, but the operationId begins with 'search'"),
        ("patch", "/berths", "getBerth", "", "unknown", "PATCH writes, but the operationId begins with 'get'"),
        ("delete", "/berths", "getBerth", "Get a berth", "write", ""),
        # POST: the operationId first.
        ("post", "/berths", "search_query", "", "read", ""),
        ("post", "/berths", "searchBerths", "Creates a search for berths", "read", ""),
        ("post", "/berths", "searchBerths", "Sends a search request", "read", ""),
        ("post", "/berths", "listBerths", "Deletes the berths", "unknown",
         "the operationId begins with 'list', but its description says 'deletes'"),
        ("post", "/berths/delete", "getBerths", "", "unknown",
         "the operationId begins with 'get', but the route ends with 'delete'"),
        ("post", "/berths", "createBerth", "Create a berth", "write", ""),
        ("post", "/berths", "createBerth", "Returns the new berth", "write", ""),
        ("post", "/berths", "createBerth", "Searches and creates a berth", "write", ""),
        ("post", "/berths/search", "createBerth", "Search", "unknown",
         "the operationId begins with 'create', but the route ends with 'search'"),
        ("post", "/berths", "createQuote", "Calculates the price of a berth", "unknown",
         "the operationId begins with 'create', but its description says 'calculates'"),
        ("post", "/berths", "createQuote", "Only returns a price", "unknown",
         "the operationId begins with 'create', but its description says 'Only returns'"),
        ("post", "/berths", "createQuote", "A price. Nothing is stored.", "unknown",
         "the operationId begins with 'create', but its description says 'Nothing is stored'"),
        # POST: then the route.
        ("post", "/indexes/{index}/docs/search", "berths", "", "read", ""),
        ("post", "/search/harbour.graph.query", "", "Invoke an action", "read", ""),
        ("post", "/berths/{id}:search", "berths", "", "read", ""),
        ("post", "/berths/search", "", "Deletes what it finds", "unknown",
         "the route ends with 'search', but its description says 'deletes'"),
        ("post", "/berths/{id}", "berths", "", "write", ""),
        ("post", "/berths/{id}?q=list", "berths", "", "write", ""),
        ("post", "/berths/{id}:cancel", "berths", "Returns the berth", "unknown",
         "the route ends with 'cancel', but its description says 'returns'"),
        # POST: prose alone does not make it read.
        ("post", "/berths", "berths", "<p>Detects ships.</p> Then creates a report.", "unknown",
         f"{WRITES}its description says 'detects'"),
        ("post", "/berths", "berths", "Retrieves the free berths", "unknown",
         f"{WRITES}its description says 'retrieves'"),
        ("post", "/a", "", "Lists the open orders", "unknown", f"{WRITES}its description says 'lists'"),
        ("post", "/a", "", "Answers questions about berths", "unknown", f"{WRITES}its description says 'answers'"),
        ("post", "/a", "", "Looks up a berth", "unknown", f"{WRITES}its description says 'looks up'"),
        ("post", "/berths", "berths", "Checks in a ship", "write", ""),
        ("post", "/berths", "berths", "Returns the berth or creates one", "write", ""),
        ("post", "/berths", "berths", "Find a berth and reserve it", "write", ""),
        ("post", "/berths", "berths", "Berths", "write", ""),
        ("post", "/", "", "", "write", ""),
        ("post", "/a", "", "Finds and cancels orders", "write", ""),
        ("post", "/a", "", "Fetch and publishes", "write", ""),
        ("post", "/a", "orderStatus", "", "write", ""),
    ],
)  # fmt: skip
def test_the_method_decides_unless_words_contradict_it(
    method: str, route: str, operation_id: str, summary: str, effect: str, doubt: str
) -> None:
    decision = effect_of_operation(method, route, operation_id, summary)
    assert (decision.effect, decision.doubt) == (effect, doubt)
    assert decision.reason.startswith(f"{method.upper()} {route}")
    assert doubt in decision.reason
    assert (effect == "unknown") == bool(doubt)


def test_all_that_is_said_of_an_operation_counts() -> None:
    assert effect_of_operation("get", "/a", "", "Order", "Cancels the order.").effect == "unknown"
    assert effect_of_operation("get", "/a", "", "Order", "", "Cancels the order.").effect == "unknown"
    assert effect_of_operation("get", "/a", "", "Order", "The order.").effect == "read"


@pytest.mark.parametrize(
    ("prose", "change"),
    [
        ("Cancel an order", "cancel"),
        ("Cancels an order.", "cancels"),
        ("Cancelling an order", "cancelling"),
        ("Notifies the harbour office", "notifies"),
        ("Publishes a tide table", "publishes"),
        ("Creating berths", "creating"),
        ("Permanently deletes a berth", "deletes"),
        ("Bulk delete berths", "delete"),
        ("<p>Delete</p> a berth", "delete"),
        ("**Deletes** a berth", "deletes"),
        ("This endpoint creates a berth", "creates"),
        ("This API call can be used to delete a berth", "delete"),
        ("Use this to cancel an order", "cancel"),
        ("Use this endpoint for creating berths", "creating"),
        ("An endpoint that removes a berth", "removes"),
        ("Endpoint to remove a berth", "remove"),
        ("Allows the harbour master to cancel a berth", "cancel"),
        ("Enables pilots to find a berth", ""),
        ("Enables the alarm", "enables"),
        ("Gets the order and marks it as read", "marks"),
        ("Returns the berth or creates one", "creates"),
        ("Get the create and update dates", ""),
        ("Lists blocks and tags", ""),
        ("Lists berths. Deletes nothing.", ""),
        ("Update history", ""),
        ("Updates of an order", ""),
        ("Updates", ""),
        ("Add-ons of a berth", ""),
        ("Accepts a name and returns a berth", ""),
        ("Applies the filter", ""),
        ("Manage your berths", ""),
        ("Sets the temperature", "sets"),
        ("Set of berths", ""),
        ("Starts a search for berths", ""),
        ("Submit a question to the harbour office", ""),
        ("Sends a GET request to the office", ""),
        ("Send a message to the office", "send"),
        ("Deletes a search", "deletes"),
        ("Returns the berths", ""),
        ("Quickly", ""),
        ("", ""),
        ("x" * MAX_CHARACTERS + " and deletes a berth", ""),
    ],
)
def test_a_text_says_plainly_that_something_is_changed(prose: str, change: str) -> None:
    assert stated_change(prose) == change


@pytest.mark.parametrize(
    ("prose", "answer"),
    [
        ("Lists the open orders", "lists"),
        ("Listing the open orders", "listing"),
        ("This endpoint returns the price", "returns"),
        ("Tells where a ship is", "tells"),
        ("Look up a berth", "look up"),
        ("Look at a berth", ""),
        ("Check out a book", ""),
        ("Checks in a ship", ""),
        ("Checks the tide", "checks"),
        ("Finds and cancels orders", ""),
        ("Only returns a price", "Only returns"),
        ("Simply looks up a price", "Simply looks up"),
        ("Creates a share link that only reads", ""),
        ("A quote. This is a read-only operation.", "read-only operation"),
        ("A quote. The call is read-only", "call is read-only"),
        ("Read-only: a quote", "Read-only"),
        ("Creates a read-only link", ""),
        ("A quote, without side effects", "without side effects"),
        ("A quote. It does not change any data.", "does not change any data"),
        ("A quote; doesn't store anything", "doesn't store anything"),
        ("Creates a user. Does not create duplicates.", ""),
        ("A quote, without saving anything", "without saving anything"),
        ("A quote. Changes nothing.", "Changes nothing"),
        ("A quote", ""),
        ("", ""),
    ],
)
def test_a_text_says_that_a_call_only_answers(prose: str, answer: str) -> None:
    assert stated_answer(prose) == answer


@given(st.sampled_from(sorted(METHODS)), st.text(max_size=30), st.text(max_size=30), st.text(max_size=60))
def test_any_operation_gets_an_effect_and_a_reason(method: str, route: str, name: str, prose: str) -> None:
    decision = effect_of_operation(method, route, name, prose)
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


def test_the_description_of_a_function_counts_and_its_own_declaration_for_more(folder: Folder) -> None:
    document = openapi({"/berths": {"get": {"operationId": "berth"}}})
    function: dict[str, Any] = {"name": "berth", "description": "Cancels a berth."}
    specification = folder.rest(document, auth=NONE, functions=[function]).read()
    assert tools_of(specification)["berth"].effect == "unknown"
    assert len(specification.notes) == 1
    function["capabilities"] = {"security_info": {"data_handling": ["ResourceStateUpdate"]}}
    specification = folder.rest(document, auth=NONE, functions=[function]).read()
    assert tools_of(specification)["berth"].effect == "write"
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
    assert all(stated_answer(f"{verb} x") for verb in listed)
    assert len(listed) == len(set(listed)) == len(READ_VERBS)
    assert set(listed) == READ_VERBS
