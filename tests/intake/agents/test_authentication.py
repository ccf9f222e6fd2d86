from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import API_KEY, NONE, OAUTH, Folder, notes_of, openapi, tools_of

PATHS = {"/berths": {"get": {"operationId": "listBerths"}}}
OAUTH2 = {"type": "oauth2", "flows": {}}
KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}
BEARER = {"type": "http", "scheme": "bearer"}


@pytest.mark.parametrize(
    ("auth", "mode", "remark"),
    [
        (NONE, "none", ""),
        (OAUTH, "oauth", ""),
        (API_KEY, "api-key", ""),
        ("None", "none", ""),
        ({"Type": "None"}, "none", ""),
        ({"type": "EntraOnBehalfOf", "scopes": ["x"]}, "sso", "is not in the published schema and is read as 'sso'"),
        ({"type": "DynamicClientRegistration"}, "oauth", "is read as 'oauth'"),
        ({"type": "oauthpluginvault"}, "oauth", "is read as 'oauth'"),
        ({"type": "OAuthPluginVaul"}, "other", "is read as 'other'; perhaps you meant 'OAuthPluginVault'"),
        ({"type": "Kerberos"}, "other", "is read as 'other'"),
        ({"type": "OAuthPluginVault", "reference_id": "${{SSO_CONFIGURATION_ID}}"}, "sso", ""),
        ({"type": "OAuthPluginVault", "reference_id": "HarbourSso-17"}, "sso", ""),
        ({"type": "OAuthPluginVault", "reference_id": "single-sign-on-4"}, "sso", ""),
        ({"type": "OAuthPluginVault", "reference_id": "{missOAuth_ID}"}, "oauth", ""),
        ({"type": "OAuthPluginVault"}, "oauth", ""),
    ],
)
def test_the_plugin_declares_the_mode(folder: Folder, auth: Any, mode: str, remark: str) -> None:
    specification = folder.rest(openapi(PATHS), auth=auth).read()
    assert specification.auth_modes == (mode,)
    assert tools_of(specification)["listBerths"].auth == mode
    assert [item.declared_in for item in specification.auth or ()] == ["appPackage/plugin.json: runtimes[0].auth"]
    assert [remark in note for note in notes_of(specification)] == ([True] if remark else [])


@pytest.mark.parametrize(
    ("scheme", "mode"),
    [
        (OAUTH2, "oauth"),
        (OAUTH2 | {"description": "Single sign-on with the harbour account"}, "sso"),
        ({"type": "openIdConnect"}, "oauth"),
        (KEY, "api-key"),
        (BEARER, "api-key"),
        ({"type": "http", "scheme": "basic"}, "other"),
        ({"type": "basic"}, "other"),
        ({"type": "mutualTLS"}, "other"),
        ({"$ref": "#/x-scheme"}, "api-key"),
    ],
)
def test_the_openapi_file_speaks_where_the_plugin_is_silent(folder: Folder, scheme: Any, mode: str) -> None:
    document = openapi(PATHS, schemes={"main": scheme}, security=[{"main": []}]) | {"x-scheme": KEY}
    specification = folder.rest(document).read()
    assert specification.auth_modes == (mode,)
    assert tools_of(specification)["listBerths"].auth == mode
    assert [item.declared_in for item in specification.auth or ()] == [
        "appPackage/api.json: components.securitySchemes.main"
    ]
    (note,) = notes_of(specification)
    assert f"the plugin declares no auth; its OpenAPI file says '{mode}', and that holds" in note


def test_each_operation_has_its_own_mode_where_the_plugin_is_silent(folder: Folder) -> None:
    paths = {
        "/a": {"get": {"operationId": "a", "security": []}},
        "/b": {"get": {"operationId": "b"}},
        "/c": {"get": {"operationId": "c", "security": [{"key": [], "user": []}, {"key": []}]}},
        "/d": {"get": {"operationId": "d", "security": [{}]}},
    }
    document = openapi(paths, schemes={"key": KEY, "user": OAUTH2}, security=[{"key": []}])
    specification = folder.rest(document).read()
    assert {name: tool.auth for name, tool in tools_of(specification).items()} == {
        "a": "none",
        "b": "api-key",
        "c": "oauth",
        "d": "none",
    }
    assert specification.auth_modes == ("api-key", "none", "oauth")


def test_nothing_declared_anywhere_is_not_declared(folder: Folder) -> None:
    specification = folder.rest(openapi(PATHS)).read()
    assert specification.auth is None
    assert tools_of(specification)["listBerths"].auth is None
    assert notes_of(specification) == [
        "appPackage/plugin.json:7: runtimes[0]: the plugin declares no auth; the auth mode is not declared"
    ]


def test_a_scheme_that_nothing_requires_declares_no_mode(folder: Folder) -> None:
    specification = folder.rest(openapi(PATHS, schemes={"user": OAUTH2})).read()
    assert specification.auth is None
    (note,) = notes_of(specification)
    assert "components.securitySchemes.user defines 'oauth', which no operation requires" in note


@pytest.mark.parametrize(
    ("auth", "scheme", "remark"),
    [
        (NONE, OAUTH2, "the plugin says 'none', but appPackage/api.json: components.securitySchemes.main (line 16) "),
        (NONE, KEY, "requires 'api-key' for listBerths; the plugin holds"),
        (OAUTH, KEY, "the plugin says 'oauth', but"),
        (API_KEY, OAUTH2, "requires 'oauth' for listBerths"),
        (NONE, BEARER, "requires 'api-key' for listBerths"),
        (OAUTH, OAUTH2, ""),
        (OAUTH, {"type": "openIdConnect"}, ""),
        (OAUTH, BEARER, ""),
        (API_KEY, BEARER, ""),
        (API_KEY, KEY, ""),
    ],
)
def test_the_plugin_holds_against_its_openapi_file_and_a_disagreement_is_said(
    folder: Folder, auth: Any, scheme: Any, remark: str
) -> None:
    document = openapi(PATHS, schemes={"main": scheme}, security=[{"main": []}])
    specification = folder.rest(document, auth=auth).read()
    declared = {"None": "none", "OAuthPluginVault": "oauth", "ApiKeyPluginVault": "api-key"}[auth["type"]]
    assert specification.auth_modes == (declared,)
    notes = notes_of(specification)
    assert len(notes) == bool(remark)
    assert all(note.startswith("appPackage/plugin.json:12: ") and remark in note for note in notes)


def test_a_disagreement_over_many_operations_is_one_note(folder: Folder) -> None:
    paths = {f"/{name}": {"get": {"operationId": name}} for name in "abc"}
    document = openapi(paths, schemes={"user": OAUTH2}, security=[{"user": []}])
    (note,) = notes_of(folder.rest(document, auth=NONE).read())
    assert "requires 'oauth' for a and 2 more" in note


def test_none_beside_a_scheme_that_nothing_requires_is_said(folder: Folder) -> None:
    specification = folder.rest(openapi(PATHS, schemes={"user": OAUTH2}), auth=NONE).read()
    assert specification.auth_modes == ("none",)
    (note,) = notes_of(specification)
    assert "defines 'oauth', which no operation requires; the plugin holds" in note


def test_an_operation_that_needs_nothing_does_not_disagree_with_a_vault(folder: Folder) -> None:
    paths = {"/a": {"get": {"operationId": "a", "security": []}}}
    document = openapi(paths, schemes={"key": KEY}, security=[{"key": []}])
    assert folder.rest(document, auth=OAUTH).read().notes == ()


def test_single_sign_on_hides_behind_an_oauth_vault_and_is_told_by_the_scheme(folder: Folder) -> None:
    document = openapi(PATHS, schemes={"EntraSSO": OAUTH2}, security=[{"EntraSSO": []}])
    auth = {"type": "OAuthPluginVault", "reference_id": "bm90IGEgd29yZA=="}
    specification = folder.rest(document, auth=auth).read()
    assert specification.auth_modes == ("sso",)
    assert specification.notes == ()


def test_mixed_modes_of_one_agent_are_all_declared_with_their_places(folder: Folder) -> None:
    folder.write("appPackage/api.json", openapi(PATHS | {"/tides": {"get": {"operationId": "listTides"}}}))
    runtimes = [
        {"type": "OpenApi", "auth": NONE, "spec": {"url": "api.json"}, "run_for_functions": ["listTides"]},
        {"type": "OpenApi", "auth": OAUTH, "spec": {"url": "api.json"}, "run_for_functions": ["listBerths"]},
    ]
    functions = [{"name": "listBerths"}, {"name": "listTides"}]
    specification = folder.plugin(functions=functions, runtimes=runtimes).read()
    assert [(item.mode, item.declared_in) for item in specification.auth or ()] == [
        ("none", "appPackage/plugin.json: runtimes[0].auth"),
        ("oauth", "appPackage/plugin.json: runtimes[1].auth"),
    ]
    assert {name: tool.auth for name, tool in tools_of(specification).items()} == {
        "listBerths": "oauth",
        "listTides": "none",
    }


def test_an_unknown_type_is_not_compared_with_the_openapi_file(folder: Folder) -> None:
    document = openapi(PATHS, schemes={"key": KEY}, security=[{"key": []}])
    specification = folder.rest(document, auth={"type": "Kerberos"}).read()
    assert specification.auth_modes == ("other",)
    assert len(specification.notes) == 1
