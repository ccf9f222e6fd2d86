"""Run an export with Inspect against answers by plan; writes the log as JSON.

Run by Inspect's own interpreter: script, data file, plan, output.  The plan maps an entry to an outcome for each epoch.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import json_dataset
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver

data, plan_file, output = sys.argv[1:4]
plan = json.loads(Path(plan_file).read_text(encoding="utf-8"))


@solver  # type: ignore[untyped-decorator]
def by_plan() -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        outcome = plan[str(state.sample_id)][state.epoch - 1]
        if outcome == "error":
            raise RuntimeError("the provider is not there")
        state.output = ModelOutput.from_content("mock", str(state.target.text) if outcome == "passed" else "no idea")
        return state

    return solve


task = Task(dataset=json_dataset(data), solver=by_plan(), scorer=includes())
folder = Path(output).parent / "logs"
eval(
    task,
    model="mockllm/model",
    epochs=max(map(len, plan.values())),
    fail_on_error=False,
    log_dir=str(folder),
    log_format="json",
    display="none",
)
(log,) = folder.glob("*.json")
log.rename(output)
print("\n[]")
