"""A dump of an MCP server's tools/list as an agent's specification."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import Folder, notes_of, tools_of

SCHEMA = {"type": "object"}
BERTHS = {"name": "berths", "description": "All berths", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
MOOR = {"name": "moor", "title": "Moor a ship", "inputSchema": SCHEMA, "annotations": {"destructiveHint": True}}
TIDES = {"name": "tide_search", "inputSchema": SCHEMA, "annotations": {"title": "Tides", "openWorldHint": True}}
ALL = [BERTHS, MOOR, TIDES]
SERVER = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "harbour", "version": "1"}, "instructions": "Ask."}


@pytest.mark.parametrize(
    "document",
    [
        ALL,
        {"tools": ALL},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": ALL}},
        [{"tools": [BERTHS], "nextCursor": "2"}, {"tools": [MOOR, TIDES]}],
        [
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [BERTHS, MOOR], "nextCursor": "x"}},
            {"jsonrpc": "2.0", "id": 2, "result": {"tools": [TIDES]}},
        ],
        {"harbour": {"tools": [BERTHS, MOOR]}, "sea": {"tools": [TIDES]}},
        {"servers": {"harbour": {"tools": [BERTHS, MOOR]}, "sea": {"tools": [TIDES]}}},
        [{"name": "harbour", "tools": [BERTHS, MOOR]}, {"name": "sea", "tools": [TIDES]}],
        {"servers": [{"name": "harbour", "tools": [BERTHS]}, {"name": "sea", "tools": [MOOR, TIDES]}]},
    ],
    ids=["list", "result", "response", "pages", "responses", "by server", "servers", "named", "list of servers"],
)
def test_every_shape_gives_the_same_tools(folder: Folder, document: Any) -> None:
    specification = folder.write("dump.json", document).read()
    assert {tool.name: (tool.effect, tool.effect_from, tool.description) for tool in specification.tools or ()} == {
        "berths": ("read", "readOnlyHint is true", "All berths"),
        "moor": ("write", "destructiveHint is true, which only a writing tool has", "Moor a ship"),
        "tide_search": ("read", "the name ends with 'search'", "Tides"),
    }
    assert {tool.protocol for tool in specification.tools or ()} == {"mcp"}
    assert {(tool.auth, tool.confirmation, tool.card) for tool in specification.tools or ()} == {(None, None, None)}
    assert (specification.name, specification.instructions) == ("", "")
    assert (specification.auth, specification.knowledge, specification.notes) == (None, None, ())


@pytest.mark.parametrize(
    "document",
    [
        SERVER | {"tools": ALL},
        [{"result": SERVER}, {"result": {"tools": ALL}}],
        [SERVER, {"tools": [BERTHS]}, {"tools": [MOOR, TIDES]}],
    ],
)
def test_an_initialize_result_in_the_file_names_the_server(folder: Folder, document: Any) -> None:
    specification = folder.write("dump.json", document).read()
    assert (specification.name, specification.instructions) == ("harbour", "Ask.")
    assert len(specification.tools or ()) == 3


def test_a_servers_title_comes_before_its_name(folder: Folder) -> None:
    server = {"serverInfo": {"name": "harbour-mcp", "title": "Harbour", "description": "Berths."}}
    specification = folder.write("dump.json", server | {"tools": ALL}).read()
    assert (specification.name, specification.description) == ("Harbour", "Berths.")


def test_tools_on_a_page_that_is_not_there_are_one_tool_of_unknown_effect(folder: Folder) -> None:
    specification = folder.write("dump.json", {"tools": [BERTHS], "nextCursor": "2"}).read()
    assert [(tool.name, tool.protocol, tool.effect) for tool in specification.tools or ()] == [
        ("berths", "mcp", "read"),
        ("*", "mcp", "unknown"),
    ]
    assert "more tools follow on a page that is not here" in notes_of(specification)[0]


@pytest.mark.parametrize("document", [{"tools": []}, {"result": {"tools": []}}, {"tools": [], "_meta": {}}])
def test_a_server_without_tools_declares_none(folder: Folder, document: Any) -> None:
    assert folder.write("dump.json", document).read().tools == ()


@pytest.mark.parametrize(
    ("tools", "names", "remark"),
    [
        ([BERTHS, BERTHS | {"annotations": {}}], ["berths"], "the tool 'berths' is listed twice"),
        ([BERTHS, {"inputSchema": SCHEMA}], ["berths"], "the tool has no name"),
        ([BERTHS, {"name": 7, "inputSchema": SCHEMA}], ["berths"], "the tool has no name"),
        ([BERTHS, None, 1, "x", []], ["berths"], "the tool has no name"),
        ([{"name": {}, "inputSchema": SCHEMA}], None, "the tool has no name"),
    ],
)
def test_tools_that_cannot_be_read_are_said(folder: Folder, tools: Any, names: Any, remark: str) -> None:
    specification = folder.write("dump.json", {"tools": tools}).read()
    assert (None if specification.tools is None else [tool.name for tool in specification.tools]) == names
    assert remark in notes_of(specification)[0]
    if names:
        assert tools_of(specification)["berths"].effect == "read"


@pytest.mark.parametrize("annotations", [None, 1, [], "readOnlyHint", {"readOnlyHint": "true"}, {"readOnlyHint": None}])
def test_annotations_of_another_type_say_nothing_and_the_name_decides(folder: Folder, annotations: Any) -> None:
    tool = {"name": "delete_berth", "inputSchema": SCHEMA, "annotations": annotations}
    specification = folder.write("dump.json", [tool]).read()
    assert tools_of(specification)["delete_berth"].effect_from == "the name begins with 'delete'"


def test_more_tools_than_allowed_are_an_error_that_names_the_limit(folder: Folder) -> None:
    folder.write("dump.json", [{"name": f"t{number}", "inputSchema": {}} for number in range(11)])
    (problem,) = folder.problems(tools=10)
    assert problem.message == "dump.json has 11 tools, more than the limit of 10"


@pytest.mark.parametrize(
    "document",
    [
        {"tools": [{"name": "a"}]},
        {"tools": "x"},
        {"tools": [], "queries": []},
        {"error": {"code": 1}},
        [{"name": "a", "query": "b"}],
        [],
    ],
)
def test_what_only_looks_like_a_dump_is_none(folder: Folder, document: Any) -> None:
    (problem,) = folder.write("dump.json", document).problems()
    assert "no agent specification is here" in problem.message


def test_annotations_that_contradict_each_other_or_are_no_booleans_are_remarks(folder: Folder) -> None:
    tools = [
        {"name": "delete_all", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True, "destructiveHint": True}},
        {"name": "get_ship", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": "false"}},
        {"name": "list_ships", "inputSchema": SCHEMA, "annotations": {"destructiveHint": False, "readOnlyHint": None}},
    ]
    specification = folder.write("dump.json", tools).read()
    assert [tool.effect for tool in specification.tools or ()] == ["unknown", "read", "read"]
    assert [note.split(": ", 1)[1] for note in notes_of(specification)] == [
        "[1].annotations.readOnlyHint: must be true or false, and is not read",
        "[0]: readOnlyHint is true, but destructiveHint is true; the effect of 'delete_all' is unknown",
    ]
