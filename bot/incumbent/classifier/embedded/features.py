"""From queries to rows of whole numbers: meaning, structure, cues, and hashed words and character sequences.

A row depends on its own text alone (its cues also on the taxonomy's patterns), so that a row is made once however the
exemplars around it change.  Whole numbers make scalar products exact, whatever the machine and its number of cores.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.embedding import Embedder
from incumbent.classifier.embedded.structure import NAMES, structure
from incumbent.classifier.embedded.text import ReadText, hashed_terms, read_text
from incumbent.classifier.embedded.wording import JUDGED, asking, core
from incumbent.taxonomy.patterns import PatternSet
from incumbent.text.placeholders import without_placeholders

Bytes: TypeAlias = NDArray[np.int8]
Number = TypeVar("Number", np.int16, np.uint16)

STRUCTURE_STEP: Final = 40
"""Structural features are kept as multiples of 1 / STRUCTURE_STEP of their spread, within ± LIMIT."""
LIMIT: Final = 3.0
MANY_PATTERNS: Final = 3
"""From how many matching patterns of a capability on more of them say nothing more."""

_SCALE_FILE: Final = Path(__file__).with_name("structure_scale.json")


@dataclass(frozen=True)
class Cues:
    """The cue patterns of some capabilities: how many of each match."""

    patterns: tuple[tuple[str, ...], ...]
    digests: tuple[str, ...]

    @staticmethod
    def of(patterns: Iterable[Iterable[str]]) -> Cues:
        """The patterns of each capability, which loading a taxonomy has checked."""
        found = tuple(map(tuple, patterns))
        return Cues(found, tuple(map(text_digest, found)))

    def counts(self, text: str) -> list[int]:
        """How many patterns of each capability match in ``text``, :data:`MANY_PATTERNS` at most."""
        counts = [0] * len(self.patterns)
        for place in self._all.matching(text.encode("utf-8", "replace")):
            counts[self._owners[place]] += 1
        return [min(MANY_PATTERNS, count) for count in counts]

    @cached_property
    def _all(self) -> PatternSet:
        return PatternSet(tuple(chain.from_iterable(self.patterns)))

    @cached_property
    def _owners(self) -> list[int]:
        """The capability of each of them."""
        return [owner for owner, patterns in enumerate(self.patterns) for _ in patterns]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The features of n queries.

    ``asking`` has a bit for each sentence that is no background; ``embedding`` a row of components for each query, none
    where there is no embedder; ``structure`` the standardised structural features; ``cues`` a column for each
    capability.  The hashed terms of query i are at ``ends[i]:ends[i + 1]`` of ``places`` and ``values``.
    """

    asking: NDArray[np.uint8]
    embedding: Bytes
    structure: Bytes
    cues: Bytes
    places: NDArray[np.uint16]
    values: NDArray[np.uint8]
    ends: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.structure)

    def at(self, places: Sequence[int]) -> Rows:
        """The queries at ``places``, at least one."""
        return _taken([(self, place) for place in places], self.cues[places])

    def between(self, span: slice) -> Rows:
        """The queries of a ``span``."""
        terms = slice(*self.ends[[span.start, span.stop]].tolist())
        return Rows(
            asking=self.asking[span],
            embedding=self.embedding[span],
            structure=self.structure[span],
            cues=self.cues[span],
            places=self.places[terms],
            values=self.values[terms],
            ends=self.ends[span.start : span.stop + 1] - self.ends[span.start],
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays that compress well: places as distances from the one before, their bytes apart, columns as rows."""
        gaps = np.diff(self.places, prepend=np.uint16(0))
        begins = self.ends[:-1][np.diff(self.ends) > 0]
        gaps[begins] = self.places[begins]
        return {
            "asking": self.asking,
            "embedding": self.embedding,
            "structure": np.ascontiguousarray(self.structure.T),
            "cues": np.ascontiguousarray(self.cues.T),
            "gaps": bytes_apart(gaps),
            "values": self.values,
            "sizes": np.diff(self.ends),
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Rows:
        """The rows that :meth:`arrays` took apart; what is not such arrays raises an error or makes no sense."""
        ends = np.concatenate([[0], np.cumsum(arrays["sizes"])]).astype(np.int32)
        sums = np.cumsum(bytes_together(arrays["gaps"], np.uint16), dtype=np.int64)
        before = np.concatenate([[0], sums])[ends[:-1]]
        return Rows(
            asking=arrays["asking"],
            embedding=arrays["embedding"],
            structure=np.ascontiguousarray(arrays["structure"].T),
            cues=np.ascontiguousarray(arrays["cues"].T),
            places=(sums - np.repeat(before, arrays["sizes"])).astype(np.uint16),
            values=arrays["values"],
            ends=ends,
        )


def bytes_apart(values: NDArray[Any]) -> NDArray[np.uint8]:
    """The lower bytes of ``values`` of two bytes, and the upper ones."""
    return np.stack([(values & 0xFF).astype(np.uint8), (values >> 8 & 0xFF).astype(np.uint8)])


def bytes_together(parts: NDArray[Any], kind: type[Number]) -> NDArray[Number]:
    """The values of a ``kind`` of two bytes that :func:`bytes_apart` took apart."""
    lower, upper = parts.astype(np.uint16)
    found: NDArray[Number] = (upper << 8 | lower).view(kind)
    return found


KnownRow: TypeAlias = tuple[Rows, int, tuple[str, ...]]
"""Rows, the place of a text's own among them, and the digests of the patterns that their cues are of."""


@dataclass(frozen=True)
class FeatureSpace:
    """How texts become rows: by the ``cues`` of the capabilities and, where there is one, an ``embedder``."""

    cues: Cues
    embedder: Embedder | None = field(default=None)

    def rows(self, queries: Sequence[Sequence[str]], *, judged: bool = False) -> Rows:
        """The features of at least one query; each has the same bits whatever is beside it.

        Of queries that are ``judged`` the meaning is that of the text without placeholders.  Exemplars are read as they
        are written.
        """
        reads = [read_text(turns) for turns in queries]
        asking = _asking(reads, self.embedder)
        cores = [_asked(read, row) for read, row in zip(reads, asking, strict=True)]
        embedding = np.zeros((len(cores), 0), np.int8)
        if self.embedder is not None:
            texts = [read.text for read in cores]
            embedding = self.embedder.embed(list(map(without_placeholders, texts)) if judged else texts)
        terms = [hashed_terms(read) for read in cores]
        return Rows(
            asking=asking,
            embedding=embedding,
            structure=_standard([structure(read) for read in cores]),
            cues=np.array([self.cues.counts(read.text) for read in cores], np.int8),
            places=np.concatenate([places for places, _ in terms]),
            values=np.concatenate([values for _, values in terms]),
            ends=np.cumsum([0, *(len(places) for places, _ in terms)], dtype=np.int32),
        )


ASKING_BYTES: Final = JUDGED // 8


def gathered(known: Sequence[KnownRow], queries: Sequence[Sequence[str]], cues: Cues) -> Rows:
    """The ``known`` rows of at least one query as one, with their ``cues``; known ones are not looked for again."""
    return _taken([(rows, place) for rows, place, _ in known], _cue_rows(known, queries, cues))


def _taken(chosen: Sequence[tuple[Rows, int]], cues: Bytes) -> Rows:
    """The ``chosen`` rows, at least one, with other ``cues``."""
    terms = [(rows, slice(*rows.ends[place : place + 2].tolist())) for rows, place in chosen]
    return Rows(
        asking=np.array([rows.asking[place] for rows, place in chosen]),
        embedding=np.array([rows.embedding[place] for rows, place in chosen]),
        structure=np.array([rows.structure[place] for rows, place in chosen]),
        cues=cues,
        places=np.concatenate([rows.places[each] for rows, each in terms]),
        values=np.concatenate([rows.values[each] for rows, each in terms]),
        ends=np.cumsum([0, *(each.stop - each.start for _, each in terms)], dtype=np.int32),
    )


def _cue_rows(known: Sequence[KnownRow], queries: Sequence[Sequence[str]], cues: Cues) -> Bytes:
    """The matching cues of each text, a column for each capability."""
    found = np.zeros((len(known), len(cues.patterns)), np.int8)
    shared = {columns: _shared(columns, cues) for columns in dict.fromkeys(columns for _, _, columns in known)}
    for number, (turns, (rows, place, columns)) in enumerate(zip(queries, known, strict=True)):
        here, there, missing, unknown = shared[columns]
        found[number, here] = rows.cues[place, there]
        if missing:
            found[number, missing] = unknown.counts(_asked(read_text(turns), rows.asking[place]).text)
    return found


def _shared(known: Sequence[str], cues: Cues) -> tuple[list[int], list[int], list[int], Cues]:
    """Where of the ``cues`` those are that are ``known``, and where among these; where the others are, and they."""
    there = {digest: place for place, digest in enumerate(known)}
    pairs = [(place, there[digest]) for place, digest in enumerate(cues.digests) if digest in there]
    missing = [place for place, digest in enumerate(cues.digests) if digest not in there]
    others = Cues.of(cues.patterns[place] for place in missing)
    return [here for here, _ in pairs], [place for _, place in pairs], missing, others


def _asking(reads: Sequence[ReadText], embedder: Embedder | None) -> NDArray[np.uint8]:
    """For each text a row of bits: which of its sentences are no background."""
    bits = np.ones((len(reads), JUDGED), np.uint8)
    for row, judged in zip(bits, asking([read.turns for read in reads], embedder), strict=True):
        row[: len(judged)] = judged
    return np.packbits(bits, axis=1)


def _asked(read: ReadText, asking: NDArray[np.uint8]) -> ReadText:
    """What ``read`` asks, plainly."""
    return read_text(core(read.turns, np.unpackbits(asking).astype(bool).tolist()))


TEXT_DIGEST: Final = 16
"""Length of the digest of a text."""


def text_digest(turns: Sequence[str]) -> str:
    """Under what the row of a text is known."""
    return hashlib.sha256(json.dumps(list(turns)).encode()).hexdigest()[:TEXT_DIGEST]


@cache
def _scale() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centre and spread of each structural feature, over the shipped exemplars (dev/bench/structure_scale.py)."""
    held = json.loads(_SCALE_FILE.read_text(encoding="utf-8"))
    if held["names"] != list(NAMES):
        raise AssertionError(f"{_SCALE_FILE.name} is not of these features: python -m dev.bench structure-scale")
    return np.array(held["centre"]), np.array(held["spread"])


def _standard(counts: Sequence[Sequence[float]]) -> Bytes:
    centre, spread = _scale()
    limited = np.clip((np.array(counts).reshape(-1, len(NAMES)) - centre) / spread, -LIMIT, LIMIT)
    return np.rint(limited * STRUCTURE_STEP).astype(np.int8)
