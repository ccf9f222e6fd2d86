"""Function tools in JSON: a list of them, legacy ``functions``, or an assistant with tools, instructions and model.

The forms are those of OpenAI's Chat Completions, Responses and Assistants interfaces, Anthropic's with
``input_schema``, Gemini's with ``functionDeclarations`` and Bedrock's with ``toolSpec``.  Built-in tools of the service
are knowledge, or represent MCP servers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from incumbent.files.documents import Document, Node, Parsed, as_mapping
from incumbent.intake.agents.effects import effect_of_tool, note_doubt
from incumbent.intake.agents.inventory import InventoryOperation, bare_tool, check_number, entry_of, of_schema
from incumbent.intake.agents.name_effects import EffectReason
from incumbent.intake.agents.package import AgentPackage
from incumbent.intake.agents.reader import BareReader
from incumbent.intake.specification import UNLISTED, Knowledge, Protocol, Specification, Tool

SERVERS: Final = ("mcp", "mcp_toolset")
"""Types of tools that represent an MCP server."""

# Dated and preview types (`web_search_preview`, `web_search_20250305`) begin with the plain one.
_KNOWLEDGE: Final = {
    "file_search": "files",
    "retrieval": "files",
    "code_interpreter": "code-interpreter",
    "code_execution": "code-interpreter",
    "web_search": "web-search",
    "image_generation": "image-generation",
}
# In Gemini's form, the only key of the object names a built-in tool.
_GEMINI: Final = {
    "googleSearch": "web-search",
    "googleSearchRetrieval": "web-search",
    "codeExecution": "code-interpreter",
    "fileSearch": "files",
}
_DECLARATIONS: Final = ("functionDeclarations", "function_declarations")
_CALLED: Final = ("function", "custom")
_SAID: Final = ("messages", "query", "question", "prompt", "input", "turns")


def is_function(data: object) -> bool:
    """Whether ``data`` is a tool that the application runs: by its type, or by the JSON schema of its input."""
    item = as_mapping(data)
    kind = item.get("type")
    if "toolSpec" in item:
        return isinstance(as_mapping(item["toolSpec"]).get("name"), str)
    if kind in _CALLED:
        return isinstance(as_mapping(item.get(str(kind))).get("name", item.get("name")), str)
    schemas = (as_mapping(item.get("parameters")), as_mapping(item.get("input_schema")))
    return isinstance(item.get("name"), str) and any(
        schema.get("type") == "object" or isinstance(schema.get("properties"), dict) for schema in schemas
    )


def is_built_in(data: object) -> bool:
    """Whether ``data`` is a built-in tool of the model's service, of a known type."""
    kind = kind_of(data)
    return kind in SERVERS or built_in_knowledge(kind) is not None


def kind_of(data: object) -> str:
    """The type of a tool, or the only key of Gemini's built-in tools; empty if there is neither."""
    item = as_mapping(data)
    kind = item.get("type", "")
    named = next(iter(item)) if len(item) == 1 else ""
    named = re.sub(r"_([a-z])", lambda match: match.group(1).upper(), named)
    return kind if isinstance(kind, str) and kind else named if named in _GEMINI else ""


def tools_of(place: Node) -> tuple[Node, ...]:
    """The tools at ``place``: itself, or Gemini's function declarations inside it."""
    return next((place[key].items for key in _DECLARATIONS if place[key].is_list), (place,))


def is_declared(place: Node) -> bool:
    """Whether ``place`` lists Gemini's function declarations, which need no parameters."""
    return any(place[key].is_list for key in _DECLARATIONS)


def built_in_knowledge(kind: str) -> str | None:
    """The kind of knowledge of a built-in tool of the type ``kind``; ``None`` for other types."""
    if kind in _GEMINI:
        return _GEMINI[kind]
    return next((known for start, known in _KNOWLEDGE.items() if kind == start or kind.startswith(f"{start}_")), None)


def is_conversation(data: object) -> bool:
    """Whether ``data`` contains messages, as requests to a model and rows of eval sets do."""
    return any(key in as_mapping(data) for key in _SAID)


def body_of(tool: Node) -> Node:
    """The object with the name and description of a function tool: ``function``, ``toolSpec`` or the tool itself."""
    inner = tool[tool["type"].text] if tool["type"].text in _CALLED else tool["toolSpec"]
    return inner if inner.is_mapping else tool


def schema_of(tool: Node) -> Node:
    """The JSON schema of a function tool's input, under any of the services' names for it."""
    body = body_of(tool)
    places = (body["parameters"], body["parametersJsonSchema"], body["input_schema"], body["inputSchema"]["json"])
    return next((place for place in places if place.is_mapping), body["parameters"])


_PLUGIN_KEYS: Final = ("schema_version", "runtimes", "name_for_human")


def _fits(document: Document) -> bool:
    root = Parsed("", document).root
    if is_conversation(root.data) or any(root.has(key) for key in _PLUGIN_KEYS):
        return False
    items = [item.data for item in _listed(root)]
    if any(map(is_conversation, items)):
        return False
    if _is_whole(root) or any(map(is_function, items)) or any(map(is_declared, _lists(root))):
        return True
    return bool(items) and all(map(is_built_in, items))


def _is_whole(root: Node) -> bool:
    """Whether this is an assistant, or a request without messages: it declares all tools."""
    if root["object"].text == "assistant":
        return True
    prompt = root["instructions"].text or root["system"].text
    return bool(prompt and root["model"].text and (root["tools"].is_list or root["tools"].absent))


def _listed(root: Node) -> tuple[Node, ...]:
    """The tools of a file, in any of its lists; a file may also be a single tool."""
    if is_function(root.data):
        return (root,)
    return tuple(tool for item in _lists(root) for tool in tools_of(item))


def _lists(root: Node) -> tuple[Node, ...]:
    """The entries of a file's lists of tools; the file itself if it has Gemini's declarations."""
    lists = (root, root["tools"], root["functions"], root["toolConfig"]["tools"])
    return (*((root,) if is_declared(root) else ()), *(item for place in lists for item in place.items))


@dataclass(slots=True)
class _FoundTools:
    """The tools and knowledge found so far in a file; ``names`` are those of the functions."""

    package: AgentPackage
    tools: list[Tool] = field(default_factory=list)
    knowledge: list[Knowledge] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    unread: bool = False

    def take(self, item: Node) -> None:
        """Read one tool of any form."""
        kind, name = kind_of(item.data), body_of(item)["name"].text
        knowledge = built_in_knowledge(kind)
        if item.has("inputSchema") and name:
            self.add(entry_of(self.package, item), "mcp")
        elif knowledge is not None:
            if knowledge not in {known.kind for known in self.knowledge}:
                self.knowledge.append(Knowledge(kind=knowledge, declared_in=str(item)))
        elif kind in SERVERS:
            self.tools += _server_tools(self.package, item)
        elif name:
            entry = _entry(self.package, item, name, body_of(item)["description"].text)
            parameters = partial(of_schema, self.package, item, schema_of(item))
            self.add(replace(entry, parameters=parameters), "function")
        elif kind and kind not in ("function", "custom"):
            self.package.note(
                item["type"],
                f"{item.name}: {kind!r} is not a known built-in tool; it is read as a tool of unknown effect",
                "say in agent.yaml what it does",
            )
            unknown = EffectReason("unknown", "the built-in tool is not a known one")
            self.add(InventoryOperation(kind, "", unknown, None, item), "function")
        else:
            self.unread = True
            self.package.note(item, f"{item.name}: the tool has no name and is not read", "give the tool a name")

    def add(self, entry: InventoryOperation, protocol: Protocol) -> None:
        """Add a tool, unless its name is taken."""
        if entry.name in self.names:
            message = f"{entry.place.name}: the tool {entry.name!r} is listed twice; the first one counts"
            self.package.note(entry.place, message, "give every tool a name of its own")
        else:
            self.names.add(entry.name)
            note_doubt(self.package, entry.place, entry.name, entry.effect)
            self.tools.append(bare_tool(entry, protocol))


def _entry(package: AgentPackage, item: Node, name: str, description: str) -> InventoryOperation:
    # Lists of MCP tools may have Python's spelling of `inputSchema`, and still have annotations.
    effect = effect_of_tool(package, item["annotations"], name)
    return InventoryOperation(name=name, description=description, effect=effect, security=None, place=item)


def _server_tools(package: AgentPackage, server: Node) -> list[Tool]:
    """The tools of an MCP server that are allowed by name; one placeholder if all are allowed."""
    allowed = server["allowed_tools"]
    if allowed.absent:
        allowed = server["tool_configuration"]["allowed_tools"]
    protocol: Protocol = "mcp"
    names = allowed if allowed.is_list else allowed["tool_names"]
    if names.is_list:
        entries = {item.text: _entry(package, item, item.text, "") for item in names.items if item.text}
        return [bare_tool(entry, protocol, _asks(server, name)) for name, entry in entries.items()]
    if allowed["read_only"].data is True:
        effect = EffectReason("read", "allowed_tools says read_only")
    else:
        effect = EffectReason("unknown", "the server's tools are discovered at run time")
    package.note(
        server,
        f"{server.name}: the MCP server's tools are discovered at run time; they are read as one tool {UNLISTED!r}",
        "list them under `allowed_tools`, or bring the server's tools/list result beside it by `extends` in agent.yaml",
    )
    description = server["server_description"].text or server["server_label"].text
    entry = InventoryOperation(name=UNLISTED, description=description, effect=effect, security=None, place=server)
    return [bare_tool(entry, protocol, _asks(server, UNLISTED))]


def _asks(server: Node, name: str) -> bool | None:
    """Whether the user is asked before a call, by ``require_approval`` for all tools or by name."""
    approval = server["require_approval"]
    if approval.text in ("always", "never"):
        return approval.text == "always"
    for word in ("always", "never"):
        if name in {item.text for item in approval[word]["tool_names"].items}:
            return word == "always"
    return None


def _describe(package: AgentPackage, source: Parsed) -> Specification:
    root = source.root
    found = _FoundTools(package)
    listed = _listed(root)
    check_number(package, root, len(listed))
    package.check()
    for item in listed:
        found.take(item)
    if not any(item["type"].text in SERVERS for item in listed):
        for server in root["mcp_servers"].items:
            found.tools += _server_tools(package, server)
    check_number(package, root, len(found.tools))
    whole = _is_whole(root)
    return Specification(
        platform="",
        name="" if is_function(root.data) else root["name"].text,
        description="" if is_function(root.data) else root["description"].text,
        instructions=root["instructions"].text or root["system"].text,
        auth=None,
        tools=None if found.unread and not found.tools else tuple(found.tools),
        knowledge=tuple(found.knowledge) if whole or found.knowledge else None,
        starters=(),
        notes=tuple(dict.fromkeys(package.notes)),
    )


READER: Final = BareReader(
    name="openai-tools",
    looked_for="function tools in the JSON form of OpenAI, Anthropic, Gemini or Bedrock",
    endings=(".json",),
    mark=re.compile(rb"\"(parameters|input_schema|type|model|assistant|toolSpec|function_?[dD]eclarations)\""),
    telling=re.compile(rb"\"input_schema\"|\"type\"\s*:\s*\"function\"|\"parameters\"\s*:\s*\{"),
    usual=re.compile(r"(functions|tools|assistant).*\.json"),
    fits=_fits,
    describe=_describe,
)
