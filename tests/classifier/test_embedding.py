"""The embedder that ships as a package: what it reads of a text, and that its bytes do not depend on the company."""

from __future__ import annotations

import numpy as np
import pytest

from bot.classifier.embedded.embedding import MANY_TEXTS, READ_TOKENS, WIDTH, E5Embedder, installed_embedder

pytestmark = pytest.mark.skipif(installed_embedder() is None, reason="the package of embeddings is not installed here")

LONG = '{"a":' * 400
"""Nearly every sign is a token of its own."""


@pytest.fixture(scope="module")
def embedder() -> E5Embedder:
    return E5Embedder()


def test_of_a_text_of_many_tokens_the_beginning_is_read(embedder: E5Embedder) -> None:
    whole = embedder.embed([LONG])
    assert (whole == embedder.embed([LONG[: READ_TOKENS + 100]])).all()
    assert not np.array_equal(whole, embedder.embed([LONG[:200]]))


def test_a_text_has_the_same_bytes_alone_and_among_many(embedder: E5Embedder) -> None:
    texts = [f"Where is parcel {number}?" for number in range(MANY_TEXTS)]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert embedder.embed(texts).tobytes() == alone.tobytes()
    assert embedder.embed([]).shape == (0, WIDTH)


@pytest.mark.parametrize("text", ["", "\0", "a\0b", "\ud800", "\U000e0041"])
def test_whatever_is_no_text_is_embedded(text: str, embedder: E5Embedder) -> None:
    assert embedder.embed([text]).shape == (1, WIDTH)
