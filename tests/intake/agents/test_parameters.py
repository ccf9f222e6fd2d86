"""The parameters of tools, whatever declares them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.intake.agents.inventory import bounded
from incumbent.intake.specification import Parameter, Tool
from tests.intake.agents.builders import NONE, Folder, make_limits, notes_of, openapi, tools_of

SCHEMA = {
    "type": "object",
    "properties": {"berth": {"type": "string", "description": " The berth's number. "}, "night": {"type": "string"}},
}
PAIRS = [("berth", "The berth's number."), ("night", "")]
OWN = [("berth", "The berth's number."), ("night", "Own.")]


def pairs(tool: Tool) -> list[tuple[str, str]]:
    return [(parameter.name, parameter.description) for parameter in tool.parameters]


def in_json(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


BERTH = {"name": "berth", "in": "path", "description": "The berth's number."}
NIGHT = {"name": "night", "in": "query"}


HEADER: dict[str, Any] = {"name": "X-Key", "in": "header"}
COOKIE: dict[str, Any] = {"name": "c", "in": "cookie"}
REFERENCE = {"$ref": "#/components/schemas/s"}
PARTS = {"allOf": [{"properties": {"berth": REFERENCE}}, {"properties": {"night": {}}}]}
TWICE: dict[str, Any] = {"properties": {"night": {}, "berth": {}}}
OTHER: dict[str, Any] = {"application/xml": {"schema": {"properties": {"x": {}}}}}


@pytest.mark.parametrize(
    ("item", "schema", "found"),
    [
        ({"get": {}}, {}, []),
        ({"get": {"parameters": [BERTH, NIGHT]}}, {}, PAIRS),
        ({"parameters": [BERTH], "get": {"parameters": [NIGHT]}}, {}, PAIRS),
        ({"parameters": [BERTH, NIGHT], "get": {"parameters": [NIGHT | {"description": "Own."}]}}, {}, OWN),
        ({"get": {"parameters": [{"$ref": "#/components/schemas/s"}, NIGHT]}}, BERTH, PAIRS),
        ({"get": {"parameters": [HEADER, BERTH, COOKIE, NIGHT]}}, {}, PAIRS),
        ({"get": {"parameters": [{"in": "query"}, 7, None, BERTH, NIGHT]}}, {}, PAIRS),
        ({"post": {"requestBody": in_json(SCHEMA)}}, {}, PAIRS),
        ({"post": {"requestBody": in_json(REFERENCE)}}, SCHEMA, PAIRS),
        ({"post": {"requestBody": REFERENCE}}, in_json(SCHEMA), PAIRS),
        ({"post": {"requestBody": in_json({"type": "array", "items": SCHEMA})}}, {}, PAIRS),
        ({"post": {"requestBody": in_json(PARTS)}}, {"description": "The berth's number."}, PAIRS),
        ({"post": {"requestBody": {"content": OTHER | {"text/json": {"schema": SCHEMA}}}}}, {}, PAIRS),
        ({"post": {"requestBody": {"content": {"multipart/form-data": {"schema": SCHEMA}}}}}, {}, PAIRS),
        ({"post": {"requestBody": in_json({"type": "string"})}}, {}, []),
        ({"post": {"parameters": [BERTH], "requestBody": in_json(TWICE)}}, {}, PAIRS),
        ({"post": {"parameters": [{"name": "body", "in": "body", "schema": SCHEMA}]}}, {}, PAIRS),
        ({"post": {"parameters": [BERTH | {"in": "formData"}, NIGHT | {"in": "formData"}]}}, {}, PAIRS),
    ],
)  # fmt: skip
def test_the_parameters_of_an_operation(folder: Folder, item: Any, schema: Any, found: list[tuple[str, str]]) -> None:
    document = openapi({"/berths/{berth}": item}) | {"components": {"schemas": {"s": schema}}}
    specification = folder.write("api.json", document).read()
    (tool,) = specification.tools or ()
    assert pairs(tool) == found
    assert specification.notes == ()


def test_a_schema_that_holds_itself_is_read_once(folder: Folder) -> None:
    schema = {"properties": {"berth": {}}, "allOf": [{"$ref": "#/components/schemas/s"}]}
    document = openapi({"/a": {"post": {"requestBody": in_json({"$ref": "#/components/schemas/s"})}}})
    specification = folder.write("api.json", document | {"components": {"schemas": {"s": schema}}}).read()
    assert [pairs(tool) for tool in specification.tools or ()] == [[("berth", "")]]


def test_only_operations_that_are_tools_are_looked_at(folder: Folder) -> None:
    broken = {"operationId": "b", "parameters": [{"$ref": "#/gone"}]}
    folder.rest(openapi({"/a": {"get": {"operationId": "a"}}, "/b": {"get": broken}}), auth=NONE, run_for=["a"])
    assert folder.read().notes == ()
    folder.rest(openapi({"/b": {"get": broken}}), auth=NONE, run_for=["b"])
    (note,) = notes_of(folder.read())
    assert "#/gone points to nothing" in note


def test_what_a_function_says_comes_before_what_its_operation_takes(folder: Folder) -> None:
    document = openapi({f"/{name}": {"get": {"operationId": name, "parameters": [BERTH, NIGHT]}} for name in "ab"})
    functions = [
        {"name": "a"},
        {"name": "b", "parameters": {"type": "object", "properties": {"ship": {}}}},
        {"name": "c"},
    ]
    tools = tools_of(folder.rest(document, auth=NONE, functions=functions).read())
    assert [pairs(tools[name]) for name in "abc"] == [PAIRS, [("ship", "")], []]


@pytest.mark.parametrize(
    "document",
    [
        {"tools": [{"name": "moor", "inputSchema": SCHEMA}]},
        [{"type": "function", "function": {"name": "moor", "parameters": SCHEMA}}],
        [{"type": "function", "name": "moor", "parameters": SCHEMA}],
        [{"name": "moor", "input_schema": SCHEMA}],
        [{"functionDeclarations": [{"name": "moor", "parameters": SCHEMA}]}],
        [{"functionDeclarations": [{"name": "moor", "parametersJsonSchema": SCHEMA}]}],
        {"toolConfig": {"tools": [{"toolSpec": {"name": "moor", "inputSchema": {"json": SCHEMA}}}]}},
        {"openapi": "3.0.0", "paths": {"/a": {"post": {"operationId": "moor", "requestBody": in_json(SCHEMA)}}}},
    ],
    ids=["mcp", "chat", "responses", "anthropic", "gemini", "gemini-json", "bedrock", "openapi"],
)
def test_every_list_of_tools_has_them(folder: Folder, document: Any) -> None:
    assert pairs(tools_of(folder.write("tools.json", document).read())["moor"]) == PAIRS


def test_described_tools_of_an_mcp_runtime_have_them(folder: Folder) -> None:
    tools = [{"name": "moor", "inputSchema": SCHEMA}]
    assert pairs(tools_of(folder.mcp(mcp_tool_description={"tools": tools}).read())["moor"]) == PAIRS


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("[berth, night]", [("berth", ""), ("night", "")]),
        ("{berth: The berth's number., night: ''}", PAIRS),
        ("[berth, berth]", [("berth", "")]),
        ("[]", []),
    ],
)
def test_agent_yaml_names_them(folder: Folder, written: str, found: list[tuple[str, str]]) -> None:
    text = f"agent: 1\nname: N\nplatform: p\ntools:\n- name: moor\n  parameters: {written}\n"
    assert pairs(tools_of(folder.write("agent.yaml", text).read())["moor"]) == found


def test_agent_yaml_overrides_those_of_a_file(folder: Folder) -> None:
    folder.write("tools.json", {"tools": [{"name": "moor", "inputSchema": SCHEMA}]})
    text = "agent: 1\nname: N\nplatform: p\nextends: tools.json\ntools:\n- name: moor\n  {}\n"
    assert pairs(tools_of(folder.write("agent.yaml", text.format("effect: write")).read())["moor"]) == PAIRS
    overridden = folder.write("agent.yaml", text.format("parameters: [ship]")).read()
    assert pairs(tools_of(overridden)["moor"]) == [("ship", "")]


@pytest.mark.parametrize("written", ["berth", "[7]", "[' ']", "{berth: 7}", "7", "null"])
def test_agent_yaml_wants_names_or_descriptions(folder: Folder, written: str) -> None:
    text = f"agent: 1\nname: N\nplatform: p\ntools:\n- name: moor\n  parameters: {written}\n"
    (problem,) = folder.write("agent.yaml", text).problems()
    assert (problem.file, problem.line) == ("agent.yaml", 6)
    assert problem.message.startswith("tools.0.parameters")
    assert problem.fix


def test_too_many_parameters_are_a_fault_of_agent_yaml_and_a_note_elsewhere(folder: Folder) -> None:
    names = [f"p{number}" for number in range(4)]
    schema: dict[str, Any] = {"properties": {name: {} for name in names}}
    folder.write("tools.json", {"tools": [{"name": "moor", "inputSchema": schema}]})
    specification = folder.read(tools=3)
    assert [name for name, _ in pairs(tools_of(specification)["moor"])] == ["p0", "p1", "p2"]
    (note,) = notes_of(specification)
    assert note == (
        "tools.json:3: tools[0]: not all of its parameters are read: more than the limit of 3, or of 20,000 characters "
        "together"
    )
    text = f"agent: 1\nname: N\nplatform: p\ntools:\n- name: moor\n  parameters: [{', '.join(names)}]\n"
    (problem,) = folder.write("agent.yaml", text).problems(tools=3)
    assert problem.message == "tools[0].parameters: more than the limit of 3, or of 20,000 characters together"
    assert "limits.tools" in problem.fix


def test_shared_schemas_cost_no_more_than_the_limits_allow(folder: Folder) -> None:
    part: dict[str, Any] = {"properties": {f"p{number}": {} for number in range(400)}}
    schemas = {f"s{number}": part for number in range(100)}
    body = {"allOf": [{"$ref": f"#/components/schemas/{name}"} for name in schemas] * 10}
    sent = in_json({"allOf": [{"$ref": "#/components/schemas/b"}]})
    paths: dict[str, Any] = {f"/{number}": {"post": {"requestBody": sent}} for number in range(500)}
    shared = {"parameters": [{"name": "X", "in": "header"}] * 10_000}
    document = openapi({**paths, "/x": {**shared, "get": {}, "put": {}}})
    folder.write("api.json", document | {"components": {"schemas": {**schemas, "b": body}}})
    tools = folder.read(tools=510, nodes=200_000, file_bytes=4_000_000).tools or ()
    assert {len(tool.parameters) for tool in tools} == {400, 0}


PARAMETERS = st.lists(st.builds(Parameter, name=st.text(max_size=5), description=st.text(max_size=9)), max_size=9)


@given(found=PARAMETERS, most=st.integers(1, 9), characters=st.integers(1, 60))
def test_what_is_kept_is_within_the_limits_and_in_order(found: list[Parameter], most: int, characters: int) -> None:
    limits = make_limits(tools=most, turn_characters=characters)
    kept, is_whole = bounded(iter(found), limits)
    first = {parameter.name: parameter for parameter in reversed(found)}
    names = list(dict.fromkeys(parameter.name for parameter in found))
    assert [parameter.name for parameter in kept] == names[: len(kept)]
    assert all(parameter in (first[parameter.name], Parameter(name=parameter.name)) for parameter in kept)
    assert len(kept) <= most
    assert sum(len(parameter.name) + len(parameter.description) for parameter in kept) <= characters
    assert not is_whole or list(kept) == [first[name] for name in names]


def test_the_digest_of_a_specification_depends_on_them(folder: Folder) -> None:
    specification = folder.write("tools.json", {"tools": [{"name": "moor", "inputSchema": SCHEMA}]}).read()
    (tool,) = specification.tools or ()
    digests = {specification.digest}
    for changed in (
        (),
        tool.parameters[:1],
        tuple(reversed(tool.parameters)),
        (Parameter(name="berth"), *tool.parameters[1:]),
    ):
        digests.add(replace(specification, tools=(replace(tool, parameters=changed),)).digest)
    digests.add(replace(specification, starters=("Hello",)).digest)
    assert len(digests) == 6
    assert specification.digest == replace(specification).digest
