"""Function tools as language models are told of them: OpenAI's forms, new and old, and Anthropic's.

Frameworks such as LangChain export their tools in OpenAI's form.
"""

from __future__ import annotations

from typing import Final

from bot.documents import as_mapping
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
_CALLED: Final = ("function", "custom")
_SAID: Final = ("messages", "query", "question", "prompt", "input", "turns")


def is_function(data: object) -> bool:
    """Whether ``data`` is a tool that the application runs: it says so, or has the JSON schema of what it takes."""
    item = as_mapping(data)
    kind = item.get("type")
    if kind in _CALLED:
        return isinstance(as_mapping(item.get(str(kind))).get("name", item.get("name")), str)
    schemas = (as_mapping(item.get("parameters")), as_mapping(item.get("input_schema")))
    return isinstance(item.get("name"), str) and any(
        schema.get("type") == "object" or isinstance(schema.get("properties"), dict) for schema in schemas
    )


def is_built_in(data: object) -> bool:
    """Whether ``data`` is a tool that the model's service brings, as far as its type is known."""
    kind = as_mapping(data).get("type")
    return isinstance(kind, str) and (kind in SERVERS or built_in_knowledge(kind) is not None)


def built_in_knowledge(kind: str) -> str | None:
    """The kind of knowledge that a built-in tool of the type ``kind`` brings; ``None`` if it is none of these."""
    return next((known for start, known in _KNOWLEDGE.items() if kind == start or kind.startswith(f"{start}_")), None)


def is_conversation(data: object) -> bool:
    """Whether ``data`` holds what was said, as requests to a model and rows of eval sets do."""
    return any(key in as_mapping(data) for key in _SAID)


def body_of(tool: Place) -> Place:
    """Where the name and description of a function tool stand: inside ``function``, or at the top."""
    inner = tool[tool["type"].text] if tool["type"].text in _CALLED else tool
    return inner if inner.is_mapping else tool
