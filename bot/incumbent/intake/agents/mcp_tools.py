"""The tools of an MCP server as listed in files; the server itself is never contacted.

The tools of a dump of ``tools/list`` are the agent's tools.  It may be the bare list, ``{"tools": […]}``, the JSON-RPC
response with ``result.tools``, and several such results: the pages of a long one in a list, or those of several servers
by name or under ``servers``.  ``serverInfo`` and ``instructions`` of an ``initialize`` result count if they are in the
same file (Model Context Protocol, revisions 2024-11-05 to 2025-11-25).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from incumbent.files.documents import Document, Node, Parsed, as_mapping
from incumbent.intake.agents.inventory import Inventory, InventoryOperation, bare_tools, check_number, entry_of
from incumbent.intake.agents.name_effects import EffectReason
from incumbent.intake.agents.openai_tools import is_built_in, is_function
from incumbent.intake.agents.package import AgentPackage
from incumbent.intake.agents.reader import BareReader
from incumbent.intake.specification import UNLISTED, Specification

_WHAT: Final = "the MCP tool description"


def read_tools(package: AgentPackage, runtime: Node) -> Inventory | None:
    """The tools that a ``RemoteMCPServer`` runtime describes; ``None`` if it describes none.

    It reads ``mcp_tool_description`` and ``x-mcp_tool_description`` (of the spec or of the runtime itself) and
    ``tools`` of the spec; each contains the tools, or names a file that does.  An empty list describes nothing.
    """
    spec = runtime["spec"]
    places = (
        *(part[key] for part in (spec, runtime) for key in ("mcp_tool_description", "x-mcp_tool_description")),
        spec["tools"],
    )
    described = [_listed(package, place) for place in places if not place.absent]
    limit = package.limits.tools
    if sum(map(len, described)) > limit:
        message = f"{runtime.name}: the MCP server has more tools than the limit of {limit}"
        package.faults.append(runtime.problem(message, "bring fewer, or raise limits.tools in config/curation.yaml"))
        return None
    inventory: dict[str, InventoryOperation] = {}
    for tools in described:
        # A tool may be described in two places; the first one counts.
        inventory = dict(read_entries(package, tools)) | inventory
    return inventory or None


def read_entries(package: AgentPackage, tools: Iterable[Node]) -> Inventory:
    """The tools of one list by name; tools without a name and duplicates get a note and are not read."""
    found: dict[str, InventoryOperation] = {}
    for tool in tools:
        name = tool["name"].text
        if not name:
            package.note(tool, f"{tool.name}: the tool has no name and is not read", "give the tool a name")
        elif name in found:
            message = f"{tool.name}: the tool {name!r} is listed twice; the first one counts"
            package.note(tool, message, "give every tool a name of its own")
        else:
            found[name] = entry_of(package, tool)
    return found


def tools_in(root: Node) -> Node | None:
    """The list of tools in a ``tools/list`` result: itself, ``tools`` or ``result.tools``."""
    return next((part for part in (root, root["tools"], root["result"]["tools"]) if part.is_list), None)


def discovers(runtime: Node) -> bool:
    """Whether the runtime says that tools are discovered at run time."""
    flag = runtime["spec"]["enable_dynamic_discovery"]
    return flag.data is True or flag.text.casefold() == "true"


def _listed(package: AgentPackage, place: Node) -> tuple[Node, ...]:
    """The tools at ``place``: a list, a mapping with ``tools``, or the name of a file with either."""
    if place.is_list:
        return place.items
    if place["tools"].is_list:
        return place["tools"].items
    named = place if place.text else place["file"]
    if not named.text:
        package.note(
            place,
            f"{place.name}: {_WHAT} is not read: it has neither `tools` nor `file`",
            "list the tools, or name a file with the server's tools/list result",
        )
        return ()
    # `$[file('tools.json')]` includes the file, `tools.json` names it.
    read = package.inline if named.text.startswith("$[") else package.follow
    source = read(named, what=_WHAT)
    if source is None:
        return ()
    tools = tools_in(source.root)
    if tools is not None:
        return tools.items
    package.note(
        named,
        f"{named.name}: {_WHAT} is not read: {source.document.file} lists no tools",
        "store the server's tools/list result there",
    )
    return ()


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
