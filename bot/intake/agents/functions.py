"""Function tools as language models are told of them: OpenAI's forms, new and old, Anthropic's, Gemini's and Bedrock's.

Frameworks such as LangChain export their tools in OpenAI's form.
"""

from __future__ import annotations

import re
from typing import Final

from bot.files.documents import as_mapping
from bot.intake.place import Place

SERVERS: Final = ("mcp", "mcp_toolset")
"""Types of tools that stand for an MCP server."""

# Dated and preview forms (`web_search_preview`, `web_search_20250305`) begin with the plain one.
_KNOWLEDGE: Final = {
    "file_search": "files",
    "retrieval": "files",
    "code_interpreter": "code-interpreter",
    "code_execution": "code-interpreter",
    "web_search": "web-search",
    "image_generation": "image-generation",
}
# Gemini names a built-in tool by the only key of its object.
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
    """Whether ``data`` is a tool that the application runs: it says so, or has the JSON schema of what it takes."""
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
    """Whether ``data`` is a tool that the model's service brings, as far as its type is known."""
    kind = kind_of(data)
    return kind in SERVERS or built_in_knowledge(kind) is not None


def kind_of(data: object) -> str:
    """The type of a tool, or the one key by which Gemini names a built-in tool; empty if it says none."""
    item = as_mapping(data)
    kind = item.get("type", "")
    named = next(iter(item)) if len(item) == 1 else ""
    named = re.sub(r"_([a-z])", lambda match: match.group(1).upper(), named)
    return kind if isinstance(kind, str) and kind else named if named in _GEMINI else ""


def tools_of(place: Place) -> tuple[Place, ...]:
    """The tools at ``place``: itself, or what Gemini lists inside it."""
    return next((place[key].items for key in _DECLARATIONS if place[key].is_list), (place,))


def is_declared(place: Place) -> bool:
    """Whether the tools at ``place`` are listed as Gemini's function declarations, which need no parameters."""
    return any(place[key].is_list for key in _DECLARATIONS)


def built_in_knowledge(kind: str) -> str | None:
    """The kind of knowledge that a built-in tool of the type ``kind`` brings; ``None`` if it is none of these."""
    if kind in _GEMINI:
        return _GEMINI[kind]
    return next((known for start, known in _KNOWLEDGE.items() if kind == start or kind.startswith(f"{start}_")), None)


def is_conversation(data: object) -> bool:
    """Whether ``data`` holds what was said, as requests to a model and rows of eval sets do."""
    return any(key in as_mapping(data) for key in _SAID)


def body_of(tool: Place) -> Place:
    """Where the name and description of a function tool stand: inside ``function`` or ``toolSpec``, or at the top."""
    inner = tool[tool["type"].text] if tool["type"].text in _CALLED else tool["toolSpec"]
    return inner if inner.is_mapping else tool


def schema_of(tool: Place) -> Place:
    """The JSON schema of what a function tool takes, under whichever of the names that services give it."""
    body = body_of(tool)
    places = (body["parameters"], body["parametersJsonSchema"], body["input_schema"], body["inputSchema"]["json"])
    return next((place for place in places if place.is_mapping), body["parameters"])
