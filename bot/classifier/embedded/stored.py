"""A fitted model as arrays for the cache and back, and the key it is kept under."""

from __future__ import annotations

import hashlib
import json
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.cache import Arrays
from bot.classifier.embedded.features import Cues, FeatureSpace
from bot.classifier.embedded.model import FittedModel
from bot.classifier.embedded.structure import NAMES
from bot.classifier.embedded.terms import Vocabulary
from bot.classifier.exemplars import model_capabilities
from bot.config import EmbeddedSettings
from bot.taxonomy.model import Taxonomy

_LIBRARIES: Final = ("numpy", "scikit-learn", "scipy")


def model_key(taxonomy: Taxonomy, settings: EmbeddedSettings, samples: int) -> str:
    """A digest of everything that the bits of a fitted model depend on."""
    groups = {member.id: group for group, members in taxonomy.exactly_one.items() for member in members}
    depends = {
        "capabilities": [
            [item.id, groups.get(item.id), item.patterns, item.exemplars.model_dump(mode="json")]
            for item in taxonomy.capabilities
        ],
        "settings": settings.model_dump(mode="json"),
        "samples": samples,
        "libraries": [version(name) for name in _LIBRARIES],
        "python": [*sys.version_info[:3], unicodedata.unidata_version, sys.byteorder],
        "code": _code(),
    }
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:32]


@cache
def _code() -> str:
    """A digest of the modules that make a model, so that a change of the method fits it anew."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()


def to_arrays(model: FittedModel) -> dict[str, NDArray[Any]]:
    """``model`` as arrays; its patterns and the names of its capabilities stay in the taxonomy."""
    space = model.space
    return {
        "structure": np.array([space.centre, space.spread]),
        "words": _encode(space.words.terms),
        "word_weights": np.array(space.words.weights),
        "characters": _encode(space.characters.terms),
        "character_weights": np.array(space.characters.weights),
        "weights": model.weights,
        "intercepts": model.intercepts,
        "calibration": model.calibration,
    }


def from_arrays(arrays: Arrays, taxonomy: Taxonomy, samples: int) -> FittedModel | None:
    """The model that :func:`to_arrays` took apart; ``None`` if the arrays are not those of such a model."""
    capabilities = model_capabilities(taxonomy)
    try:
        centre, spread = arrays["structure"].tolist()
        space = FeatureSpace(
            cues=Cues.of(taxonomy.by_id[name].patterns for name in capabilities),
            centre=tuple(centre),
            spread=tuple(spread),
            words=Vocabulary(_decode(arrays["words"]), tuple(arrays["word_weights"].tolist())),
            characters=Vocabulary(_decode(arrays["characters"]), tuple(arrays["character_weights"].tolist())),
        )
        model = FittedModel(
            capabilities=capabilities,
            space=space,
            weights=arrays["weights"],
            intercepts=arrays["intercepts"],
            calibration=arrays["calibration"],
        )
    except (KeyError, TypeError, ValueError):
        return None
    columns = len(capabilities) * samples
    fits = (
        len(centre) == len(spread) == len(NAMES)
        and len(space.words.terms) == len(space.words.weights)
        and len(space.characters.terms) == len(space.characters.weights)
        and model.weights.shape == (space.width, columns)
        and model.intercepts.shape == (columns,)
        and model.calibration.shape == (len(capabilities), 3)
        and all(array.dtype == np.uint8 or bool(np.isfinite(array).all()) for array in arrays.values())
    )
    return model if fits else None


def _encode(terms: Sequence[str]) -> NDArray[np.uint8]:
    """No term holds a line break: terms are made of words."""
    return np.frombuffer("\n".join(terms).encode(), np.uint8)


def _decode(array: NDArray[Any]) -> tuple[str, ...]:
    text = array.tobytes().decode()
    return tuple(text.split("\n")) if text else ()
