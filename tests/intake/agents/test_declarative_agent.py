from __future__ import annotations

from typing import Any

import pytest

from incumbent.intake.agents.declarative_agent import KINDS
from tests.intake.agents.builders import NONE, Folder, notes_of, openapi, tools_of


def test_an_agent_is_read_from_manifest_to_plugin(folder: Folder) -> None:
    folder.rest(openapi({"/berths": {"get": {"operationId": "listBerths"}}}), auth=NONE)
    folder.agent(
        instructions="Be brief.",
        capabilities=[{"name": "WebSearch"}],
        conversation_starters=[{"title": "Berths", "text": "Which berths are free?"}, {"text": "When is high water?"}],
        actions=[{"id": "p", "file": "plugin.json"}],
    )
    specification = folder.read()
    assert specification.facts() == {
        "platform": "declarative-agent",
        "name": "Harbour desk",
        "auth_modes": ["none"],
        "tools": [
            {
                "name": "listBerths",
                "protocol": "rest",
                "effect": "read",
                "confirmation": None,
                "card": False,
                "auth": "none",
            }
        ],
        "knowledge": ["web-search"],
        "starters": ["Which berths are free?", "When is high water?"],
        "facts": {},
    }
    assert (specification.description, specification.instructions) == ("Berths and tides.", "Be brief.")
    assert specification.notes == ()


def test_what_an_agent_leaves_out_it_declares_not_to_have_but_auth_is_then_not_declared(folder: Folder) -> None:
    specification = folder.agent().read()
    assert specification.tools == ()
    assert specification.knowledge == ()
    assert specification.starters == ()
    assert specification.auth is None
    assert specification.notes == ()


@pytest.mark.parametrize(
    "manifest",
    [
        {"copilotAgents": {"declarativeAgents": [{"id": "a", "file": "a.json"}], "plugins": [{"file": "x.json"}]}},
        {"copilotExtensions": {"declarativeCopilots": [{"id": "a", "file": "a.json"}]}},
        {"copilotExtensions": {"declarativeAgents": [{"id": "a", "file": "./a.json"}]}},
    ],
    ids=["agents", "copilots", "extensions"],
)
@pytest.mark.parametrize("where", ["", "appPackage/", "src/M365Agent/appPackage/"])
def test_a_manifest_names_the_agent_under_new_and_old_keys(folder: Folder, manifest: Any, where: str) -> None:
    folder.write(f"{where}manifest.json", manifest)
    folder.write(f"{where}a.json", {"version": "v1.0", "name": "Old", "description": "d"})
    assert folder.read().name == "Old"


def test_an_agent_file_that_the_manifest_does_not_name_is_left_alone(folder: Folder) -> None:
    folder.agent().write(
        "appPackage/declarativeAgent.old.json", {"version": "v1.0", "name": "Old", "instructions": "x"}
    )
    assert folder.read().name == "Harbour desk"


@pytest.mark.parametrize(
    "content",
    [
        {"$schema": "https://example.com/json-schemas/copilot/declarative-agent/v1.2/schema.json", "name": "Alone"},
        {"version": "v1.3", "name": "Alone", "instructions": "Be brief."},
    ],
)
def test_an_agent_without_a_manifest_is_told_by_its_content(folder: Folder, content: Any) -> None:
    folder.write("anything.json", content).write("evals.json", {"prompts": [{"prompt": "?"}]}).write("odd.json", "{")
    assert folder.read().name == "Alone"


def test_a_manifest_of_another_name_counts_where_there_is_no_manifest_json(folder: Folder) -> None:
    folder.agent()
    (folder.root / "appPackage/manifest.json").rename(folder.root / "appPackage/manifest.dev.json")
    folder.write("appPackage/manifest.json", {"name": {"short": "no agent here"}})
    assert folder.read().name == "Harbour desk"


@pytest.mark.parametrize("version", [f"v1.{minor}" for minor in range(9)])
def test_every_published_version_is_read_without_a_remark(folder: Folder, version: str) -> None:
    known = [name for name, (_, since) in KINDS.items() if since <= version]
    specification = folder.agent(version=version, capabilities=[{"name": name} for name in known]).read()
    assert [item.kind for item in specification.knowledge or ()] == [KINDS[name][0] for name in known]
    assert specification.notes == ()


def test_knowledge_says_where_it_was_declared_and_each_kind_is_a_fact_once(folder: Folder) -> None:
    capabilities = [{"name": "OneDriveAndSharePoint", "items_by_url": []}, {"name": "OneDriveAndSharePoint"}]
    specification = folder.agent(capabilities=capabilities).read()
    assert [item.declared_in for item in specification.knowledge or ()] == [
        "appPackage/declarativeAgent.json: capabilities[0]",
        "appPackage/declarativeAgent.json: capabilities[1]",
    ]
    assert specification.facts()["knowledge"] == ["files"]


@pytest.mark.parametrize(
    ("version", "capability", "kind", "remark"),
    [
        ("v1.8", {"name": "TarotCards"}, "tarot-cards", "capabilities[0].name: the capability 'TarotCards' is not a"),
        ("v1.8", {"name": "WebSerch"}, "web-serch", "is read as 'web-serch'; perhaps you meant 'WebSearch'"),
        ("v1.8", {"name": "HTTPCache 2"}, "http-cache-2", "is read as 'http-cache-2'"),
        ("v1.8", "WebSearch", "web-search", ""),
        ("v1.0", {"name": "CodeInterpreter"}, "code-interpreter", "CodeInterpreter came with version v1.2, this agent"),
        ("v9.0", {"name": "EmailActions"}, "email-actions", "version: 'v9.0' is not a version this reader knows"),
    ],
)
def test_capabilities_that_break_the_published_schema_are_said_and_read(
    folder: Folder, version: str, capability: Any, kind: str, remark: str
) -> None:
    specification = folder.agent(version=version, capabilities=[capability]).read()
    assert [item.kind for item in specification.knowledge or ()] == [kind]
    assert [remark in note for note in notes_of(specification)] == ([True] if remark else [])


@pytest.mark.parametrize(
    ("parts", "remark"),
    [
        ({"capabilities": {"name": "WebSearch"}}, "declarativeAgent.json:5: capabilities: not a list, and not read"),
        ({"capabilities": [{"nam": "WebSearch"}]}, "capabilities[0]: the capability has no name and is not read"),
        ({"actions": {"file": "plugin.json"}}, "actions: not a list, and not read"),
        ({"actions": [{"id": "x"}]}, "actions[0].file: the plugin is not read: no file is named"),
        ({"actions": [{"file": "pluginn.json"}]}, "appPackage/pluginn.json: the file cannot be read"),
        ({"actions": [{"file": "PLUGIN.JSON"}]}, "perhaps you meant 'appPackage/plugin.json'"),
        ({"actions": [{"file": "list.json"}]}, "appPackage/list.json is no plugin and is not read"),
        ({"actions": [{"file": "https://example.com/p.json"}]}, "it is remote, and nothing is ever fetched"),
        ({"worker_agents": [{"id": "P_1"}]}, "worker_agents[0]: not part of this agent's own declaration"),
        ({"conversation_starters": [{"title": "Tides"}]}, "conversation_starters[0]: the conversation starter has no"),
    ],
)
def test_what_is_not_read_of_an_agent_is_said(folder: Folder, parts: Any, remark: str) -> None:
    folder.write("appPackage/plugin.json", {}).write("appPackage/list.json", [])
    specification = folder.agent(**parts).read()
    (note,) = specification.notes
    assert remark in f"{note.file}:{note.line}: {note.message}"
    assert note.fix
    assert (specification.knowledge is None) == ("capabilities: not a list" in remark)
    assert (specification.tools is None) == ("actions" in parts)


def test_a_missing_plugin_does_not_hide_the_others(folder: Folder) -> None:
    folder.mcp(functions=[{"name": "moor"}])
    folder.agent(actions=[{"file": "plugin.json"}, {"file": "gone.json"}, {"file": "./plugin.json"}])
    specification = folder.read()
    assert set(tools_of(specification)) == {"moor"}
    remarks = " ".join(notes_of(specification))
    assert "appPackage/gone.json" in remarks
    assert "actions[2]: this plugin is named twice" in remarks


def test_texts_are_brought_in_from_files_of_the_package(folder: Folder) -> None:
    folder.write("appPackage/texts/how.md", "\ufeffBe brief.\n").write("appPackage/name.txt", "Tide desk\n")
    specification = folder.agent(
        name="$[file('name.txt')]", instructions='Always: $[ file( "texts/how.md" ) ] Never shout.'
    ).read()
    assert specification.name == "Tide desk"
    assert specification.instructions == "Always: Be brief. Never shout."


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("../../secret.txt", "../../secret.txt leaves the package"),
        ("../outside.txt", "../outside.txt leaves the package"),
        ("/etc/passwd", "/etc/passwd leaves the package"),
        ("https://example.com/x.txt", "it is remote, and nothing is ever fetched"),
        ("${{FILE}}.txt", "its name holds the placeholder ${{FILE}}"),
        ("link.txt", "the path is a symbolic link"),
        ("inner/how.txt", "the path is a symbolic link"),
        ("gone.txt", "appPackage/gone.txt: the file cannot be read"),
        ("latin.txt", "appPackage/latin.txt:2: the file is not valid UTF-8"),
        ("", "no file is named"),
    ],
)
def test_a_text_beyond_the_package_is_never_read(folder: Folder, reference: str, reason: str) -> None:
    folder.write("outside.txt", "outside").write("other/how.txt", "outside")
    (folder.root / "appPackage").mkdir()
    (folder.root / "appPackage/link.txt").symlink_to(folder.root / "outside.txt")
    (folder.root / "appPackage/inner").symlink_to(folder.root / "other")
    (folder.root / "appPackage/latin.txt").write_bytes(b"ok\ncaf\xe9\n")
    written = f"$[file('{reference}')]"
    specification = folder.agent(instructions=written).read()
    assert specification.instructions == written
    (note,) = specification.notes
    assert note.message == f"instructions: the text is not read: {note.message.split(': ', 2)[2]}"
    assert reason in note.message


def test_included_files_together_stay_within_the_limit_of_one(folder: Folder) -> None:
    folder.write("appPackage/long.txt", "z" * 900)
    specification = folder.agent(instructions="$[file('long.txt')]" * 40).read(file_bytes=2_000)
    assert specification.instructions.count("z") == 1_800
    (note,) = specification.notes
    assert "is not read in full: more than the limit of 2,000 bytes" in note.message


def test_localised_texts_are_read_in_the_default_language(folder: Folder) -> None:
    folder.agent(
        name="[[agent_name]]",
        description="[[about]] ([[missing]])",
        instructions="See [[agent_name]].",
        conversation_starters=[{"text": "[[ starter_1 ]]"}],
    )
    agents = {"declarativeAgents": [{"id": "a", "file": "declarativeAgent.json"}]}
    info = {
        "defaultLanguageTag": "en",
        "defaultLanguageFile": "loc/en.json",
        "additionalLanguages": [{"languageTag": "fr", "file": "loc/fr.json"}],
    }
    folder.write("appPackage/manifest.json", {"copilotAgents": agents, "localizationInfo": info})
    english = {"agent_name": "Tide desk", "about": "Tides", "starter_1": "When is high water?"}
    folder.write("appPackage/loc/en.json", {"localizationKeys": english})
    folder.write("appPackage/loc/fr.json", {"localizationKeys": {"agent_name": "Marées"}})
    specification = folder.read()
    assert specification.name == "Tide desk"
    assert specification.description == "Tides ([[missing]])"
    assert specification.instructions == "See [[agent_name]]."
    assert specification.starters == ("When is high water?",)
    (note,) = notes_of(specification)
    assert "description: the localisation key [[missing]] has no text in the default language" in note


@pytest.mark.parametrize("info", [None, {"defaultLanguageTag": "en", "additionalLanguages": []}])
def test_localisation_keys_without_a_language_file_stay_and_are_said(folder: Folder, info: Any) -> None:
    specification = folder.agent(name="[[agent_name]]").read()
    assert specification.name == "[[agent_name]]"
    assert len(specification.notes) == 1


def test_the_default_language_may_be_listed_among_the_others(folder: Folder) -> None:
    agents = {"declarativeAgents": [{"id": "a", "file": "declarativeAgent.json"}]}
    info = {"defaultLanguageTag": "en", "additionalLanguages": [{"languageTag": "en", "file": "en.json"}]}
    folder.agent(name="[[n]]").write("appPackage/manifest.json", {"copilotAgents": agents, "localizationInfo": info})
    folder.write("appPackage/en.json", {"localizationKeys": {"n": "Tide desk"}})
    assert folder.read().name == "Tide desk"


def test_placeholders_of_the_environment_stay(folder: Folder) -> None:
    specification = folder.agent(name="Harbour ${{APP_NAME_SUFFIX}}").read()
    assert specification.name == "Harbour ${{APP_NAME_SUFFIX}}"
    assert specification.notes == ()


def test_an_agent_without_a_name_takes_the_manifests(folder: Folder) -> None:
    agents = {"declarativeAgents": [{"id": "a", "file": "declarativeAgent.json"}]}
    folder.agent(name=None)
    folder.write("appPackage/manifest.json", {"copilotAgents": agents, "name": {"short": "Harbour"}})
    assert folder.read().name == "Harbour"


def test_a_broken_manifest_beside_an_agents_own_file_is_remarked(folder: Folder) -> None:
    agent = {
        "$schema": "https://x.example/declarative-agent/v1.0",
        "version": "v1.0",
        "name": "n",
        "description": "d",
    }
    folder.write("declarativeAgent.json", agent).write("manifest.json", "{broken")
    (note,) = folder.read().notes
    assert (note.file, note.line) == (note.file.rpartition("/")[0] + "manifest.json", 1)
    assert "read without the manifest" in note.message
