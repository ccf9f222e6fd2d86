"""What assistants are answered over the Model Context Protocol: every tool, resource and prompt, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.test_agreement import ledger, month
from tests.golden.golden import Case
from tests.golden.places import BRANCH_LINE, CARD_LINE, changes, incumbent, other_platform, texts_of
from tests.mcp_server.conftest import AGENT, call, drive, in_process, text_of

QUERIES = [
    {"id": "q1", "turns": ["Freeze my card."], "tool_calls": ["freeze_card"]},
    {"id": "q2", "turns": ["Where is the next branch?"]},
    {"id": "q3", "turns": ["Hm.", "Spell the street for me."]},
]
SCORED = [
    {"id": "q1", "turns": ["Freeze my card."], "scores": {"backend.call": 0.9, "backend.change": 0.8}},
    {"id": "q2", "turns": ["Spell the street."], "scores": {"speech.spell-out": 0.7}},
    {"id": "q3", "turns": ["Hm."], "scores": {}},
]
ENTRY = "tarnbeck-bank-card-line-c05-c0514171"

CALLS: dict[str, list[dict[str, Any]]] = {
    "status": [{}, {"only": "all"}, {"pairs": True, "limit": 3}],
    "find_entries": [{"texts": True, "scores": True}, {"role": "evicted"}, {"capability": "backend.cal"}],
    "classify": [{"folder": CARD_LINE, "limit": 4}, {"queries": QUERIES, "agent": AGENT, "every_value": True}],
    "rate": [{"folder": CARD_LINE, "limit": 4}, {"queries": QUERIES, "agent": AGENT}],
    "classify_to_verdict": [
        {"folder": BRANCH_LINE},
        {"folder": BRANCH_LINE, "only": "all", "limit": 3, "texts": True, "facts": True},
        {"queries": QUERIES, "agent": AGENT, "only": "all"},
        {"folder": "nowhere"},
    ],
    "consolidate": [{"queries": SCORED}, {"queries": [SCORED[0] | {"scores": {"nope": 0.5}}]}],
    "cs_to_verdict": [{"queries": SCORED, "without": [ENTRY]}],
    "explain": [{"folder": BRANCH_LINE, "query": "b09"}, {"entry": ENTRY}, {"entry": "nobody"}, {}],
    "suggest_evictions": [{}],
    "agreement": [{}],
    "stage_admission": [
        {"folder": BRANCH_LINE, "by": "Robin", "dry_run": True},
        {"folder": BRANCH_LINE, "by": "Robin", "accept": ["b12"]},
        {"folder": BRANCH_LINE, "by": "Robin", "accept": ["b12"], "reason": "we need it"},
    ],
    "record_decision": [
        {"decision": "pin", "entry": ENTRY, "reason": "an audit needs it"},
        {"decision": "accept", "pull_request": 7, "queries": ["b05"], "reason": "it matters"},
        {"decision": "perhaps", "entry": ENTRY},
    ],
}
"""Name of a tool → what it is asked."""
GIVEN = {"folder": CARD_LINE, "capability": "dialog.upset"}
"""What prompts are about, by the name of their argument."""
READ = ("taxonomy", "config", "report", "eval-sets", "entries", f"entries/{ENTRY}", "entries/nobody")


def _asked(tool: str) -> Callable[[Path], str]:
    def make(work: Path) -> str:
        with other_platform(work) as platform:
            if tool == "agreement":
                ledger(platform, month())
            if tool == "suggest_evictions":
                incumbent("import", f"{BRANCH_LINE}/evals.yaml", "--agent-folder", BRANCH_LINE, "--by", "Robin")
            before, parts = texts_of(platform), []
            for arguments in CALLS[tool]:
                result = call(in_process(platform, writes=True), tool, **arguments)
                answer = result.structured_content
                text = text_of(result) if result.is_error else json.dumps(answer, ensure_ascii=False, indent=1)
                parts.append(f"> {tool} {json.dumps(arguments)}\n{'refused: ' if result.is_error else ''}{text}")
            parts.append(changes(before, texts_of(platform)))
            return "\n\n".join(parts)

    return make


def _read(work: Path) -> str:
    async def read(platform: Path) -> str:
        parts = []
        async with in_process(platform, writes=True) as client:
            for name in READ:
                try:
                    found = (await client.read_resource(f"incumbent://{name}")).contents[0].model_dump()["text"]
                except Exception as error:  # noqa: BLE001 - whatever is raised is what the assistant sees
                    found = f"refused: {error}"
                if found.startswith(("{", "[")):
                    found = json.dumps(json.loads(found), ensure_ascii=False, indent=1)
                parts.append(f"> incumbent://{name}\n{found}")
            for prompt in (await client.list_prompts()).prompts:
                given = {argument.name: GIVEN[argument.name] for argument in prompt.arguments or ()}
                answer = await client.get_prompt(prompt.name, given)
                said = [message.content.model_dump()["text"] for message in answer.messages]
                parts.append("\n".join([f"> prompt {prompt.name} {json.dumps(given)}", *said]))
        return "\n\n".join(parts)

    with other_platform(work) as platform:
        found: str = drive(lambda: read(platform))
        return found


CASES = [*(Case(f"mcp/{tool}.txt", _asked(tool)) for tool in CALLS), Case("mcp/resources.txt", _read)]
