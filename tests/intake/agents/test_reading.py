from __future__ import annotations

import json
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import incumbent.intake.agents
from incumbent.errors import InputError
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.agents.reader import bare_readers, whole_readers
from incumbent.intake.agents.reading import read_specification
from tests.intake.agents.builders import NONE, Folder, make_limits, notes_of, openapi

AGENT_YAML = "agent: 1\nname: Parcel desk\nplatform: acme\n"
MANIFEST = {"copilotAgents": {"declarativeAgents": [{"id": "a", "file": "a.json"}]}}


def test_every_module_with_a_reader_is_found() -> None:
    assert [reader.name for reader in whole_readers()] == ["agent.yaml", "api-plugin", "declarative-agent"]
    assert [reader.name for reader in bare_readers()] == ["a2a-card", "mcp-tools", "openai-tools", "openapi"]


def test_a_module_has_the_name_of_the_format_that_it_reads() -> None:
    modules = {module.name for module in pkgutil.iter_modules(incumbent.intake.agents.__path__)}
    names = [*(reader.name for reader in whole_readers()), *(reader.name for reader in bare_readers())]
    assert {re.sub(r"\W", "_", name) for name in names} <= modules


def test_a_folder_without_an_agent_is_an_error_that_says_what_was_looked_for(folder: Folder) -> None:
    folder.write("evals.yaml", "eval_set: 1\n").write("appPackage/manifest.json", {"name": {"short": "An add-in"}})
    (problem,) = folder.problems()
    assert problem.file == "."
    assert problem.message == (
        "no agent specification is here (appPackage/manifest.json, evals.yaml are of none of these formats); "
        "looked for: an agent.yaml with the key `agent`; a plugin manifest (ai-plugin.json), or a manifest.json with "
        "copilotAgents.plugins; a manifest.json with copilotAgents.declarativeAgents, or a declarative agent's own "
        "JSON file; an A2A agent card; an MCP server's tools/list result; function "
        "tools in the JSON form of OpenAI, Anthropic, Gemini or Bedrock; an OpenAPI file (2.0 or 3.x)"
    )
    assert problem.fix


@pytest.mark.parametrize(
    ("files", "seen"),
    [
        ({"agent.yaml": "kind: hosted\nname: Desk\n"}, "agent.yaml is"),
        ({"agent.yaml": "agent: harbour-desk\nmodel: m\n"}, "agent.yaml is"),
        ({"agent.yml": "agent: {name: Desk}\n"}, "agent.yml is"),
        (
            {"agents.yaml": "clerk: {role: Clerk}\n", "mcp.json": {"mcpServers": {}}},
            "agents.yaml, mcp.json are",
        ),
        ({"agent.mcs.yml": "kind: GptComponentMetadata\n"}, "agent.mcs.yml is"),
        (
            {"bot.json": {"model": "m"}, "prompt.md": "You help.", "README.md": "", "a.txt": ""},
            "bot.json, prompt.md are",
        ),
    ],
)
def test_files_of_other_platforms_are_named_where_no_agent_is_found(folder: Folder, files: Any, seen: str) -> None:
    for path, content in files.items():
        folder.write(path, content)
    (problem,) = folder.problems()
    own = seen.startswith(("agent.yaml", "agent.yml"))
    assert problem.fix.startswith(
        f"if {seen} meant for Incumbent, give it the key `agent: 1`; if not, add" if own else "add"
    )
    assert f"no agent specification is here ({seen} of none of these formats); looked for:" in problem.message
    assert problem.fix.endswith(
        'write an agent.yaml of three lines: `agent: 1`, `name: "NAME"`, `platform: PLATFORM` (what runs the agent)'
    )


@pytest.mark.parametrize(
    ("version", "fault"),
    [
        ("2", "agent: 2 was written by a later version, nothing was changed"),
        *((version, "agent: must be a whole number") for version in ("'1'", "v1", "", "true")),
    ],
)
def test_a_wrong_version_of_agent_yaml_is_its_fault(folder: Folder, version: str, fault: str) -> None:
    problems = folder.write("agent.yaml", f"agent: {version}\nname: n\nplatform: p\n").problems()
    assert [problem.message for problem in problems] == [fault]


def test_an_agent_file_of_another_platform_is_no_second_agent(folder: Folder) -> None:
    folder.agent(instructions="i").write("agent.yaml", "agent: {name: Desk}\n")
    assert folder.read().name == "Harbour desk"


def test_a_file_too_large_to_see_is_said_where_nothing_else_is_found(folder: Folder) -> None:
    folder.write("harbour.json", " " * 2_000)
    (problem,) = folder.problems(file_bytes=1_000)
    assert (problem.file, "limit of 1,000" in problem.message) == ("harbour.json", True)
    folder.write("agent.yaml", AGENT_YAML)
    assert folder.read(file_bytes=1_000).name == "Parcel desk"


def test_the_folder_is_called_what_people_call_it(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_specification(WorkingTree(tmp_path, "eval_sets/contoso/repairs"), make_limits())
    assert error.value.problems[0].file == "eval_sets/contoso/repairs"


@pytest.mark.parametrize(
    ("files", "candidates"),
    [
        (["a/manifest.json", "b/manifest.json"], "a/manifest.json (declarative-agent), b/manifest.json (declarative-"),
        (["agent.yaml", "appPackage/manifest.json"], "agent.yaml (agent.yaml), appPackage/manifest.json (declarative-"),
        (["agent.yml", "more/agent.yaml"], "agent.yml (agent.yaml), more/agent.yaml (agent.yaml)"),
        (["one.json", "two.json"], "one.json (declarative-agent), two.json (declarative-agent)"),
    ],
)
def test_several_agents_are_an_error_that_names_them(folder: Folder, files: list[str], candidates: str) -> None:
    for path in files:
        alone = {"version": "v1.0", "name": "n", "instructions": "i"}
        content: Any = MANIFEST if "manifest" in path else alone if path.endswith(".json") else AGENT_YAML
        folder.write(path, content)
    (problem,) = folder.problems()
    assert f"several agent specifications are here: {candidates}" in problem.message
    assert problem.fix == "keep one agent per folder"


def test_a_manifest_of_several_agents_is_an_error_at_the_second(folder: Folder) -> None:
    agents = [{"id": "a", "file": "a.json"}, {"id": "b", "file": "b.json"}]
    folder.write("manifest.json", {"copilotAgents": {"declarativeAgents": agents}})
    (problem,) = folder.problems()
    assert (problem.file, problem.line) == ("manifest.json", 8)
    assert problem.message == "the manifest names several agents: a.json, b.json"


def test_too_many_files_are_an_error_that_names_the_limit(folder: Folder) -> None:
    folder.agent().write("a.txt", "a")
    assert folder.read(package_files=3).name == "Harbour desk"
    (problem,) = folder.problems(package_files=2)
    assert problem.message == "the folder holds 3 files, more than the limit of 2"
    assert "limits.package_files" in problem.fix


@pytest.mark.parametrize(
    ("path", "text", "line", "message"),
    [
        ("manifest.json", '{\n "a": 1,\n}', 3, "not valid JSON"),
        ("manifest.json", "", 1, "not valid JSON"),
        ("manifest.json", '{\n "a": 1,\n "a": 2\n}', 3, "the key 'a' is given twice"),
        ("manifest.json", "[" * 100 + "]" * 100, 1, "nested deeper than 60"),
        ("declarativeAgent.json", '{\n "version": "v1.0",\n "name": NaN\n}', 3, "NaN is not a JSON value"),
        ("agent.yaml", "agent: 1\nname: [\n", 2, "not valid YAML"),
        ("agent.yaml", "agent: 1\nagent: 1\n", 2, "the key 'agent' is given twice"),
        ("agent.yaml", "agent: &a [*a]\n", 1, "refers to itself"),
    ],
)
def test_a_broken_specification_is_an_error_with_file_line_and_fix(
    folder: Folder, path: str, text: str, line: int, message: str
) -> None:
    (problem,) = folder.write(path, text).problems()
    assert (problem.file, problem.line) == (path, line)
    assert message in problem.message
    assert problem.fix


def test_a_manifest_that_is_no_object_is_no_agent(folder: Folder) -> None:
    (problem,) = folder.write("manifest.json", []).problems()
    assert "no agent specification is here" in problem.message


@pytest.mark.parametrize(
    ("agent", "file", "line", "message"),
    [
        (None, "manifest.json", 6, "the agent is not read: a.json: the file cannot be read"),
        ('{"name": }', "a.json", 1, "not valid JSON"),
        ("[]", "manifest.json", 6, "the agent's file is not a JSON object"),
    ],
)
def test_an_agent_file_that_cannot_be_read_is_an_error(
    folder: Folder, agent: str | None, file: str, line: int, message: str
) -> None:
    folder.write("manifest.json", MANIFEST)
    if agent is not None:
        folder.write("a.json", agent)
    (problem,) = folder.problems()
    assert (problem.file, problem.line) == (file, line)
    assert message in problem.message
    assert problem.fix


def test_an_agent_file_outside_the_package_is_an_error(folder: Folder) -> None:
    agents = {"declarativeAgents": [{"id": "a", "file": "../a.json"}]}
    folder.write("appPackage/manifest.json", {"copilotAgents": agents})
    folder.write("a.json", {"version": "v1.0", "name": "n", "description": "d"})
    (problem,) = folder.problems()
    assert "../a.json leaves the package" in problem.message


def test_all_broken_plugins_are_errors_at_once(folder: Folder) -> None:
    folder.agent(actions=[{"file": "a.json"}, {"file": "b.json"}, {"file": "gone.json"}])
    folder.write("appPackage/a.json", "{").write("appPackage/b.json", '{\n"x": 1, "x": 2}')
    assert [(problem.file, problem.line) for problem in folder.problems()] == [
        ("appPackage/a.json", 1),
        ("appPackage/b.json", 2),
    ]


def test_reading_twice_gives_the_same_specification(folder: Folder) -> None:
    folder.mcp(functions=[{"name": "moor"}, {"name": "listBerths"}], mcp_tool_description={"file": "gone.json"})
    assert folder.read() == folder.read()
    assert folder.read().digest == folder.read().digest


def test_there_are_no_more_remarks_than_the_limit_and_one_that_says_so(folder: Folder) -> None:
    folder.agent(version="v1.8", conversation_starters=[{"title": f"{number}"} for number in range(30)])
    specification = folder.read(tools=10)
    assert len(specification.notes) == 11
    assert specification.notes[-1].message == "more than 10 remarks; the rest is left out"


def test_a_long_chain_of_references_ends(folder: Folder) -> None:
    chain = {str(number): {"$ref": f"#/x/{number + 1}"} for number in range(200)}
    document = openapi({f"/{number}": {"$ref": "#/x/0"} for number in range(200)}) | {"x": chain}
    specification = folder.rest(document, auth=NONE).read()
    assert [(tool.name, tool.effect) for tool in specification.tools or ()] == [("*", "unknown")]
    assert notes_of(specification)
    assert all("leads over more than 60 others" in note for note in notes_of(specification))


def test_hostile_names_and_shapes_are_read_without_an_error(folder: Folder) -> None:
    odd: list[Any] = [
        None,
        1,
        True,
        "",
        "x",
        [],
        {},
        [[]],
        {"name": {}},
        {"name": 1, "type": [], "spec": [], "auth": []},
    ]
    for key in ("functions", "runtimes", "schema_version", "namespace"):
        for value in [*odd, odd]:
            plugin = {key: value}
            folder.agent(actions=[{"file": "plugin.json"}]).write("appPackage/plugin.json", plugin)
            assert folder.read().name == "Harbour desk", json.dumps(plugin)
    for key in ("capabilities", "actions", "conversation_starters", "instructions", "description", "version"):
        for value in [*odd, odd]:
            assert folder.agent(**{key: value}).read().platform == "declarative-agent", (key, value)
    for key in ("paths", "components", "security", "securityDefinitions"):
        for value in [*odd, odd, {"/a": odd}, {"/a": {"get": odd}}, {"securitySchemes": {"a": odd}}, {"a": 1}]:
            document = {"openapi": "3.0.0", "paths": {"/a": {"get": {"security": [{"a": []}]}}}, key: value}
            assert folder.rest(document).read().platform == "declarative-agent", (key, value)
    for value in [*odd, odd]:
        assert folder.mcp(mcp_tool_description=value, tools=value).read().platform == "declarative-agent", value
