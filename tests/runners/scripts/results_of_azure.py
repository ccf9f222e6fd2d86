"""Run an export through ``evaluate`` of the Azure AI Evaluation SDK against outcomes by plan; writes its output.

Run by the SDK's own interpreter: script, data file, plan, output.  The plan maps an entry to one outcome.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("AZURE_AI_EVALUATION_TELEMETRY_OPT_OUT", "1")

from azure.ai.evaluation import evaluate

data, plan_file, output = sys.argv[1:4]
plan = json.loads(Path(plan_file).read_text(encoding="utf-8"))


class Same:
    def __call__(self, *, id: str, query: object) -> dict[str, object]:
        (outcome,) = plan[id]
        if outcome == "error":
            raise RuntimeError("the grader is not there")
        return {"same": outcome, "same_result": "pass" if outcome == "passed" else "fail"}


evaluate(data=data, evaluators={"same": Same()}, output_path=output, fail_on_evaluator_errors=False)
print("\n[]")
