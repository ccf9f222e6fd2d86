"""Load an export with DeepEval; prints its goldens.  Run by DeepEval's own interpreter: script, file."""

from __future__ import annotations

import json
import os
import sys

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")

from deepeval.dataset import EvaluationDataset

dataset = EvaluationDataset()
dataset.add_goldens_from_json_file(sys.argv[1])
print(
    "\n"
    + json.dumps([{**golden.model_dump(mode="json"), "multimodal": golden.multimodal} for golden in dataset.goldens])
)
