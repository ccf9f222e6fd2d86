"""Run an export with answers in a column through ``evaluate`` of the Azure AI Evaluation SDK; prints what was judged.

Run by the SDK's own interpreter: script, data file.  No column is mapped, as in the SDK's quickstart.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("AZURE_AI_EVALUATION_TELEMETRY_OPT_OUT", "1")

from azure.ai.evaluation import evaluate

file = Path(sys.argv[1])
rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
answered = file.with_name("answered.jsonl")
answered.write_text("\n".join(json.dumps({**row, "response": f"wrong {row['id']}"}) for row in rows), encoding="utf-8")


class Seen:
    def __call__(self, *, response: object) -> dict[str, object]:
        return {"response": response}


found = evaluate(data=str(answered), evaluators={"seen": Seen()})["rows"]
print("\n" + json.dumps([{"id": row["inputs.id"], "judged": row["outputs.seen.response"]} for row in found]))
