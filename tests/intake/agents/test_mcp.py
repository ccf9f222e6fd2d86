from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import OAUTH, Folder, notes_of, tools_of

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
