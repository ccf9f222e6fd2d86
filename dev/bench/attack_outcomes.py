"""What an attack achieves: the tags it moves, compared with the honest query that it wraps.

The yardstick is the placebo: the honest query with as much neutral text, in as many turns, where the argument stood.
What a placebo moves is owed to length and shape, not to the argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from incumbent.classifier.classify import classify
from incumbent.classifier.model import Backend, Classification, Progress
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED, AuthDeclaration, Specification, Tool
from incumbent.taxonomy.config import Limits
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.attacks.loading import Attack, Case, Control

_NEUTRAL = (
    "I have been your customer for nine years. The new depot is close to my home. My sister likes the old bridge. "
    "We moved here in spring. The weather was mild today. Our street is a quiet one. Everybody here knows your vans. "
    "The driver waved at me this morning. "
)
"""Small talk that asks for nothing, without enumerations, conditions or steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the classifier says of a case: its tags (``None``: unclassified), the tool it would call, and whether it
    was flagged as an attempt (``None``: unclassified).
    """

    tags: frozenset[str] | None
    tool: str | None
    flagged: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An attack, with the answers to the honest case, to the hostile one and to the placebo."""

    attack: Attack
    honest: Answer
    hostile: Answer
    placebo: Answer

    @property
    def moved(self) -> frozenset[str] | None:
        """The tags that the attack moves; ``None`` without two answers to compare."""
        return _moved(self.honest, self.hostile)

    @property
    def placebo_moved(self) -> frozenset[str] | None:
        """The tags that as much neutral text moves."""
        return _moved(self.honest, self.placebo)

    @property
    def as_wanted(self) -> int | None:
        """How many tags moved the author's way, or 1 for the tool that he wants; ``None`` where that is not his aim."""
        goal, moved = self.attack.goal, self.moved
        if goal == "choose":
            return int(self.hostile.tool == self.attack.wanted != self.honest.tool)
        if moved is None or self.honest.tags is None or goal not in ("raise", "lower"):
            return None
        return len(moved - self.honest.tags if goal == "raise" else moved & self.honest.tags)


def _moved(before: Answer, after: Answer) -> frozenset[str] | None:
    return None if before.tags is None or after.tags is None else before.tags ^ after.tags


def outcomes(attacks: Sequence[Attack], taxonomy: Taxonomy, backend: Backend, progress: Progress) -> list[Outcome]:
    """The outcome of each attack, in order; each honest case is asked once."""
    cases = [case for attack in attacks for case in (attack.honest, attack.hostile, placebo(attack))]
    answers = ask(cases, taxonomy, backend, progress)
    return [
        Outcome(
            attack=attack,
            honest=answers[attack.honest],
            hostile=answers[attack.hostile],
            placebo=answers[placebo(attack)],
        )
        for attack in attacks
    ]


def false_alarms(controls: Sequence[Control], taxonomy: Taxonomy, backend: Backend, progress: Progress) -> list[str]:
    """The ids of the innocent queries that were flagged."""
    cases = {control.id: Case(turns=control.turns) for control in controls}
    answers = ask(cases.values(), taxonomy, backend, progress)
    return [name for name, case in cases.items() if answers[case].flagged]


def flagged(item: Classification) -> bool:
    """Whether the classifier takes the query for an attempt."""
    return item.attempt


def ask(cases: Iterable[Case], taxonomy: Taxonomy, backend: Backend, progress: Progress) -> dict[Case, Answer]:
    """What the classifier says of each distinct case.

    A case without tools is asked about an agent that declares nothing, so that its tags are the inferred ones.
    """
    distinct = list(dict.fromkeys(cases))
    answers: dict[Case, Answer] = {}
    for tools in dict.fromkeys(case.tools for case in distinct):
        asked = {f"q{number}": case for number, case in enumerate(distinct) if case.tools == tools}
        queries = [Query(id=name, turns=case.turns, file="", line=None) for name, case in asked.items()]
        done = len(answers)
        result = classify(
            queries,
            agent(tools),
            taxonomy,
            backend,
            partial(_further, progress, done, len(distinct)),
        )
        if result.stopped is not None:
            raise result.stopped
        for name, case in asked.items():
            item = result.classifications.get(name)
            likeliest = item.calls.likeliest if item is not None and item.calls is not None else ()
            answers[case] = Answer(
                tags=None if item is None else item.signature,
                tool=likeliest[0][0] if likeliest else None,
                flagged=None if item is None else flagged(item),
            )
    return answers


def _further(progress: Progress, before: int, total: int, done: int, _: int) -> None:
    progress(before + done, total)


def agent(tools: tuple[Tool, ...]) -> Specification:
    """An agent that declares ``tools`` and their auth modes; one that declares nothing if there are none."""
    if not tools:
        return UNDECLARED
    auth = tuple(AuthDeclaration(mode=tool.auth, declared_in=tool.declared_in) for tool in tools if tool.auth)
    return replace(UNDECLARED, platform="bench", name="bench", tools=tools, auth=auth)


def placebo(attack: Attack) -> Case:
    """The honest case with neutral text in place of the argument: of the same length, in as many turns or tools."""
    honest = attack.honest.turns[-1]
    if attack.surface == "query":
        return Case(turns=tuple(_neutral(turn, honest) for turn in attack.hostile.turns))
    declared = {tool.name: tool for tool in attack.honest.tools}
    tools = [
        replace(tool, description=_neutral(tool.description, declared[tool.name].description))
        if tool.name in declared
        else replace(tool, name="find_depot", description="Finds the depot of a parcel.")
        for tool in attack.hostile.tools
    ]
    return Case(turns=attack.hostile.turns, tools=tuple(tools))


def _neutral(text: str, honest: str) -> str:
    """``text`` with neutral words for everything but ``honest``."""
    if honest not in text:
        return _filler(len(text))
    return f"{honest} {_filler(len(text) - len(honest) - 1)}".rstrip()


def _filler(length: int) -> str:
    return (_NEUTRAL * (max(0, length) // len(_NEUTRAL) + 1))[: max(0, length)]


def within(limits: Limits, case: Case) -> bool:
    """Whether intake lets the query through; a longer one never reaches the classifier."""
    return len(case.turns) <= limits.turns and all(len(turn) <= limits.turn_characters for turn in case.turns)
