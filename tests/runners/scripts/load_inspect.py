"""Load an export with Inspect; prints its samples.  Run by Inspect's own interpreter: script, data file."""

from __future__ import annotations

import json
import sys

from inspect_ai.dataset import json_dataset

samples = [
    {
        "id": sample.id,
        "input": sample.input if isinstance(sample.input, str) else [message.text for message in sample.input],
        "target": sample.target,
        "metadata": sample.metadata,
        "opens": [sample.files, sample.setup, sample.sandbox],
    }
    for sample in json_dataset(sys.argv[1])
]
print("\n" + json.dumps(samples))
