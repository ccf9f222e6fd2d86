"""A bare OpenAPI file as an agent's specification."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import Folder, notes_of, openapi, tools_of

KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}
OAUTH2 = {"type": "oauth2", "flows": {}}


def operation(name: str, **more: Any) -> dict[str, Any]:
    return {"operationId": name, **more}


YAML = """\
openapi: 3.1.0
info: {title: Harbour office, description: Berths and tides., version: "1"}
paths:
  /berths:
    get: {operationId: listBerths, summary: All berths}
    post: {operationId: bookBerth}
  /berths/search:
    post: {summary: Berths by length}
"""


@pytest.mark.parametrize("path", ["openapi.yaml", "docs/api/harbour.yml"])
def test_operations_are_the_tools_and_info_is_the_name(folder: Folder, path: str) -> None:
    specification = folder.write(path, YAML).read()
    assert (specification.name, specification.description) == ("Harbour office", "Berths and tides.")
    assert (specification.platform, specification.instructions, specification.starters) == ("", "", ())
    assert specification.knowledge is None
    assert specification.auth is None
    assert {tool.name: (tool.effect, tool.effect_from) for tool in specification.tools or ()} == {
        "listBerths": ("read", "GET /berths"),
        "bookBerth": ("write", "POST /berths; the name begins with 'book'"),
        "POST /berths/search": ("read", "POST /berths/search; the route ends with 'search'"),
    }
    assert {tool.protocol for tool in specification.tools or ()} == {"rest"}
    assert {(tool.confirmation, tool.card, tool.auth) for tool in specification.tools or ()} == {(None, None, None)}
    assert tools_of(specification)["listBerths"].declared_in == f"{path}: paths['/berths'].get"
    assert specification.notes == ()


@pytest.mark.parametrize(
    ("schemes", "overall", "own", "modes", "tool_modes"),
    [
        (None, None, {}, None, [None, None]),
        ({"k": KEY}, [{"k": []}], {}, ("api-key",), ["api-key", "api-key"]),
        ({"k": KEY, "o": OAUTH2}, [{"k": []}], {"security": [{"o": []}]}, ("api-key", "oauth"), ["oauth", "api-key"]),
        ({"k": KEY}, [{"k": []}], {"security": []}, ("api-key", "none"), ["none", "api-key"]),
        (None, [], {}, ("none",), ["none", "none"]),
        ({"o": OAUTH2}, None, {"security": [{}, {"o": []}]}, ("none",), ["none", None]),
        ({"k": KEY}, "k", {"security": "k"}, None, [None, None]),
        ({"k": KEY}, ["k"], {}, None, [None, None]),
        ({"s": {"type": "oauth2", "description": "Entra SSO"}}, [{"s": []}], {}, ("sso",), ["sso", "sso"]),
    ],
    ids=str,
)
def test_security_requirements_are_the_auth_per_tool_and_overall(
    folder: Folder, schemes: Any, overall: Any, own: Any, modes: Any, tool_modes: Any
) -> None:
    paths = {"/a": {"get": operation("a", **own)}, "/b": {"get": operation("b")}}
    specification = folder.write("api.json", openapi(paths, schemes=schemes, security=overall)).read()
    assert specification.auth_modes == modes
    assert [tool.auth for tool in specification.tools or ()] == tool_modes


def test_a_mode_is_declared_by_its_scheme_or_by_the_empty_requirement(folder: Folder) -> None:
    paths = {"/a": {"get": operation("a", security=[])}, "/b": {"get": operation("b")}}
    specification = folder.write("api.json", openapi(paths, schemes={"k": KEY}, security=[{"k": []}])).read()
    assert [(item.mode, item.declared_in) for item in specification.auth or ()] == [
        ("none", "api.json: paths['/a'].get.security"),
        ("api-key", "api.json: components.securitySchemes.k"),
    ]


def test_schemes_that_nothing_requires_declare_nothing_and_are_said(folder: Folder) -> None:
    specification = folder.write("api.json", openapi({"/a": {"get": operation("a")}}, schemes={"k": KEY})).read()
    assert specification.auth is None
    (note,) = notes_of(specification)
    assert "components.securitySchemes.k: defines 'api-key', which no operation requires" in note


SWAGGER = """\
swagger: 2.0
info: {title: Old harbour}
securityDefinitions:
  basic: {type: basic}
security: [{basic: []}]
definitions:
  Berth: {properties: {next: {$ref: '#/definitions/Berth'}}}
paths:
  /berths:
    get:
      operationId: listBerths
      responses: {200: {schema: {$ref: '#/definitions/Berth'}}}
  /again: {$ref: '#/paths/~1again'}
  /away: {$ref: 'https://example.com/api.yaml#/paths/a'}
  /out: {$ref: '../../api.yaml#/a'}
"""


def test_swagger_2_with_recursion_and_references_to_nowhere_is_read(folder: Folder) -> None:
    specification = folder.write("api/swagger.yaml", SWAGGER).read()
    assert {tool.name: tool.auth for tool in specification.tools or ()} == {"listBerths": "other", "*": None}
    remarks = notes_of(specification)
    assert len(remarks) == 3
    for reason in ("leads in a circle", "it is remote, and nothing is ever fetched", "leaves the package"):
        assert any(reason in remark for remark in remarks), reason


@pytest.mark.parametrize(
    ("paths", "tools"),
    [
        ("{$ref: '#/more'}", {"listBerths"}),
        ("{$ref: '#/nowhere'}", {"*"}),
        ("{$ref: 'elsewhere.yaml'}", {"*"}),
        ("{/a: {$ref: '#/odd'}}", {"*"}),
        ("{/a: {$ref: 5}, /b: {get: {operationId: b}}}", {"b"}),
        ("{/a: [1], /b: {get: {operationId: b}}}", {"*", "b"}),
        ("{/a: nope, x-note: of no path, /b: {}}", {"*"}),
        ("{x-note: of no path, /b: null}", {"*"}),
        ("{/b: {get: null}}", {"*"}),
        ("{/b: {post: [x], get: {operationId: b}, x-note: null, parameters: null}}", {"*", "b"}),
        ("{x-note: of no path, /b: {}}", set()),
    ],
)
def test_a_path_that_cannot_be_read_is_not_nothing(folder: Folder, paths: str, tools: set[str]) -> None:
    more = "more: {/berths: {get: {operationId: listBerths}}}\nodd: [1]\n"
    specification = folder.write("openapi.yaml", f"openapi: 3.0.0\npaths: {paths}\n{more}").read()
    assert {tool.name for tool in specification.tools or ()} == tools
    assert ("*" in tools) == bool(notes_of(specification))


def test_each_operation_of_a_wrong_type_is_noted_at_its_line(folder: Folder) -> None:
    specification = folder.write(
        "openapi.yaml", "openapi: 3.0.0\npaths:\n  /a:\n  /b: {get: }\n  /c:\n    GET: {}\n    post: [x]\n"
    ).read()
    assert set(tools_of(specification)) == {"*", "GET /c"}
    assert notes_of(specification) == [
        f"openapi.yaml:{line}: paths{place}: must be an object, and is not read"
        for line, place in ((3, "['/a']"), (4, "['/b'].get"), (7, "['/c'].post"))
    ]


def test_references_lead_to_files_of_the_whole_folder(folder: Folder) -> None:
    folder.write("common/tides.yaml", "get: {operationId: listTides}\n")
    folder.write("api/openapi.yaml", "openapi: 3.0.0\npaths:\n  /tides: {$ref: ../common/tides.yaml}\n")
    assert set(tools_of(folder.read())) == {"listTides"}


def test_of_two_operations_with_one_id_the_first_counts(folder: Folder) -> None:
    paths = {"/a": {"get": operation("a")}, "/b": {"delete": operation("a")}}
    specification = folder.write("api.json", openapi(paths)).read()
    assert [(tool.name, tool.effect) for tool in specification.tools or ()] == [("a", "read")]
    assert "given twice; the first one counts" in notes_of(specification)[0]


@pytest.mark.parametrize(
    ("rest", "line", "why"),
    [
        ("", 1, "it has no `paths`"),
        ("paths:\n", 3, "`paths` must be an object"),
        ("paths: [1, 2]\n", 3, "`paths` must be an object"),
        (
            "webhooks: {added: {post: {}}}\n",
            1,
            "it has no `paths`; its `webhooks` are calls that it makes, and no tools",
        ),
    ],
)
def test_a_file_without_paths_says_why_it_is_not_read(folder: Folder, rest: str, line: int, why: str) -> None:
    (problem,) = folder.write("api/v1.yaml", f"openapi: 3.1.0\ninfo: {{title: Harbour}}\n{rest}").problems()
    assert (problem.file, problem.line) == ("api/v1.yaml", line)
    assert problem.message == f"no agent specification is here; this file (openapi) is not read: {why}"
    assert problem.fix.startswith("list the operations under `paths`, or add the agent's app package")


def test_every_file_that_may_have_been_meant_is_named(folder: Folder) -> None:
    folder.write("a.yaml", "openapi: 3.0.0\n").write("b/swagger.json", {"swagger": "2.0", "paths": []})
    assert [(problem.file, problem.line) for problem in folder.problems()] == [("a.yaml", 1), ("b/swagger.json", 3)]
    folder.write("mcp.json", {"mcpServers": {}}).write("swagger.yaml", "servers: []\n")
    whole, *others = folder.problems()
    assert "no agent specification is here (mcp.json, swagger.yaml are of none of these formats)" in whole.message
    assert [problem.file for problem in others] == ["a.yaml", "b/swagger.json"]


def test_no_paths_at_all_are_no_tools(folder: Folder) -> None:
    assert folder.write("api.json", openapi({})).read().tools == ()


def test_more_operations_than_allowed_are_an_error_that_names_the_limit(folder: Folder) -> None:
    folder.write("api.json", openapi({f"/{number}": {"get": {}} for number in range(11)}))
    assert len(folder.read(tools=11).tools or ()) == 11
    (problem,) = folder.problems(tools=10)
    assert problem.message == "api.json has 11 tools, more than the limit of 10"
    assert "limits.tools" in problem.fix


@pytest.mark.parametrize("text", ["openapi: 3.0.0\npaths: []\n", "openapi: 3.0.0\n", "paths: {}\n", "- openapi: 3\n"])
def test_what_has_no_paths_or_no_version_is_no_openapi_file(folder: Folder, text: str) -> None:
    (problem,) = folder.write("openapi.yaml", text).problems()
    assert "no agent specification is here" in problem.message


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("openapi: 3.0.0\npaths: {\n", 2, "not valid YAML"),
        ("openapi: 3.0.0\npaths: {}\npaths: {}\n", 3, "the key 'paths' is given twice"),
        ("openapi: !!python/name:os.system 3\npaths: {}\n", 1, "is not allowed"),
    ],
)
def test_a_broken_file_of_a_usual_name_shows_its_fault(folder: Folder, text: str, line: int, message: str) -> None:
    (problem,) = folder.write("harbour-openapi.yaml", text).problems()
    assert (problem.file, problem.line) == ("harbour-openapi.yaml", line)
    assert message in problem.message
    assert problem.fix
