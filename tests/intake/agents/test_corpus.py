"""Real packages: counts that an independent count of the raw files gave, and facts checked by reading the files."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from incumbent.files.snapshot import WorkingTree
from incumbent.intake.agents.reading import read_specification
from incumbent.intake.specification import Specification
from tests.intake.agents.builders import make_limits, notes_of

CORPUS = os.environ.get("INCUMBENT_CORPUS")
pytestmark = pytest.mark.skipif(CORPUS is None, reason="INCUMBENT_CORPUS is not set")
SAMPLES = Path(CORPUS or ".") / "agents" / "pnp-copilot-pro-dev-samples" / "samples"


@pytest.fixture(scope="module")
def agents() -> dict[str, Specification]:
    """Every package of the corpus, by its folder's name; a package that cannot be read fails every test."""
    limits = make_limits()
    return {folder.name: read_specification(WorkingTree(folder), limits) for folder in sorted(SAMPLES.iterdir())}


def test_all_packages_are_read(agents: dict[str, Specification]) -> None:
    assert len(agents) == 74
    assert {agent.platform for agent in agents.values()} == {"declarative-agent"}
    assert all(agent.name and agent.description and agent.instructions for agent in agents.values())
    assert all("$[file(" not in agent.instructions for agent in agents.values())


def test_knowledge_counts_are_those_of_the_raw_files(agents: dict[str, Specification]) -> None:
    kinds = Counter(item.kind for agent in agents.values() for item in agent.knowledge or ())
    assert kinds == {
        "files": 19,
        "connectors": 10,
        "web-search": 9,
        "image-generation": 9,
        "code-interpreter": 7,
        "people": 1,
        "email": 1,
        "messages": 1,
    }
    assert all(agent.knowledge is not None for agent in agents.values())


def test_auth_counts_are_those_of_the_raw_files(agents: dict[str, Specification]) -> None:
    """22 OAuthPluginVault (one of them single sign-on), 19 None, 6 ApiKeyPluginVault, 3 absent, over 50 runtimes."""
    modes = Counter(item.mode for agent in agents.values() for item in agent.auth or ())
    assert modes == {"oauth": 21, "sso": 1, "none": 19, "api-key": 6}
    assert Counter(agent.auth_modes for agent in agents.values() if agent.tools) == {
        ("oauth",): 17,
        ("sso",): 1,
        ("none",): 17,
        ("api-key",): 5,
        None: 3,
        ("none", "oauth"): 2,
        ("api-key", "oauth"): 1,
    }
    assert Counter(agent.auth_modes for agent in agents.values() if not agent.tools) == {None: 28}


def test_tool_counts_are_those_of_the_raw_files(agents: dict[str, Specification]) -> None:
    tools = [tool for agent in agents.values() for tool in agent.tools or ()]
    assert len(tools) == 131
    assert sum(agent.tools == () for agent in agents.values()) == 28
    assert Counter(tool.protocol for tool in tools) == {"rest": 120, "mcp": 11}
    methods = Counter(tool.effect_from.split()[0] for tool in tools if tool.effect_from.split()[0].isupper())
    assert methods == {"GET": 71, "POST": 35, "PATCH": 8, "PUT": 2, "DELETE": 2}
    assert Counter(tool.confirmation for tool in tools) == {None: 110, True: 21}
    assert sum(tool.card is True for tool in tools) == 83
    reading_posts = sorted(tool.name for tool in tools if tool.effect_from.startswith("POST") and tool.effect == "read")
    assert reading_posts == [
        "getVolunteeringOpportunities",
        "searchVolunteerOpportunities",
        "search_query",
        "search_query",
    ]
    assert sorted({tool.name for tool in tools if tool.effect == "unknown"}) == [
        "samples_by_author",
        "samples_by_keyword",
        "samples_by_product",
    ]


def test_starters_are_all_read_and_none_is_a_key(agents: dict[str, Specification]) -> None:
    starters = [starter for agent in agents.values() for starter in agent.starters]
    assert len(starters) == 228
    assert not [starter for starter in starters if "[[" in starter or "$[" in starter]


def test_what_is_remarked_of_real_packages_is_true_and_little(agents: dict[str, Specification]) -> None:
    remarked = {name: [note.split(": ", 1)[1] for note in notes_of(agent)] for name, agent in agents.items()}
    silent = "runtimes[0]: the plugin declares no auth; the auth mode is not declared"
    unused = (
        "runtimes[0].auth: the plugin says 'none', but appPackage/apiSpecificationFile/openapi.yaml: "
        "components.securitySchemes.oAuth2AuthCode (line 328) defines 'oauth', which no operation requires; "
        "the plugin holds"
    )
    newer = "runtimes[0].type: RemoteMCPServer came with schema_version v2.4, this plugin says v2.1; read all the same"
    gone = "runtimes[0].spec.url: the OpenAPI file is not read: appPackage/apiSpecificationFile/openapi.yaml: "
    near = "; perhaps you meant 'appPackage/apiSpecificationFile/openapi.yml'"
    missing, unread = remarked.pop("da-todo-tasks-graphapi-plugin")
    assert missing.startswith(gone)
    assert missing.endswith(near)
    unnamed = "this file (openapi) is not read: the agent of appPackage/manifest.json does not name it"
    unnamed_plugin = unnamed.replace("openapi", "api-plugin")
    assert unread == unnamed
    assert {name: notes for name, notes in remarked.items() if notes} == {
        "da-HRHelpdesk": [unused],
        "da-qna-graphapi-plugin": [unnamed, unnamed_plugin],
        "da-sp-agents-finder": [unnamed, unnamed_plugin],
        "da-community-samples-agent": [silent],
        "da-microsoftdocssearchagent": [silent],
        "da-sharepoint-data-manager": [newer, silent],
    }


TREY = [
    "getConsultants rest read - card none",
    "getUserInformation rest read - card none",
    "getProjects rest read - card none",
    "postBillhours rest write asks card none",
    "postAssignConsultant rest write asks card none",
]
DISHES = ["getDishes rest read - card none", "placeOrder rest write - card none"]
CANVAS = [
    f"{name} rest read - - oauth"
    for name in ("listYourCourses", "listModules", "listModuleItems", "smartSearchCourse", "getUser")
]


def as_mode(mode: str, tools: list[str]) -> list[str]:
    return [f"{tool.rsplit(' ', 1)[0]} {mode}" for tool in tools]


@pytest.mark.parametrize(
    ("folder", "name", "modes", "knowledge", "starters", "tools"),
    [
        ("cext-trey-research-csharp", "Trey Genie Local", ["none"], ["files"], 3, TREY),
        ("cext-trey-research-python", "Trey Genie Local", ["none"], ["files"], 3, TREY),
        ("da-trey-research", "Trey Research", ["none"], ["files"], 3, TREY),
        ("da-trey-research-auth-js", "Trey Research", ["oauth"], [], 3, as_mode("oauth", TREY)),
        ("da-BlogPostHelper", "Blog helper agent", None, ["code-interpreter", "image-generation", "web-search"], 3, []),
        ("da-CanvasStudent", "Canvas Student", ["oauth"], [], 6, CANVAS),
        ("da-CareerCoach", "Career Coach", None, ["connectors", "files"], 6, []),
        (
            "da-HRHelpdesk",
            "HRHelpdeskDATemplate",
            ["none"],
            [],
            6,
            [
                "api_now_table_item_get rest read - - none",
                "api_now_table_item_item_delete rest write - - none",
                "api_now_table_item_item_get rest read - - none",
                "api_now_table_item_item_patch rest write - - none",
                "api_now_table_item_item_put rest write - - none",
                "api_now_table_item_post rest write - - none",
            ],
        ),
        (
            "da-ITHelpdesk",
            "ITHelpdesk",
            ["none", "oauth"],
            ["code-interpreter", "connectors", "files", "people"],
            6,
            [
                "createIncident rest write - - oauth",
                "deleteIncident rest write - - oauth",
                "getOngoingOutages rest read - card none",
                "getUserDetails rest read - card oauth",
                "listIncidents rest read - card oauth",
                "updateIncident rest write - card oauth",
            ],
        ),
        (
            "da-MyAdvancedCommsBuddy",
            "My Smart Communication Buddy",
            ["oauth"],
            ["image-generation"],
            6,
            [
                "getAllMessages rest read - - oauth",
                "getMessagesById rest read - - oauth",
                "updateMessage rest write - - oauth",
                "createMessage rest write - - oauth",
                "cancelMessageApproval rest write asks - oauth",
                "submitMessageApproval rest write asks - oauth",
            ],
        ),
        ("da-PresentationAgent", "Presentation Agent", None, [], 0, []),
        ("da-RubberDuck", "Rubber duck${{APP_NAME_SUFFIX}}", None, [], 0, []),
        (
            "da-SalesGenie",
            "Sales Genie",
            ["oauth"],
            ["code-interpreter", "email", "files", "messages", "web-search"],
            5,
            ["createCallTask rest write - card oauth", "getSalesData rest read - card oauth"],
        ),
        ("da-XBoxGameMaster", "XBOX Game Master", None, ["image-generation", "web-search"], 3, []),
        (
            "da-adaptive-card-inline-edit-js",
            "Adaptive Card Inline Edit",
            ["api-key"],
            [],
            1,
            ["listRepairs rest read - card api-key", "updateRepair rest write - card api-key"],
        ),
        ("da-azureopenai", "daOpenAPI", ["api-key"], [], 1, ["getVolunteeringOpportunities rest read - - api-key"]),
        (
            "da-community-samples-agent",
            "Microsoft 365 Community Samples Agent",
            None,
            [],
            3,
            [f"samples_by_{what} mcp unknown - - -" for what in ("author", "keyword", "product")],
        ),
        (
            "da-foodbank-friend",
            "Foodbank Friend",
            ["none", "oauth"],
            [],
            3,
            [
                "searchFoodBanks rest read - - none",
                "createListItem mcp write - - oauth",
                "listListItems mcp read - - oauth",
                "createEvent mcp write - - oauth",
            ],
        ),
        (
            "da-microsoftdocssearchagent",
            "Microsoft Learn Search Agent",
            None,
            ["code-interpreter", "image-generation"],
            3,
            [
                "microsoft_code_sample_search mcp read - - -",
                "microsoft_docs_fetch mcp read - - -",
                "microsoft_docs_search mcp read - - -",
            ],
        ),
        ("da-qna-graphapi-plugin", "CopilotGraphPluginDemo", ["oauth"], [], 1, ["search_query rest read - - oauth"]),
        (
            "da-repairs-oauth-python",
            "da-repairs-oauth${{APP_NAME_SUFFIX}}",
            ["oauth"],
            [],
            1,
            ["listRepairs rest read - card oauth"],
        ),
        (
            "da-repairs-oauth-validated-js",
            "Repairs-OAuth${{APP_NAME_SUFFIX}}",
            ["oauth"],
            [],
            1,
            ["listRepairs rest read - card oauth"],
        ),
        (
            "da-resolvemate-api",
            "O365C - Resolve Mate",
            ["none"],
            ["connectors", "files"],
            5,
            [
                "getTicketById rest read - card none",
                "getTicketsByStatusAndPriority rest read - card none",
                "searchTickets rest read - card none",
                "updateTicket rest write - card none",
                "getResolvedTicketsWithSatisfaction rest read - card none",
            ],
        ),
        ("da-ristorante-api-devproxy", "Il Ristorante", ["none"], [], 2, DISHES),
        ("da-ristorante-api-devproxy-apikey", "Il Ristorante", ["api-key"], [], 2, as_mode("api-key", DISHES)),
        ("da-ristorante-api-devproxy-entra-sso", "Il Ristorante", ["sso"], [], 2, as_mode("sso", DISHES)),
        ("da-ristorante-api-devproxy-oauth", "Il Ristorante", ["oauth"], [], 2, as_mode("oauth", DISHES)),
        (
            "da-sharepoint-data-manager",
            "DataManager",
            None,
            ["files", "image-generation"],
            6,
            ["microsoft_docs_search mcp read - - -", "microsoft_docs_fetch mcp read - - -"],
        ),
        (
            "da-snowwizard-cs",
            "Snow Wizard ${{APP_NAME_SUFFIX}}",
            ["none"],
            [],
            2,
            ["listIncidents rest read - card none", "createIncident rest write asks - none"],
        ),
        (
            "da-todo-tasks-graphapi-plugin",
            "datodo",
            ["oauth"],
            [],
            2,
            ["getTasksFromList rest read - - oauth", "createTaskInList rest write - - oauth"],
        ),
        (
            "da-volunteeringapp",
            "Volunteering App",
            ["api-key", "oauth"],
            [],
            3,
            [
                "getListItems rest read - - oauth",
                "createListItem rest write - - oauth",
                "getUserInformation rest read - - oauth",
                "searchVolunteerOpportunities rest read - - api-key",
            ],
        ),
    ],
)
def test_the_facts_of_a_package_are_those_of_its_files(
    agents: dict[str, Specification],
    folder: str,
    name: str,
    modes: list[str] | None,
    knowledge: list[str],
    starters: int,
    tools: list[str],
) -> None:
    agent = agents[folder]
    facts = agent.facts()
    assert facts["name"] == name
    assert facts["auth_modes"] == modes
    assert facts["knowledge"] == knowledge
    assert len(agent.starters) == starters
    asked = {True: "asks", False: "silent", None: "-"}
    assert [
        f"{tool.name} {tool.protocol} {tool.effect} {asked[tool.confirmation]} {'card' if tool.card else '-'} "
        f"{tool.auth or '-'}"
        for tool in agent.tools or ()
    ] == tools


def test_localised_starters_are_those_of_the_default_language(agents: dict[str, Specification]) -> None:
    english = SAMPLES / "da-CareerCoach" / "appPackage" / "loc" / "manifest.en-US.json"
    keys = json.loads(english.read_text(encoding="utf-8"))["localizationKeys"]
    assert agents["da-CareerCoach"].starters == tuple(keys[f"agentCSText{number}"] for number in range(1, 7))
    assert agents["da-CareerCoach"].description == keys["agentDescription"]
