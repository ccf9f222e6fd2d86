"""A small valid file of every format: what attacks are made of, and what fuzzing begins with.

A template is data, so that an attack may change it as data; :func:`written` makes the bytes.  Templates of formats
that are not read yet are here already: an attack must be harmless to whoever takes the file.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import yaml

Kind = Literal["json", "jsonl", "yaml", "csv", "tsv"]
Path = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class Template:
    """A valid file of a format, in a folder that is valid as a whole.

    ``reader`` is the name of the reader, ``path`` the file, ``data`` what it holds (of JSON Lines the list of lines, of
    a table the list of rows).  ``items`` is where its queries or tools stand, ``text`` and ``name`` where one of them
    has what is said, and its id; ``None`` if it has none.  ``beside`` are the folder's other files.
    """

    reader: str
    path: str
    data: Any
    items: Path | None = ()
    text: Path | None = None
    name: Path | None = None
    beside: Mapping[str, str] = field(default_factory=dict)
    is_agent: bool = False

    @property
    def kind(self) -> Kind:
        """How the file is written, told by its ending."""
        endings: dict[str, Kind] = {"ndjson": "jsonl", "jsonl": "jsonl", "json": "json", "csv": "csv", "tsv": "tsv"}
        return endings.get(self.path.rsplit(".", 1)[-1], "yaml")

    def __str__(self) -> str:
        return f"{self.reader}:{self.path}"

    def with_data(self, data: Any) -> Template:
        """The template with other data."""
        return replace(self, data=data)

    def first(self, at: Path | None, value: Any) -> Template:
        """The template whose first query or tool holds ``value`` at ``at``."""
        assert self.items is not None
        assert at is not None
        data = deepcopy(self.data)
        put(data, (*self.items, self._first, *at), value)
        return self.with_data(data)

    def with_items(self, items: list[Any]) -> Template:
        """The template with other queries or tools; a table keeps its header."""
        assert self.items is not None
        if not self.items:
            return self.with_data([*self.data[: self._first], *items])
        data = deepcopy(self.data)
        put(data, self.items, items)
        return self.with_data(data)

    @property
    def item(self) -> Any:
        """The first query or tool."""
        assert self.items is not None
        found = self.data
        for step in (*self.items, self._first):
            found = found[step]
        return deepcopy(found)

    @property
    def _first(self) -> int:
        return 1 if self.kind in ("csv", "tsv") else 0


def put(data: Any, at: Path, value: Any) -> None:
    """Change ``data`` at ``at``."""
    for step in at[:-1]:
        data = data[step]
    data[at[-1]] = value


def written(template: Template) -> bytes:
    """The file."""
    data = template.data
    match template.kind:
        case "json":
            text = json.dumps(data, indent=1, ensure_ascii=False)
        case "jsonl":
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in data)
        case "yaml":
            text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=10_000)
        case "csv" | "tsv":
            file = io.StringIO(newline="")
            csv.writer(file, delimiter="\t" if template.kind == "tsv" else ",").writerows(data)
            text = file.getvalue()
    return text.encode("utf-8", "surrogatepass")


def folder_of(template: Template, content: bytes | None = None) -> dict[str, bytes]:
    """The folder with the file as it is, or with other content."""
    files = {path: text.encode() for path, text in template.beside.items()}
    return files | {template.path: written(template) if content is None else content}


AGENT = "agent: 1\nname: Harbour desk\nplatform: any\ntools: []\n"
EVALS = "eval_set: 1\nqueries:\n- id: a\n  query: Which berth is free?\n"
_BESIDE_EVALS = {"agent.yaml": AGENT}
_BESIDE_AGENT = {"evals.yaml": EVALS}


def _evals(reader: str, path: str, data: Any, **more: Any) -> Template:
    return Template(reader=reader, path=path, data=data, **{"beside": _BESIDE_EVALS} | more)


def _chat(*texts: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "You help at the harbour."}, *({"role": "user", "content": t} for t in texts)]


_SHIPS = [
    ("ship-1", "Where is the Petrel moored?", "At berth four."),
    ("ship-2", "Cancel the pilot for tonight", "The pilot is cancelled."),
]
_GRADERS = [{"type": "tool-calls", "config": {"required": [{"name": "harbour", "command": "find_ship"}]}}]

EVAL_SETS = (
    _evals(
        "incumbent",
        "evals.yaml",
        {
            "eval_set": 1,
            "queries": [
                {"id": id, "query": text, "expected": {"answer": answer}, "setup": {"cost": 2.0, "connectors": ["ais"]}}
                for id, text, answer in _SHIPS
            ],
        },
        items=("queries",),
        text=("query",),
        name=("id",),
    ),
    _evals(
        "incumbent",
        "evals.json",
        {"eval_set": 1, "queries": [{"id": id, "turns": [text, "And now?"]} for id, text, _ in _SHIPS]},
        items=("queries",),
        text=("turns", 0),
        name=("id",),
    ),
    _evals(
        "m365-copilot-eval",
        "evals.json",
        {
            "schemaVersion": "1.2.0",
            "default_evaluators": {"Relevance": {}},
            "items": [{"id": id, "prompt": text, "expected_response": answer} for id, text, answer in _SHIPS],
        },
        items=("items",),
        text=("prompt",),
        name=("id",),
    ),
    _evals(
        "m365-copilot-eval",
        "older.json",
        {"prompts": [text for _, text, _ in _SHIPS], "expected_responses": [answer for *_, answer in _SHIPS]},
        items=("prompts",),
        text=(),
    ),
    _evals(
        "copilot-studio",
        "tests.csv",
        [
            ["Prompt", "Expected response", "Test Method Type", "Passing Score", "Test id"],
            *([text, answer, "CompareMeaning", "70", id] for id, text, answer in _SHIPS),
        ],
        text=(0,),
        name=(4,),
    ),
    _evals(
        "plain-records",
        "rows.jsonl",
        [{"id": id, "question": text, "note": answer} for id, text, answer in _SHIPS],
        text=("question",),
        name=("id",),
    ),
    _evals(
        "plain-records",
        "rows.json",
        [{"id": id, "utterance": text, "conversation": id} for id, text, _ in _SHIPS],
        text=("utterance",),
        name=("id",),
    ),
    _evals(
        "plain-table",
        "rows.csv",
        [["id", "utterance", "note"], *([id, text, answer] for id, text, answer in _SHIPS)],
        text=(1,),
        name=(0,),
    ),
    _evals(
        "plain-table",
        "rows.tsv",
        [["id", "utterance", "note"], *([id, text, answer] for id, text, answer in _SHIPS)],
        text=(1,),
        name=(0,),
    ),
    _evals(
        "formats.yaml",
        "formats.yaml",
        {
            "formats": 1,
            "files": {"asked.csv": {"format": "plain-table", "columns": {"query": "asked", "answer": "told"}}},
        },
        items=None,
        beside={**_BESIDE_EVALS, "asked.csv": "asked,told\nWhere is the Petrel?,At berth four\n"},
    ),
    _evals(
        "azure-ai-evaluation",
        "data.jsonl",
        [{"query": text, "response": answer, "ground_truth": answer, "context": "Log."} for _, text, answer in _SHIPS],
        text=("query",),
    ),
    _evals(
        "azure-ai-evaluation",
        "agent_data.jsonl",
        [
            {
                "query": _chat(text),
                "response": [{"role": "assistant", "content": [{"type": "text", "text": answer}]}],
                "tool_definitions": [{"name": "find_ship", "parameters": {"type": "object"}}],
            }
            for _, text, answer in _SHIPS
        ],
        text=("query", 1, "content"),
    ),
    _evals(
        "azure-ai-evaluation",
        "conversations.jsonl",
        [
            {"conversation": {"messages": [*_chat(text)[1:], {"role": "assistant", "content": answer}]}}
            for _, text, answer in _SHIPS
        ],
        text=("conversation", "messages", 0, "content"),
    ),
    _evals(
        "ai-agent-evals",
        "dataset.json",
        {
            "name": "harbour",
            "evaluators": ["builtin.groundedness"],
            "data_mapping": {"query": "asked", "ground_truth": "told"},
            "data": [{"asked": text, "told": answer} for _, text, answer in _SHIPS],
        },
        items=("data",),
        text=("asked",),
    ),
    _evals(
        "openai-evals",
        "samples.jsonl",
        [{"input": _chat(text), "ideal": [answer]} for _, text, answer in _SHIPS],
        text=("input", 1, "content"),
    ),
    _evals(
        "deepeval",
        "goldens.json",
        [
            {
                "input": text,
                "actual_output": None,
                "expected_output": answer,
                "retrieval_context": ["Log"],
                "expected_tools": [{"name": "find_ship", "input_parameters": {"ship": "Petrel"}}],
                "name": id,
            }
            for id, text, answer in _SHIPS
        ],
        text=("input",),
    ),
    _evals(
        "deepeval",
        "conversations.json",
        [
            {
                "scenario": "A ship is looked for",
                "turns": json.dumps(_chat(text)[1:]),
                "expected_outcome": answer,
                "user_description": "A pilot",
            }
            for _, text, answer in _SHIPS
        ],
        text=("turns",),
    ),
    _evals(
        "deepeval",
        "goldens.csv",
        [
            ["input", "actual_output", "expected_output", "retrieval_context", "expected_tools", "name"],
            *([text, "", answer, "Log|Map", '[{"name": "find_ship"}]', id] for id, text, answer in _SHIPS),
        ],
        text=(0,),
    ),
    _evals(
        "deepeval",
        "conversations.csv",
        [
            ["scenario", "turns", "expected_outcome", "user_description", "context", "name"],
            *(["A ship", json.dumps(_chat(text)[1:]), answer, "A pilot", "Log|Map", id] for id, text, answer in _SHIPS),
        ],
        text=(1,),
    ),
    _evals(
        "inspect",
        "samples.json",
        [{"id": id, "input": text, "target": answer, "metadata": {"port": "north"}} for id, text, answer in _SHIPS],
        text=("input",),
        name=("id",),
    ),
    _evals(
        "inspect",
        "samples.jsonl",
        [{"id": id, "input": _chat(text), "target": [answer]} for id, text, answer in _SHIPS],
        text=("input", 1, "content"),
        name=("id",),
    ),
    _evals(
        "inspect",
        "samples.csv",
        [
            ["id", "input", "target", "sandbox"],
            *([id, text, answer, '["docker","compose.yaml"]'] for id, text, answer in _SHIPS),
        ],
        text=(1,),
        name=(0,),
    ),
    _evals(
        "langsmith",
        "examples.jsonl",
        [
            {
                "id": id,
                "inputs": {"question": text},
                "outputs": {"answer": answer},
                "metadata": {"dataset_split": ["base"]},
                "dataset_id": "harbour",
                "created_at": "2026-01-01T00:00:00Z",
            }
            for id, text, answer in _SHIPS
        ],
        text=("inputs", "question"),
        name=("id",),
    ),
    _evals(
        "langsmith",
        "examples.json",
        {
            "examples": [
                {"id": id, "inputs": {"messages": _chat(text)}, "outputs": {"answer": answer}}
                for id, text, answer in _SHIPS
            ]
        },
        items=("examples",),
        text=("inputs", "messages", 1, "content"),
        name=("id",),
    ),
    _evals(
        "braintrust",
        "dataset.jsonl",
        [
            {"id": id, "input": {"messages": _chat(text)}, "expected": answer, "tags": ["north"], "metadata": {}}
            for id, text, answer in _SHIPS
        ],
        text=("input", "messages", 1, "content"),
        name=("id",),
    ),
    _evals(
        "promptfoo",
        "promptfooconfig.yaml",
        {
            "description": "harbour",
            "prompts": ["You help at the {{port}}. {{question}}"],
            "providers": ["openai:gpt-5"],
            "defaultTest": {"vars": {"port": "harbour"}, "assert": [{"type": "is-json"}]},
            "tests": [
                {"description": id, "vars": {"question": text}, "assert": [{"type": "contains", "value": answer}]}
                for id, text, answer in _SHIPS
            ],
        },
        items=("tests",),
        text=("vars", "question"),
    ),
    _evals(
        "promptfoo",
        "promptfooconfig.json",
        {
            "prompts": ["{{question}}"],
            "providers": ["echo"],
            "tests": [
                {"vars": {"question": text}, "metadata": {"conversationId": "one"}, "assert": []}
                for _, text, _ in _SHIPS
            ],
        },
        items=("tests",),
        text=("vars", "question"),
    ),
    _evals(
        "vally",
        "harbour.eval.yaml",
        {
            "name": "harbour-eval",
            "type": "capability",
            "config": {"runs": 1},
            "scoring": {"threshold": 0.8},
            "stimuli": [{"name": id, "prompt": text, "graders": _GRADERS} for id, text, _ in _SHIPS],
        },
        items=("stimuli",),
        text=("prompt",),
        name=("name",),
    ),
    _evals(
        "agent-skill",
        "evals/evals.json",
        {
            "skill_name": "harbour",
            "evals": [
                {"id": place, "prompt": text, "expected_output": answer, "files": [], "assertions": [answer]}
                for place, (_, text, answer) in enumerate(_SHIPS)
            ],
        },
        items=("evals",),
        text=("prompt",),
        name=("id",),
    ),
)
