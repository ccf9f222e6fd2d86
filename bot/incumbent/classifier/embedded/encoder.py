"""Texts to sentence vectors, by whole numbers: the same bytes on every processor and in every batch.

The layers are those of BERT (Devlin et al. 2019, arXiv 1810.04805).  A matrix product is exact where its factors are
whole numbers and |x| · |w| ≤ 2²⁴ for every row x and column w: by Cauchy's inequality no sum of some of its terms is
larger, so that single precision holds it, in whatever order, by whatever kernel and on however many threads it is made.
So what enters a product is scaled to that bound and rounded.  All else is done one number at a time, by operations that
round correctly everywhere (+, −, ×, ÷, √), by tables, or is a sum of whole numbers below 2⁵³ in double precision.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from math import erf, exp, floor, sqrt
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.weights_file import WeightsFile

Singles: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]

EXACT: Final = 2.0**24
"""Up to here single precision has every whole number."""

ROW: Final = 2.0**12
"""The length of a row of weights: half the bits of a product, so that activations have the other half."""

RESIDUAL: Final = 2.0**11
"""What runs from layer to layer is kept in whole multiples of 1 / RESIDUAL, below LARGEST of them."""
LARGEST: Final = 2.0**22

FIRST: Final = 2.0**16
"""The same of the sum of embeddings, which is small."""

CONTEXT: Final = 2.0**12
"""The same of what attention gathers."""

INNER: Final = 2.0**9
GELU: Final = 2.0**11
"""The same of what the activation function takes and gives; it takes numbers from GELU_FROM to GELU_TO."""
GELU_FROM: Final = -8
GELU_TO: Final = 120

LOGITS: Final = 2.0**9
EXPONENTIAL: Final = 2.0**15
EXPONENTIAL_TO: Final = 11
"""The same of what the exponential takes, with the sign changed, and gives; beyond it gives nothing."""

SHARES: Final = 2.0**14
"""Attention is kept in whole multiples of 1 / SHARES."""

MEAN: Final = 2.0**4
"""The mean over the tokens of a text is kept in whole multiples of 1 / (MEAN · RESIDUAL)."""

_TABLES: Final = "bbc4448acd1d49e7c0cb310cf9fdcea5be93eb9a3b60f4a276f28f2c33070c93"
_SMALLEST: Final = np.float32(1e-6)


class Encoder:
    """The layers of ``weights``, or as :meth:`save` wrote them to the folder ``saved``: processes share its memory."""

    def __init__(self, weights: WeightsFile, saved: Path | None = None) -> None:
        self._weights = weights
        self._positions = (
            weights.numbers("emb.pos").astype(np.float64).reshape(-1, weights.width)
            + weights.numbers("emb.type")[: weights.width]
        )
        self._norm = _Norm.read(weights, "emb.ln")
        if saved is None:
            self._layers = [_Layer.read(weights, number) for number in range(weights.layers)]
        else:
            self._layers = [_Layer.mapped(saved / str(number)) for number in range(weights.layers)]
        self._gelu, self._exponential = tables()

    def encode(self, texts: Sequence[Sequence[int]]) -> Doubles:
        """A vector of length 1 for each of ``texts`` (at least one, in pieces), which depends on that text alone."""
        spans = list(pairwise(accumulate(map(len, texts), initial=0)))
        rows = np.concatenate([np.asarray(text) for text in texts])
        places = np.concatenate([np.arange(len(text)) for text in texts])
        begun = (self._weights.words(rows) + self._positions[places]) * FIRST
        state = self._norm(np.rint(begun).astype(np.float32))
        for layer in self._layers:
            gathered = layer.gathered(self._context(layer.asked(state), spans))
            state = layer.attention_norm(np.rint(gathered, out=gathered) + state)
            activated = layer.narrow(self._activated(layer.wide(state)))
            state = layer.norm(np.rint(activated, out=activated) + state)
        return _directions(state, spans)

    def save(self, folder: Path) -> None:
        """Write the layers to ``folder``, for processes of this machine."""
        for number, layer in enumerate(self._layers):
            layer.save(folder / str(number))

    def _context(self, asked: Singles, spans: Sequence[tuple[int, int]]) -> Singles:
        """What each token gathers from those of its own text, by each head."""
        found = np.empty((len(asked), self._weights.width), np.float32)
        for start, end in spans:
            own = asked[start:end].reshape(end - start, 3, self._weights.heads, -1).transpose(1, 2, 0, 3)
            found[start:end] = self._attended(*own).transpose(1, 0, 2).reshape(end - start, -1)
        return found

    def _attended(self, queries: Singles, keys: Singles, values: Singles) -> Singles:
        """Attention of one text: heads × tokens × numbers, in multiples of 1 / CONTEXT."""
        size, width = queries.shape[1:]
        # Both of one length at most, √width times the largest number: all products of theirs are exact.
        largest = np.float32(floor(sqrt(EXACT / width)))
        query_scale = largest / _largest(queries, -1)
        key_scale = largest / _largest(keys, -1)
        logits = np.rint(queries * query_scale) @ np.rint(keys * key_scale).transpose(0, 2, 1)
        logits *= (1 / key_scale).transpose(0, 2, 1)
        np.subtract(logits.max(axis=-1, keepdims=True), logits, out=logits)
        logits *= np.float32(LOGITS / sqrt(width)) / query_scale
        np.minimum(np.rint(logits, out=logits), len(self._exponential) - 1, out=logits)
        shares = self._exponential.take(logits.astype(np.intp))
        # Of 512 tokens, the most that are read, this sum is at most 512 · EXPONENTIAL = 2²⁴: it is exact.
        shares *= np.float32(SHARES) / shares.sum(axis=-1, keepdims=True)
        np.rint(shares, out=shares)
        # Shares are SHARES in all, and half of one more for each token at most.
        value_scale = np.float32(floor(EXACT / (SHARES + size))) / _largest(values, (1, 2))
        found = shares @ np.rint(values * value_scale)
        found *= np.float32(CONTEXT / SHARES) / value_scale
        return np.rint(found, out=found)

    def _activated(self, wide: Singles) -> Singles:
        np.rint(wide, out=wide)
        wide -= np.float32(GELU_FROM * INNER)
        np.clip(wide, 0, len(self._gelu) - 1, out=wide)
        activated: Singles = self._gelu.take(wide.astype(np.intp))
        return activated


def _largest(numbers: Singles, axis: int | tuple[int, int]) -> Singles:
    found: Singles = np.maximum(np.abs(numbers).max(axis=axis, keepdims=True), _SMALLEST)
    return found


def _directions(state: Singles, spans: Sequence[tuple[int, int]]) -> Doubles:
    """The mean over the tokens of each text, at length 1."""
    means = np.array([state[start:end].sum(axis=0, dtype=np.float64) * (MEAN / (end - start)) for start, end in spans])
    np.rint(means, out=means)
    found: Doubles = means / np.sqrt(_squares(means))[:, np.newaxis]
    return found


def _squares(rows: Doubles) -> Doubles:
    """The sum of squares of each row: exact, since all are whole numbers and it is below 2⁵³."""
    found: Doubles = np.einsum("ij,ij->i", rows, rows)
    return found


@dataclass(frozen=True)
class _Norm:
    """Layer normalisation (Ba et al. 2016, arXiv 1607.06450) with ``weights`` and ``shifts``."""

    weights: Singles
    shifts: Singles

    @staticmethod
    def read(weights: WeightsFile, name: str) -> _Norm:
        grid = np.float32(RESIDUAL)
        return _Norm(weights.numbers(f"{name}.w") * grid, weights.numbers(f"{name}.b") * grid)

    def __call__(self, state: Singles) -> Singles:
        """``state``, whole numbers, with each row at mean 0 and variance 1, weighed: multiples of 1 / RESIDUAL."""
        np.clip(state, -LARGEST, LARGEST, out=state)
        exact = state.astype(np.float64)
        means = exact.sum(axis=1) / state.shape[1]
        variances = np.maximum(_squares(exact) / state.shape[1] - means * means, 1.0)
        state -= means.astype(np.float32)[:, np.newaxis]
        state *= (1 / np.sqrt(variances)).astype(np.float32)[:, np.newaxis]
        state *= self.weights
        state += self.shifts
        return np.rint(state, out=state)


@dataclass(frozen=True)
class _Linear:
    """A layer that multiplies and shifts.

    ``weights`` are whole numbers (inputs × outputs); with rows of length ``limit`` all products are exact.  ``scales``
    undo what rounding took: units of the input, of the weights, and of what comes out.
    """

    weights: Singles
    limit: float
    scales: Singles
    shifts: Singles

    @staticmethod
    def read(weights: WeightsFile, names: Sequence[str], inputs: int, *, unit: float, into: float) -> _Linear:
        """The layers called ``names`` side by side, from multiples of 1 / ``unit`` to those of 1 / ``into``."""
        rounded, scales = zip(*(_rounded(*weights.matrix(f"{name}.w", inputs)) for name in names), strict=True)
        whole = np.concatenate(rounded)
        longest = sqrt(_squares(whole).max())
        return _Linear(
            weights=np.ascontiguousarray(whole.T, np.float32),
            # Rounding makes a row longer by half a unit in each place; two more for what single precision lacks.
            limit=EXACT / longest - sqrt(inputs) / 2 - 2,
            scales=(into / unit / np.concatenate(scales)).astype(np.float32),
            shifts=np.concatenate([weights.numbers(f"{name}.b") for name in names]) * np.float32(into),
        )

    def __call__(self, state: Singles) -> Singles:
        """For each row of ``state``, whole numbers, what comes out; not rounded."""
        scale = self.limit / np.maximum(np.sqrt(_squares(state.astype(np.float64))), 1.0)
        found: Singles = np.rint(state * scale.astype(np.float32)[:, np.newaxis]) @ self.weights
        found *= (1 / scale).astype(np.float32)[:, np.newaxis]
        found *= self.scales
        found += self.shifts
        return found


def _rounded(multiples: NDArray[np.int8], steps: Doubles) -> tuple[Doubles, Doubles]:
    """Rows of weights as whole numbers, each of length ROW before rounding, and by what each was multiplied."""
    squares = np.einsum("ijk,ijk->ij", multiples, multiples, dtype=np.float64)
    # One after the other: these are no whole numbers.
    scales = ROW / np.sqrt((squares * (steps * steps)).cumsum(axis=1)[:, -1])
    found = np.rint(multiples * (steps * scales[:, np.newaxis])[..., np.newaxis])
    return found.reshape(len(found), -1), scales


@dataclass(frozen=True)
class _Layer:
    asked: _Linear
    """Queries, keys and values side by side."""
    gathered: _Linear
    attention_norm: _Norm
    wide: _Linear
    narrow: _Linear
    norm: _Norm

    @staticmethod
    def read(weights: WeightsFile, number: int) -> _Layer:
        own, width = f"l{number}", weights.width
        asked = [f"{own}.{name}" for name in "qkv"]
        return _Layer(
            asked=_Linear.read(weights, asked, width, unit=RESIDUAL, into=1.0),
            gathered=_Linear.read(weights, [f"{own}.ao"], width, unit=CONTEXT, into=RESIDUAL),
            attention_norm=_Norm.read(weights, f"{own}.aln"),
            wide=_Linear.read(weights, [f"{own}.fi"], width, unit=RESIDUAL, into=INNER),
            narrow=_Linear.read(weights, [f"{own}.fo"], weights.inner, unit=GELU, into=RESIDUAL),
            norm=_Norm.read(weights, f"{own}.oln"),
        )

    @staticmethod
    def mapped(folder: Path) -> _Layer:
        """The layer that :meth:`save` wrote to ``folder``; what is large is read as it is needed."""
        return _Layer(
            asked=_Linear(**_mapped(folder / "asked")),
            gathered=_Linear(**_mapped(folder / "gathered")),
            attention_norm=_Norm(**_mapped(folder / "attention_norm")),
            wide=_Linear(**_mapped(folder / "wide")),
            narrow=_Linear(**_mapped(folder / "narrow")),
            norm=_Norm(**_mapped(folder / "norm")),
        )

    def save(self, folder: Path) -> None:
        """Write the layer to ``folder``, as a file for each array."""
        for part in fields(self):
            place = folder / part.name
            place.mkdir(parents=True, exist_ok=True)
            for name, value in vars(getattr(self, part.name)).items():
                np.save(place / f"{name}.npy", value, allow_pickle=False)


def _mapped(folder: Path) -> dict[str, Any]:
    found = {path.stem: np.load(path, mmap_mode="r", allow_pickle=False) for path in folder.glob("*.npy")}
    return {name: value if value.ndim else float(value) for name, value in found.items()}


def tables() -> tuple[Singles, Singles]:
    """The activation function GELU (Hendrycks and Gimpel 2016, arXiv 1606.08415), and the exponential of −x / LOGITS.

    Their last bits may differ between machines, and rounding takes these away; the digest shows that it did.
    """
    curved = range(round(GELU_FROM * INNER), round(-GELU_FROM * INNER))
    gelu = [round(GELU * place / INNER / 2 * (1 + erf(place / INNER / sqrt(2)))) for place in curved]
    # Beyond, the function is the number itself.
    gelu += [round(GELU * place / INNER) for place in range(curved.stop, round(GELU_TO * INNER))]
    exponential = [round(EXPONENTIAL * exp(-place / LOGITS)) for place in range(round(EXPONENTIAL_TO * LOGITS))]
    found = np.array(gelu, np.float32), np.array([*exponential, 0], np.float32)
    digest = hashlib.sha256(b"".join(table.astype("<i4").tobytes() for table in found)).hexdigest()
    if digest != _TABLES:
        raise AssertionError(f"the tables of the encoder have another digest on this machine: {digest}")
    return found
