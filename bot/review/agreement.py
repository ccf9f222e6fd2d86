"""How far people agree with verdicts and suggestions, by decision, route, reason and month (semantics, section 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.consolidator.verdict import Decision, Reason, Route
from bot.review.derive import EVICT, SUGGESTIONS
from bot.review.responses import Response
from bot.review.statistics import Interval, alpha, wilson
from bot.text import normalise

_ORDER: Final = (*Decision, *SUGGESTIONS, *Route, *Reason)
"""In which order rows come; what is not among these comes after them, by its name."""

_LEAVES_OUT: Final = frozenset({Decision.EXCLUDE.value, EVICT})
"""The decisions whose agreement wants something out of the set."""


@dataclass(frozen=True, slots=True)
class Share:
    """``agreed`` of ``count`` responses want what was decided."""

    count: int
    agreed: int

    @property
    def share(self) -> float | None:
        """In [0, 1]; ``None`` of no responses."""
        return self.agreed / self.count if self.count else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval of the share; ``None`` of no responses."""
        return wilson(self.agreed, self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The responses of one kind: commands, merges and closings apart from what a merge let pass.

    ``several`` counts the subjects that more than one person judged explicitly, and ``alpha`` is how far these people
    agree with each other on what should be in the set (:func:`bot.review.statistics.alpha`).
    """

    name: str
    explicit: Share
    implicit: Share
    several: int
    alpha: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The responses of one calendar month in UTC, such as ``2026-03``."""

    month: str
    explicit: Share
    implicit: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A reason that people gave: as it was first written, in how many responses, and how many of these override."""

    text: str
    count: int
    overrides: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overridden:
    """A capability that ``overrides`` verdicts rest on which people wanted otherwise.

    A verdict rests on the capabilities that were new or won, an EXCLUDE on all that the query exercises.  ``answers``
    counts all verdicts that rest on it and were answered, ``implicit`` those of them that a merge let pass.
    ``interval`` is Wilson's of the share of overrides in all answers.
    """

    capability: str
    overrides: int
    answers: int
    implicit: int
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What the responses that still stand say; ``reversed_explicit`` and ``reversed_implicit`` count the others.

    ``people`` is how many answered.  Rows come in the order of the decisions and gates, months in that of time, what
    was said most often first; ``overridden`` by the lower bound of its interval, so that small counts do not lead.
    """

    people: int
    overall: Row
    decisions: tuple[Row, ...]
    routes: tuple[Row, ...]
    reasons: tuple[Row, ...]
    months: tuple[Month, ...]
    said: tuple[Said, ...]
    overridden: tuple[Overridden, ...]
    reversed_explicit: int
    reversed_implicit: int

    @property
    def answers(self) -> int:
        """How many responses stand."""
        return self.overall.explicit.count + self.overall.implicit.count


def agreement_of(responses: Sequence[Response]) -> Agreement:
    """The agreement of the people who gave ``responses``, in whatever order these come."""
    standing = sorted((item for item in responses if not item.reversed), key=_order)
    explicit_gone = sum(item.explicit for item in responses if item.reversed)
    return Agreement(
        people=len({item.by.casefold() for item in standing}),
        overall=_row("all", standing),
        decisions=_rows(standing, lambda item: (item.decision,)),
        routes=_rows(standing, lambda item: (item.route,)),
        reasons=_rows(standing, lambda item: item.reasons),
        months=tuple(
            Month(month=name, explicit=_share(items, True), implicit=_share(items, False))
            for name, items in sorted(_grouped(standing, lambda item: (item.at[: len("2026-03")],)).items())
        ),
        said=_said(standing),
        overridden=_overridden(standing),
        reversed_explicit=explicit_gone,
        reversed_implicit=len(responses) - len(standing) - explicit_gone,
    )


def _order(item: Response) -> tuple[object, ...]:
    return item.at, item.said or "", item.subject, item.by, item.agrees


def _rows(responses: Sequence[Response], names: Callable[[Response], Iterable[str]]) -> tuple[Row, ...]:
    places = {str(name): place for place, name in enumerate(_ORDER)}
    groups = _grouped(responses, names)
    return tuple(
        _row(name, groups[name]) for name in sorted(groups, key=lambda name: (places.get(name, len(places)), name))
    )


def _grouped(responses: Sequence[Response], names: Callable[[Response], Iterable[str]]) -> dict[str, list[Response]]:
    groups: dict[str, list[Response]] = {}
    for item in responses:
        for name in dict.fromkeys(names(item)):
            groups.setdefault(name, []).append(item)
    return groups


def _row(name: str, responses: Sequence[Response]) -> Row:
    judged: dict[str, dict[str, bool]] = {}
    for item in responses:
        if item.explicit:
            # In the order of their times: a person's last word is the one that stays.
            judged.setdefault(item.subject, {})[item.by.casefold()] = item.agrees != (item.decision in _LEAVES_OUT)
    several = [words for words in judged.values() if len(words) > 1]
    return Row(
        name=name,
        explicit=_share(responses, True),
        implicit=_share(responses, False),
        several=len(several),
        alpha=alpha(several),
    )


def _share(responses: Sequence[Response], explicit: bool) -> Share:
    counted = [item.agrees for item in responses if item.explicit is explicit]
    return Share(len(counted), sum(counted))


def _said(responses: Sequence[Response]) -> tuple[Said, ...]:
    written: dict[str, str] = {}
    counts: Counter[str] = Counter()
    overrides: Counter[str] = Counter()
    for item in responses:
        if item.said is not None:
            same = normalise([item.said])
            written.setdefault(same, item.said)
            counts[same] += 1
            overrides[same] += item.overrides
    return tuple(
        Said(text=written[same], count=counts[same], overrides=overrides[same])
        for same in sorted(counts, key=lambda same: (-counts[same], same))
    )


def _overridden(responses: Sequence[Response]) -> tuple[Overridden, ...]:
    found = []
    for name, items in _grouped(responses, _rests_on).items():
        overrides = sum(item.overrides for item in items)
        interval = wilson(overrides, len(items))
        if overrides and interval is not None:
            implicit = sum(not item.explicit for item in items)
            found.append(
                Overridden(
                    capability=name, overrides=overrides, answers=len(items), implicit=implicit, interval=interval
                )
            )
    return tuple(sorted(found, key=lambda item: (-item.interval.low, -item.overrides, item.capability)))


def _rests_on(response: Response) -> Iterable[str]:
    """The capabilities that the verdict rests on; none where nobody kept what it rested on."""
    facts = response.facts
    if facts is None:
        return ()
    return facts.scores if response.decision == Decision.EXCLUDE else (*facts.new, *facts.won)
