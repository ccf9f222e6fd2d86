"""Fit the shipped taxonomy anew: python -m dev.fit; writes bot/incumbent/classifier/embedded/fitted/
(docs/classifier.md).

One fit ships, with sentence embeddings; without them, the model is fitted at first use.  Tests check that what is there
was fitted on the taxonomy as it is.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from incumbent.classifier.backends import named_embedder
from incumbent.classifier.embedded.backend import SHIPPED, EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.model import model_digest, to_arrays
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import load_config
from incumbent.taxonomy.loading import load_taxonomy


def main() -> int:
    """Fit, and remove what was there before."""
    root = WorkingTree(Path.cwd())
    taxonomy = load_taxonomy(root)
    settings = load_config(root, frozenset(taxonomy.by_id)).classifier
    embedder = named_embedder(settings.embedded)
    if embedder is None or SHIPPED.folder is None:
        print("fit: the config names no embedding", file=sys.stderr)
        return 2
    SHIPPED.folder.mkdir(exist_ok=True)
    before = set(SHIPPED.folder.glob("*.npz"))
    begun = time.process_time()
    backend = EmbeddedBackend(taxonomy, settings.embedded, settings.samples, ModelCache(SHIPPED.folder), embedder)
    size = len(backend.fit().rows)
    path = SHIPPED.file(backend.key)
    for other in before - {path}:
        other.unlink()
    each = path.stat().st_size / size
    print(f"{path.name}: {path.stat().st_size:,} bytes, {each:.0f} an exemplar, {time.process_time() - begun:.1f} s")
    print(f"digest: {model_digest(to_arrays(backend.fit()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
