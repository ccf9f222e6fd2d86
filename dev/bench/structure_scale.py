"""Centre and spread of the structural features over the shipped originals: python -m dev.bench structure-scale.

Writes bot/incumbent/classifier/embedded/structure_scale.json.  The numbers only bring features to one scale; change
them with the method, never with the exemplars, since every fitted model rests on them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np

from incumbent.classifier.embedded.structure import NAMES, structure
from incumbent.classifier.embedded.text import read_text
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy

FILE: Final = Path("bot/incumbent/classifier/embedded/structure_scale.json")


def main() -> None:
    """Measure and write."""
    taxonomy = load_taxonomy(WorkingTree(Path.cwd()))
    texts = [row.turns for row in taxonomy.exemplars if row.language is None]
    found = np.array([structure(read_text(turns)) for turns in texts])
    spread = found.std(axis=0)
    held = {
        "comment": "Centre and spread of the structural features, by python -m dev.bench structure-scale.",
        "names": list(NAMES),
        "centre": [round(value, 4) for value in found.mean(axis=0).tolist()],
        "spread": [round(value, 4) if value > 0 else 1.0 for value in spread.tolist()],
    }
    FILE.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    print(f"{FILE}: {len(texts)} exemplars")
