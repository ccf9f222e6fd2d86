"""The tools of an MCP server as listed in files; the server itself is never contacted."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from bot.intake.agents.effects import effect_of_tool
from bot.intake.agents.inventory import Inventory, InventoryOperation, of_schema
from bot.intake.agents.package import AgentPackage
from bot.intake.node import Node

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


def entry_of(package: AgentPackage, tool: Node) -> InventoryOperation:
    """A tool of an MCP server: its annotations decide the effect, else its name."""
    name, annotations = tool["name"].text, tool["annotations"]
    return InventoryOperation(
        name=name,
        description=tool["description"].text or tool["title"].text or annotations["title"].text,
        effect=effect_of_tool(package, annotations, name),
        security=None,
        place=tool,
        parameters=partial(of_schema, package, tool, tool["inputSchema"]),
    )


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
