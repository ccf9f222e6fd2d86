"""A template: a small valid file of a format, from which attacks and fuzzing make other files.

A template is data, so that an attack may change it as data; :func:`written` makes the bytes.  Those of eval sets are in
:mod:`tests.formats`, those of agent specifications in :mod:`tests.hostile.agents`.
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


AGENT = "agent: 1\nname: Harbour desk\nplatform: any\ntools: [{name: find_ship}]\n"
EVALS = "eval_set: 1\nqueries:\n- id: a\n  query: Which berth is free?\n"
BESIDE = {"agent.yaml": AGENT}


def template(reader: str, path: str, data: Any, **more: Any) -> Template:
    """The template of an eval set, in a folder with an agent's specification."""
    return Template(reader=reader, path=path, data=data, **{"beside": BESIDE} | more)


def json_lines(*records: Any) -> str:
    """``records`` as JSON Lines."""
    return "".join(f"{json.dumps(record)}\n" for record in records)


def chat(*texts: str) -> list[dict[str, str]]:
    """Messages: the system's, then ``texts`` of the user."""
    return [{"role": "system", "content": "You help at the harbour."}, *({"role": "user", "content": t} for t in texts)]


SHIPS = [
    ("ship-1", "Where is the Petrel moored?", "At berth four."),
    ("ship-2", "Cancel the pilot for tonight", "The pilot is cancelled."),
]
"""Ids, queries and expected answers."""

SAID = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day."}]
