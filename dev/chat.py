"""Record a triage from chat into docs/mcp.md: what a client asks, and what the server answers; a test compares it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from incumbent.mcp.server import make_server
from incumbent.mcp.workspace import Workspace
from incumbent.taxonomy.config import CONFIG_FILE

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = REPOSITORY / "docs" / "mcp.md"
EVAL_SET = "examples/customers/northwind-tracker/tracker"
PLACE = re.compile(r"(<!-- chat -->\n)(.*?)(<!-- /chat -->)", re.DOTALL)
_SHOWN = {
    "classify_to_verdict": ("headline", "counts", "reasons", "verdicts", "coverage_gained"),
    "explain": ("why", "outcome", "scores", "absences", "knobs", "left_out"),
    "find_entries": ("total", "entries"),
}


async def record() -> list[str]:
    """The lines of the session: a reviewer triages, and looks at what the set has of what is new."""
    lines: list[str] = []
    async with Client(make_server(Workspace(REPOSITORY, CONFIG_FILE))) as client:

        async def call(tool: str, **arguments: Any) -> Any:
            answer = (await client.call_tool(tool, arguments)).structured_content
            assert answer is not None
            shown = {name: answer[name] for name in _SHOWN[tool]}
            lines.extend([f"{tool} {json.dumps(arguments)}", *_laid_out(_said(shown)), ""])
            return answer

        judged = await call("classify_to_verdict", folder=EVAL_SET)
        waiting = next(row["id"] for row in judged["verdicts"] if row["outcome"] == "waiting-for-review")
        explained = await call("explain", folder=EVAL_SET, query=waiting, most=1)
        await call("find_entries", capability=explained["scores"][0]["capability"], limit=1, texts=True)
    return lines[:-1]


def _said(value: Any) -> Any:
    """``value`` without what is null or empty."""
    if isinstance(value, dict):
        found = {name: _said(item) for name, item in value.items()}
        return {name: item for name, item in found.items() if item is not None and item not in ([], {}, "")}
    return [_said(item) for item in value] if isinstance(value, list) else value


def _laid_out(answer: dict[str, Any]) -> list[str]:
    """One line for each field, and for each item of a list of things."""
    lines = []
    for name, value in answer.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [f"  {name}:", *(f"    {json.dumps(item, ensure_ascii=False)}" for item in value)]
        else:
            lines.append(f"  {name}: {json.dumps(value, ensure_ascii=False)}")
    return lines


def rendered(text: str) -> str:
    """``text`` with the session between its marks."""
    session = "\n".join(["```text", *anyio.run(record), "```"])
    return PLACE.sub(lambda found: f"{found[1]}\n{session}\n\n{found[3]}", text)


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
