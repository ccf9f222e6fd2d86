"""Which declared tools a query calls, if any: similarity of texts and meanings, and the query's own verbs.

The weights are fitted offline on written and published prompts (``dev/bench/called_tools.py``; docs/classifier.md).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from math import exp, log
from typing import Any, Final, TypeAlias

import numpy as np

from incumbent.classifier.embedded.embedding import SCALE, Embedder
from incumbent.classifier.embedded.steps import QueryPart, read_step, split_steps, step_features
from incumbent.classifier.embedded.text import Array, name_words
from incumbent.classifier.embedded.tool_features import ToolFeatures
from incumbent.classifier.model import CalledTools
from incumbent.classifier.visible_text import clean, read_turns
from incumbent.intake.specification import UNLISTED, Tool
from incumbent.text.compare import rounded

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


TURN_CHARACTERS: Final = 4_000
"""How much of a turn is read."""
EMBEDDED_CHARACTERS: Final = 160
"""How much of a description is embedded: the time grows with the length, and the first sentence says what it does."""
_ROWS_TOGETHER: Final = 2_000
"""Of how many tools, over all queries, features are in memory at a time; it decides on the time alone."""
_DECIMALS: Final = 6
"""Probabilities are rounded to what is meaningful, so that machines whose exponentials differ in a last bit agree."""


@dataclass(frozen=True)
class RequestPart:
    """A part of a query with all that the weights see of it."""

    step: QueryPart
    vector: Array | None
    rows: Array
    """The features of each tool."""
    started: float
    """How like a conversation starter it is."""


@dataclass(frozen=True)
class _ScoredPart:
    """A part with the tools' scores, and what says whether it calls any tool."""

    part: RequestPart
    scores: Sequence[float]
    features: Sequence[float]


Query: TypeAlias = tuple[Sequence[str], float | None]
"""Its turns, and what its text alone says of a tool call; ``None`` where that is not known."""


class ToolIndex:
    """An agent's declared tools and conversation starters, read and embedded once for all of its queries.

    Without ``embedder``, or with one whose vectors are of another kind than the weights were fitted for, words alone
    are compared.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        starters: Sequence[str] = (),
        embedder: Embedder | None = None,
        weights: Weights | None = None,
    ) -> None:
        self.tools = tools
        weights = shipped_weights() if weights is None else weights
        self._features = ToolFeatures(tools, starters)
        self._unlisted = [place for place, tool in enumerate(tools) if tool.name == UNLISTED]
        self._meanings = _Meanings(tools, starters, embedder, weights) if embedder is not None and tools else None
        if self._meanings is not None and not self._meanings.usable:
            self._meanings = None
        self.use(weights)

    @property
    def operations(self) -> Array:
        """A row for each tool: which of the operations it does."""
        return self._features.operations

    def use(self, weights: Weights) -> None:
        """Takes other weights (for fitting them)."""
        self._weights = weights
        self._set = weights.words if self._meanings is None else weights.meaning
        if self._meanings is not None:
            self._meanings.weights = weights

    def calls(self, turns: Sequence[str], text_probability: float | None) -> CalledTools:
        """The probability that ``turns`` call a tool, and for each step how that is spread over the tools.

        ``text_probability`` is what the text alone says of a tool call; ``None`` where that is not known.  A step that
        asks for less than the others (“thanks!”) has a distribution that sums to less than 1.
        """
        return self.all_calls([(turns, text_probability)])[0]

    def all_calls(self, queries: Sequence[Query]) -> list[CalledTools]:
        """:meth:`calls` of each of ``queries``: many are read together in a fraction of the time."""
        if not self.tools:
            return [CalledTools(0.0, ())] * len(queries)
        size = max(1, _ROWS_TOGETHER // len(self.tools))
        parts = (queries[start : start + size] for start in range(0, len(queries), size))
        return [found for part in parts for found in self._calls(part)]

    def _calls(self, queries: Sequence[Query]) -> list[CalledTools]:
        texts = [split_steps([clean(turn, TURN_CHARACTERS) for turn in read_turns(turns)]) for turns, _ in queries]
        parts = iter(self._scored(self.read([step for turns in texts for steps in turns for step in steps])))
        turns = [[list(islice(parts, len(steps))) for steps in own] for own in texts]
        wholes = iter(self._scored(self._joined([turn for own in turns for turn in own if len(turn) > 1])))
        return [
            self._called([(turn, next(wholes) if len(turn) > 1 else turn[0]) for turn in own], text_probability)
            for own, (_, text_probability) in zip(turns, queries, strict=True)
        ]

    def _called(
        self, turns: Sequence[tuple[Sequence[_ScoredPart], _ScoredPart]], text_probability: float | None
    ) -> CalledTools:
        """The calls of ``turns``, each of which is given in its steps and as a whole."""
        found = [each for turn, whole in turns for each in self._turn(turn, whole, text_probability)]
        probability = max(chance for chance, _ in found)
        return CalledTools(
            round(probability, _DECIMALS),
            tuple(self._named(shares * (chance / probability if probability else 0.0)) for chance, shares in found),
        )

    def ranked(self, turns: Sequence[str]) -> list[int]:
        """The places of the tools, the one the query most probably calls first; ties by the order of declaration."""
        if not self.tools:
            return []
        text = "\n".join(clean(turn, TURN_CHARACTERS) for turn in read_turns(turns))
        scores = self.scores(self.read([text])[0])
        return sorted(range(len(self.tools)), key=lambda place: -scores[place])

    def read(self, texts: Sequence[str]) -> list[RequestPart]:
        """Cleaned ``texts`` with their features; embedded together."""
        steps = [read_step(text) for text in texts]
        vectors: Sequence[Array | None] = [None] * len(steps)
        if self._meanings is not None:
            vectors = self._meanings.embed([step.text for step in steps])
        return self._parts(steps, vectors)

    def scores(self, part: RequestPart) -> list[float]:
        """What speaks for each tool, as log-odds against the tools' mean."""
        raw = part.rows @ self._set.tool
        return [rounded(score) for score in (raw - raw.mean()).tolist()]

    def call_features(self, parts: Sequence[RequestPart], scores: Sequence[Sequence[float]]) -> list[list[float]]:
        """What says whether each of ``parts`` calls any tool, given the tools' ``scores`` for it."""
        if not parts:
            return []
        steps, started = [part.step for part in parts], np.array([part.started for part in parts])
        of_tools = self._features.call_features(
            steps, np.array([part.rows for part in parts]), np.array(scores), started
        )
        found = [[*step_features(step), *row] for step, row in zip(steps, of_tools.tolist(), strict=True)]
        if self._meanings is not None:
            for row, part, own in zip(found, parts, scores, strict=True):
                if part.vector is not None:
                    row += self._meanings.call_features(part.vector, self._features.searching_share(np.array(own)))
        return found

    def _scored(self, parts: Sequence[RequestPart]) -> list[_ScoredPart]:
        scores = list(map(self.scores, parts))
        return [_ScoredPart(*each) for each in zip(parts, scores, self.call_features(parts, scores), strict=True)]

    def _turn(
        self, parts: Sequence[_ScoredPart], whole: _ScoredPart, text_probability: float | None
    ) -> list[tuple[float, Array]]:
        """For each step of a turn, the probability that it calls a tool and the tools' shares of that."""
        chance = self._chance(whole, text_probability)
        own = [self._chance(part, text_probability) for part in parts] if len(parts) > 1 else [chance]
        most = max(own)
        return [
            (chance * (value / most if most else 1.0), self._shares(part, text_probability))
            for part, value in zip(parts, own, strict=True)
        ]

    def _listed(self, part: _ScoredPart, text_probability: float | None) -> float:
        """The probability that ``part`` calls a listed tool."""
        return _chance(part.features, self._set, text_probability)

    def _chance(self, part: _ScoredPart, text_probability: float | None) -> float:
        """Of a call to a listed tool, or to one that the agent has and no file lists: what the text alone says."""
        if not self._unlisted:
            return self._listed(part, text_probability)
        text = text_probability
        if text is None:
            text = _logistic(float(np.dot(self._weights.bare, [1.0, *step_features(part.part.step)])))
        listed = self._listed(part, text_probability) if len(self._unlisted) < len(self.tools) else 0.0
        return max(text, listed)

    def _shares(self, part: _ScoredPart, text_probability: float | None) -> Array:
        """The distribution over the tools; what the text says beyond the listed tools goes to the unlisted ones."""
        values = np.array(part.scores)
        values[self._unlisted] = -np.inf
        if len(self._unlisted) == len(self.tools):
            return np.full(len(self.tools), 1 / len(self.tools))
        shares = np.exp(values - values.max())
        shares /= shares.sum()
        if self._unlisted:
            listed = self._listed(part, text_probability)
            every = self._chance(part, text_probability)
            shares *= listed / every if every else 1.0
            shares[self._unlisted] = (1.0 - shares.sum()) / len(self._unlisted)
        found: Array = shares
        return found

    def _named(self, shares: Array) -> Mapping[str, float]:
        """By the tools' names, in the order of declaration; tools of one name are one."""
        named: defaultdict[str, float] = defaultdict(float)
        for tool, share in zip(self.tools, shares.tolist(), strict=True):
            named[tool.name] += share
        return {name: floor(share) for name, share in named.items()}

    def _joined(self, turns: Sequence[Sequence[_ScoredPart]]) -> list[RequestPart]:
        """The steps of each turn as one; its embedding is the sum of theirs."""
        parts = [[scored.part for scored in turn] for turn in turns]
        steps = [read_step(" ".join([part.step.text for part in turn])) for turn in parts]
        return self._parts(steps, [_summed([part.vector for part in turn]) for turn in parts])

    def _parts(self, steps: Sequence[QueryPart], vectors: Sequence[Array | None]) -> list[RequestPart]:
        if not steps:
            return []
        lexical, started = self._features.lexical(steps)
        rows = list(lexical)
        if self._meanings is not None:
            for place, vector in enumerate(vectors):
                if vector is not None:
                    meanings = self._meanings.tool_features(vector, self._features.operations, self._features.effects)
                    rows[place] = np.column_stack([rows[place], meanings])
        return [RequestPart(*each) for each in zip(steps, vectors, rows, started.tolist(), strict=True)]


class _Meanings:
    """The embeddings of the tools' names, of names with descriptions, and of the starters."""

    def __init__(self, tools: Sequence[Tool], starters: Sequence[str], embedder: Embedder, weights: Weights) -> None:
        self._embedder = embedder
        self.weights = weights
        names = [" ".join(name_words(tool.name)) for tool in tools]
        texts = [
            f"{name}. {described}" if described else name
            for name, described in zip(names, (_first_sentences(tool.description) for tool in tools), strict=True)
        ]
        starts = [clean(starter[:2_000], 1_000) for starter in starters[:20]]
        distinct = list(dict.fromkeys([*names, *texts, *starts]))
        rows = dict(zip(distinct, embedder.embed(distinct).astype(float), strict=True))
        self.usable = all(len(row) == len(weights.centre) for row in rows.values())
        if self.usable:
            self._names = np.array([rows[name] for name in names])
            self._texts = np.array([rows[text] for text in texts])
            self._starters = np.array([rows[start] for start in starts]).reshape(len(starts), len(weights.centre))
            self._centred = [_directions(self._texts), _directions(self._names)]

    def embed(self, texts: Sequence[str]) -> list[Array]:
        """The embeddings of ``texts``, in multiples of 1 / SCALE."""
        return list(self._embedder.embed(texts).astype(float))

    def tool_features(self, vector: Array, operations: Array, effects: Array) -> Array:
        """A row for each tool: how alike the meanings are, and whether it does the operation that is asked for."""
        off = vector - self.weights.centre
        length = max(1.0, float(np.linalg.norm(off)))
        asked = self.weights.operations @ np.append(off, SCALE) / SCALE
        return np.column_stack(
            [
                *(centred @ off / length * 3 for centred in self._centred),
                self._texts @ vector / SCALE**2 * 10,
                self._names @ vector / SCALE**2 * 10,
                operations @ asked[:-1] * 2,
                effects * asked[-1] * 2,
            ]
        )

    def call_features(self, vector: Array, searching: float) -> list[float]:
        """How like any tool and starter it is, and what kind of request it is by its meaning."""
        texts = self._texts @ vector / SCALE**2 * 10 - 8
        names = self._names @ vector / SCALE**2 * 10 - 8
        starters = self._starters @ vector / SCALE**2 * 10 - 8
        tool, knowledge, neither = self.weights.kinds @ np.append(vector - self.weights.centre, SCALE) / SCALE
        return [
            float(texts.max()),
            float(names.max()),
            float(texts.max() - texts.mean()),
            float(starters.max()) if len(starters) else 0.0,
            float(len(starters) > 0),
            float(tool),
            float(knowledge),
            float(neither),
            float(tool) * searching,
            float(knowledge) * searching,
            float(neither) * searching,
        ]


def _summed(vectors: Sequence[Array | None]) -> Array | None:
    """The sum of ``vectors``, as long as they are in the mean; ``None`` without any."""
    known = [vector for vector in vectors if vector is not None]
    if not known:
        return None
    total = np.sum(known, axis=0)
    length = float(np.mean([np.linalg.norm(vector) for vector in known]))
    found: Array = total / max(1.0, float(np.linalg.norm(total))) * length
    return found


def floor(share: float) -> float:
    """``share`` rounded down, so that a distribution never sums to more than 1."""
    scale = 10**_DECIMALS
    return int(rounded(share) * scale) / scale


def _first_sentences(description: str) -> str:
    return clean(description[: 2 * EMBEDDED_CHARACTERS], EMBEDDED_CHARACTERS * 2)[:EMBEDDED_CHARACTERS]


def _directions(vectors: Array) -> Array:
    """What sets each row apart from the rows' mean, at length 1 where that is more than noise."""
    off = vectors - vectors.mean(axis=0)
    found: Array = off / np.maximum(SCALE / 20, np.linalg.norm(off, axis=1, keepdims=True))
    return found


def _chance(features: Sequence[float], weights: WeightSet, text_probability: float | None) -> float:
    if text_probability is None:
        return _logistic(float(np.dot(weights.call, [1.0, *features])))
    return _logistic(float(np.dot(weights.call_with_text, [1.0, *features, text_odds(text_probability)])))


def text_odds(probability: float) -> float:
    """Log-odds of ``probability``, bounded."""
    bounded = min(1 - 1 / 200, max(1 / 200, probability))
    return log(bounded / (1 - bounded))


def _logistic(score: float) -> float:
    return rounded(1 / (1 + exp(-max(-30.0, min(30.0, score)))))
