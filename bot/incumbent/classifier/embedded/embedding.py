"""Sentence embeddings in many languages, with their cache: the same bytes on every machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.encoder import Encoder
from incumbent.classifier.embedded.tokenizer import Tokenizer
from incumbent.classifier.embedded.weights import SHIPPED_DIGEST, name_of, verify
from incumbent.classifier.embedded.weights_file import WeightsFile


def one_thread() -> AbstractContextManager[object]:
    """Holds the libraries of linear algebra to one thread each: of small products threads cost more than they save."""
    found: AbstractContextManager[object] = _libraries().limit(limits=1)
    return found


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


READ_CHARACTERS: Final = 2_000
READ_TOKENS: Final = 512
"""How much of a text is embedded; the time grows with it, by about 1 ms a token."""

TOKENS_TOGETHER: Final = 256
"""About how many tokens are embedded together: so few that what is computed stays in a core's cache."""

ARITHMETIC: Final = 1
"""Raised with each change of tokenizer or encoder that moves a vector: what was kept before counts no more."""

WIDTH: Final = 384
"""How many components an embedding has."""

SCALE: Final = 500
"""Components are kept as whole multiples of 1 / SCALE, in one signed byte each."""


class Embedder(Protocol):
    """Texts to vectors whose scalar product says how alike the texts are in meaning."""

    @property
    def name(self) -> str:
        """Names the weights by their digest: scores of different embedders are not comparable."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        """A row of components for each text, each a multiple of 1 / SCALE; the same text, the same bytes."""
        ...


class E5Embedder:
    """multilingual-e5-small (Wang et al. 2024, arXiv 2402.05672) in four bits.

    Thread-safe.  The weights in the file at ``path`` are read when the first text is embedded, and refused if they are
    not the shipped ones (:func:`incumbent.classifier.embedded.weights.verify`).
    """

    digest: Final = SHIPPED_DIGEST
    name: Final = name_of(SHIPPED_DIGEST)

    def __init__(self, path: Path) -> None:
        self._path = path
        self._saved: Path | None = None
        self._lock = Lock()

    def save(self, folder: Path) -> None:
        """Write the weights to ``folder`` as they are multiplied, for processes that :meth:`use` them."""
        verify(self._path, self.digest)
        Encoder(WeightsFile(self._path)).save(folder)

    def use(self, folder: Path) -> None:
        """Share the memory of the weights that :meth:`save` wrote to ``folder`` in this run, before any is read."""
        self._saved = folder

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        """The embeddings of ``texts``, in their order; many share the cores."""
        if not texts:
            return np.zeros((0, WIDTH), np.int8)
        with self._lock:
            tokenizer, encoder = self._read
        pieces = [tokenizer.pieces(text[:READ_CHARACTERS], READ_TOKENS) for text in texts]
        # Texts of one length fill the cores alike.
        order = sorted(range(len(pieces)), key=lambda place: len(pieces[place]))
        found = np.empty((len(texts), WIDTH), np.int8)

        def fill(places: Sequence[int]) -> None:
            components = np.rint(encoder.encode([pieces[place] for place in places]) * SCALE)
            found[places] = np.clip(components, -127, 127).astype(np.int8)

        batches = list(_batches(order, [len(own) for own in pieces]))
        with one_thread():
            if len(batches) == 1:
                fill(batches[0])
            else:
                with ThreadPoolExecutor(os.cpu_count()) as pool:
                    list(pool.map(fill, batches))
        return found

    @cached_property
    def _read(self) -> tuple[Tokenizer, Encoder]:
        verify(self._path, self.digest)
        weights = WeightsFile(self._path)
        return Tokenizer(weights.vocabulary), Encoder(weights, self._saved)


def _batches(places: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """``places`` in their order, so many at a time that their ``sizes`` reach TOKENS_TOGETHER."""
    batch: list[int] = []
    total = 0
    for place in places:
        batch.append(place)
        total += sizes[place]
        if total >= TOKENS_TOGETHER:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


KEPT_TEXTS: Final = 4_096
"""Of how many texts, those used last, the embeddings are kept: 1.6 MB."""

_DIGEST: Final = 16


class RememberingEmbedder:
    """``inner`` with a memory, which :meth:`keep` writes to ``cache``; the same bytes as without it.  Thread-safe.

    Texts are known by their digests.  Embeddings still tell what they are about: the files are for the user alone.
    """

    def __init__(self, inner: Embedder, cache: ModelCache) -> None:
        self.inner = inner
        self._cache = cache
        self._key = "texts-" + hashlib.sha256(f"{inner.name} {ARITHMETIC}".encode()).hexdigest()[:16]
        self._lock = Lock()
        self._known: dict[bytes, NDArray[np.int8]] | None = None
        self._is_new = False

    @property
    def name(self) -> str:
        """That of the embedder it asks."""
        return self.inner.name

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        """The embeddings of ``texts``, in their order; those that are not known are made together."""
        digests = [hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:_DIGEST] for text in texts]
        with self._lock:
            if self._known is None:
                self._known = self._load()
            found = {digest: self._known[digest] for digest in digests if digest in self._known}
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in found}
        made = self.inner.embed(list(missing.values()))
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
