"""``extends`` of agent.yaml: files joined, and what agent.yaml says itself laid over them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import OAUTH, Folder, notes_of, openapi, tools_of

API = openapi(
    {
        "/berths": {"post": {"operationId": "berthStatus", "summary": "The status"}},
        "/ships": {"put": {"operationId": "moorShip"}},
    },
    schemes={"k": {"type": "apiKey"}},
    security=[{"k": []}],
)
DUMP = {"tools": [{"name": "tides", "inputSchema": {}}, {"name": "moorShip", "inputSchema": {}}]}


@pytest.fixture
def harbour(folder: Folder) -> Folder:
    return folder.write("api.json", API).write("tools/dump.json", DUMP)


def agent(**parts: str) -> str:
    return "agent: 1\n" + "".join(f"{key}: {value}\n" for key, value in parts.items())


def test_one_file_is_the_specification_where_agent_yaml_says_no_more(harbour: Folder) -> None:
    (harbour.root / "tools/dump.json").unlink()
    specification = harbour.write("agent.yaml", agent(extends="api.json")).read()
    (harbour.root / "agent.yaml").unlink()
    assert specification == harbour.read()


def test_a_file_that_the_agent_does_not_name_is_not_passed_over_without_a_word(harbour: Folder) -> None:
    (note,) = notes_of(harbour.write("agent.yaml", agent(extends="api.json")).read())
    assert note == ("tools/dump.json:1: this file (mcp-tools) is not read: the agent of agent.yaml does not name it")


def test_files_are_joined_in_order_and_duplicates_named(harbour: Folder) -> None:
    specification = harbour.write("agent.yaml", agent(extends="[./tools/dump.json, api.json]")).read()
    assert [(tool.name, tool.protocol) for tool in specification.tools or ()] == [
        ("tides", "mcp"),
        ("moorShip", "mcp"),
        ("berthStatus", "rest"),
    ]
    assert (specification.name, specification.auth_modes, specification.knowledge) == ("Harbour", ("api-key",), None)
    (note,) = notes_of(specification)
    assert note == (
        "agent.yaml:2: extends[1]: the tool 'moorShip' (api.json: paths['/ships'].put) is there already "
        "(tools/dump.json: tools[1]); the first one counts"
    )


def test_what_agent_yaml_says_replaces_what_the_files_say(harbour: Folder) -> None:
    text = agent(
        extends="api.json",
        name="Desk",
        platform="acme",
        description="D",
        instructions="I",
        auth_modes="[oauth, api-key]",
        knowledge="[web-search]",
        starters="[Hello]",
    )
    specification = harbour.write("agent.yaml", text).read()
    assert (specification.name, specification.platform) == ("Desk", "acme")
    assert (specification.description, specification.instructions) == ("D", "I")
    assert specification.auth_modes == ("api-key", "oauth")
    assert [item.kind for item in specification.knowledge or ()] == ["web-search"]
    assert specification.starters == ("Hello",)
    assert len(specification.tools or ()) == 2


def test_a_tool_takes_over_only_the_fields_that_are_given(harbour: Folder) -> None:
    before = tools_of(harbour.write("agent.yaml", agent(extends="api.json")).read())
    assert before["berthStatus"].effect == "write"
    text = agent(extends="api.json") + (
        "tools:\n  - {name: berthStatus, effect: read, confirmation: false, card: true}\n"
        "  - {name: moorShip, description: Moors, auth: sso}\n"
    )
    specification = harbour.write("agent.yaml", text).read()
    status, moor = specification.tools or ()
    assert (status.effect, status.effect_from) == ("read", "declared in agent.yaml")
    assert (status.confirmation, status.card, status.auth, status.protocol) == (False, True, "api-key", "rest")
    assert status.declared_in == "api.json: paths['/berths'].post; agent.yaml: tools[0]"
    assert (moor.description, moor.auth) == ("Moors", "sso")
    assert (moor.effect, moor.effect_from) == (before["moorShip"].effect, before["moorShip"].effect_from)
    assert specification.auth_modes == ("api-key", "sso")


def test_a_mode_that_no_tool_has_any_more_goes(harbour: Folder) -> None:
    text = agent(extends="api.json", tools="[{name: moorShip, auth: none}, {name: berthStatus, auth: none}]")
    assert harbour.write("agent.yaml", text).read().auth_modes == ("none",)


def test_modes_that_leave_a_tools_own_out_are_said(harbour: Folder) -> None:
    specification = harbour.write("agent.yaml", agent(extends="api.json", auth_modes="[sso]")).read()
    assert specification.auth_modes == ("sso",)
    note, _ = notes_of(specification)
    assert note.startswith("agent.yaml:3: auth_modes: does not name 'api-key', which api.json: paths['/berths'].post")


def test_a_new_tool_says_its_protocol_and_a_slip_is_a_fault(harbour: Folder) -> None:
    text = agent(extends="api.json") + "tools:\n  - {name: callPilot, protocol: function, effect: write}\n"
    tool = tools_of(harbour.write("agent.yaml", text).read())["callPilot"]
    assert (tool.protocol, tool.effect_from, tool.declared_in) == (
        "function",
        "declared in agent.yaml",
        "agent.yaml: tools[0]",
    )
    slip = agent(extends="api.json") + "tools:\n  - name: berthStatus\n  - {name: morShip, effect: read}\n"
    (problem,) = harbour.write("agent.yaml", slip).problems()
    assert (problem.file, problem.line) == ("agent.yaml", 5)
    assert problem.message == "tools[1].name: no extended file has a tool 'morShip'; perhaps you meant 'moorShip'"
    assert "protocol" in problem.fix


def test_over_files_that_declare_no_tools_all_are_new(folder: Folder) -> None:
    card = {"name": "Desk", "skills": [], "url": "x", "capabilities": {}}
    folder.write("agent-card.json", card).write("agent.yaml", agent(extends="agent-card.json", tools="[{name: a}]"))
    assert [tool.name for tool in folder.read().tools or ()] == ["a"]
    folder.write("agent.yaml", agent(extends="agent-card.json", tools="[]"))
    assert folder.read().tools == ()


def test_an_app_package_is_extended_by_its_manifest_and_is_no_second_agent(folder: Folder) -> None:
    tools = [{"name": "tides", "annotations": {"readOnlyHint": True}}]
    folder.mcp(auth=OAUTH, mcp_tool_description={"tools": tools})
    text = agent(extends="appPackage/manifest.json", tools="[{name: tides, effect: write}]")
    specification = folder.write("agent.yaml", text).read()
    assert (specification.platform, specification.name) == ("declarative-agent", "Harbour desk")
    assert specification.auth_modes == ("oauth",)
    assert specification.knowledge == ()
    assert tools_of(specification)["tides"].effect == "write"
    folder.write("more/agent.yaml", agent(extends="../appPackage/manifest.json"))
    (folder.root / "agent.yaml").unlink()
    assert folder.read().name == "Harbour desk"


def test_another_package_beside_is_still_a_second_agent(folder: Folder) -> None:
    folder.agent().write("agent.yaml", agent(extends="appPackage/declarativeAgent.json"))
    (problem,) = folder.problems()
    assert "several agent specifications are here" in problem.message


@pytest.mark.parametrize(
    ("extends", "line", "message"),
    [
        ("../api.json", 2, "extends: ../api.json leads out of the folder"),
        ("/etc/passwd", 2, "leads out of the folder"),
        ("'C:\\api.json'", 2, "leads out of the folder"),
        ("https://example.com/api.json", 2, "leads out of the folder"),
        ("agent.yaml", 2, "extends: the file extends itself"),
        ("[./agent.yaml]", 2, "extends[0]: the file extends itself"),
        ("[api.json, ./api.json]", 2, "extends[1]: ./api.json is named twice"),
        ("api.jsn", 2, "extends: the file cannot be read: No such file or directory; perhaps you meant 'api.json'"),
        ("tools", 2, "extends: not a regular file"),
        ("linked.json", 2, "extends: the path is a symbolic link"),
        ("evals.yaml", 2, "evals.yaml is no agent specification; looked for: a plugin manifest"),
        ("base/agent.yaml", 2, "base/agent.yaml is an agent.yaml as well"),
        ("[]", 2, "extends: must be a string or have 1 or more items"),
        ("7", 2, "extends: must be a string or be a list"),
        ("[7]", 2, "extends.0: must be a string"),
        ("''", 2, "extends: must be a text with at least one visible character"),
    ],
)
def test_a_file_that_cannot_be_extended_is_a_fault_with_line_and_fix(
    harbour: Folder, extends: str, line: int, message: str
) -> None:
    harbour.write("evals.yaml", "eval_set: 1\nqueries: []\n").write("base/agent.yaml", agent(extends="agent.yaml"))
    (harbour.root / "linked.json").symlink_to(harbour.root / "api.json")
    text = agent(extends=extends)
    harbour.write("agent.yaml", text)
    if extends != "base/agent.yaml":
        (harbour.root / "base/agent.yaml").unlink()
    (problem,) = harbour.problems()
    assert (problem.file, problem.line) == ("agent.yaml", line)
    assert message in problem.message
    assert problem.fix


def test_all_broken_files_are_faults_at_once_with_their_own_lines(harbour: Folder) -> None:
    harbour.write("a.json", '{\n"x": 1,}').write("b.yaml", "openapi: 3\npaths: [\n")
    harbour.write("agent.yaml", "agent: 1\nextends:\n  - a.json\n  - b.yaml\n  - c.json\n")
    assert [(problem.file, problem.line) for problem in harbour.problems()] == [
        ("a.json", 2),
        ("agent.yaml", 5),
        ("b.yaml", 2),
    ]


def test_an_empty_list_takes_no_tool_away(harbour: Folder) -> None:
    (problem,) = harbour.write("agent.yaml", agent(extends="api.json", tools="[]")).problems()
    assert (problem.line, problem.message) == (3, "tools: an empty list takes no tool of the extended files away")


@pytest.mark.parametrize(
    ("extends", "tools", "message"),
    [
        ("[api.json, tools/dump.json]", "", "extends: 3 tools together, more than the limit of 2"),
        ("api.json", "tools: [{name: x, protocol: local}]\n", "tools: 3 tools with the extended ones, more than"),
    ],
)
def test_the_limit_of_tools_holds_for_all_together(harbour: Folder, extends: str, tools: str, message: str) -> None:
    (problem,) = harbour.write("agent.yaml", agent(extends=extends) + tools).problems(tools=2)
    assert message in problem.message
    assert "limits.tools" in problem.fix


def test_without_extends_name_and_platform_are_required(folder: Folder) -> None:
    messages = [problem.message for problem in folder.write("agent.yaml", "agent: 1\nextends: null\n").problems()]
    assert messages == ["name: the key is missing", "platform: the key is missing"]


def test_what_starts_and_knowledge_of_several_files_are_joined(folder: Folder) -> None:
    starters: list[Any] = [{"text": "Hello"}]
    folder.agent(capabilities=[{"name": "WebSearch"}], conversation_starters=starters)
    folder.write("tools.json", [{"type": "file_search"}])
    folder.write("agent.yaml", agent(extends="[tools.json, appPackage/manifest.json]"))
    specification = folder.read()
    assert [item.kind for item in specification.knowledge or ()] == ["files", "web-search"]
    assert (specification.starters, specification.tools) == (("Hello",), ())
