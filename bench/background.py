"""Fit what tells background from what a query asks: python -m bench background; writes background.json.

From the shipped exemplars and their wordings (taxonomy/exemplars/translations/en-x-*.tsv): of a wordy text, the
sentence that is most like the plain original asks, and those that are clearly less like it are background.  The
sentences of authors who write plainly ask too, or say what is handed over or felt.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np

from bot.classifier.embedded.embedding import SCALE, installed_embedder
from bot.classifier.embedded.wording import sentences
from bot.snapshot import WorkingTree
from bot.taxonomy.loading import load_taxonomy

FILE: Final = Path("bot/classifier/embedded/background.json")
PLAIN_HANDS: Final = ("hand-1", "hand-2", "hand-3")
_CLEARLY: Final = 0.03
_CUT: Final = -0.9
_CUT_HANDED_OVER: Final = -3.5


def main() -> None:
    """Fit and write."""
    from sklearn.linear_model import LogisticRegression

    embedder = installed_embedder()
    if embedder is None:
        raise SystemExit("background: the package of the embedder is not installed")
    taxonomy = load_taxonomy(WorkingTree(Path.cwd()))
    originals = {row.id: row for row in taxonomy.exemplars if row.language is None}
    asking = [
        part for row in originals.values() if row.hand in PLAIN_HANDS for turn in row.turns for part in sentences(turn)
    ]
    telling: list[str] = []
    for row in taxonomy.exemplars:
        parts = sentences(row.turns[0])
        if row.language is None or not row.language.startswith("en-x-") or len(parts) < 2:
            continue
        found = embedder.embed([*parts, *originals[row.id].turns]) / SCALE
        alike = found[: len(parts)] @ found[len(parts)]
        asking += [part for part, value in zip(parts, alike, strict=True) if value >= alike.max() - _CLEARLY / 6]
        telling += [part for part, value in zip(parts, alike, strict=True) if value < alike.max() - _CLEARLY]
    rows = np.concatenate([embedder.embed([part]) for part in [*asking, *telling]]) / SCALE
    truth = np.array([True] * len(asking) + [False] * len(telling))
    fit = LogisticRegression(C=30, class_weight="balanced", max_iter=1_000).fit(rows, truth)
    held = {
        "comment": "Which sentences ask for something, by python -m bench background.",
        "intercept": round(float(fit.intercept_[0]), 4),
        "cut": _CUT,
        "cut_handed_over": _CUT_HANDED_OVER,
        "weights": [round(value, 3) for value in fit.coef_[0].tolist()],
    }
    FILE.write_text(json.dumps(held) + "\n", encoding="utf-8")
    print(f"{FILE}: {len(asking)} sentences that ask, {len(telling)} that do not")
