"""How far people agree with verdicts and suggestions, by decision, route, reason and month (semantics, section 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, TypeVar

from pydantic import Field

from incumbent.consolidator.verdict import Decision, Reason, Route
from incumbent.ledger.agreement.responses import EVICT, SUGGESTIONS, Response
from incumbent.ledger.agreement.statistics import ShareInterval, alpha, wilson
from incumbent.ledger.counted import Question, ResponseGroup, Rested, Wording
from incumbent.text.compare import normalise

_ORDER: Final = (*Decision, *SUGGESTIONS, *Route, *Reason)
"""The order of rows; other names come after these, sorted."""

_MOST: Final = 10_000_000
"""More responses than any history has: larger counts are invalid, and some would take too long to compute with."""
_LEAVES_OUT: Final = frozenset({Decision.EXCLUDE.value, EVICT})
"""The decisions that take something out of the set."""


@dataclass(frozen=True, slots=True)
class Share:
    """``agreed`` of ``count`` responses want what was decided."""

    count: Annotated[int, Field(ge=0)]
    agreed: Annotated[int, Field(ge=0)]

    @property
    def share(self) -> float | None:
        """In [0, 1]; null where there are no responses."""
        return self.agreed / self.count if self.count else None

    @property
    def interval(self) -> ShareInterval | None:
        """Wilson's 95 % interval of the share; ``None`` without responses."""
        return wilson(self.agreed, self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRow:
    """The responses of one kind: explicit ones (commands, merges and closings) apart from implicit ones.

    ``several`` counts the subjects that more than one person judged explicitly, and ``alpha`` is how far these people
    agree with each other on what should be in the set (:func:`incumbent.ledger.agreement.statistics.alpha`).
    """

    name: str
    explicit: Annotated[Share, Field(description="commands, and merges and closings of suggestions")]
    implicit: Annotated[Share, Field(description="verdicts that a merge let pass; always in agreement")]
    several: Annotated[int, Field(ge=0, description="verdicts and suggestions that several people judged explicitly")]
    alpha: Annotated[float | None, Field(le=1, description="Krippendorff's alpha of these people; null: not defined")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The responses of one calendar month in UTC, such as ``2026-03``."""

    month: str
    explicit: Share
    implicit: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonCount:
    """A reason that people gave: as it was first written, in how many responses, and how many of these override."""

    text: str
    count: int
    overrides: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overridden:
    """A capability of verdicts that people overrode, and the number of these ``overrides``.

    A verdict rests on the capabilities that were new or won, an EXCLUDE on all that the query exercises.  ``answers``
    counts all answered verdicts that rest on the capability; the ``implicit`` ones were merged without a word.
    ``interval`` is Wilson's of the share of overrides in all answers.
    """

    capability: str
    overrides: Annotated[int, Field(ge=1)]
    answers: Annotated[int, Field(ge=1, description="all answered verdicts that rest on it")]
    implicit: Annotated[int, Field(ge=0, description="those of them that a merge let pass")]
    interval: ShareInterval


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The agreement of the responses that still count; ``reversed_explicit`` and ``reversed_implicit`` count the
    others.

    ``people`` is the number of people who answered.  Rows are in the order of the decisions and gates, months in that
    of time, the most frequent reasons first; ``overridden`` by the lower bound of its interval, so that small counts do
    not lead.
    """

    people: int
    overall: AgreementRow
    decisions: tuple[AgreementRow, ...]
    routes: tuple[AgreementRow, ...]
    reasons: tuple[AgreementRow, ...]
    months: tuple[Month, ...]
    said: tuple[ReasonCount, ...]
    overridden: tuple[Overridden, ...]
    reversed_explicit: Annotated[int, Field(ge=0)]
    reversed_implicit: Annotated[int, Field(ge=0)]

    @property
    def answers(self) -> int:
        """The number of responses that still count."""
        return self.overall.explicit.count + self.overall.implicit.count


Counted = TypeVar("Counted")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of responses, from which agreement is computed; tallies of groups without a common subject add up.

    ``gone`` counts the reversed responses, by whether they were explicit; the other counts are of responses that still
    count.
    """

    people: Counter[str] = field(default_factory=Counter)
    answers: Counter[ResponseGroup] = field(default_factory=Counter)
    questions: Counter[Question] = field(default_factory=Counter)
    wordings: Counter[Wording] = field(default_factory=Counter)
    rested: Counter[Rested] = field(default_factory=Counter)
    gone: Counter[bool] = field(default_factory=Counter)

    @property
    def is_possible(self) -> bool:
        """Whether any responses could have these counts. ``False`` for more than ten million."""
        counts = (self.people, self.answers, self.questions, self.wordings, self.rested, self.gone)
        if not all(0 < count <= _MOST for found in counts for count in found.values()):
            return False
        answers = self.answers.total()
        explicit: Counter[tuple[str, str]] = Counter()
        for answer, count in self.answers.items():
            if answer.explicit:
                explicit.update(dict.fromkeys(_rows_of(answer), count))
        judged: Counter[tuple[str, str]] = Counter()
        for item, count in self.questions.items():
            if not 0 <= item.wanted <= item.judged:
                return False
            judged[item.table, item.name] += item.judged * count
        return judged <= explicit and self.people.total() == answers <= _MOST and self.wordings.total() <= answers

    def replaced(self, before: Tally, after: Tally) -> Tally:
        """The counts with those of the responses in ``before`` replaced by those in ``after``."""
        return Tally(
            people=_replaced(self.people, before.people, after.people),
            answers=_replaced(self.answers, before.answers, after.answers),
            questions=_replaced(self.questions, before.questions, after.questions),
            wordings=_replaced(self.wordings, before.wordings, after.wordings),
            rested=_replaced(self.rested, before.rested, after.rested),
            gone=_replaced(self.gone, before.gone, after.gone),
        )


def _replaced(counts: Counter[Counted], before: Counter[Counted], after: Counter[Counted]) -> Counter[Counted]:
    found = counts.copy()
    found.subtract(before)
    found.update(after)
    return Counter({key: count for key, count in found.items() if count})


def tally_of(responses: Sequence[Response]) -> Tally:
    """The counts of ``responses``, which may be in any order."""
    standing = sorted((item for item in responses if not item.reversed), key=_order)
    return Tally(
        people=Counter(item.by.casefold() for item in standing),
        answers=Counter(
            ResponseGroup(
                item.decision, item.route, item.reasons, item.at[: len("2026-03")], item.explicit, item.agrees
            )
            for item in standing
        ),
        questions=Counter(_questions(standing)),
        wordings=Counter(
            Wording(normalise([item.said]), item.at, item.said, item.overrides)
            for item in standing
            if item.said is not None
        ),
        rested=Counter(
            Rested(name, item.explicit, item.overrides) for item in standing for name in dict.fromkeys(_rests_on(item))
        ),
        gone=Counter(item.explicit for item in responses if item.reversed),
    )


def _questions(responses: Sequence[Response]) -> Iterator[Question]:
    judged: dict[tuple[str, str, str], dict[str, bool]] = {}
    for item in responses:
        if item.explicit:
            # In the order of their times: a person's last answer counts.
            wanted = item.agrees != (item.decision in _LEAVES_OUT)
            for table, name in _rows_of(item):
                judged.setdefault((table, name, item.subject), {})[item.by.casefold()] = wanted
    for (table, name, _), words in judged.items():
        if len(words) > 1:
            yield Question(table, name, sum(words.values()), len(words))


_ALL: Final = "all"
_TABLES: Final[Mapping[str, Callable[[ResponseGroup | Response], Iterable[str]]]] = {
    _ALL: lambda item: (_ALL,),
    "decisions": lambda item: (item.decision,),
    "routes": lambda item: (item.route,),
    "reasons": lambda item: item.reasons,
}
"""The tables, and the rows of each in which something is counted."""


def _rows_of(item: ResponseGroup | Response) -> set[tuple[str, str]]:
    return {(table, name) for table, names in _TABLES.items() for name in names(item)}


def agreement_of(responses: Sequence[Response]) -> Agreement:
    """The agreement of the people who gave ``responses``, which may be in any order."""
    return agreement_in(tally_of(responses))


def agreement_in(tally: Tally) -> Agreement:
    """The agreement of the people whose responses were counted."""
    months: dict[str, Counter[ResponseGroup]] = {}
    for answer, count in tally.answers.items():
        months.setdefault(answer.month, Counter())[answer] += count
    return Agreement(
        people=len(tally.people),
        overall=_row(_ALL, _ALL, tally.answers, tally),
        decisions=_rows("decisions", tally),
        routes=_rows("routes", tally),
        reasons=_rows("reasons", tally),
        months=tuple(
            Month(month=name, explicit=_share(counts, True), implicit=_share(counts, False))
            for name, counts in sorted(months.items())
        ),
        said=_said(tally.wordings),
        overridden=_overridden(tally.rested),
        reversed_explicit=tally.gone[True],
        reversed_implicit=tally.gone[False],
    )


def _order(item: Response) -> tuple[object, ...]:
    return item.at, item.said or "", item.subject, item.by, item.agrees


def _rows(table: str, tally: Tally) -> tuple[AgreementRow, ...]:
    groups: dict[str, Counter[ResponseGroup]] = {}
    for answer, count in tally.answers.items():
        for name in dict.fromkeys(_TABLES[table](answer)):
            groups.setdefault(name, Counter())[answer] += count
    places = {str(name): place for place, name in enumerate(_ORDER)}
    names = sorted(groups, key=lambda name: (places.get(name, len(places)), name))
    return tuple(_row(table, name, groups[name], tally) for name in names)


def _row(table: str, name: str, answers: Counter[ResponseGroup], tally: Tally) -> AgreementRow:
    found = {item: count for item, count in tally.questions.items() if item[:2] == (table, name)}
    units = (({True: item.wanted, False: item.judged - item.wanted}, count) for item, count in found.items())
    return AgreementRow(
        name=name,
        explicit=_share(answers, True),
        implicit=_share(answers, False),
        several=sum(found.values()),
        alpha=alpha(units),
    )


def _share(answers: Counter[ResponseGroup], explicit: bool) -> Share:
    counted = [(item.agrees, count) for item, count in answers.items() if item.explicit is explicit]
    return Share(sum(count for _, count in counted), sum(count for agrees, count in counted if agrees))


def _said(wordings: Counter[Wording]) -> tuple[ReasonCount, ...]:
    written: dict[str, str] = {}
    counts: Counter[str] = Counter()
    overrides: Counter[str] = Counter()
    for item, count in sorted(wordings.items()):
        written.setdefault(item.same, item.text)
        counts[item.same] += count
        overrides[item.same] += count * item.overrides
    return tuple(
        ReasonCount(text=written[same], count=counts[same], overrides=overrides[same])
        for same in sorted(counts, key=lambda same: (-counts[same], same))
    )


def _overridden(rested: Counter[Rested]) -> tuple[Overridden, ...]:
    groups: dict[str, Counter[Rested]] = {}
    for item, count in rested.items():
        groups.setdefault(item.capability, Counter())[item] += count
    found = []
    for name, counts in groups.items():
        answers = counts.total()
        overrides = sum(count for item, count in counts.items() if item.overrides)
        interval = wilson(overrides, answers)
        if overrides and interval is not None:
            implicit = sum(count for item, count in counts.items() if not item.explicit)
            found.append(
                Overridden(capability=name, overrides=overrides, answers=answers, implicit=implicit, interval=interval)
            )
    return tuple(sorted(found, key=lambda item: (-item.interval.low, -item.overrides, item.capability)))


def _rests_on(response: Response) -> Iterable[str]:
    """The capabilities that the verdict rests on; none if its facts were not recorded."""
    facts = response.facts
    if facts is None:
        return ()
    return facts.scores if response.decision == Decision.EXCLUDE else (*facts.new, *facts.won)
