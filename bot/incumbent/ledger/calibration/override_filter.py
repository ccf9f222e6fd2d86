"""Which responses may teach: the rule of validated overrides, clause by clause (pure; docs/calibration.md).

The paper leaves open which override signal counts as validated (section 3).  Here an override counts if it passes all
clauses of :class:`Clause`; a person who repeatedly disagrees with all others has less weight.  Agreement teaches, too:
a fit to overrides alone would conclude that all verdicts are wrong.  Agreement passes the same clauses, except that it
needs no reason.  A merge without a statement is no such agreement.  It is kept apart, as the background against which
overrides are counted: twenty of a hundred mean something else than twenty of twenty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from incumbent.ledger.agreement.responses import SUGGESTIONS, Response
from incumbent.taxonomy.config import CalibrationSettings


class Clause(StrEnum):
    """The conditions on a response that may teach, in the order of checking."""

    EXPLICIT = "explicit"
    """A command, or the merge or closing of a suggestion; not the merge of a pull request that showed the verdict."""
    REASON = "reason"
    """An override of a verdict gives a reason.  Not required of agreement, nor of suggestions, which are answered by a
    merge or a closing without a reason.
    """
    CURATOR = "curator"
    """By one of the config's curators.  If it names none, by anyone with write access: that was checked when the
    command was followed, and no other command leaves an event.
    """
    NOT_AUTHOR = "not-author"
    """Not by the person who brought the query; fails if no event shows who did."""
    LASTING = "lasting"
    """Not reversed: neither withdrawn, nor replaced by the same person's later answer, nor undone in R."""
    UNCONTRADICTED = "uncontradicted"
    """No other curator wants the opposite for the same content, in a response that passes the clauses above, `reason`
    aside.
    """


@dataclass(frozen=True, slots=True)
class Weighted:
    """A response that may teach; ``weight`` in (0, 1] is the weight of its person's judgement."""

    response: Response
    weight: float


@dataclass(frozen=True, slots=True)
class Drops:
    """How many responses fail a clause: ``first`` no clause before it (it drops these), ``all`` whatever else."""

    first: int
    all: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """The responses that may teach, in their order, and why the others may not.

    ``kept`` pass every clause, ``silent`` every one but the first; ``weights`` has every person of either.
    """

    kept: tuple[Weighted, ...]
    silent: tuple[Weighted, ...]
    overrides: Mapping[Clause, Drops]
    agreements: Mapping[Clause, Drops]
    weights: Mapping[str, float]


def question_of(response: Response) -> tuple[str, str]:
    """The question that ``response`` answers, the same for all people: a query's content, or a suggestion."""
    suggestion = response.decision in SUGGESTIONS
    return ("suggestion", response.subject) if suggestion else ("content", response.content)


def wants_change(response: Response) -> bool:
    """Whether the person wants the change: a query in R, or a suggestion carried out."""
    return (response.decision != "EXCLUDE") == response.agrees


def validate_responses(
    responses: Sequence[Response], curators: Collection[str], settings: CalibrationSettings
) -> Validated:
    """The ``responses`` that may teach, with weights; ``curators`` are logins, and empty means anyone with write
    access.
    """
    known = frozenset(name.casefold() for name in curators)
    counted = [item for item in responses if not _failing(item, known) - {Clause.REASON}]
    wanted = _wanted(counted)
    weights = _weights(wanted, settings)
    kept: list[Weighted] = []
    silent: list[Weighted] = []
    failures: dict[bool, list[frozenset[Clause]]] = {True: [], False: []}
    for item in responses:
        failing = _failing(item, known)
        if _contradicted(item, wanted):
            failing |= {Clause.UNCONTRADICTED}
        failures[item.overrides].append(failing)
        if failing <= {Clause.EXPLICIT}:
            (silent if failing else kept).append(Weighted(item, weights.get(_person(item), 1.0)))
    people = sorted({_person(item.response) for item in (*kept, *silent)})
    return Validated(
        kept=tuple(kept),
        silent=tuple(silent),
        overrides=_drops(failures[True]),
        agreements=_drops(failures[False]),
        weights={name: weights.get(name, 1.0) for name in people},
    )


def _person(response: Response) -> str:
    return response.by.casefold()


def _failing(response: Response, curators: frozenset[str]) -> frozenset[Clause]:
    """The clauses that ``response`` fails by itself, independent of others."""
    on_verdict = question_of(response)[0] == "content"
    author = response.author
    passes = {
        Clause.EXPLICIT: response.explicit,
        Clause.REASON: response.agrees or not on_verdict or bool((response.said or "").strip()),
        Clause.CURATOR: not curators or _person(response) in curators,
        Clause.NOT_AUTHOR: not on_verdict or (author is not None and _person(response) != author.casefold()),
        Clause.LASTING: not response.reversed,
    }
    return frozenset(clause for clause, passed in passes.items() if not passed)


def _wanted(counted: Sequence[Response]) -> dict[tuple[str, str], dict[str, bool]]:
    """Question → person → whether they want the change; of several answers the last."""
    found: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    for item in sorted(counted, key=lambda item: (item.at, wants_change(item))):
        found[question_of(item)][_person(item)] = wants_change(item)
    return found


def _contradicted(response: Response, wanted: Mapping[tuple[str, str], Mapping[str, bool]]) -> bool:
    others = wanted.get(question_of(response), {})
    return any(person != _person(response) and answer != wants_change(response) for person, answer in others.items())


def _weights(wanted: Mapping[tuple[str, str], Mapping[str, bool]], settings: CalibrationSettings) -> dict[str, float]:
    """Person → the posterior share of judgements in which others agree, over the prior one; at most 1."""
    shared: dict[str, int] = defaultdict(int)
    alone: dict[str, int] = defaultdict(int)
    for answers in wanted.values():
        for person, answer in answers.items():
            others = [other for name, other in answers.items() if name != person]
            shared[person] += bool(others)
            alone[person] += bool(others) and answer not in others
    prior = settings.alone + settings.together
    return {
        person: min(1.0, (count - alone[person] + settings.together) / (count + prior) * prior / settings.together)
        for person, count in shared.items()
    }


def _drops(failures: Sequence[frozenset[Clause]]) -> dict[Clause, Drops]:
    first = [next((clause for clause in Clause if clause in failing), None) for failing in failures]
    return {
        clause: Drops(first.count(clause), sum(1 for failing in failures if clause in failing)) for clause in Clause
    }
