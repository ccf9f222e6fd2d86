"""Arithmetic with the same bits on every machine, whatever its processor, its libraries and its number of threads.

Only +, −, ×, ÷, √ and rounding are used, one after the other, which IEEE 754 defines to the last bit.  What a library
sums up in an order of its own is made of numbers so short that no partial sum is rounded.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

SPAN: Final = 512
"""So many products of two short numbers may be added up in any order."""

_BITS: Final = 22
"""Of a short number: 22 + 22 and those of :data:`SPAN` are the 53 of a float."""

_LEAST: Final = 2.0**-500
"""A row of smaller numbers is cut as if this were its largest: no product of short ones is too small for a float."""

_TOGETHER: Final = 1 << 14
"""So many numbers stay in a core's cache from one step to the next."""

_LN2: Final = float.fromhex("0x1.62e42fefa39efp-1")
_LN2_HIGH: Final = float.fromhex("0x1.62e42feep-1")
"""The first 32 bits of ln 2: its product with a whole number up to 2²¹ is exact."""
_LN2_LOW: Final = float.fromhex("0x1.a39ef35793c76p-33")
_PER_LN2: Final = float.fromhex("0x1.71547652b82fep0")

_EXP_TERMS: Final = tuple(float(Fraction(1, factor)) for factor in np.cumprod(range(1, 14))[::-1].tolist())
"""1/13!, …, 1/2!, 1/1!."""

_LOG_TERMS: Final = tuple(2.0 / power for power in range(21, 0, -2))

LOWEST: Final = -700.0
"""Where :func:`exp` ends: e⁻⁷⁰⁰ is 10⁻³⁰⁴."""


def exp(values: Floats) -> Floats:
    """e^x to within 2 units in the last place, for −700 to 700; what is beyond counts as the end."""
    found = np.empty(values.shape)
    flat, given = found.reshape(-1), np.ascontiguousarray(values).reshape(-1)
    for start in range(0, len(flat), _TOGETHER):
        _exp(given[start : start + _TOGETHER], flat[start : start + _TOGETHER])
    return found


def _exp(values: Floats, found: Floats) -> None:
    rest = np.clip(values, LOWEST, -LOWEST)
    whole = np.rint(rest * _PER_LN2)
    rest -= whole * _LN2_HIGH
    rest -= whole * _LN2_LOW
    found[:] = _EXP_TERMS[0]
    for term in (*_EXP_TERMS[1:], 1.0):
        found *= rest
        found += term
    found *= ((whole.astype(np.int64) + 1023) << 52).view(np.float64)


def log(values: Floats) -> Floats:
    """ln x to within 3 units in the last place, for positive numbers."""
    part, power = np.frexp(values)
    small = part < 0.7
    part = np.where(small, 2 * part, part)
    whole = power - small.astype(np.float64)
    ratio = (part - 1) / (part + 1)
    square = ratio * ratio
    found: Floats = np.full(values.shape, _LOG_TERMS[0])
    for term in _LOG_TERMS[1:]:
        found = found * square + term
    found *= ratio
    found += whole * _LN2_LOW
    found += whole * _LN2_HIGH
    return found


@lru_cache(maxsize=4_096)
def log_of(value: float) -> float:
    """:func:`log` of one number."""
    return float(log(np.array([value]))[0])


def sigmoid(values: Floats) -> Floats:
    """1 / (1 + e^−x), without overflow; 0.5 exactly at 0 and never below for what is not negative."""
    found = exp(-values)
    found += 1.0
    np.divide(1.0, found, out=found)
    return found


def total(values: Floats) -> Floats:
    """The sum of the rows, one after the other."""
    return np.zeros(values.shape[1:]) if not len(values) else np.cumsum(values, axis=0)[-1]


def short(values: NDArray[np.floating[Any]]) -> Floats:
    """``values``, each row in multiples of one power of two, as fine as 22 bits of its largest number allow.

    Up to :data:`SPAN` products of two such rows may be added up in any order, fused or not: no sum is rounded.
    """
    wide = values.astype(np.float64)
    largest = np.maximum(wide.max(axis=1, initial=_LEAST), -wide.min(axis=1, initial=0.0))[:, np.newaxis]
    # Adding this leaves no room for finer bits.
    border = np.ldexp(1.5, np.frexp(largest)[1] + (52 - _BITS))
    wide += border
    wide -= border
    return wide


def product(one: NDArray[np.floating[Any]], other: NDArray[np.floating[Any]]) -> Floats:
    """``one`` @ ``other``, to some six digits; what is longer than :data:`SPAN` is cut, its parts added up in order."""
    parts = [slice(start, start + SPAN) for start in range(0, max(1, len(other)), SPAN)]
    found: Floats = short(one[:, parts[0]]) @ short(other[parts[0]].T).T
    for part in parts[1:]:
        found += short(one[:, part]) @ short(other[part].T).T
    return found
