"""Run an export with DeepEval against answers by plan; writes its test run.

Run by DeepEval's own interpreter: script, goldens, plan, output.  The plan maps an entry to an outcome for each run.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
os.environ["DEEPEVAL_RESULTS_FOLDER"] = str(Path(sys.argv[3]).parent / "runs")

from deepeval import evaluate
from deepeval.dataset import EvaluationDataset
from deepeval.evaluate.configs import DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

data, plan_file, output = sys.argv[1:4]
plan = json.loads(Path(plan_file).read_text(encoding="utf-8"))


class Same(BaseMetric):  # type: ignore[misc]
    threshold = 1.0
    async_mode = False

    def measure(self, test_case: LLMTestCase, *_: object, **__: object) -> float:
        if test_case.actual_output == "error":
            raise RuntimeError("the grader is not there")
        self.score = float(test_case.actual_output == "passed")
        self.success = self.score == 1.0
        self.reason = "as planned"
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: object, **__: object) -> float:
        return self.measure(test_case)

    def is_successful(self) -> bool:
        return bool(self.success)

    @property
    def __name__(self) -> str:
        return "Same"


dataset = EvaluationDataset()
dataset.add_goldens_from_json_file(data)
cases = [
    LLMTestCase(
        input=golden.input,
        actual_output=outcome,
        name=golden.name,
        metadata=golden.additional_metadata,
    )
    for golden in dataset.goldens
    for outcome in plan[golden.name]
]
evaluate(
    cases,
    [Same()],
    display_config=DisplayConfig(show_indicator=False, print_results=False),
    error_config=ErrorConfig(ignore_errors=True),
)
(run,) = (Path(output).parent / "runs").glob("**/test_run_*.json")
run.rename(output)
print("\n[]")
