"""The embedder that ships as a package: what it reads of a text, and that its bytes do not depend on the company."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from incumbent.classifier.embedded import embedding as remembered
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.embedding import (
    READ_TOKENS,
    TOKENS_TOGETHER,
    WIDTH,
    E5Embedder,
    RememberingEmbedder,
)
from incumbent.classifier.embedded.weights import SHIPPED_DIGEST, find_weights, required_weights
from incumbent.classifier.embedded.weights_file import WeightsFile

pytestmark = pytest.mark.skipif(find_weights() is None, reason="the weights of the embeddings are not installed here")

LONG = '{"a":' * 400
"""Nearly every sign is a token of its own."""


@pytest.fixture(scope="module")
def embedder() -> E5Embedder:
    return E5Embedder(required_weights(SHIPPED_DIGEST))


def test_weights_that_processes_share_give_the_same_bytes(
    embedder: E5Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["Where is my parcel?", "Bitte storniere die Bestellung 12 und schreib mir, wenn es erledigt ist."]
    own = embedder.embed(texts)
    embedder.save(tmp_path)
    shared = E5Embedder(required_weights(SHIPPED_DIGEST))
    shared.use(tmp_path)
    # The large matrices are read from nowhere else.
    monkeypatch.delattr(WeightsFile, "matrix")
    assert shared.embed(texts).tobytes() == own.tobytes()


def test_of_a_text_of_many_tokens_the_beginning_is_read(embedder: E5Embedder) -> None:
    whole = embedder.embed([LONG])
    assert (whole == embedder.embed([LONG[: READ_TOKENS + 100]])).all()
    assert not np.array_equal(whole, embedder.embed([LONG[:200]]))


def test_a_text_has_the_same_bytes_alone_and_among_many(embedder: E5Embedder) -> None:
    texts = [f"Where is parcel {number}?" + " I ask again." * (number % 7) for number in range(TOKENS_TOGETHER // 4)]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert embedder.embed(texts).tobytes() == alone.tobytes()
    assert embedder.embed([]).shape == (0, WIDTH)


@pytest.mark.parametrize("text", ["", "\0", "a\0b", "\ud800", "\U000e0041"])
def test_whatever_is_no_text_is_embedded(text: str, embedder: E5Embedder) -> None:
    assert embedder.embed([text]).shape == (1, WIDTH)


class Counting:
    """An embedder of tests that tells what it was asked."""

    def __init__(self, name: str = "counting-1") -> None:
        self.name = name
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        self.asked += texts
        return np.array([[len(text) % 100] * WIDTH for text in texts], np.int8).reshape(len(texts), WIDTH)


def test_what_was_embedded_is_not_embedded_again() -> None:
    inner = Counting()
    embedder = RememberingEmbedder(inner, ModelCache(None))
    assert embedder.name == inner.name
    for texts in (["a", "bb"], ["bb", "ccc", "bb", "\ud800"], [], ["a"]):
        assert embedder.embed(texts).tobytes() == Counting().embed(texts).tobytes()
    assert inner.asked == ["a", "bb", "ccc", "\ud800"]


def test_another_run_knows_what_was_kept(tmp_path: Path) -> None:
    first = RememberingEmbedder(Counting(), ModelCache(tmp_path))
    wanted = first.embed(["a", "bb"])
    assert not list(tmp_path.iterdir())
    first.keep()
    inner = Counting()
    again = RememberingEmbedder(inner, ModelCache(tmp_path))
    assert again.embed(["bb", "a"]).tobytes() == wanted[::-1].tobytes()
    assert inner.asked == []
    (path,) = tmp_path.iterdir()
    before = path.stat().st_mtime_ns
    again.keep()
    assert path.stat().st_mtime_ns == before


def test_embedders_do_not_share_what_they_keep(tmp_path: Path) -> None:
    first = RememberingEmbedder(Counting(), ModelCache(tmp_path))
    first.embed(["a"])
    first.keep()
    other = Counting("counting-2")
    RememberingEmbedder(other, ModelCache(tmp_path)).embed(["a"])
    assert other.asked == ["a"]


def test_the_oldest_texts_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "KEPT_TEXTS", 3)
    embedder = RememberingEmbedder(Counting(), ModelCache(tmp_path))
    texts = ["a", "bb", "ccc", "dddd", "eeeee"]
    assert len(embedder.embed(texts)) == 5
    embedder.embed(["ccc"])
    embedder.embed(["f" * 6])
    embedder.keep()
    inner = Counting()
    RememberingEmbedder(inner, ModelCache(tmp_path)).embed([*texts, "f" * 6])
    assert inner.asked == ["a", "bb", "dddd"]


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"digests": np.zeros((1, 16), np.uint8)},
        {"digests": np.zeros((1, 16), np.uint8), "rows": np.zeros((2, WIDTH), np.int8)},
        {"digests": np.zeros((1, 15), np.uint8), "rows": np.zeros((1, WIDTH), np.int8)},
        {"digests": np.zeros((1, 16), np.uint8), "rows": np.zeros((1, 12), np.int8)},
        {"digests": np.zeros((1, 16), np.uint8), "rows": np.zeros(1, np.int8)},
        {"digests": np.zeros((1, 16), np.uint8), "rows": np.zeros((1, WIDTH), np.float32)},
        None,
    ],
)
def test_a_file_that_cannot_be_trusted_is_made_anew(arrays: dict[str, NDArray[np.int8]] | None, tmp_path: Path) -> None:
    first = RememberingEmbedder(Counting(), ModelCache(tmp_path))
    first.embed(["a"])
    first.keep()
    (path,) = tmp_path.iterdir()
    if arrays is None:
        path.write_bytes(path.read_bytes()[:-9])
    else:
        ModelCache(tmp_path).store(path.stem.removeprefix("embedded-"), arrays)
    for asked in (["a"], []):
        inner = Counting()
        embedder = RememberingEmbedder(inner, ModelCache(tmp_path))
        embedder.embed(["a"])
        assert inner.asked == asked
        embedder.keep()
