"""Agent packages for tests: a folder that is written file by file and then read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.agents.reading import read_specification
from incumbent.intake.specification import Specification, Tool
from incumbent.taxonomy.config import Limits


def make_limits(**overrides: int) -> Limits:
    """Generous limits, but for those that a test is about."""
    defaults = {
        "file_bytes": 1_000_000,
        "nesting_depth": 60,
        "nodes": 100_000,
        "package_files": 1_000,
        "package_bytes": 20_000_000,
        "tools": 500,
        "queries": 1_000,
        "turns": 50,
        "turn_characters": 20_000,
    }
    return Limits(customer_share=1.0, open_evictions=1, **defaults | overrides)


class Folder:
    """An eval set folder at work; what is written is JSON unless it is a string."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, content: Any) -> Folder:
        """Put a file there; its lines are those of an indented JSON document, or the given text."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        target.write_text(text, encoding="utf-8", newline="\n")
        return self

    def agent(self, **parts: Any) -> Folder:
        """A declarative agent with a manifest, and the given keys in the agent's file."""
        manifest = {"copilotAgents": {"declarativeAgents": [{"id": "a", "file": "declarativeAgent.json"}]}}
        self.write("appPackage/manifest.json", manifest)
        known = {"version": "v1.6", "name": "Harbour desk", "description": "Berths and tides."}
        return self.write("appPackage/declarativeAgent.json", known | parts)

    def plugin(self, *, functions: Any = None, runtimes: Any = None, path: str = "plugin.json", **parts: Any) -> Folder:
        """An agent whose one action is this plugin; ``None`` leaves a key out."""
        self.agent(actions=[{"id": "p", "file": path}])
        manifest: dict[str, Any] = {
            "schema_version": "v2.4",
            "name_for_human": "Harbour",
            "namespace": "harbour",
            "description_for_human": "Calls the harbour office.",
        }
        for key, value in (("functions", functions), ("runtimes", runtimes)):
            if value is not None:
                manifest[key] = value
        return self.write(f"appPackage/{path}", manifest | parts)

    def rest(self, openapi: Any, *, auth: Any = None, functions: Any = None, run_for: Any = None) -> Folder:
        """An agent with one OpenAPI runtime; ``openapi`` is a document, or YAML text."""
        yaml = isinstance(openapi, str)
        runtime: dict[str, Any] = {"type": "OpenApi", "spec": {"url": "api.yaml" if yaml else "api.json"}}
        if auth is not None:
            runtime["auth"] = auth
        if run_for is not None:
            runtime["run_for_functions"] = run_for
        self.write(f"appPackage/{runtime['spec']['url']}", openapi)
        return self.plugin(functions=functions, runtimes=[runtime])

    def mcp(self, *, functions: Any = None, run_for: Any = None, auth: Any = None, **spec: Any) -> Folder:
        """An agent with one remote MCP server; the rest is the runtime's ``spec``."""
        runtime: dict[str, Any] = {
            "type": "RemoteMCPServer",
            "auth": {"type": "None"} if auth is None else auth,
            "spec": {"url": "https://mcp.example", **spec},
        }
        if run_for is not None:
            runtime["run_for_functions"] = run_for
        return self.plugin(functions=functions, runtimes=[runtime])

    def read(self, **limits: int) -> Specification:
        """Read what lies here."""
        return read_specification(WorkingTree(self.root), make_limits(**limits))

    def problems(self, **limits: int) -> tuple[Problem, ...]:
        """The problems that make the folder unreadable."""
        try:
            specification = self.read(**limits)
        except InputError as error:
            return error.problems
        raise AssertionError(f"read without an error: {specification}")


def tools_of(specification: Specification) -> dict[str, Tool]:
    """The tools by name."""
    assert specification.tools is not None
    return {tool.name: tool for tool in specification.tools}


def notes_of(specification: Specification) -> list[str]:
    """The notes as ``file:line: message``."""
    return [f"{note.file}:{note.line}: {note.message}" for note in specification.notes]


def openapi(paths: Any, *, schemes: Any = None, security: Any = None) -> dict[str, Any]:
    """An OpenAPI 3 document."""
    document: dict[str, Any] = {"openapi": "3.0.3", "info": {"title": "Harbour", "version": "1"}, "paths": paths}
    if schemes is not None:
        document["components"] = {"securitySchemes": schemes}
    if security is not None:
        document["security"] = security
    return document


NONE = {"type": "None"}
OAUTH = {"type": "OAuthPluginVault", "reference_id": "${{OAUTH_CONFIGURATION_ID}}"}
API_KEY = {"type": "ApiKeyPluginVault", "reference_id": "${{KEY_REGISTRATION_ID}}"}
