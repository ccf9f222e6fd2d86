"""Does the embedded backend tell several independent calls from one, and how fast?  See docs/classifier.md.

The sources are not part of this repository: Seal-Tools and TaskBench below the folder that INCUMBENT_CORPUS names, and
the data folder of the package ``bfcl-eval`` (its first version's categories) if it is given.

    python dev/bench/parallel_calls.py [BFCL_DATA]
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from incumbent.classifier.backends import make_backend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.fitting import fit_model
from incumbent.classifier.model import InferenceRequest
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import load_config
from incumbent.taxonomy.loading import load_taxonomy

CAPABILITY: Final = "execution.orchestration.parallel-calls"
REPOSITORY: Final = Path(__file__).parents[2]
SIMPLE: Final = ("simple_python", "simple_java", "simple_javascript", "multiple")


@dataclass(frozen=True, slots=True)
class Source:
    """Queries of one origin, and whether each needs several calls that do not build on one another."""

    name: str
    queries: tuple[tuple[str, ...], ...]
    truth: tuple[bool, ...]


def of_corpus(folder: Path, file: str, parallel: str, name: str) -> Source:
    """The queries of a corpus file whose orchestration is ``parallel`` or single."""
    lines = (folder / "queries" / file).read_text(encoding="utf-8").splitlines()
    items = [item for item in map(json.loads, lines) if item["labels"]["orchestration"] in (parallel, "single")]
    return Source(
        name,
        tuple(tuple(item["turns"]) for item in items),
        tuple(item["labels"]["orchestration"] == parallel for item in items),
    )


def of_bfcl(folder: Path) -> Source:
    """The first version's single-turn categories of BFCL with one call, or with several of one function."""
    found: list[tuple[tuple[str, ...], bool]] = []
    for category in (*SIMPLE, "parallel"):
        for line in (folder / f"BFCL_v4_{category}.json").read_text(encoding="utf-8").splitlines():
            turns = json.loads(line)["question"][0]
            found.append((tuple(message["content"] for message in turns), category == "parallel"))
    return Source("BFCL, first version", tuple(item[0] for item in found), tuple(item[1] for item in found))


def sources() -> Iterator[Source]:
    """Those at hand."""
    corpus = os.environ.get("INCUMBENT_CORPUS")
    if corpus:
        yield of_corpus(Path(corpus), "sealtools.jsonl", "parallel", "Seal-Tools")
        # The corpus calls TaskBench's graphs "branching"; they are the tasks whose steps do not all form one chain.
        yield of_corpus(Path(corpus), "taskbench_dailylife.jsonl", "branching", "TaskBench, daily life")
    if len(sys.argv) > 1:
        yield of_bfcl(Path(sys.argv[1]))


def main() -> None:
    """Print a line per source."""
    tree = WorkingTree(REPOSITORY)
    taxonomy = load_taxonomy(tree)
    settings = load_config(tree, None).classifier
    begun = time.perf_counter()
    fit_model(taxonomy, settings.embedded, settings.samples)
    print(f"fitting: {time.perf_counter() - begun:.0f} s")
    backend = make_backend(settings, taxonomy, ModelCache(None))
    for source in sources():
        requests = [
            InferenceRequest(query_id=str(number), turns=turns, capabilities=(CAPABILITY,), tools=())
            for number, turns in enumerate(source.queries)
        ]
        list(backend.infer(requests[:1]))  # fits, so that the time below is that of queries
        begun = time.perf_counter()
        found = dict(backend.infer(requests))
        took = (time.perf_counter() - begun) / len(requests)
        said = np.array([found[place].consensus[CAPABILITY].value for place in range(len(requests))])
        truth = np.array(source.truth)
        phi = float(np.corrcoef(truth, said)[0, 1]) if 0 < said.sum() < len(said) else 0.0
        print(
            f"{source.name}: phi {phi:.2f}, {truth.sum()} of {len(truth)} parallel, recall {said[truth].mean():.2f}, "
            f"false {said[~truth].mean():.2f}, {1000 * took:.1f} ms per query"
        )


if __name__ == "__main__":
    main()
