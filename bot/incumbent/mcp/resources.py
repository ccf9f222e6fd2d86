"""The resources that an assistant may read: the taxonomy, the config, the entries, and the latest report."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from typing import Final

from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from incumbent.curator.entry import Entry
from incumbent.mcp.answers import StatusAnswer, page
from incumbent.mcp.inputs import LONGEST_FOLDER, MOST_ROWS
from incumbent.mcp.set_tools import status_page
from incumbent.mcp.tool_runner import Workers, shown_in_chat
from incumbent.mcp.untrusted import CLOSING, OPENING, find_name, harmless, mark, marked_data, unmarked
from incumbent.mcp.workspace import Workspace
from incumbent.pipeline.declared_agents import declared_agents
from incumbent.pipeline.submission import submission_folders
from incumbent.report.review_markdown import render_markdown
from incumbent.report.status import status_overview
from incumbent.taxonomy.model import Taxonomy
from incumbent.taxonomy.rules import FACTS, STRUCTURE_FACTS, TOOL_FACTS

JSON: Final = "application/json"
_OUR_HTML: Final = re.compile(r"</?(?:sub|details|summary)>|<!--.*?-->")
_PAGE: Final = 100


def add_resources(server: MCPServer[None], workspace: Workspace, workers: Workers) -> None:
    """Add the resources of ``workspace`` to ``server``."""

    @server.resource("incumbent://taxonomy", name="taxonomy", mime_type=JSON)
    async def taxonomy() -> str:
        """The capabilities: id, name, meaning, what decides it, its rule, and the subject of the rule."""
        return await workers.read(lambda: _taxonomy(workspace.platform().taxonomy))

    @server.resource("incumbent://config", name="config", mime_type=JSON)
    async def config() -> str:
        """Ceiling, knobs, options and limits that verdicts are judged by."""
        return await workers.read(
            lambda: workspace.platform().config.model_dump_json(exclude={"classifier": {"openai"}})
        )

    @server.resource("incumbent://report", name="report", mime_type="text/markdown")
    async def report() -> str:
        """The latest review of this session, as people read it; before the first, the state of the set."""
        return await workers.read(lambda: _report(workspace))

    @server.resource("incumbent://eval-sets", name="eval-sets", mime_type=JSON)
    async def first_eval_sets() -> str:
        """The first hundred folders with an eval set, by name, with the number of entries from each."""
        return await workers.read(lambda: _eval_sets(workspace, 0, _PAGE))

    @server.resource("incumbent://eval-sets{?offset,limit}", name="eval-sets-page", mime_type=JSON)
    async def eval_sets(offset: int = 0, limit: int = _PAGE) -> str:
        """A page of these folders: skip `offset`, list `limit` (1 to 200)."""
        _check_page(offset, limit)
        return await workers.read(lambda: _eval_sets(workspace, offset, limit))

    @server.resource("incumbent://entries", name="entries", mime_type=JSON)
    async def first_entries() -> str:
        """The first hundred entries of the set, by id, and where the rest begins."""
        return await workers.read(lambda: _entries(workspace, 0, _PAGE))

    @server.resource("incumbent://entries{?offset,limit}", name="entries-page", mime_type=JSON)
    async def entries(offset: int = 0, limit: int = _PAGE) -> str:
        """A page of the entries, by id: skip `offset`, list `limit` (1 to 200)."""
        _check_page(offset, limit)
        return await workers.read(lambda: _entries(workspace, offset, limit))

    @server.resource("incumbent://entries/{id}", name="entry", mime_type=JSON)
    async def entry(id: str) -> str:
        """One entry in full: in the set, on the waitlist, or evicted."""

        def work() -> str:
            known = workspace.platform().regression_set
            everybody = {**known.evicted, **known.waiting, **known.entries}
            name = find_name(unmarked(id), everybody, "entry", "take an id that `find_entries` answers")
            place = "in the set" if name in known.entries else "waiting" if name in known.waiting else "evicted"
            return _entry(everybody[name], place)

        return await workers.read(work)


def _check_page(offset: int, limit: int) -> None:
    if offset < 0 or not 1 <= limit <= MOST_ROWS:
        raise MCPError(code=INVALID_PARAMS, message=f"offset must be 0 or more, and limit 1 to {MOST_ROWS}")


_SUBJECTS: Final = {
    "spec": "TRUE where `when` is true of the agent and the query exercises `requires`, if there is one",
    "tool": "TRUE where `when` is true of a tool that the query calls",
    "structure": "`when` is over what can be counted in the query",
    "intent": "inferred; FALSE where `when`, over the agent, is false",
}
"""What decides a capability, by its source."""


def rule_text(rule: str) -> str:
    """``rule`` of the taxonomy without characters that could open or close a mark."""
    return harmless(rule).replace("&amp;", "&")


def _taxonomy(taxonomy: Taxonomy) -> str:
    capabilities = [
        {
            "id": item.id,
            "name": harmless(item.name),
            "description": harmless(" ".join(item.description.split())),
            "decided_by": item.source,
        }
        | ({} if item.when is None else {"when": rule_text(item.when)})
        | ({} if item.requires is None else {"requires": item.requires})
        for item in taxonomy.capabilities
    ]
    rules = {
        "language": "JMESPath; where a rule is null, the value is inferred",
        "decided_by": _SUBJECTS,
        "fields": {
            "agent": [*FACTS],
            "tool": [*TOOL_FACTS],
            "query": [*STRUCTURE_FACTS],
        },
    }
    return json.dumps({"version": taxonomy.version, "rules": rules, "capabilities": capabilities}, ensure_ascii=False)


def _entries(workspace: Workspace, offset: int, limit: int) -> str:
    known = workspace.platform().regression_set.entries
    found = page(known, offset, limit, {"ids": sorted(known)})
    return json.dumps(
        {
            "total": found.total,
            "next": _next("entries", found.next_offset, limit),
            "entries": [
                {"id": mark(id), "exercises": len(known[id].scores), "admitted": known[id].admitted.at}
                for id in found.rows["ids"]
            ],
        },
        ensure_ascii=False,
    )


def _eval_sets(workspace: Workspace, offset: int, limit: int) -> str:
    """Folders as the tools take them.  Only the tools read their contents, since that may take long."""
    entries = workspace.platform().regression_set.entries.values()
    came = Counter(posixpath.dirname(entry.source.eval_set) for entry in entries if entry.source is not None)
    found = page(None, offset, limit, {"folders": submission_folders(workspace.files)})
    return json.dumps(
        {
            "total": found.total,
            "next": _next("eval-sets", found.next_offset, limit),
            "eval_sets": [
                {
                    "folder": mark(folder, LONGEST_FOLDER),
                    "files": len(workspace.files.paths(folder)),
                    "entries": sum(count for place, count in came.items() if f"{place}/".startswith(f"{folder}/")),
                }
                for folder in found.rows["folders"]
            ],
        },
        ensure_ascii=False,
    )


def _next(name: str, after: int | None, limit: int) -> str | None:
    return None if after is None else f"incumbent://{name}?offset={after}&limit={limit}"


def _entry(entry: Entry, place: str) -> str:
    """``entry`` with people's texts marked; what the classifier and the curator wrote is trusted."""
    data = entry.model_dump(mode="json")
    admitted = data["admitted"]
    admitted |= {name: marked_data(admitted[name]) for name in ("by", "override", "displaces")}
    shown = {
        "id": mark(entry.id),
        "place": place,
        "turns": marked_data(data["turns"]),
        "scores": data["scores"],
        "admitted": admitted,
        "classified": data["classified"],
        "source": _fields(data["source"]),
        "expected": marked_data(data["expected"]),
        "setup": _fields(data["setup"]),
        "pin": marked_data(data["pin"]),
        "quarantined": marked_data(entry.quarantined),
    }
    return json.dumps(shown, ensure_ascii=False)


def _fields(value: dict[str, object] | None) -> dict[str, object] | None:
    """A part of an entry: the names of its fields are trusted, their values are not."""
    return None if value is None else {name: marked_data(item) for name, item in value.items()}


def _report(workspace: Workspace) -> str:
    if workspace.latest is None:
        platform = workspace.platform()
        agents = declared_agents(platform, workspace.root, workspace.environment)
        state = status_page(status_overview(platform, agents, with_pairs=False), "short", 0, 50)
        return (
            "No eval set was reviewed here yet: call `classify_to_verdict` with a folder. The present set:\n\n"
            f"```json\n{json.dumps(shown_in_chat(state, StatusAnswer), ensure_ascii=False, indent=1)}\n```\n"
        )
    readable = _OUR_HTML.sub("", render_markdown(workspace.latest)).replace("<br>", " / ")
    escaped = readable.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"{OPENING}\n{escaped}\n{CLOSING}\n"
