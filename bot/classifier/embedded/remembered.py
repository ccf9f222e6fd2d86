"""An embedder that remembers: embedding is what takes long in judging a query, and the same texts come again.

The tools of an agent are embedded in every run, a query for its tags and for its tools, and all queries when an eval
set is reviewed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.cache import ModelCache
from bot.classifier.embedded.embedding import WIDTH, Embedder

KEPT_TEXTS: Final = 4_096
"""Of how many texts, those used last, the embeddings are kept: 1.6 MB."""

_DIGEST: Final = 16


class RememberingEmbedder:
    """``inner`` with a memory, which :meth:`keep` writes to ``cache``; the same bytes as without it.  Thread-safe.

    Texts are known by their digests.  Embeddings still tell what they are about: the files are for the user alone.
    """

    def __init__(self, inner: Embedder, cache: ModelCache) -> None:
        self._inner = inner
        self._cache = cache
        self._key = "texts-" + hashlib.sha256(inner.name.encode()).hexdigest()[:16]
        self._lock = Lock()
        self._known: dict[bytes, NDArray[np.int8]] | None = None
        self._is_new = False

    @property
    def name(self) -> str:
        """That of the embedder it asks."""
        return self._inner.name

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        """The embeddings of ``texts``, in their order; those that are not known are made together."""
        digests = [hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:_DIGEST] for text in texts]
        with self._lock:
            if self._known is None:
                self._known = self._load()
            found = {digest: self._known[digest] for digest in digests if digest in self._known}
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in found}
        made = self._inner.embed(list(missing.values()))
        found |= zip(missing, made, strict=True)
        with self._lock:
            for digest in digests:
                self._known.pop(digest, None)
                self._known[digest] = found[digest]
            while len(self._known) > KEPT_TEXTS:
                del self._known[next(iter(self._known))]
            self._is_new |= bool(missing)
        return np.array([found[digest] for digest in digests], np.int8).reshape(len(digests), made.shape[1])

    def keep(self) -> None:
        """Write what is new, for the runs to come."""
        with self._lock:
            if not self._is_new or self._known is None:
                return
            self._is_new = False
            rows = np.array(list(self._known.values()))
            digests = np.frombuffer(b"".join(self._known), np.uint8).reshape(-1, _DIGEST)
        self._cache.store(self._key, {"digests": digests, "rows": rows})

    def _load(self) -> dict[bytes, NDArray[np.int8]]:
        """What an earlier run kept; nothing if that cannot be trusted."""
        arrays = self._cache.load(self._key) or {}
        digests, rows = arrays.get("digests"), arrays.get("rows")
        if digests is None or rows is None or rows.dtype != np.int8 or digests.dtype != np.uint8:
            return {}
        if digests.shape != (len(rows), _DIGEST) or rows.shape != (len(rows), WIDTH):
            return {}
        return {digest.tobytes(): row for digest, row in zip(digests, rows, strict=True)}
