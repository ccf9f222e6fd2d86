"""A small valid file of every format of agent specifications (see :mod:`tests.hostile.templates`)."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.templates import EVALS, Template

_BESIDE = {"evals.yaml": EVALS}


def _agent(reader: str, path: str, data: Any, beside: dict[str, Any] | None = None, **more: Any) -> Template:
    files = {
        name: held if isinstance(held, str) else json.dumps(held, indent=1) for name, held in (beside or {}).items()
    }
    return Template(reader=reader, path=path, data=data, beside={**_BESIDE, **files}, is_agent=True, **more)


_SCHEMA = {"type": "object", "properties": {"ship": {"type": "string"}}}
_MANIFEST = {"copilotAgents": {"declarativeAgents": [{"id": "a", "file": "declarativeAgent.json"}]}}
_DECLARATIVE = {
    "version": "v1.6",
    "name": "Harbour desk",
    "description": "Berths and tides.",
    "instructions": "$[file('instruction.txt')]",
    "capabilities": [{"name": "WebSearch"}, {"name": "OneDriveAndSharePoint"}],
    "conversation_starters": [{"text": "Which berth is free?"}, {"text": "When is high water?"}],
    "actions": [{"id": "p", "file": "ai-plugin.json"}],
}
_FUNCTIONS = [
    {"name": "find_ship", "description": "Tell where a ship is."},
    {
        "name": "cancel_pilot",
        "description": "Cancel a pilot.",
        "capabilities": {"confirmation": {"type": "AdaptiveCard", "title": "Cancel?"}},
    },
]
_PLUGIN = {
    "schema_version": "v2.4",
    "name_for_human": "Harbour",
    "namespace": "harbour",
    "description_for_human": "Calls the harbour office.",
    "functions": _FUNCTIONS,
    "runtimes": [
        {
            "type": "OpenApi",
            "auth": {"type": "OAuthPluginVault", "reference_id": "${{OAUTH_ID}}"},
            "spec": {"url": "api.json"},
            "run_for_functions": ["find_ship", "cancel_pilot"],
        },
        {
            "type": "RemoteMCPServer",
            "auth": {"type": "None"},
            "spec": {"url": "https://mcp.example", "mcp_tool_description": {"file": "mcp.json"}},
            "run_for_functions": ["*"],
        },
    ],
}
_TOOLS = [
    {"name": "list_tides", "description": "Tides.", "inputSchema": _SCHEMA, "annotations": {"readOnlyHint": True}},
    {"name": "drop_anchor", "description": "Anchor.", "inputSchema": _SCHEMA, "annotations": {"readOnlyHint": False}},
]
_OPENAPI = {
    "openapi": "3.0.3",
    "info": {"title": "Harbour", "version": "1"},
    "servers": [{"url": "https://harbour.example"}],
    "security": [{"login": ["ships.read"]}],
    "paths": {
        "/ships/{id}": {
            "get": {
                "operationId": "find_ship",
                "summary": "Tell where a ship is",
                "parameters": [{"$ref": "#/components/parameters/id"}],
            }
        },
        "/pilots": {"post": {"operationId": "cancel_pilot", "summary": "Cancel a pilot", "security": []}},
    },
    "components": {
        "parameters": {"id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}},
        "securitySchemes": {"login": {"type": "oauth2", "flows": {}}},
    },
}
_SWAGGER = {
    "swagger": "2.0",
    "info": {"title": "Harbour", "version": "1"},
    "host": "harbour.example",
    "securityDefinitions": {"key": {"type": "apiKey", "name": "X-Key", "in": "header"}},
    "security": [{"key": []}],
    "paths": {"/ships": {"get": {"operationId": "find_ship", "description": "Ships."}, "delete": {"summary": "Sink"}}},
    "definitions": {"Ship": {"type": "object", "properties": {"next": {"$ref": "#/definitions/Ship"}}}},
}
PACKAGE: dict[str, Any] = {
    "appPackage/manifest.json": _MANIFEST,
    "appPackage/declarativeAgent.json": _DECLARATIVE,
    "appPackage/instruction.txt": "You help at the harbour.",
    "appPackage/ai-plugin.json": _PLUGIN,
    "appPackage/api.json": _OPENAPI,
    "appPackage/mcp.json": {"tools": _TOOLS},
}
"""The files of a whole app package."""


def _of_package(file: str, **more: Any) -> Template:
    path = f"appPackage/{file}"
    beside = {at: held for at, held in PACKAGE.items() if at != path}
    return _agent("declarative-agent", path, PACKAGE[path], beside, **more)


AGENTS = (
    _agent(
        "agent.yaml",
        "agent.yaml",
        {
            "agent": 1,
            "name": "Harbour desk",
            "platform": "any",
            "instructions": "Help.",
            "auth_modes": ["oauth", "none"],
            "tools": [
                {"name": "find_ship", "description": "Tell where a ship is.", "effect": "read", "auth": "oauth"},
                {"name": "cancel_pilot", "description": "Cancel a pilot.", "effect": "write", "confirmation": True},
            ],
            "knowledge": ["web-search"],
            "starters": ["Which berth is free?"],
        },
        items=("tools",),
        text=("description",),
        name=("name",),
    ),
    _of_package("manifest.json", items=("copilotAgents", "declarativeAgents"), text=("file",), name=("id",)),
    _of_package("declarativeAgent.json", items=("conversation_starters",), text=("text",)),
    _of_package("ai-plugin.json", items=("functions",), text=("description",), name=("name",)),
    _of_package("api.json", items=None),
    _of_package("mcp.json", items=("tools",), text=("description",), name=("name",)),
    _agent(
        "api-plugin",
        "ai-plugin.json",
        _PLUGIN | {"capabilities": {"conversation_starters": [{"text": "Where is the Molly?"}]}},
        {"api.json": _OPENAPI, "mcp.json": {"tools": _TOOLS}},
        items=("functions",),
        text=("description",),
        name=("name",),
    ),
    _agent("openapi", "openapi.yaml", _OPENAPI, items=None),
    _agent("openapi", "swagger.json", _SWAGGER, items=None),
    _agent(
        "mcp-tools",
        "tools.json",
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": _TOOLS}},
        items=("result", "tools"),
        text=("description",),
        name=("name",),
    ),
    _agent(
        "openai-tools",
        "functions.json",
        [
            {"type": "function", "function": {"name": tool["name"], "description": "Ships.", "parameters": _SCHEMA}}
            for tool in _TOOLS
        ],
        text=("function", "description"),
        name=("function", "name"),
    ),
    _agent(
        "a2a-card",
        "agent-card.json",
        {
            "protocolVersion": "0.3.0",
            "name": "Harbour desk",
            "description": "Berths and tides.",
            "url": "https://harbour.example/a2a",
            "version": "1.0.0",
            "capabilities": {"streaming": True},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "securitySchemes": {"login": {"type": "oauth2", "flows": {}}},
            "security": [{"login": []}],
            "skills": [
                {"id": "find_ship", "name": "Find a ship", "description": "Tell where a ship is.", "tags": ["ships"]},
                {"id": "tides", "name": "Tides", "description": "Tell the tides.", "tags": [], "examples": ["High?"]},
            ],
        },
        items=("skills",),
        text=("description",),
        name=("id",),
    ),
)
