"""Fit what tells background from what a query asks: python -m dev.bench background; writes background.json.

From the shipped exemplars and their wordings (taxonomy/exemplars/translations/en-x-*.tsv): of a wordy text, those
sentences ask which together are most like the plain original, and the others are background.  The sentences of authors
who write plainly ask too, or say what is handed over or felt, in whatever language.

The second regression and the cut rest on scores of the first by fits without the exemplars that they are for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.embedding import SCALE, E5Embedder, Embedder
from incumbent.classifier.embedded.weights import SHIPPED_DIGEST, required_weights
from incumbent.classifier.embedded.wording import conditional, courteous, felt, hands_over, in_context, plain, sentences
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy

FILE: Final = Path("bot/incumbent/classifier/embedded/background.json")
PLAIN_HANDS: Final = ("hand-1", "hand-2", "hand-3")
_GAIN: Final = 0.004
"""How much more alike the original a sentence must make what is kept, to count as asking."""
_MISSED: Final = 3.0
"""How much worse a share of what asks that is left out is than one of background that stays."""
_ABOUT: Final = 1.05
_FOLDS: Final = 5
_HANDED_OVER: Final = "request.attachments."
_FELT: Final = "request.tone.frustrated"
_BRANCHING: Final = "execution.orchestration.branching"
"""What sentences say that ask for nothing: whoever wrote so few of them meant each to count."""
_FEW: Final = 2


def main() -> None:
    """Fit and write."""
    held, count = fit(E5Embedder(required_weights(SHIPPED_DIGEST)))
    FILE.write_text(json.dumps(held) + "\n", encoding="utf-8")
    print(f"{FILE}: {count} texts; cut {held['cut']}; {held['context_weights']}")


def fit(embedder: Embedder) -> tuple[dict[str, Any], int]:
    """What the data file holds, and on how many texts that was fitted."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict

    texts = _texts(embedder)
    groups = np.array([id for id, parts, _ in texts for _ in parts])
    truth = np.array([asks for _, _, asking in texts for asks in asking])
    rows = np.concatenate([embedder.embed(parts) for _, parts, _ in texts]) / SCALE
    alone = LogisticRegression(C=10, class_weight="balanced", max_iter=2_000)
    fitted = alone.fit(rows, truth)
    held = fitted.coef_[0].round(3), round(float(fitted.intercept_[0]), 4)
    folds = GroupKFold(_FOLDS)
    scores = cross_val_predict(alone, rows, truth, groups=groups, cv=folds, method="decision_function")
    ends = np.cumsum([len(parts) for _, parts, _ in texts])
    context = np.concatenate(
        [in_context(parts, own) for (_, parts, _), own in zip(texts, np.split(scores, ends[:-1]), strict=True)]
    )
    several = np.repeat([len(parts) > 1 for _, parts, _ in texts], [len(parts) for _, parts, _ in texts])
    context, truth, groups = context[several], truth[several], groups[several]
    together = LogisticRegression(C=1, max_iter=2_000)
    judged = cross_val_predict(together, context, truth, groups=groups, cv=folds, method="decision_function")
    last = together.fit(context, truth)
    cut = _cut(judged, truth)
    print(f"{(judged[~truth] >= cut).mean():.1%} of background stay, {(judged[truth] < cut).mean():.1%} of the rest go")
    return {
        "comment": "Which sentences ask for something, by python -m dev.bench background.",
        "intercept": held[1],
        "context_intercept": round(float(last.intercept_[0]), 4),
        "context_weights": [round(value, 4) for value in last.coef_[0].tolist()],
        "cut": round(cut, 4),
        "weights": held[0].tolist(),
    }, len(texts)


def _texts(embedder: Embedder) -> list[tuple[str, list[str], list[bool]]]:
    """Id, sentences, and which of them ask, of what says so: plain texts and other wordings of them."""
    taxonomy = load_taxonomy(WorkingTree(Path.cwd()))
    originals = {row.id: row for row in taxonomy.exemplars if row.language is None}
    telling = {
        row.id
        for row in originals.values()
        if _FELT in row.exercises and all(len(sentences(turn)) <= _FEW for turn in row.turns)
    }
    found = []
    for row in taxonomy.exemplars:
        worded = row.language is not None and "-x-" in row.language
        if worded:
            parts = _telling(row.turns[0])
            asking = _asking(parts, originals[row.id].turns[0], embedder)
            if any(name.startswith(_HANDED_OVER) for name in row.exercises):
                asking = [asks or hands_over(part) for part, asks in zip(parts, asking, strict=True)]
            if _FELT in row.exercises:
                asking = [asks or felt(part) for part, asks in zip(parts, asking, strict=True)]
            if _BRANCHING in row.exercises:
                asking = [asks or conditional(part) for part, asks in zip(parts, asking, strict=True)]
            found.append((row.id, parts, asking))
        elif row.hand in PLAIN_HANDS or (row.language is None and row.id in telling):
            for turn in row.turns:
                parts = _telling(turn)
                found.append((row.id, parts, [True] * len(parts)))
    return [item for item in found if item[1]]


def _telling(turn: str) -> list[str]:
    """The sentences that are more than a courtesy."""
    return [part for part in sentences(turn) if not courteous(part)]


def _asking(parts: Sequence[str], original: str, embedder: Embedder) -> list[bool]:
    """Which of ``parts`` together are most like the original: the likest one, then what adds to it."""
    target = _vectors([plain(original)], embedder)[0]
    kept: set[int] = set()
    best = -1.0
    while len(kept) < len(parts):
        left = [place for place in range(len(parts)) if place not in kept]
        tried = [plain(" ".join(parts[place] for place in sorted({*kept, more}))) for more in left]
        alike = _vectors(tried, embedder) @ target
        if kept and alike.max() < best + _GAIN:
            break
        best = float(alike.max())
        kept.add(left[int(alike.argmax())])
    return [place in kept for place in range(len(parts))]


def _vectors(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float64]:
    found: NDArray[np.float64] = embedder.embed(texts) / SCALE
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def _cut(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    """The middle of where errors cost about least: costs are flat there, and the least of them is chance."""
    tried = np.arange(-3, 3, 0.01)
    costs = np.array([(scores[~truth] >= cut).mean() + _MISSED * (scores[truth] < cut).mean() for cut in tried])
    return float(tried[costs <= _ABOUT * costs.min()].mean())
