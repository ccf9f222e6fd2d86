"""What a user would write in an afternoon for what `incumbent triage` does: the yardstick of dev/bench/triage.py.

DuckDB finds exact duplicates, datasketch near ones, and a ridge regression on words tags what is left.  For each pair
of tags the query with the best scores is kept.  It masks nothing, explains nothing, and knows no regression set.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import duckdb
from datasketch import MinHash, MinHashLSH
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifier

from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy

THRESHOLD = -0.5
CHUNK = 10_000


def main(path: str) -> None:
    """Print how many rows of the JSON Lines at ``path`` are left after each step."""
    texts = [
        text
        for (text,) in duckdb.execute(
            f"SELECT any_value(query) FROM read_json('{path}') GROUP BY lower(trim(query)) ORDER BY 1"
        ).fetchall()
    ]
    index = MinHashLSH(threshold=0.8, num_perm=128)
    kept: list[str] = []
    for text in texts:
        sketch = MinHash(num_perm=128)
        sketch.update_batch([text[place : place + 5].encode() for place in range(max(1, len(text) - 4))])
        if not index.query(sketch):
            index.insert(len(kept), sketch)
            kept.append(text)
    taxonomy = load_taxonomy(WorkingTree(Path(__file__).parents[2]))
    exemplars = [" ".join(row.turns) for row in taxonomy.exemplars]
    labels = sorted({name for row in taxonomy.exemplars for name in row.exercises})
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    known = vectorizer.fit_transform(exemplars)
    model = RidgeClassifier(solver="sparse_cg")
    model.fit(known, [[name in row.exercises for name in labels] for row in taxonomy.exemplars])
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for start in range(0, len(kept), CHUNK):
        some = kept[start : start + CHUNK]
        for text, scores in zip(some, model.decision_function(vectorizer.transform(some)).tolist(), strict=True):
            tags = [(name, score) for name, score in zip(labels, scores, strict=True) if score > THRESHOLD]
            for (one, first), (other, second) in combinations(tags, 2):
                best[one, other] = max(best.get((one, other), (0.0, "")), (min(first, second), text))
    chosen = {text for _, text in best.values()}
    sys.stdout.write(f"{len(texts):,} texts, {len(kept):,} representatives, {len(chosen):,} chosen\n")


if __name__ == "__main__":
    main(sys.argv[1])
