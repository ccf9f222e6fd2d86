"""The schemas of all tools as they were last agreed to: ``python -m tests.mcp_server.snapshots`` renews them.

What a client was built on changes only where somebody saw it change.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import anyio

from incumbent.mcp.server import make_server
from incumbent.mcp.workspace import Workspace
from incumbent.taxonomy.config import CONFIG_FILE
from tests.factories import REPOSITORY

FOLDER = Path(__file__).with_name("snapshots")


@cache
def published() -> dict[str, Any]:
    """Name → all that a client is told of each tool, the writing ones too."""
    server = make_server(Workspace(REPOSITORY, CONFIG_FILE, writes=True))
    tools = anyio.run(server.list_tools)
    return {tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools}


def renew() -> None:
    """Write what is published now; files of tools that are gone go too."""
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.json"):
        file.unlink()
    for name, tool in published().items():
        (FOLDER / f"{name}.json").write_text(written(tool), encoding="utf-8")


def written(tool: Any) -> str:
    """A snapshot as its file holds it."""
    return json.dumps(tool, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    renew()
