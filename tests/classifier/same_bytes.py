"""Writes the digest of what the classifier computes: python -m tests.classifier.same_bytes TEXTS TOGETHER.

Of TEXTS texts of all languages, TOGETHER at a time, the vectors; and the model that is fitted on some exemplars.
Run in a process of its own, since processors' kernels are chosen once, when numpy is loaded.
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np

from bot.classifier.embedded.embedding import installed_embedder
from tests.classifier.many_languages import texts


def vectors(number: int, together: int) -> str:
    """The digest of the vectors of so many texts, some at a time."""
    embedder = installed_embedder()
    if embedder is None:
        raise SystemExit("no package brings the weights")
    asked = texts(number)
    found = [embedder.embed(asked[start : start + together]) for start in range(0, len(asked), together)]
    return hashlib.sha256(np.concatenate(found).tobytes()).hexdigest()


if __name__ == "__main__":
    sys.stdout.write(vectors(int(sys.argv[1]), int(sys.argv[2])))
