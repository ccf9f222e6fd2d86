"""Incumbent's own YAML and JSON."""

from __future__ import annotations

from tests.hostile.templates import SHIPS, template

TEMPLATES = (
    template(
        "incumbent",
        "evals.yaml",
        {
            "eval_set": 1,
            "queries": [
                {"id": id, "query": text, "expected": {"answer": answer}, "setup": {"cost": 2.0, "connectors": ["ais"]}}
                for id, text, answer in SHIPS
            ],
        },
        items=("queries",),
        text=("query",),
        name=("id",),
    ),
    template(
        "incumbent",
        "evals.json",
        {"eval_set": 1, "queries": [{"id": id, "turns": [text, "And now?"]} for id, text, _ in SHIPS]},
        items=("queries",),
        text=("turns", 0),
        name=("id",),
    ),
)
SAMPLES = (("own.yaml", "eval_set: 1\nqueries: [{query: Hello}]\n"),)
