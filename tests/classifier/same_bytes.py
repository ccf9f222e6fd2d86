"""Writes digests of what the classifier computes: python -m tests.classifier.same_bytes TEXTS TOGETHER OF.

Of so many texts of all languages, some at a time: the ``vectors``; or these, what the shipped model finds in the texts
with the tools of an agent that they call, and the model that is fitted on some of the shipped exemplars (``all``).  Run
in a process of its own: kernels are chosen once, when numpy is loaded.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext

from incumbent.classifier.embedded import embedding
from incumbent.classifier.embedded.backend import SHIPPED, EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.embedding import E5Embedder
from incumbent.classifier.embedded.fitting import fit_model
from incumbent.classifier.embedded.model import kind_of, model_digest, rows_by_text, to_arrays
from incumbent.classifier.embedded.weights import SHIPPED_DIGEST, required_weights
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.specification import Tool
from incumbent.taxonomy.config import load_config
from incumbent.taxonomy.loading import load_taxonomy
from tests.classifier.factories import request, tool
from tests.classifier.many_languages import LABELS, texts
from tests.factories import REPOSITORY

AGENTS = 1
EVERY = 25
"""One of so many shipped exemplars is fitted on."""


def agents() -> Iterator[tuple[Tool, ...]]:
    """The tools of some labelled agents."""
    for line in (LABELS / "called_tools.jsonl").read_text(encoding="utf-8").splitlines():
        if "tools" in (found := json.loads(line)):
            yield tuple(tool(item["name"], description=item["description"]) for item in found["tools"])


def of_vectors(number: int, together: int, embedder: E5Embedder) -> str:
    """The digest of the vectors."""
    asked, found = texts(number), hashlib.sha256()
    for start in range(0, len(asked), together):
        found.update(embedder.embed(asked[start : start + together]).tobytes())
    return found.hexdigest()


def of_all_else(number: int, embedder: E5Embedder) -> dict[str, str]:
    """The other digests, by what they are of."""
    asked, findings = texts(number), hashlib.sha256()
    tree = WorkingTree(REPOSITORY)
    taxonomy = load_taxonomy(tree)
    settings = load_config(tree, frozenset(taxonomy.by_id)).classifier
    backend = EmbeddedBackend(taxonomy, settings.embedded, settings.samples, ModelCache(None), embedder)
    requests = [
        request(text, capabilities=tuple(taxonomy.by_id), tools=tools)
        for _, tools in zip(range(AGENTS), agents(), strict=False)
        for text in asked
    ]
    for _, finding in backend.infer(requests):
        findings.update(repr(finding).encode())
    some = taxonomy.with_exemplars(taxonomy.exemplars[::EVERY])
    known = rows_by_text(SHIPPED.newest(kind_of(embedder)) or {}, embedder)
    model = fit_model(some, settings.embedded, settings.samples, embedder, known)
    return {
        "findings": findings.hexdigest(),
        "model": model_digest(to_arrays(model)),
    }


if __name__ == "__main__":
    # The numbers of threads that the environment names shall count.
    embedding.one_thread = nullcontext
    found, e5 = {}, E5Embedder(required_weights(SHIPPED_DIGEST))
    if sys.argv[3] == "all":
        found = of_all_else(int(sys.argv[1]), e5)
    sys.stdout.write(json.dumps({"vectors": of_vectors(int(sys.argv[1]), int(sys.argv[2]), e5), **found}))
