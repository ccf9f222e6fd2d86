"""Function tools in the JSON forms of OpenAI, Anthropic, Gemini and Bedrock, and assistants."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import Folder, notes_of, tools_of

SCHEMA = {"type": "object", "properties": {}}
LIST = {"name": "listBerths", "description": "All berths"}
BOOK = {"name": "bookBerth", "description": "Book one"}
CHAT = [{"type": "function", "function": item | {"parameters": SCHEMA}} for item in (LIST, BOOK)]
FLAT = [{"type": "function", **item, "parameters": SCHEMA, "strict": True} for item in (LIST, BOOK)]
LEGACY = [item | {"parameters": SCHEMA} for item in (LIST, BOOK)]
ANTHROPIC = [item | {"input_schema": SCHEMA} for item in (LIST, BOOK)]
GEMINI = [item | {"parameters": {"type": "OBJECT", "properties": {}}} for item in (LIST, BOOK)]
BEDROCK = [{"toolSpec": item | {"inputSchema": {"json": SCHEMA}}} for item in (LIST, BOOK)]
ASSISTANT = {"object": "assistant", "name": "Harbour desk", "instructions": "Be brief.", "model": "m"}
BY_NAME = {"never": {"tool_names": ["a"]}, "always": {"tool_names": ["b"]}}


@pytest.mark.parametrize(
    "document",
    [
        *(CHAT, FLAT, LEGACY, ANTHROPIC, {"tools": CHAT}, {"tools": FLAT}, {"tools": ANTHROPIC}, {"functions": LEGACY}),
        *(GEMINI, {"functionDeclarations": GEMINI}, [{"function_declarations": [LIST, BOOK]}]),
        {"tools": [{"functionDeclarations": [LIST]}, {"functionDeclarations": [BOOK]}], "systemInstruction": {}},
        *(BEDROCK, {"tools": BEDROCK}, {"toolConfig": {"tools": BEDROCK}}),
    ],
    ids=[
        *("chat", "flat", "legacy", "anthropic", "tools", "flat tools", "anthropic tools", "functions"),
        *("gemini", "declarations", "bare declarations", "gemini tools"),
        *("bedrock", "bedrock tools", "bedrock request"),
    ],
)
def test_every_form_gives_the_same_functions(folder: Folder, document: Any) -> None:
    specification = folder.write("tools.json", document).read()
    assert [(tool.name, tool.description, tool.effect, tool.effect_from) for tool in specification.tools or ()] == [
        ("listBerths", "All berths", "read", "the name begins with 'list'"),
        ("bookBerth", "Book one", "write", "the name begins with 'book'"),
    ]
    assert {tool.protocol for tool in specification.tools or ()} == {"function"}
    assert {(tool.auth, tool.confirmation, tool.card) for tool in specification.tools or ()} == {(None, None, None)}
    assert (specification.name, specification.auth, specification.knowledge) == ("", None, None)
    assert specification.notes == ()


@pytest.mark.parametrize(
    ("tool", "kind"),
    [("googleSearch", "web-search"), ("google_search", "web-search"), ("codeExecution", "code-interpreter")],
)
def test_gemini_names_its_built_in_tools_by_their_key(folder: Folder, tool: str, kind: str) -> None:
    specification = folder.write("tools.json", [{"functionDeclarations": [LIST]}, {tool: {}}]).read()
    assert [item.kind for item in specification.knowledge or ()] == [kind]
    assert list(tools_of(specification)) == ["listBerths"]


def test_annotations_decide_where_a_list_has_them(folder: Folder) -> None:
    tool = BOOK | {"input_schema": SCHEMA, "annotations": {"readOnlyHint": True}}
    assert tools_of(folder.write("tools.json", [tool]).read())["bookBerth"].effect_from == "readOnlyHint is true"


def test_lines_of_functions_are_an_error_that_shows_the_second_line(folder: Folder) -> None:
    line = '{"name": "listBerths", "parameters": {"type": "dict"}}\n'
    (problem,) = folder.write("berths.json", line * 2).problems()
    assert (problem.file, problem.line) == ("berths.json", 2)


def test_a_file_may_be_one_tool(folder: Folder) -> None:
    specification = folder.write("tool.json", FLAT[0]).read()
    assert (list(tools_of(specification)), specification.name) == (["listBerths"], "")


@pytest.mark.parametrize(
    ("kind", "knowledge"),
    [
        ("file_search", "files"),
        ("retrieval", "files"),
        ("code_interpreter", "code-interpreter"),
        ("code_execution_20250825", "code-interpreter"),
        ("web_search", "web-search"),
        ("web_search_preview", "web-search"),
        ("web_search_20250305", "web-search"),
        ("image_generation", "image-generation"),
    ],
)
def test_built_in_tools_are_knowledge(folder: Folder, kind: str, knowledge: str) -> None:
    for document in ([{"type": kind, "name": "x"}], [*CHAT, {"type": kind}], ASSISTANT | {"tools": [{"type": kind}]}):
        specification = folder.write("tools.json", document).read()
        assert [item.kind for item in specification.knowledge or ()] == [knowledge]
        assert len(specification.tools or ()) in (0, 2)


@pytest.mark.parametrize("document", [ASSISTANT, {key: ASSISTANT[key] for key in ("instructions", "model")}])
def test_an_assistant_declares_all_that_it_has(folder: Folder, document: Any) -> None:
    specification = folder.write("assistant.json", document).read()
    assert (specification.tools, specification.knowledge, specification.auth) == ((), (), None)
    assert specification.instructions == "Be brief."
    full = folder.write("assistant.json", document | {"tools": [*FLAT, {"type": "file_search"}]}).read()
    assert set(tools_of(full)) == {"listBerths", "bookBerth"}
    assert [item.declared_in for item in full.knowledge or ()] == ["assistant.json: tools[2]"]


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ({}, [("*", "unknown", None)]),
        ({"allowed_tools": ["list_tides", "moor"]}, [("list_tides", "read", None), ("moor", "unknown", None)]),
        ({"allowed_tools": {"tool_names": ["moor"]}, "require_approval": "always"}, [("moor", "unknown", True)]),
        ({"allowed_tools": {"read_only": True}, "require_approval": "never"}, [("*", "read", False)]),
        (
            {"allowed_tools": ["a", "b", "c"], "require_approval": BY_NAME},
            [("a", "unknown", False), ("b", "unknown", True), ("c", "unknown", None)],
        ),
        ({"allowed_tools": 7, "require_approval": 7}, [("*", "unknown", None)]),
    ],
)
def test_an_mcp_server_brings_the_tools_that_are_allowed(folder: Folder, server: Any, expected: Any) -> None:
    item = {"type": "mcp", "server_label": "harbour", "server_url": "https://h.example", "authorization": "s3cret"}
    specification = folder.write("tools.json", [*FLAT, item | server]).read()
    found = [
        (tool.name, tool.effect, tool.confirmation) for tool in specification.tools or () if tool.protocol == "mcp"
    ]
    assert found == expected
    assert "s3cret" not in repr(specification)
    assert bool(specification.notes) == (found[0][0] == "*")


def test_anthropics_servers_stand_beside_the_tools(folder: Folder) -> None:
    servers = [{"type": "url", "url": "https://h.example", "name": "harbour"}]
    document = {"model": "m", "system": "Be brief.", "tools": ANTHROPIC, "mcp_servers": servers}
    specification = folder.write("request.json", document).read()
    assert [(tool.name, tool.protocol) for tool in specification.tools or ()][2:] == [("*", "mcp")]
    assert specification.knowledge == ()


def test_a_list_with_tools_of_mcp_keeps_each_ones_protocol(folder: Folder) -> None:
    mixed = [*CHAT, {"name": "tides", "inputSchema": {}, "annotations": {"readOnlyHint": True}}]
    tools = tools_of(folder.write("tools.json", {"tools": mixed}).read())
    assert (tools["tides"].protocol, tools["tides"].effect) == ("mcp", "read")
    assert tools["bookBerth"].protocol == "function"


@pytest.mark.parametrize(
    ("item", "remark", "names"),
    [
        (CHAT[0], "the tool 'listBerths' is listed twice", ["listBerths", "bookBerth"]),
        ({"type": "function", "function": {}}, "the tool has no name", ["listBerths", "bookBerth"]),
        ({"type": "function"}, "the tool has no name", ["listBerths", "bookBerth"]),
        (None, "the tool has no name", ["listBerths", "bookBerth"]),
        ({"type": "shell"}, "'shell' is not a known built-in tool", ["listBerths", "bookBerth", "shell"]),
    ],
)
def test_odd_tools_are_said_and_cost_no_other(folder: Folder, item: Any, remark: str, names: list[str]) -> None:
    specification = folder.write("tools.json", [*CHAT, item]).read()
    assert list(tools_of(specification)) == names
    assert remark in notes_of(specification)[0]


@pytest.mark.parametrize(
    "document",
    [
        {"model": "m", "messages": [{"role": "user"}], "tools": CHAT},
        [{"query": "Book a berth", "tools": CHAT}],
        [{"type": "mcp", "query": "x"}],
        [{"type": "text", "text": "x"}],
        [{"name": "a", "parameters": ["x"]}],
        {"schema_version": "v1", "name_for_human": "Harbour", "tools": CHAT},
        {"name": "a", "instructions": "b"},
        {"model": "m", "instructions": "i", "tools": "x"},
    ],
)
def test_what_holds_queries_or_is_another_kind_is_not_taken(folder: Folder, document: Any) -> None:
    (problem,) = folder.write("tools.json", document).problems()
    assert "no agent specification is here" in problem.message


def test_more_tools_than_allowed_are_an_error_that_names_the_limit(folder: Folder) -> None:
    folder.write("tools.json", [{"type": "mcp", "allowed_tools": [f"t{number}" for number in range(11)]}])
    (problem,) = folder.problems(tools=10)
    assert problem.message == "tools.json has 11 tools, more than the limit of 10"


@pytest.mark.parametrize("schema", ["inputSchema", "input_schema"])
def test_annotations_that_contradict_the_name_are_a_remark(folder: Folder, schema: str) -> None:
    tool = {"name": "delete_ship", schema: SCHEMA, "annotations": {"readOnlyHint": True}}
    specification = folder.write("tools.json", [CHAT[0], tool]).read()
    assert tools_of(specification)["delete_ship"].effect == "unknown"
    (note,) = notes_of(specification)
    assert "readOnlyHint is true, but the name begins with 'delete'; the effect of 'delete_ship' is unknown" in note
