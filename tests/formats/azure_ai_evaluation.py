"""Files of the format `azure-ai-evaluation`."""

from __future__ import annotations

from tests.hostile.templates import SAID, SHIPS, chat, json_lines, template

TEMPLATES = (
    template(
        "azure-ai-evaluation",
        "data.jsonl",
        [{"query": text, "response": answer, "ground_truth": answer, "context": "Log."} for _, text, answer in SHIPS],
        text=("query",),
    ),
    template(
        "azure-ai-evaluation",
        "agent_data.jsonl",
        [
            {
                "query": chat(text),
                "response": [{"role": "assistant", "content": [{"type": "text", "text": answer}]}],
                "tool_definitions": [{"name": "find_ship", "parameters": {"type": "object"}}],
            }
            for _, text, answer in SHIPS
        ],
        text=("query", 1, "content"),
    ),
    template(
        "azure-ai-evaluation",
        "conversations.jsonl",
        [
            {"conversation": {"messages": [*chat(text)[1:], {"role": "assistant", "content": answer}]}}
            for _, text, answer in SHIPS
        ],
        text=("conversation", "messages", 0, "content"),
    ),
)
SAMPLES = (
    ("azure.jsonl", json_lines({"query": "Hello", "response": "Good day.", "ground_truth": "Good day."})),
    ("azure-agent.jsonl", json_lines({"query": SAID[:1], "response": SAID[1:], "tool_definitions": []})),
    ("azure-chat.jsonl", json_lines({"conversation": {"messages": SAID}})),
)
