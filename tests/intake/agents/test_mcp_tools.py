"""A dump of an MCP server's tools/list as an agent's specification."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import OAUTH, Folder, notes_of, tools_of

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


TOOLS = [
    {"name": "berths", "description": "All berths", "annotations": {"readOnlyHint": True}, "inputSchema": {}},
    {"name": "moor", "title": "Moor a ship", "annotations": {"destructiveHint": True}},
    {"name": "tide_search"},
]
EFFECTS = {"berths": "read", "moor": "write", "tide_search": "read"}


@pytest.mark.parametrize(
    "spec",
    [
        {"mcp_tool_description": {"tools": TOOLS}},
        {"x-mcp_tool_description": {"tools": TOOLS}},
        {"mcp_tool_description": TOOLS},
        {"tools": TOOLS},
        {"mcp_tool_description": {"file": "tools.json"}},
        {"x-mcp_tool_description": {"file": "./tools.json"}},
        {"mcp_tool_description": "tools.json"},
        {"mcp_tool_description": "$[file('tools.json')]"},
        {"mcp_tool_description": {"file": "list.json"}},
        {"mcp_tool_description": {"file": "result.json"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("run_for", [None, ["*"], ["berths", "moor", "tide_search"]])
def test_described_tools_are_read_in_every_shape(folder: Folder, spec: Any, run_for: Any) -> None:
    files = {"tools.json": {"tools": TOOLS}, "list.json": TOOLS, "result.json": {"result": {"tools": TOOLS}}}
    for name, data in files.items():
        if name in str(spec):
            folder.write(f"appPackage/{name}", data)
    specification = folder.mcp(auth=OAUTH, run_for=run_for, **spec).read()
    tools = tools_of(specification)
    assert {name: tool.effect for name, tool in tools.items()} == EFFECTS
    assert {tool.protocol for tool in tools.values()} == {"mcp"}
    assert {tool.auth for tool in tools.values()} == {"oauth"}
    assert [tool.description for tool in tools.values()] == ["All berths", "Moor a ship", ""]
    assert tools["berths"].effect_from == "readOnlyHint is true"
    assert specification.notes == ()


def test_a_description_beside_the_spec_is_read_too(folder: Folder) -> None:
    runtime = {"type": "RemoteMCPServer", "auth": OAUTH, "spec": {}, "x-mcp_tool_description": {"tools": TOOLS}}
    assert set(tools_of(folder.plugin(runtimes=[runtime]).read())) == set(EFFECTS)


@pytest.mark.parametrize("spec", [{}, {"x-mcp_tool_description": {"tools": []}}, {"enable_dynamic_discovery": False}])
def test_tools_only_listed_as_functions_are_told_by_their_names(folder: Folder, spec: Any) -> None:
    functions = [{"name": "createEvent", "description": "New event"}, {"name": "listEvents"}, {"name": "tides"}]
    names = [function["name"] for function in functions]
    specification = folder.mcp(functions=functions, run_for=names, **spec).read()
    assert [(tool.name, tool.effect, tool.effect_from) for tool in specification.tools or ()] == [
        ("createEvent", "write", "the name begins with 'create'"),
        ("listEvents", "read", "the name begins with 'list'"),
        ("tides", "unknown", "nothing declares it, and the name does not tell"),
    ]
    assert specification.notes == ()


@pytest.mark.parametrize(
    ("functions", "run_for", "spec"),
    [
        ([], ["*"], {}),
        (None, ["*"], {}),
        (None, None, {}),
        ([], None, {"enable_dynamic_discovery": True}),
    ],
)
def test_tools_discovered_at_run_time_are_one_tool_of_unknown_effect(
    folder: Folder, functions: Any, run_for: Any, spec: Any
) -> None:
    specification = folder.mcp(functions=functions, run_for=run_for, auth=OAUTH, **spec).read()
    (tool,) = specification.tools or ()
    assert (tool.name, tool.protocol, tool.effect, tool.auth) == ("*", "mcp", "unknown", "oauth")
    assert (tool.confirmation, tool.card) == (None, False)
    assert tool.effect_from == "the runtime's tools are discovered at run time"
    assert notes_of(specification) == [
        "appPackage/plugin.json:"
        + ("8" if functions == [] else "7")
        + ": runtimes[0]: its tools are discovered at run "
        "time; their names and effects are not declared, and they are read as one tool '*' of unknown effect"
    ]


def test_listed_functions_stay_beside_what_is_discovered(folder: Folder) -> None:
    functions = [{"name": "listEvents"}]
    specification = folder.mcp(functions=functions, run_for=["listEvents"], enable_dynamic_discovery="True").read()
    assert [tool.name for tool in specification.tools or ()] == ["listEvents", "*"]


def test_only_tools_that_the_runtime_runs_are_tools(folder: Folder) -> None:
    spec = {"mcp_tool_description": {"tools": TOOLS}}
    assert set(tools_of(folder.mcp(run_for=["moor"], **spec).read())) == {"moor"}
    assert set(tools_of(folder.mcp(run_for=["tide*", "*h*r*"], **spec).read())) == {"tide_search"}
    listed = folder.mcp(functions=[{"name": "moor"}], run_for=["moor"], **spec).read()
    assert set(tools_of(listed)) == {"moor"}
    assert tools_of(listed)["moor"].description == "Moor a ship"


@pytest.mark.parametrize(
    ("spec", "remark"),
    [
        ({"mcp_tool_description": {"file": "none.json"}}, "the MCP tool description is not read: "),
        ({"mcp_tool_description": {"file": "../tools.json"}}, "../tools.json leaves the package"),
        ({"mcp_tool_description": {"file": "https://mcp.example/tools"}}, "it is remote"),
        ({"mcp_tool_description": {"file": "broken.json"}}, "appPackage/broken.json:1: not valid JSON"),
        ({"mcp_tool_description": {"file": "plugin.json"}}, "appPackage/plugin.json lists no tools"),
        ({"mcp_tool_description": {"about": 1}}, "it has neither `tools` nor `file`"),
        ({"mcp_tool_description": {"tools": [{"title": "x"}]}}, "the tool has no name and is not read"),
    ],
)
def test_a_description_that_cannot_be_read_is_said(folder: Folder, spec: Any, remark: str) -> None:
    folder.write("appPackage/broken.json", "{")
    specification = folder.mcp(functions=[{"name": "moor"}], run_for=["moor"], **spec).read()
    (note,) = specification.notes
    assert remark in note.message
    assert note.line is not None
    assert tools_of(specification)["moor"].effect == "unknown"
