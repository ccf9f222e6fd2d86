"""Changes that turn a verdict: one score, one entry that is not there, or one knob."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias

from bot.config import Curation, Options, Overrides
from bot.consolidator.verdict import Route, Ruling
from bot.rater.model import ScoredQuery
from bot.text.compare import DECIMALS, rounded

STEP: Final = 10.0**-DECIMALS
"""The smallest difference that a comparison sees."""


class Outcome(StrEnum):
    """What a verdict means for a query; a change turns the verdict where it changes this."""

    ENTERS = "enters"
    WAITS = "waits for a person"
    STAYS_OUT = "stays out"

    @staticmethod
    def of(ruling: Ruling) -> Outcome:
        """The outcome of ``ruling``: an exclusion that people are asked about waits, too."""
        if ruling.route is Route.REVIEW:
            return Outcome.WAITS
        return Outcome.ENTERS if ruling.decision.admits else Outcome.STAYS_OUT


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChange:
    """Another score for one capability; ``None`` stands for a capability that the query does not exercise."""

    capability: str
    now: float | None
    to: float | None
    ruling: Ruling

    @property
    def distance(self) -> float:
        """By how much the score changes, in [0, 1]."""
        return rounded(abs((self.to or 0.0) - (self.now or 0.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """One entry of R, or one query of the same cycle, that is not there."""

    id: str
    ruling: Ruling


@dataclass(frozen=True, slots=True, kw_only=True)
class KnobChange:
    """Another value of a knob: for one ``capability``, or the global one (``None``)."""

    knob: str
    capability: str | None
    now: float
    to: float
    ruling: Ruling

    @property
    def distance(self) -> float:
        """By how much the knob changes."""
        return rounded(abs(self.to - self.now))


Change: TypeAlias = ScoreChange | Absence | KnobChange


def around(mark: float) -> tuple[float, ...]:
    """``mark`` and the values next to it, as far as they are shares."""
    return tuple(value for value in (rounded(mark - STEP), rounded(mark), rounded(mark + STEP)) if 0.0 <= value <= 1.0)


def rescored(query: ScoredQuery, capability: str, to: float | None) -> ScoredQuery:
    """``query`` with the score ``to`` for ``capability``; with ``None``, it does not exercise it."""
    scores = {name: score for name, score in query.scores.items() if name != capability}
    return replace(query, scores=scores if to is None else {**scores, capability: to})


def with_knob(config: Curation, knob: str, capability: str | None, to: float) -> Curation:
    """``config`` with the value ``to`` of ``knob``: of the global one, or of the override for ``capability``."""
    if capability is None and knob in Options.model_fields:
        return config.model_copy(update={"options": config.options.model_copy(update={knob: to})})
    if capability is None:
        return config.model_copy(update={"knobs": config.knobs.model_copy(update={knob: to})})
    own = config.per_capability.get(capability, Overrides())
    overrides = {**config.per_capability, capability: own.model_copy(update={knob: to})}
    return config.model_copy(update={"per_capability": overrides})
