"""Fit the shipped taxonomy anew: python -m dev.fit; writes bot/classifier/embedded/fitted/ (docs/classifier.md).

A fit for each way that the classifier runs: with sentence embeddings and without.  Tests check that what is there was
fitted on the taxonomy as it is.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bot.classifier.embedded.backend import SHIPPED, EmbeddedBackend
from bot.classifier.embedded.cache import ModelCache
from bot.classifier.embedded.embedding import installed_embedder
from bot.config import load_config
from bot.files.snapshot import WorkingTree
from bot.taxonomy.loading import load_taxonomy


def main() -> int:
    """Fit, and remove what was there before."""
    embedder = installed_embedder()
    if embedder is None or SHIPPED.folder is None:
        print("fit: the package of the embedder is not installed", file=sys.stderr)
        return 2
    root = WorkingTree(Path.cwd())
    taxonomy = load_taxonomy(root)
    settings = load_config(root, frozenset(taxonomy.by_id)).classifier
    SHIPPED.folder.mkdir(exist_ok=True)
    before = set(SHIPPED.folder.glob("*.npz"))
    written: set[Path] = set()
    for each in (embedder, None):
        begun = time.monotonic()
        backend = EmbeddedBackend(taxonomy, settings.embedded, settings.samples, ModelCache(SHIPPED.folder), each)
        backend.fit()
        path = SHIPPED.file(backend.key)
        written.add(path)
        print(f"{path.name}: {path.stat().st_size:,} bytes, {time.monotonic() - begun:.1f} s")
    for path in before - written:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
