"""The fitted weights of the choice among declared tools (written by ``dev/bench/called_tools.py``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FILE: Final = "tool_weights.json"


@dataclass(frozen=True)
class WeightSet:
    """Weights of one kind of index.

    ``tool`` weighs a tool's row of features; ``call`` and ``call_with_text`` weigh, after an intercept, what says
    whether any tool is called, without and with the log-odds of the text's own probability (the last weight).
    """

    tool: Array
    call: Array
    call_with_text: Array


@dataclass(frozen=True)
class Weights:
    """All weights.

    ``centre`` is the mean of embedded queries; ``operations`` and ``kinds`` are linear in an embedding less that mean,
    their last column an intercept: which operation a text asks for and whether it changes anything; whether it wants a
    tool, knowledge, or neither.  ``bare`` weighs a step's own features where no tool can be read.
    """

    centre: Array
    operations: Array
    kinds: Array
    words: WeightSet
    meaning: WeightSet
    bare: Array


def read_weights(data: Mapping[str, Any]) -> Weights:
    """The weights of a data file's content."""
    sets = {
        name: WeightSet(*(np.array(data[name][part]) for part in ("tool", "call", "call_with_text")))
        for name in ("words", "meaning")
    }
    centre, operations, kinds, bare = (np.array(data[name]) for name in ("centre", "operations", "kinds", "bare"))
    return Weights(centre, operations, kinds, sets["words"], sets["meaning"], bare)


@cache
def shipped_weights() -> Weights:
    """The weights that ship with the package."""
    return read_weights(json.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8")))
