"""A dump of an MCP server's ``tools/list``: the server's tools are the agent's tools.

It reads the bare list, ``{"tools": […]}``, the JSON-RPC response with ``result.tools``, and several such results: the
pages of a long one in a list, or those of several servers by name or under ``servers``.  ``serverInfo`` and
``instructions`` of an ``initialize`` result count if they are in the same file (Model Context Protocol, revisions
2024-11-05 to 2025-11-25).
"""

from __future__ import annotations

import re
from typing import Final

from bot.files.documents import Document, as_mapping
from bot.intake.agents.inventory import InventoryOperation, bare_tools, check_number
from bot.intake.agents.mcp import read_entries, tools_in
from bot.intake.agents.names import EffectReason
from bot.intake.agents.openai_tools import is_built_in, is_function
from bot.intake.agents.package import AgentPackage
from bot.intake.agents.standalone_files import BareReader
from bot.intake.node import Node, Parsed
from bot.intake.specification import UNLISTED, Specification

_RESULT_KEYS: Final = frozenset({"tools", "nextCursor", "_meta"})


def _fits(document: Document) -> bool:
    root = Parsed("", document).root
    pages = _pages(root)
    tools = [tool for page in pages for tool in page.items]
    if any(is_function(tool.data) or is_built_in(tool.data) for tool in tools):
        return False
    if tools:
        return any("inputSchema" in as_mapping(tool.data) for tool in tools)
    return bool(pages) and (
        root["result"].is_mapping or (root.is_mapping and as_mapping(root.data).keys() <= _RESULT_KEYS)
    )


def _results(root: Node) -> tuple[Node, ...]:
    """The results in a file: the file itself, the items of its list, or one for each of several servers."""
    if root.is_list:
        parts = (root,) if any(_is_tool(item) for item in root.items) else root.items
    elif tools_in(root) is None:
        servers = next(
            (root[key] for key in ("servers", "mcpServers") if root[key].is_mapping or root[key].is_list), root
        )
        parts = servers.items or tuple(place for _, place in servers.entries)
    else:
        parts = (root,)
    return tuple(part["result"] if part["result"].is_mapping else part for part in parts)


def _is_tool(place: Node) -> bool:
    return place.has("inputSchema") or (place.has("name") and not place["tools"].is_list)


def _pages(root: Node) -> tuple[Node, ...]:
    """The lists of tools in a file, page by page."""
    return tuple(tools for result in _results(root) if (tools := tools_in(result)) is not None)


def _describe(package: AgentPackage, source: Parsed) -> Specification:
    root = source.root
    results, pages = _results(root), _pages(root)
    listed = [tool for page in pages for tool in page.items]
    check_number(package, root, len(listed))
    package.check()
    entries = list(read_entries(package, listed).values())
    last = next((result for result in reversed(results) if tools_in(result) is not None), root)
    if last["nextCursor"].text:
        entries.append(_rest(package, last["nextCursor"]))
    tools = bare_tools(package, pages[0] if pages else root, entries, "mcp")
    server, instructions = root["serverInfo"], root["instructions"].text
    for result in results:
        server = result["serverInfo"] if result["serverInfo"].is_mapping else server
        instructions = result["instructions"].text or instructions
    return Specification(
        platform="",
        name=server["title"].text or server["name"].text,
        description=server["description"].text,
        instructions=instructions,
        auth=None,
        tools=tools if tools or not listed else None,
        knowledge=None,
        starters=(),
        notes=tuple(dict.fromkeys(package.notes)),
    )


def _rest(package: AgentPackage, cursor: Node) -> InventoryOperation:
    """The placeholder for tools on pages that are not in the file."""
    message = f"{cursor.name}: more tools follow on a page that is not here; they are read as one tool {UNLISTED!r}"
    package.note(cursor, message, "put all pages into the file, as a list of results")
    decision = EffectReason("unknown", "the tool is on a page that is not here")
    return InventoryOperation(name=UNLISTED, description="", effect=decision, security=None, place=cursor)


READER: Final = BareReader(
    name="mcp-tools",
    looked_for="an MCP server's tools/list result",
    endings=(".json",),
    mark=re.compile(rb"\"(inputSchema|tools)\""),
    telling=re.compile(rb"\"inputSchema\""),
    usual=re.compile(r"(mcp|tools[-_]?list).*\.json"),
    fits=_fits,
    describe=_describe,
)
