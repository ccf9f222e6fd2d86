"""Customers of the corpus, for the stream (dev/bench/stream.py): real queries as the embedded classifier tags them.

Agents are declared where the corpus has their package or says what their tools do.  Of tools of which only names are
known, nothing is declared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from dev.bench.verdicts import package_of
from incumbent.classifier.backends import make_backend
from incumbent.classifier.classify import classify
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.agents.reading import read_specification
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED, Specification
from incumbent.pipeline.review import Platform
from incumbent.rater.model import ScoredQuery

FILES: Final = ("azure_mcp_a_to_c", "copilot_starters_pnp", "ess_starter_csv", "m365_copilot_eval_samples", "sealtools")
FEWEST: Final = 5
"""Queries of a customer at least; smaller ones are left out."""
MOST: Final = 40
"""Queries of a customer at most: its first ones."""

Row = Mapping[str, Any]


def corpus_customers(corpus: Path, platform: Platform) -> list[list[ScoredQuery]]:
    """The queries of each customer, as they are rated."""
    customers: dict[str, list[Row]] = {}
    for file in FILES:
        for line in (corpus / "queries" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            customers.setdefault(row["customer"], []).append(row)
    backend = make_backend(platform.config.classifier, platform.taxonomy)
    found = []
    for customer, rows in customers.items():
        if len(rows) < FEWEST:
            continue
        scored: list[ScoredQuery] = []
        for specification, same in _by_agent(rows[:MOST], corpus, platform):
            queries = [Query(id=row["qid"], turns=tuple(row["turns"]), file="", line=None) for row in same]
            said = classify(queries, specification, platform.taxonomy, backend, lambda done, total: None)
            by_id = {query.id: query for query in queries}
            scored += [platform.rate(each, by_id[id], customer) for id, each in said.classifications.items()]
        found.append(scored)
    return found


def _by_agent(rows: Sequence[Row], corpus: Path, platform: Platform) -> Iterator[tuple[Specification, list[Row]]]:
    """The queries of a customer by the agent that they are for, each with what it declares."""
    packages: dict[Path | None, list[Row]] = {}
    for row in rows:
        packages.setdefault(package_of(row["qid"], corpus), []).append(row)
    for folder, same in packages.items():
        if folder is not None:
            yield read_specification(WorkingTree(folder), platform.config.limits), same
        else:
            yield _declared_tools(same, platform), same


def _declared_tools(rows: Sequence[Row], platform: Platform) -> Specification:
    """The tools of these queries, where the corpus says what they do, as an MCP server would list them."""
    annotations = {
        name: row["labels"]["annotations"]
        for row in rows
        if "annotations" in row["labels"]
        for name in row["tools"] or ()
    }
    if not annotations:
        return UNDECLARED
    tools = [
        {
            "name": name,
            "description": name.replace("_", " "),
            "inputSchema": {"type": "object"},
            "annotations": {
                f"{hint}Hint": known[hint] for hint in ("destructive", "idempotent", "openWorld", "readOnly")
            },
        }
        for name, known in sorted(annotations.items())
    ]
    with TemporaryDirectory() as folder:
        (Path(folder) / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
        return read_specification(WorkingTree(Path(folder)), platform.config.limits)
