"""A2A agent cards of protocol versions 0.1 to 1.0 as agent specifications."""

from __future__ import annotations

from typing import Any

import pytest

from tests.intake.agents.builders import Folder, notes_of

SKILLS = [
    {"id": "tides", "name": "Tides", "description": "When it is high.", "tags": ["sea"], "examples": ["High tide?"]},
    {"id": "berths", "name": "Berths", "examples": ["A berth for 12 m", "High tide?", "", 7]},
]
FACE = {"name": "Harbour desk", "description": "Answers sailors.", "version": "1", "skills": SKILLS}
MODES = {"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "capabilities": {}}
V02 = FACE | MODES | {"url": "https://h.example/a2a"}
V03 = V02 | {"protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"}
INTERFACE = {"url": "https://h.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
V10 = FACE | MODES | {"supportedInterfaces": [INTERFACE]}
SNAKE = FACE | {"protocol_version": "0.3.0", "default_input_modes": ["text/plain"]}

KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}
BEARER = {"type": "http", "scheme": "Bearer"}
OAUTH2 = {"type": "oauth2", "flows": {}}
SSO = {"type": "openIdConnect", "description": "Single sign-on with Entra"}


@pytest.mark.parametrize("card", [V02, V03, V10, SNAKE], ids=["0.2", "0.3", "1.0", "snake case"])
@pytest.mark.parametrize("path", ["agent-card.json", ".well-known/agent.json", "harbour.json"])
def test_a_card_is_read_with_its_skills(folder: Folder, card: Any, path: str) -> None:
    specification = folder.write(path, card).read()
    assert specification.name == "Harbour desk"
    assert specification.description == "Answers sailors.\nTides: When it is high.\nBerths"
    assert specification.starters == ("High tide?", "A berth for 12 m")
    assert (specification.tools, specification.knowledge, specification.auth) == (None, None, None)
    assert (specification.platform, specification.notes) == ("", ())


def test_a_card_without_skills_is_told_by_how_it_is_reached(folder: Folder) -> None:
    specification = folder.write("desk.json", {key: value for key, value in V02.items() if key != "skills"}).read()
    assert (specification.name, specification.description) == ("Harbour desk", "Answers sailors.")


@pytest.mark.parametrize(
    ("parts", "modes"),
    [
        ({"securitySchemes": {"k": KEY}, "security": [{"k": []}]}, ("api-key",)),
        ({"securitySchemes": {"b": BEARER}, "security": [{"b": []}]}, ("api-key",)),
        ({"securitySchemes": {"o": OAUTH2, "k": KEY}, "security": [{"o": ["x"]}, {"k": []}]}, ("oauth",)),
        ({"securitySchemes": {"s": SSO}, "security": [{"s": []}]}, ("sso",)),
        ({"security": []}, ("none",)),
        ({"securitySchemes": {"open": {"type": "none"}}, "security": [{"open": []}]}, ("none",)),
        ({"authentication": {"schemes": ["Bearer"]}}, ("api-key",)),
        ({"authentication": {"schemes": ["api_key", "oauth2"]}}, ("api-key",)),
        ({"authentication": {"schemes": ["OIDC"]}}, ("oauth",)),
        ({"authentication": {"schemes": ["public"]}}, ("none",)),
        ({"authentication": {"schemes": ["x402"]}}, ("other",)),
        ({"authentication": {"schemes": []}}, None),
        ({"authentication": {"schemes": ["Bearer"]}, "security": []}, ("none",)),
        ({"securityRequirements": []}, None),
        ({"securitySchemes": {"m": {"type": "mutualTLS"}}, "security": [{"m": []}]}, ("other",)),
        ({"securitySchemes": {"k": {"apiKeySecurityScheme": {"name": "x"}}}, "security": [{"k": []}]}, ("api-key",)),
        (
            {
                "securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": {}}}},
                "securityRequirements": [{"schemes": {"o": {"list": ["x"]}}}],
            },
            ("oauth",),
        ),
        (
            {
                "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
                "securityRequirements": [{"b": []}],
            },
            ("api-key",),
        ),
        (
            {
                "security_schemes": {"o": {"open_id_connect_security_scheme": {"description": "SSO"}}},
                "security_requirements": [{"schemes": {"o": {}}}],
            },
            ("sso",),
        ),
        (
            {
                "securitySchemes": {"k": KEY, "o": OAUTH2},
                "security": [{"k": []}],
                "skills": [{"id": "a", "security": [{"o": []}]}],
            },
            ("api-key", "oauth"),
        ),
        ({"securitySchemes": [], "security": "k"}, None),
        ({"securitySchemes": {"k": None}, "security": [7, None]}, None),
    ],
    ids=str,
)
def test_required_schemes_are_the_auth(folder: Folder, parts: Any, modes: Any) -> None:
    assert folder.write("agent-card.json", V03 | parts).read().auth_modes == modes


def test_schemes_that_nothing_requires_or_defines_are_said(folder: Folder) -> None:
    unused = folder.write("agent-card.json", V10 | {"securitySchemes": {"k": KEY}}).read()
    assert unused.auth is None
    assert "securitySchemes.k: defines 'api-key', which the card does not require" in notes_of(unused)[0]
    ghost = folder.write("agent-card.json", V10 | {"security": [{"ghost": []}]}).read()
    assert ghost.auth is None
    assert "security[0]: the security scheme 'ghost' is not defined" in notes_of(ghost)[0]


@pytest.mark.parametrize(
    "document",
    [
        FACE,
        V02 | {"name": ""},
        {"name": "x", "description": "y", "url": "z", "capabilities": {}, "defaultInputModes": []},
        {"skills": SKILLS, "url": "x", "capabilities": {}},
        {"name": "x", "skills": ["python"], "url": "x"},
        [V02],
    ],
)
def test_what_has_only_some_of_a_cards_keys_is_none(folder: Folder, document: Any) -> None:
    (problem,) = folder.write("card.json", document).problems()
    assert "no agent specification is here" in problem.message


def test_a_broken_card_shows_its_fault(folder: Folder) -> None:
    (problem,) = folder.write("agent-card.json", '{"name": "x",\n "name": "y"}').problems()
    assert (problem.file, problem.line) == ("agent-card.json", 2)
