from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import NONE, OAUTH, Folder, notes_of, openapi, tools_of

API = openapi(
    {
        "/berths": {"get": {"operationId": "listBerths", "summary": "All berths"}},
        "/tides": {"get": {"operationId": "listTides"}, "post": {"operationId": "addTide"}},
    }
)


@pytest.mark.parametrize(
    ("functions", "run_for", "tools"),
    [
        (None, None, ["listBerths", "listTides", "addTide"]),
        ([], None, ["listBerths", "listTides", "addTide"]),
        (None, ["*"], ["listBerths", "listTides", "addTide"]),
        (None, ["list*"], ["listBerths", "listTides"]),
        (None, ["addTide"], ["addTide"]),
        (["listTides"], None, ["listTides"]),
        (["listTides"], ["listTides"], ["listTides"]),
        (["listTides"], ["*"], ["listTides", "listBerths", "addTide"]),
        (["listTides"], ["listTides", "add*"], ["listTides", "addTide"]),
    ],
)
def test_functions_are_the_inventory_and_a_written_wildcard_adds_operations(
    folder: Folder, functions: list[str] | None, run_for: list[str] | None, tools: list[str]
) -> None:
    listed = None if functions is None else [{"name": name} for name in functions]
    specification = folder.rest(API, auth=NONE, functions=listed, run_for=run_for).read()
    assert [tool.name for tool in specification.tools or ()] == tools
    assert specification.notes == ()


def test_a_function_without_an_operation_is_a_tool_told_by_its_name(folder: Folder) -> None:
    functions = [{"name": "listBerth"}, {"name": "berthing"}]
    specification = folder.rest(API, auth=NONE, functions=functions).read()
    assert [(tool.name, tool.effect, tool.effect_from) for tool in specification.tools or ()] == [
        ("listBerth", "read", "the name begins with 'list'; its operation is not read"),
        ("berthing", "unknown", "nothing declares it, and the name does not tell; its operation is not read"),
    ]
    assert notes_of(specification) == [
        f"appPackage/plugin.json:{line}: functions[{index}]: runtimes[0] has nothing called '{name}'; "
        "only the function itself is read"
        for index, (line, name) in enumerate([(7, "listBerth"), (10, "berthing")])
    ]


def test_a_function_that_no_runtime_runs_is_a_tool_without_protocol_or_auth(folder: Folder) -> None:
    functions = [{"name": "listBerths"}, {"name": "listTides", "description": "Tides"}]
    specification = folder.rest(API, auth=OAUTH, functions=functions, run_for=["listBerths"]).read()
    tool = tools_of(specification)["listTides"]
    assert (tool.protocol, tool.auth, tool.effect, tool.description) == ("function", None, "read", "Tides")
    (note,) = notes_of(specification)
    assert "no runtime runs 'listTides'; its protocol and auth are not declared" in note


def test_a_name_that_functions_does_not_list_is_no_tool(folder: Folder) -> None:
    specification = folder.rest(
        API, auth=NONE, functions=[{"name": "listBerths"}], run_for=["listBerths", "listTides"]
    ).read()
    assert set(tools_of(specification)) == {"listBerths"}
    (note,) = notes_of(specification)
    assert "run_for_functions[1]: `functions` does not list 'listTides'; it is no tool" in note


def test_a_function_goes_to_the_runtime_that_names_it_before_one_with_a_wildcard(folder: Folder) -> None:
    folder.write("appPackage/api.json", API)
    runtimes = [
        {"type": "RemoteMCPServer", "auth": NONE, "spec": {"url": "https://m"}},
        {"type": "OpenApi", "auth": OAUTH, "spec": {"url": "api.json"}, "run_for_functions": ["listBerths"]},
        {"type": "OpenApi", "auth": OAUTH, "spec": {"url": "api.json"}, "run_for_functions": ["listT*"]},
    ]
    functions = [{"name": "listBerths"}, {"name": "listTides"}, {"name": "forecast"}]
    specification = folder.plugin(functions=functions, runtimes=runtimes).read()
    assert [(tool.name, tool.protocol, tool.auth) for tool in specification.tools or ()] == [
        ("listBerths", "rest", "oauth"),
        ("listTides", "rest", "oauth"),
        ("forecast", "mcp", "none"),
    ]


def test_a_function_named_by_two_runtimes_goes_to_the_first(folder: Folder) -> None:
    folder.write("appPackage/api.json", API)
    runtimes = [
        {"type": "OpenApi", "auth": auth, "spec": {"url": "api.json"}, "run_for_functions": ["listTides"]}
        for auth in (NONE, OAUTH)
    ]
    specification = folder.plugin(functions=[{"name": "listTides"}], runtimes=runtimes).read()
    assert tools_of(specification)["listTides"].auth == "none"
    (note,) = notes_of(specification)
    assert "runtimes[1]: runs 'listTides', which runtimes[0] runs already; the first one counts" in note


def test_a_name_of_two_runtimes_is_one_tool_where_no_functions_are_given(folder: Folder) -> None:
    folder.write("appPackage/api.json", API)
    runtimes = [
        {"type": "OpenApi", "auth": auth, "spec": {"url": "api.json"}, "run_for_functions": ["listTides"]}
        for auth in (NONE, OAUTH)
    ]
    (tool,) = folder.plugin(runtimes=runtimes).read().tools or ()
    assert (tool.name, tool.auth) == ("listTides", "none")


def test_local_plugins_are_read(folder: Folder) -> None:
    runtimes = [
        {
            "type": "LocalPlugin",
            "auth": NONE,
            "spec": {"local_endpoint": "Microsoft.Office.Addin"},
            "run_for_functions": ["setColour"],
        }
    ]
    specification = folder.plugin(functions=[{"name": "setColour"}], runtimes=runtimes).read()
    tool = tools_of(specification)["setColour"]
    assert (tool.protocol, tool.effect, tool.auth) == ("local", "write", "none")
    assert specification.notes == ()


def test_rest_and_mcp_in_one_plugin_are_both_read(folder: Folder) -> None:
    folder.write("appPackage/api.json", API)
    runtimes = [
        {"type": "OpenApi", "auth": NONE, "spec": {"url": "api.json"}, "run_for_functions": ["addTide"]},
        {"type": "RemoteMCPServer", "auth": OAUTH, "spec": {"url": "https://m"}, "run_for_functions": ["moor"]},
    ]
    specification = folder.plugin(functions=[{"name": "addTide"}, {"name": "moor"}], runtimes=runtimes).read()
    assert {tool.name: (tool.protocol, tool.auth) for tool in specification.tools or ()} == {
        "addTide": ("rest", "none"),
        "moor": ("mcp", "oauth"),
    }


@pytest.mark.parametrize(
    ("confirmation", "asked"),
    [
        ({"type": "AdaptiveCard", "title": "Sure?"}, True),
        ({"body": "Sure?"}, True),
        ({"type": "None"}, False),
        (None, None),
        ("AdaptiveCard", None),
    ],
)
def test_confirmation_is_what_the_function_declares(folder: Folder, confirmation: Any, asked: bool | None) -> None:
    functions = [{"name": "listTides", "capabilities": {"confirmation": confirmation}}]
    specification = folder.rest(API, auth=NONE, functions=functions).read()
    assert tools_of(specification)["listTides"].confirmation is asked


def test_how_consequential_an_operation_is_tells_neither_effect_nor_confirmation(folder: Folder) -> None:
    paths = {
        "/a": {"post": {"operationId": "addTide", "x-openai-isConsequential": False}},
        "/b": {"get": {"operationId": "listTides", "x-openai-isConsequential": True}},
    }
    tools = tools_of(folder.rest(openapi(paths), auth=NONE).read())
    assert [(tool.effect, tool.confirmation) for tool in tools.values()] == [("write", None), ("read", None)]


@pytest.mark.parametrize(
    ("semantics", "card", "remark"),
    [
        ({"data_path": "$", "static_template": {"type": "AdaptiveCard", "body": []}}, True, ""),
        ({"data_path": "$", "static_template": {"file": "./cards/tide.json"}}, True, ""),
        ({"data_path": "$", "static_template": {"file": "cards/tides.json"}}, True, "is not a file of the package"),
        ({"data_path": "$", "static_template": {"file": "../../x.json"}}, True, "leaves the package"),
        ({"data_path": "$", "properties": {"template_selector": "$.template"}}, True, ""),
        ({"data_path": "$", "properties": {"title": "$.title"}}, False, ""),
        ({"data_path": "$", "static_template": {}}, False, ""),
        ({"data_path": "$"}, False, ""),
        (None, False, ""),
    ],
)
def test_a_card_is_declared_by_a_template(folder: Folder, semantics: Any, card: bool, remark: str) -> None:
    folder.write("appPackage/cards/tide.json", {"type": "AdaptiveCard"})
    functions = [{"name": "listTides", "capabilities": {"response_semantics": semantics}}]
    specification = folder.rest(API, auth=NONE, functions=functions).read()
    assert tools_of(specification)["listTides"].card is card
    assert [remark in note for note in notes_of(specification)] == ([True] if remark else [])


def test_an_attested_effect_comes_before_the_method(folder: Folder) -> None:
    functions = [
        {"name": "listTides", "capabilities": {"security_info": {"data_handling": ["ResourceStateUpdate"]}}},
        {"name": "addTide", "capabilities": {"security_info": {"data_handling": ["GetPublicData"]}}},
    ]
    tools = tools_of(folder.rest(API, auth=NONE, functions=functions).read())
    assert tools["listTides"].effect == "write"
    assert tools["listTides"].effect_from == "security_info says ResourceStateUpdate"
    assert tools["addTide"].effect == "read"


@pytest.mark.parametrize(
    ("parts", "remark"),
    [
        ({"schema_version": "v9.9"}, "plugin.json:2: schema_version: 'v9.9' is not a version this reader knows"),
        (
            {"schema_version": "v2.1"},
            "runtimes[0].type: RemoteMCPServer came with schema_version v2.4, this plugin says",
        ),
        ({"namespace": None}, ""),
    ],
)
def test_breaking_the_published_schema_is_said_and_read_all_the_same(folder: Folder, parts: Any, remark: str) -> None:
    runtimes = [{"type": "RemoteMCPServer", "auth": NONE, "spec": {"url": "https://m"}, "run_for_functions": ["moor"]}]
    specification = folder.plugin(functions=[{"name": "moor"}], runtimes=runtimes, **parts).read()
    assert set(tools_of(specification)) == {"moor"}
    assert [remark in note for note in notes_of(specification)] == ([True] if remark else [])


def test_missing_keys_unnamed_and_repeated_functions_are_said(folder: Folder) -> None:
    folder.agent(actions=[{"id": "p", "file": "plugin.json"}])
    plugin = {
        "functions": [{"name": "moor"}, {"description": "?"}, {"name": "moor"}, "moor"],
        "runtimes": [{"type": "Telepathy", "auth": NONE}, "nonsense"],
    }
    specification = folder.write("appPackage/plugin.json", plugin).read()
    place = "appPackage/plugin.json"
    missing = "`schema_version` and `name_for_human` and `namespace` and `description_for_human`"
    for note, start in zip(
        notes_of(specification),
        [
            f"{place}:1: the published schema requires {missing}, not given here; read all the same",
            f"{place}:15: runtimes[0]: the published schema requires `spec`, not given here",
            f"{place}:16: runtimes[0].type: the runtime type 'Telepathy' is not a known one",
            f"{place}:6: functions[1]: the function has no name and is not read",
            f"{place}:9: functions[2]: the function 'moor' is listed twice; the first one counts",
            f"{place}:12: functions[3]: the function has no name and is not read",
            f"{place}:21: runtimes[1]: must be an object, and is not read",
        ],
        strict=True,
    ):
        assert note.startswith(start)
    assert [(tool.name, tool.protocol, tool.auth) for tool in specification.tools or ()] == [
        ("moor", "function", "none")
    ]


def test_a_plugin_with_empty_functions_and_runtimes_has_no_tools(folder: Folder) -> None:
    specification = folder.plugin(functions=[], runtimes=[]).read()
    assert specification.tools == ()
    assert specification.auth is None
    assert specification.notes == ()


@pytest.mark.parametrize(
    ("content", "remarks"),
    [
        ({"schema_version": "v1", "api": {"type": "openapi", "url": "https://h.example/a"}}, []),
        ({"schema_version": "v2.4", "name_for_human": "Harbour", "functions": None}, []),
        ({"type": "AdaptiveCard", "body": []}, []),
        ([], []),
        ({"functions": {"moor": {}}, "runtimes": "x"}, [(2, "functions"), (5, "runtimes")]),
    ],
    ids=["of the old kind", "no lists", "a card", "no object", "no lists but others"],
)
def test_a_file_that_lists_nothing_is_no_plugin_and_its_tools_are_not_known(
    folder: Folder, content: Any, remarks: list[tuple[int, str]]
) -> None:
    specification = folder.agent(actions=[{"file": "p.json"}]).write("appPackage/p.json", content).read()
    assert specification.tools is None
    first, *others = notes_of(specification)
    assert first == (
        "appPackage/declarativeAgent.json:6: actions[0]: appPackage/p.json is no plugin and is not read: it lists "
        "neither `functions` nor `runtimes`, as plugin manifests do since v2.1"
    )
    assert others == [f"appPackage/p.json:{line}: {key}: not a list, and not read" for line, key in remarks]
    folder.agent(actions=[{"file": "p.json"}, {"file": "q.json"}])
    assert set(tools_of(folder.write("appPackage/q.json", {"functions": [{"name": "moor"}]}).read())) == {"moor"}


MOOR = [{"name": "moor"}]
ANY = {"type": "LocalPlugin", "spec": {}}


@pytest.mark.parametrize(
    ("functions", "runtimes", "tools", "remark"),
    [
        ({"moor": {}}, [], None, "functions: not a list, and not read"),
        ([], {"type": "OpenApi"}, None, "runtimes: not a list, and not read"),
        (MOOR, "x", {"moor"}, "runtimes: not a list, and not read"),
        ([5], [], None, "functions[0]: the function has no name and is not read"),
        ([], [5], {"*"}, "runtimes[0]: must be an object, and is not read"),
        (None, [None, ANY | {"run_for_functions": MOOR}], {"*"}, "runtimes[0]: must be an object, and is not read"),
        (MOOR, [5, ANY], {"moor"}, "runtimes[0]: must be an object, and is not read"),
        (
            None,
            [ANY | {"run_for_functions": [5]}],
            None,
            "runtimes[0].run_for_functions[0]: not the name of a function",
        ),
        (
            None,
            [ANY | {"run_for_functions": ["moor", ""]}],
            {"moor"},
            "run_for_functions[1]: not the name of a function",
        ),
        (None, [ANY | {"run_for_functions": "moor"}], {"moor"}, "not a list; it is read as a list of this one name"),
        (MOOR, [ANY | {"run_for_functions": {}}], {"moor"}, "not a list; it is read as if it were absent"),
    ],
)
def test_what_is_of_a_wrong_type_is_noted_and_never_read_as_nothing(
    folder: Folder, functions: Any, runtimes: Any, tools: set[str] | None, remark: str
) -> None:
    specification = folder.plugin(functions=functions, runtimes=runtimes).read()
    assert (specification.tools and set(tools_of(specification))) == tools
    assert any(remark in note for note in notes_of(specification))
    alone = (folder.root / "appPackage" / "plugin.json").read_text(encoding="utf-8")
    (folder.root / "appPackage" / "manifest.json").unlink()
    (folder.root / "appPackage" / "declarativeAgent.json").unlink()
    again = folder.write("appPackage/plugin.json", alone).read()
    assert (again.platform, again.tools) == ("api-plugin", specification.tools)


def test_one_name_without_a_list_covers_no_other_function(folder: Folder) -> None:
    functions = [*MOOR, {"name": "cast_off"}]
    specification = folder.plugin(functions=functions, runtimes=[ANY | {"run_for_functions": "moor"}]).read()
    assert {tool.name: tool.protocol for tool in specification.tools or ()} == {"moor": "local", "cast_off": "function"}


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: folder.plugin(functions=[{"name": f"f{n}"} for n in range(11)]),
        lambda folder: folder.plugin(runtimes=[{"type": "OpenApi"}] * 11),
        lambda folder: folder.plugin(runtimes=[{"type": "OpenApi", "run_for_functions": ["*"] * 11}]),
        lambda folder: folder.rest(openapi({f"/{n}": {"get": {"operationId": f"f{n}"}} for n in range(11)})),
        lambda folder: folder.mcp(mcp_tool_description={"tools": [{"name": f"f{n}"} for n in range(11)]}),
        lambda folder: folder.agent(actions=[{"file": f"{n}.json"} for n in range(11)]),
        lambda folder: folder.agent(capabilities=[{"name": "WebSearch"}] * 11),
    ],
    ids=["functions", "runtimes", "patterns", "operations", "mcp", "actions", "capabilities"],
)
def test_too_many_tools_are_an_error_that_names_the_limit(folder: Folder, make: Any) -> None:
    make(folder)
    (problem,) = folder.problems(tools=10)
    assert "than the limit of 10" in problem.message
    assert "limits.tools" in problem.fix
    assert problem.line is not None


def test_too_many_tools_over_several_plugins_are_an_error(folder: Folder) -> None:
    folder.plugin(functions=[{"name": f"a{n}"} for n in range(6)], path="a.json")
    folder.plugin(functions=[{"name": f"b{n}"} for n in range(6)], path="b.json")
    folder.agent(actions=[{"file": "a.json"}, {"file": "b.json"}])
    assert len(folder.read(tools=12).tools or ()) == 12
    (problem,) = folder.problems(tools=10)
    assert problem.file == "appPackage/declarativeAgent.json"


def test_too_many_runtimes_over_several_plugins_are_an_error(folder: Folder) -> None:
    runtime = {"type": "LocalPlugin", "auth": NONE, "spec": {}, "run_for_functions": ["a"]}
    for name in "ab":
        folder.plugin(functions=[{"name": "a"}], runtimes=[runtime] * 6, path=f"{name}.json")
    folder.agent(actions=[{"file": "a.json"}, {"file": "b.json"}])
    (problem,) = folder.problems(tools=10)
    assert "more actions, runtimes, tools or capabilities than the limit of 10" in problem.message


def test_functions_inside_the_app_have_no_auth_to_declare(folder: Folder) -> None:
    runtime = {"type": "LocalPlugin", "spec": {"local_endpoint": "App"}, "run_for_functions": ["moorShip"]}
    specification = folder.plugin(functions=[{"name": "moorShip"}], runtimes=[runtime]).read()
    assert (specification.auth, notes_of(specification)) == (None, [])
