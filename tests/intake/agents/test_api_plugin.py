"""Plugins that no declarative agent has: named by the manifest, or alone in the folder."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.files.snapshot import WorkingTree
from incumbent.intake.agents.reading import find_specifications
from tests.intake.agents.builders import NONE, OAUTH, Folder, make_limits, notes_of, openapi, tools_of

API = openapi({"/berths": {"get": {"operationId": "listBerths"}, "post": {"operationId": "bookBerth"}}})


def plugin(url: str = "api.json", **parts: Any) -> dict[str, Any]:
    return {
        "schema_version": "v2.2",
        "name_for_human": "Harbour",
        "namespace": "harbour",
        "description_for_human": "Calls the harbour office.",
        "description_for_model": "Use it for berths.",
        "runtimes": [{"type": "OpenApi", "auth": OAUTH, "spec": {"url": url}}],
        **parts,
    }


def manifest(*files: str, key: str = "copilotAgents") -> dict[str, Any]:
    named = [{"id": file, "file": file} for file in files]
    return {"name": {"short": "Harbour app"}, "description": {"short": "An app."}, key: {"plugins": named}}


@pytest.fixture
def harbour(folder: Folder) -> Folder:
    return folder.write("api.json", API).write("ai-plugin.json", plugin())


def test_a_plugin_alone_is_an_agent_with_its_tools(harbour: Folder) -> None:
    starters = [{"title": "Berths", "text": "Which berths are free?"}, {"text": "When is high water?"}]
    harbour.write("ai-plugin.json", plugin(capabilities={"conversation_starters": starters}))
    specification = harbour.read()
    assert (specification.platform, specification.name) == ("api-plugin", "Harbour")
    assert (specification.description, specification.instructions) == (
        "Calls the harbour office.",
        "Use it for berths.",
    )
    assert {tool.name: (tool.effect, tool.auth) for tool in specification.tools or ()} == {
        "listBerths": ("read", "oauth"),
        "bookBerth": ("write", "oauth"),
    }
    assert (specification.auth_modes, specification.knowledge) == (("oauth",), None)
    assert specification.starters == ("Which berths are free?", "When is high water?")
    assert specification.notes == ()


@pytest.mark.parametrize("key", ["copilotAgents", "copilotExtensions"])
@pytest.mark.parametrize("name", ["manifest.json", "manifest.dev.json", "app.json"])
def test_a_manifest_names_its_plugins(harbour: Folder, key: str, name: str) -> None:
    other = openapi({"/tides": {"get": {"operationId": "listTides"}}})
    harbour.write("tides.json", other).write("tide-plugin.json", plugin("tides.json", name_for_human="Tides"))
    specification = harbour.write(name, manifest("ai-plugin.json", "tide-plugin.json", key=key)).read()
    assert (specification.platform, specification.name) == ("api-plugin", "Harbour app")
    assert (specification.description, specification.instructions) == (
        "Calls the harbour office.",
        "Use it for berths.\n\nUse it for berths.",
    )
    assert list(tools_of(specification)) == ["listBerths", "bookBerth", "listTides"]
    assert specification.notes == ()
    assert find_specifications(WorkingTree(harbour.root), make_limits()) == (name,)


def test_texts_are_those_of_the_default_language(harbour: Folder) -> None:
    words = {"localizationKeys": {"greeting": "Which berths are free?"}}
    starters = [{"text": "[[greeting]]"}, {"title": "no text"}]
    harbour.write("ai-plugin.json", plugin(capabilities={"conversation_starters": starters}))
    specification = harbour.write("manifest.json", manifest("ai-plugin.json") | words).read()
    assert specification.starters == ("Which berths are free?",)
    (note,) = notes_of(specification)
    assert "capabilities.conversation_starters[1]: the conversation starter has no text" in note


def test_a_declarative_agent_comes_first(harbour: Folder) -> None:
    agents = [{"id": "a", "file": "a.json"}]
    harbour.write("a.json", {"version": "v1.6", "name": "Harbour desk", "description": "d", "actions": []})
    both = manifest("ai-plugin.json")
    both["copilotAgents"]["declarativeAgents"] = agents
    specification = harbour.write("manifest.json", both).read()
    assert (specification.platform, specification.tools) == ("declarative-agent", ())
    assert notes_of(specification) == [
        f"{file}:1: this file ({name}) is not read: the agent of manifest.json does not name it"
        for file, name in (("api.json", "openapi"), ("ai-plugin.json", "api-plugin"))
    ]
    harbour.write(
        "a.json", {"version": "v1.6", "name": "n", "description": "d", "actions": [{"file": "ai-plugin.json"}]}
    )
    assert harbour.read().notes == ()


def test_a_plugin_beside_an_agent_yaml_is_not_passed_over_without_a_word(harbour: Folder) -> None:
    harbour.write("agent.yaml", "agent: 1\nname: Desk\nplatform: acme\n")
    harbour.write("manifest.json", manifest("ai-plugin.json"))
    specification = harbour.read()
    assert (specification.name, specification.tools) == ("Desk", None)
    assert [note.split(" is not read")[0] for note in notes_of(specification)] == [
        "api.json:1: this file (openapi)",
        "manifest.json:1: this file (api-plugin)",
        "ai-plugin.json:1: this file (api-plugin)",
    ]
    harbour.write("agent.yaml", "agent: 1\nextends: manifest.json\n")
    specification = harbour.read()
    assert list(tools_of(specification)) == ["listBerths", "bookBerth"]
    assert specification.notes == ()
    harbour.write("agent.yaml", "agent: 1\nextends: ai-plugin.json\n")
    assert list(tools_of(harbour.read())) == ["listBerths", "bookBerth"]


def test_a_plugin_alone_may_name_any_file_of_the_folder_and_none_outside(folder: Folder) -> None:
    folder.write("api.json", API).write("appPackage/ai-plugin.json", plugin("../api.json"))
    assert list(tools_of(folder.read())) == ["listBerths", "bookBerth"]
    specification = folder.write("appPackage/ai-plugin.json", plugin("../../api.json")).read()
    assert list(tools_of(specification)) == ["*"]
    assert "../../api.json leaves the package" in notes_of(specification)[0]


def test_what_the_plugin_does_not_name_is_said(harbour: Folder) -> None:
    harbour.write("tools.json", {"tools": [{"name": "moor", "inputSchema": {}}]})
    specification = harbour.read()
    assert list(tools_of(specification)) == ["listBerths", "bookBerth"]
    assert notes_of(specification) == [
        "tools.json:1: this file (mcp-tools) is not read: the agent of ai-plugin.json does not name it"
    ]


def test_a_plugin_that_no_manifest_names_is_said(harbour: Folder) -> None:
    harbour.write("old-plugin.json", plugin()).write("manifest.json", manifest("ai-plugin.json"))
    (note,) = notes_of(harbour.read())
    assert note == "old-plugin.json:1: this file (api-plugin) is not read: the agent of manifest.json does not name it"


def test_several_plugins_that_nothing_names_are_an_error(harbour: Folder) -> None:
    (problem,) = harbour.write("tide-plugin.json", plugin()).problems()
    assert problem.message == (
        "several agent specifications are here: ai-plugin.json (api-plugin), tide-plugin.json (api-plugin)"
    )
    assert problem.fix == (
        'write an agent.yaml with `agent: 1` and `extends: ["ai-plugin.json", "tide-plugin.json"]`, which joins them, '
        "or keep one"
    )
    harbour.write("agent.yaml", 'agent: 1\nextends: ["ai-plugin.json", "tide-plugin.json"]\n')
    assert list(tools_of(harbour.read())) == ["listBerths", "bookBerth"]


@pytest.mark.parametrize(
    ("manifests", "read"),
    [
        (["manifest.json", "manifest.local.json"], "manifest.json"),
        (["Manifest.json", "a.json", "build/manifest.dev.json"], "Manifest.json"),
        (["a.json", "manifest.dev.json"], "manifest.dev.json"),
    ],
)
def test_of_several_manifests_the_one_of_the_usual_name_counts(
    harbour: Folder, manifests: list[str], read: str
) -> None:
    for path in manifests:
        harbour.write(path, manifest("ai-plugin.json"))
    specification = harbour.read()
    assert (specification.name, list(tools_of(specification))) == ("Harbour app", ["listBerths", "bookBerth"])
    assert specification.notes == ()
    assert find_specifications(WorkingTree(harbour.root), make_limits()) == (read,)


@pytest.mark.parametrize(
    "manifests", [["a/manifest.json", "b/manifest.json"], ["manifest.dev.json", "manifest.local.json"]]
)
def test_several_manifests_of_one_rank_are_an_error(harbour: Folder, manifests: list[str]) -> None:
    for path in manifests:
        harbour.write(path, manifest("ai-plugin.json"))
    (problem,) = harbour.problems()
    assert f"several agent specifications are here: {manifests[0]} (api-plugin), {manifests[1]}" in problem.message


@pytest.mark.parametrize(
    ("files", "tools", "note"),
    [
        (["gone.json"], None, "the plugin is not read: gone.json: the file cannot be read"),
        (["https://harbour.example/p.json"], None, "the plugin is not read: it is remote, and nothing is ever fetched"),
        (["list.json"], None, "list.json is no plugin and is not read"),
        (["ai-plugin.json", "gone.json"], 2, "the plugin is not read: gone.json: the file cannot be read"),
        (["ai-plugin.json", "ai-plugin.json"], 2, "this plugin is named twice"),
    ],
)
def test_a_plugin_that_cannot_be_read_is_said(harbour: Folder, files: list[str], tools: int | None, note: str) -> None:
    specification = harbour.write("list.json", []).write("manifest.json", manifest(*files)).read()
    assert (None if specification.tools is None else len(specification.tools)) == tools
    assert note in notes_of(specification)[0]


@pytest.mark.parametrize("path", ["ai-plugin.json", "manifest.json"])
def test_a_broken_plugin_is_an_error(harbour: Folder, path: str) -> None:
    if path == "manifest.json":
        harbour.write("manifest.json", manifest("ai-plugin.json"))
    (problem,) = harbour.write("ai-plugin.json", '{\n "functions": [,]\n}').problems()
    assert (problem.file, problem.line) == ("ai-plugin.json", 2)
    assert "not valid JSON" in problem.message


def test_more_tools_than_allowed_are_an_error_that_names_the_limit(harbour: Folder) -> None:
    harbour.write("tide-plugin.json", plugin()).write("manifest.json", manifest("ai-plugin.json", "tide-plugin.json"))
    (problem,) = harbour.problems(tools=3)
    assert (problem.file, problem.line) == ("manifest.json", 1)
    assert "more actions, runtimes, tools or capabilities than the limit of 3" in problem.message
    (problem,) = harbour.write("manifest.json", manifest("ai-plugin.json")).problems(tools=1)
    assert "the plugin brings more tools or runtimes than the limit of 1" in problem.message


OLD = {"schema_version": "v1", "name_for_human": "Harbour", "api": {"type": "openapi", "url": "https://h.example/a"}}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (OLD, 1),
        ({"schema_version": "v2.1", "name_for_human": "Harbour"}, 1),
        ({"schema_version": "v2.1", "functions": {}, "runtimes": {}}, 3),
        ([], 1),
    ],
)
def test_a_file_with_the_name_of_a_plugin_that_is_none_says_why(folder: Folder, content: Any, line: int) -> None:
    (problem,) = folder.write("ai-plugin.json", content).problems()
    assert (problem.file, problem.line) == ("ai-plugin.json", line)
    assert problem.message == (
        "no agent specification is here; this file (api-plugin) is not read: it lists neither `functions` nor "
        "`runtimes`, as plugin manifests do since v2.1"
    )
    assert problem.fix == (
        "bring a plugin manifest of v2.1 or later, or the OpenAPI file that it names, or add the agent's app package, "
        'or write an agent.yaml of three lines: `agent: 1`, `name: "NAME"`, `platform: PLATFORM` (what runs the agent)'
    )


def test_a_plugin_of_the_old_kind_is_said_where_something_else_is_read(folder: Folder) -> None:
    folder.write("ai-plugin.json", OLD)
    (note,) = folder.write("api.json", API).read().notes
    assert (note.file, note.line) == ("ai-plugin.json", 1)
    assert note.message == (
        "this file (api-plugin) is not read: it lists neither `functions` nor `runtimes`, as plugin manifests do "
        "since v2.1"
    )
    assert note.fix == "bring a plugin manifest of v2.1 or later, or the OpenAPI file that it names"


def test_a_broken_plugin_beside_an_agent_is_said(folder: Folder) -> None:
    folder.write("agent.yaml", "agent: 1\nname: Desk\nplatform: acme\n").write("ai-plugin.json", "{")
    (note,) = notes_of(folder.read())
    assert note == "ai-plugin.json:1: this file (api-plugin) is not read: the agent of agent.yaml does not name it"


@pytest.mark.parametrize(
    "document",
    [
        {"functions": [], "runtimes": []},
        {"functions": [{"name": "listBerths"}], "schema_version": "v2.1"},
        {"runtimes": [], "name_for_human": "Harbour"},
    ],
)
def test_a_plugin_is_told_by_its_keys(folder: Folder, document: Any) -> None:
    assert folder.write("harbour.json", document).read().platform == "api-plugin"


@pytest.mark.parametrize(
    "document",
    [
        {"functions": [{"name": "a"}]},
        {"functions": {}, "runtimes": {}, "schema_version": "v2.1"},
        {"copilotAgents": {"plugins": []}},
        {"plugins": [{"file": "ai-plugin.json"}]},
        [],
    ],
)
def test_other_files_are_none(folder: Folder, document: Any) -> None:
    (problem,) = folder.write("harbour.json", document).write("evals.json", "{").problems()
    assert "no agent specification is here" in problem.message


def test_without_auth_nothing_is_declared_and_none_is_none(folder: Folder) -> None:
    folder.write("api.json", API)
    runtime = {"type": "OpenApi", "auth": NONE, "spec": {"url": "api.json"}}
    assert folder.write("ai-plugin.json", plugin(runtimes=[runtime])).read().auth_modes == ("none",)
    assert folder.write("ai-plugin.json", plugin(runtimes=[], functions=[])).read().tools == ()
