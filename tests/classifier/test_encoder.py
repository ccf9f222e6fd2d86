"""The encoder: near to what plain arithmetic gives, and exact where exactness is promised."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import erf, exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special

from incumbent.classifier.embedded import encoder
from incumbent.classifier.embedded.embedding import READ_TOKENS
from incumbent.classifier.embedded.encoder import Encoder
from incumbent.classifier.embedded.tokenizer import Tokenizer
from incumbent.classifier.embedded.weights import find_weights
from incumbent.classifier.embedded.weights_file import WeightsFile
from tests.classifier.many_languages import texts

PATH = find_weights()
TEXTS = texts(60)
pytestmark = pytest.mark.skipif(PATH is None, reason="no package brings the weights here")

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def weights() -> WeightsFile:
    assert PATH is not None
    return WeightsFile(PATH)


@pytest.fixture(scope="module")
def tokenizer(weights: WeightsFile) -> Tokenizer:
    return Tokenizer(weights.vocabulary)


@pytest.fixture(scope="module")
def shipped(weights: WeightsFile) -> Encoder:
    return Encoder(weights)


def plain(weights: WeightsFile, pieces: Sequence[int]) -> Floats:
    """The same layers in double precision, written down anew from the papers."""

    def linear(name: str, state: Floats) -> Floats:
        return state @ _matrix(weights, f"{name}.w", state.shape[1]).T + weights.numbers(f"{name}.b")

    def norm(name: str, state: Floats) -> Floats:
        centred = state - state.mean(axis=1, keepdims=True)
        spread = np.sqrt(state.var(axis=1, keepdims=True) + 1e-12)
        weighed: Floats = centred / spread * weights.numbers(f"{name}.w") + weights.numbers(f"{name}.b")
        return weighed

    size, heads = len(pieces), weights.heads
    state = weights.words(np.array(pieces)) + weights.numbers("emb.pos").reshape(-1, weights.width)[:size]
    state = norm("emb.ln", state + weights.numbers("emb.type")[: weights.width])
    for number in range(weights.layers):
        own = f"l{number}"
        query, key, value = (
            linear(f"{own}.{part}", state).reshape(size, heads, -1).transpose(1, 0, 2) for part in "qkv"
        )
        logits = query @ key.transpose(0, 2, 1) / sqrt(query.shape[2])
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        gathered = (shares @ value).transpose(1, 0, 2).reshape(size, -1)
        state = norm(f"{own}.aln", state + linear(f"{own}.ao", gathered))
        wide = linear(f"{own}.fi", state)
        activated = wide / 2 * (1 + special.erf(wide / sqrt(2)))
        state = norm(f"{own}.oln", state + linear(f"{own}.fo", activated))
    mean: Floats = state.mean(axis=0)
    direction: Floats = mean / np.linalg.norm(mean)
    return direction


@cache
def _matrix(weights: WeightsFile, name: str, inputs: int) -> Floats:
    multiples, steps = weights.matrix(name, inputs)
    return (multiples * steps[..., None]).reshape(len(multiples), -1)


def test_vectors_are_those_of_plain_arithmetic(weights: WeightsFile, tokenizer: Tokenizer, shipped: Encoder) -> None:
    pieces = [tokenizer.pieces(text, 512) for text in [*TEXTS[::10], "", "a" * 90 + " ?" * 40]]
    found = shipped.encode(pieces)
    nearness = [float(vector @ plain(weights, own)) for vector, own in zip(found, pieces, strict=True)]
    assert min(nearness) > 0.99998


def test_a_text_has_the_same_bytes_in_every_batch(tokenizer: Tokenizer, shipped: Encoder) -> None:
    pieces = [tokenizer.pieces(text, 512) for text in TEXTS[::8]]
    alone = np.concatenate([shipped.encode([own]) for own in pieces])
    assert shipped.encode(pieces).tobytes() == alone.tobytes()
    assert shipped.encode(pieces[::-1])[::-1].tobytes() == alone.tobytes()


@given(st.data())
def test_products_are_exact_whatever_enters(data: st.DataObject) -> None:
    """Rows with outliers, constant rows and zeros: no partial sum may leave what single precision holds."""
    inputs = data.draw(st.sampled_from([32, 384, 1536]))
    draw = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    multiples = draw.integers(-8, 8, (8, inputs // 32, 32)).astype(np.int8)
    multiples[0], multiples[1, :, 0] = 7, -8
    steps = np.exp(draw.normal(-4, data.draw(st.sampled_from([0.1, 2.0])), (8, inputs // 32)))
    rounded, scales = encoder._rounded(multiples, steps)
    assert np.abs(rounded / scales[:, None] - (multiples * steps[..., None]).reshape(8, -1)).max() < 1 / scales.min()
    layer = encoder._Linear(
        weights=np.ascontiguousarray(rounded.T, np.float32),
        limit=encoder.EXACT / sqrt((rounded * rounded).sum(axis=1).max()) - sqrt(inputs) / 2 - 2,
        scales=np.ones(8, np.float32),
        shifts=np.zeros(8, np.float32),
    )
    state = np.rint(draw.normal(0, 500, (5, inputs))).astype(np.float32)
    state[0], state[1, 0], state[2] = 0, 4e6, 1000
    # What aligns with a row of weights gives the largest sum there can be.
    state[3] = np.rint(rounded[0])
    scale = layer.limit / np.maximum(np.sqrt((state.astype(np.float64) ** 2).sum(axis=1)), 1)
    entering = np.rint(state * scale.astype(np.float32)[:, None])
    lengths = np.sqrt((entering.astype(np.float64) ** 2).sum(axis=1))
    assert lengths.max() * np.sqrt((rounded**2).sum(axis=1)).max() <= encoder.EXACT
    exact = entering.astype(np.int64) @ rounded.T.astype(np.int64)
    assert ((entering @ layer.weights).astype(np.int64) == exact).all()
    assert (layer(state) == (exact.astype(np.float32) * (1 / scale).astype(np.float32)[:, None])).all()


def test_the_shares_of_the_longest_text_add_up_exactly() -> None:
    assert READ_TOKENS * encoder.EXPONENTIAL <= encoder.EXACT
    assert encoder.tables()[1].max() == encoder.EXPONENTIAL


def test_no_table_comes_near_a_border_between_two_numbers() -> None:
    """So what the last bits of a machine's functions are does not show."""
    places = np.arange(round(encoder.GELU_FROM * encoder.INNER), round(-encoder.GELU_FROM * encoder.INNER))
    gelu = [encoder.GELU * at / encoder.INNER / 2 * (1 + erf(at / encoder.INNER / sqrt(2))) for at in places.tolist()]
    decay = [
        encoder.EXPONENTIAL * exp(-place / encoder.LOGITS)
        for place in range(round(encoder.EXPONENTIAL_TO * encoder.LOGITS))
    ]
    distances = [abs(value - np.floor(value) - 0.5) for value in (*gelu, *decay)]
    assert min(distances) > 1e-5
    assert [len(table) for table in encoder.tables()] == [65_536, 5_633]


def test_a_word_is_cut_into_its_likeliest_pieces(weights: WeightsFile, tokenizer: Tokenizer) -> None:
    names = {place: piece for piece, place in weights.vocabulary.pieces.items()}
    found = tokenizer.pieces("Über  die\u3000Reparaturen", 512)
    assert (found[0], found[-1]) == (weights.vocabulary.begin, weights.vocabulary.end)
    assert [names[place] for place in found[1:-1]] == ["▁que", "ry", ":", "▁Über", "▁die", "▁Reparatur", "en"]


@pytest.mark.parametrize("text", ["<s>", "</s>", "<pad>", "<unk>"])
def test_no_text_names_the_signs_of_the_model(text: str, weights: WeightsFile, tokenizer: Tokenizer) -> None:
    own = tokenizer.pieces(text, 512)[1:-1]
    assert not {weights.vocabulary.begin, weights.vocabulary.end, 1} & set(own)


@given(st.text())
def test_every_text_is_cut(tokenizer: Tokenizer, text: str) -> None:
    assert 2 <= len(tokenizer.pieces(text, 64)) <= 64
