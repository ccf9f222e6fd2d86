from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import NONE, Folder, notes_of, openapi, tools_of

BERTHS = {"/berths": {"get": {"operationId": "listBerths", "summary": "All berths"}}}


def test_operations_are_the_tools_where_no_functions_are_given(folder: Folder) -> None:
    paths = {
        "/berths": {
            "parameters": [],
            "get": {"operationId": "listBerths", "summary": "All berths", "description": "Every berth there is"},
            "POST": {"operationId": "addBerth", "summary": "A new berth"},
        },
        "/berths/{id}": {"delete": {"summary": "Gone"}},
    }
    specification = folder.rest(openapi(paths), auth=NONE).read()
    tools = tools_of(specification)
    assert {name: (tool.effect, tool.effect_from, tool.description) for name, tool in tools.items()} == {
        "listBerths": ("read", "GET /berths", "Every berth there is"),
        "addBerth": ("write", "POST /berths; the name begins with 'add'", "A new berth"),
        "DELETE /berths/{id}": ("write", "DELETE /berths/{id}", "Gone"),
    }
    assert tools["listBerths"].declared_in == "appPackage/api.json: paths['/berths'].get"
    assert specification.notes == ()


def test_yaml_with_anchors_is_read(folder: Folder) -> None:
    text = """\
openapi: 3.1.0
paths:
  /berths:
    get: &read
      operationId: listBerths
      responses: {200: {description: ok}}
    head: *read
  /tides:
    put: {operationId: setTide}
"""
    specification = folder.rest(text, auth=NONE).read()
    assert {name: tool.effect for name, tool in tools_of(specification).items()} == {
        "listBerths": "read",
        "setTide": "write",
    }
    (note,) = notes_of(specification)
    assert note.startswith("appPackage/api.yaml:5: paths['/berths'].head: the operationId 'listBerths' is given twice")


def test_swagger_2_is_read_with_its_security_definitions(folder: Folder) -> None:
    document = {
        "swagger": "2.0",
        "paths": BERTHS,
        "securityDefinitions": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        "security": [{"key": []}],
    }
    specification = folder.rest(document).read()
    assert specification.auth_modes == ("api-key",)
    assert tools_of(specification)["listBerths"].auth == "api-key"


def test_local_references_are_followed_and_a_circle_ends(folder: Folder) -> None:
    document = openapi(
        {
            "/berths": {"$ref": "#/x-items/a~1b/0"},
            "/tides": {"$ref": "tides.yaml#/item"},
            "/loop": {"$ref": "#/x-items/loop"},
            "/void": {"$ref": "#/x-items/none"},
            "/out": {"$ref": "https://example.com/api.yaml#/x"},
        }
    ) | {
        "x-items": {
            "a/b": [{"get": {"operationId": "listBerths"}}],
            "loop": {"$ref": "#/x-items/pool"},
            "pool": {"$ref": "#/x-items/loop"},
        }
    }
    folder.write("appPackage/tides.yaml", "item:\n  get: {operationId: listTides}\n")
    specification = folder.rest(document, auth=NONE).read()
    assert set(tools_of(specification)) == {"listBerths", "listTides", "*"}
    assert tools_of(specification)["*"].effect == "unknown"
    remarks = " ".join(notes_of(specification))
    assert "leads in a circle" in remarks
    assert "#/x-items/none points to nothing" in remarks
    assert "it is remote, and nothing is ever fetched" in remarks


def test_an_inline_description_comes_before_the_url(folder: Folder) -> None:
    spec = {
        "url": "https://example.com/api",
        "api_description": "openapi: 3.0.0\npaths:\n  /a: {get: {operationId: a}}",
    }
    specification = folder.plugin(runtimes=[{"type": "OpenApi", "auth": NONE, "spec": spec}]).read()
    assert set(tools_of(specification)) == {"a"}


def test_a_description_may_be_brought_in_from_a_file(folder: Folder) -> None:
    folder.write("appPackage/api/berths.json", openapi(BERTHS))
    spec = {"api_description": "$[file('api/berths.json')]"}
    specification = folder.plugin(runtimes=[{"type": "OpenApi", "auth": NONE, "spec": spec}]).read()
    assert set(tools_of(specification)) == {"listBerths"}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"url": "https://example.com/api.yaml?sig=secret"}, "it is remote, and nothing is ever fetched"),
        ({"url": "//example.com/api.yaml"}, "it is remote, and nothing is ever fetched"),
        ({"url": "${{API_FILE}}"}, "its name holds the placeholder ${{API_FILE}}"),
        ({"url": "../../api.yaml"}, "../../api.yaml leaves the package"),
        ({"url": "..\\api.yaml"}, "../api.yaml leaves the package"),
        ({"url": "/etc/passwd"}, "/etc/passwd leaves the package"),
        ({"url": "Apis/API.YML"}, "perhaps you meant 'appPackage/api.yaml'"),
        ({"url": "plugin.json"}, "has no `openapi` or `swagger` key with `paths`"),
        ({"url": "broken.yaml"}, "appPackage/broken.yaml:2: not valid YAML"),
        ({"url": "twice.yaml"}, "appPackage/twice.yaml:3: not valid YAML: the key 'paths' is given twice"),
        ({"url": "tagged.yaml"}, "is not allowed"),
        ({"url": "linked.yaml"}, "the path is a symbolic link"),
        ({"api_description": "{"}, "not valid JSON"),
        ({"api_description": "$[file('../../api.yaml')]"}, "leaves the package"),
        ({}, "no file is named"),
    ],
)
def test_what_cannot_be_read_is_said_and_the_functions_remain(folder: Folder, spec: Any, reason: str) -> None:
    folder.write("appPackage/api.yaml", "openapi: 3.0.0\npaths: {}\n")
    folder.write("appPackage/broken.yaml", "openapi: 3.0.0\npaths: [\n")
    folder.write("appPackage/twice.yaml", "openapi: 3.0.0\npaths: {}\npaths: {}\n")
    folder.write("appPackage/tagged.yaml", "openapi: !!python/name:os.system 3\npaths: {}\n")
    (folder.root / "appPackage/linked.yaml").symlink_to(folder.root / "appPackage/api.yaml")
    runtime = {"type": "OpenApi", "auth": NONE, "spec": spec, "run_for_functions": ["listBerths"]}
    specification = folder.plugin(functions=[{"name": "listBerths"}], runtimes=[runtime]).read()
    note, unnamed = specification.notes
    assert (unnamed.file, unnamed.line) == ("appPackage/api.yaml", 1)
    assert note.file == "appPackage/plugin.json"
    assert note.line is not None
    assert note.fix
    assert "is not read: " in note.message
    assert reason in note.message
    assert "secret" not in note.message
    tool = tools_of(specification)["listBerths"]
    assert (tool.protocol, tool.effect, tool.auth) == ("rest", "read", "none")
    assert tool.effect_from == "the name begins with 'list'; its operation is not read"


def test_operations_of_an_unread_file_are_one_tool_of_unknown_effect(folder: Folder) -> None:
    runtime = {"type": "OpenApi", "auth": NONE, "spec": {"url": "https://example.com/api"}, "run_for_functions": ["*"]}
    specification = folder.plugin(runtimes=[runtime], description_for_model="Knows every berth.").read()
    (tool,) = specification.tools or ()
    assert (tool.name, tool.protocol, tool.effect, tool.auth) == ("*", "rest", "unknown", "none")
    assert tool.description == "Knows every berth."
    assert any("operations of a file that is not read" in note for note in notes_of(specification))


def test_a_security_scheme_that_is_not_defined_is_said_once(folder: Folder) -> None:
    document = openapi(BERTHS | {"/tides": {"get": {"operationId": "t"}}}, security=[{"ghost": []}])
    specification = folder.rest(document, auth=NONE).read()
    assert notes_of(specification) == [
        "appPackage/api.json:21: security[0]: the security scheme 'ghost' is not defined; it is not read"
    ]


def test_a_file_too_large_is_not_read_and_the_limit_is_named(folder: Folder) -> None:
    folder.rest(openapi(BERTHS) | {"x-more": "." * 5_000}, auth=NONE, functions=[{"name": "listBerths"}])
    (note,) = folder.read(file_bytes=4_000).notes
    assert "more than the limit of 4,000" in note.message
    assert "limits.file_bytes" in note.fix
