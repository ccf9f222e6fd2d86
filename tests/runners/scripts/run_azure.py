"""Run an export through ``evaluate`` of the Azure AI Evaluation SDK; prints what its evaluator was handed.

Run by the SDK's own interpreter: script, data file.
"""

from __future__ import annotations

import json
import os
import sys

os.environ.setdefault("AZURE_AI_EVALUATION_TELEMETRY_OPT_OUT", "1")

from azure.ai.evaluation import evaluate


class Seen:
    def __call__(self, *, id: str, query: object, ground_truth: str | None = None) -> dict[str, object]:
        return {"id": id, "query": query, "ground_truth": ground_truth}


rows = evaluate(data=sys.argv[1], evaluators={"seen": Seen()})["rows"]
handed = [
    {
        **{key: row[f"outputs.seen.{key}"] for key in ("id", "query", "ground_truth")},
        "all": {key: value for key, value in row.items() if key.startswith("inputs.")},
    }
    for row in rows
]
print("\n" + json.dumps(handed, default=str))
