"""The only answers of a language model that count, and the probabilities in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum
from typing import Any, Final

from bot.classifier.language_model.prompt import TOOL_KEY, Asked
from bot.classifier.model import Basis, Sample, ToolChoice
from bot.errors import InputError
from bot.json_strict import JsonFaultsError, check_shape, load
from bot.limits import ReadingLimits

_LIMITS: Final = ReadingLimits(file_bytes=200_000, nesting_depth=10, nodes=20_000)
"""What an answer may hold; a whole one on a hundred capabilities has some 10,000 characters."""

_CERTAIN: Final = 100
_TORN: Final = 50
_BEFORE_VOTE: Final = r'\s*:\s*(?:\{\s*(?:"certainty"\s*:\s*\d+\s*,\s*)?"exercised"\s*:\s*)?'
_OPENING: Final = re.compile(r"[{]")
_OPENINGS_TRIED: Final = 200


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an answer, and the log-probabilities of what could have stood in its place, itself included."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as the endpoint gave it.

    ``text``: its content, ``None`` for none at all; ``tokens`` with their log-probabilities where the endpoint gives
    them; ``fault`` says what is wrong with it as a whole: it was refused, filtered or cut off.
    """

    text: str | None
    tokens: tuple[Token, ...] = ()
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    """A valid sample of one query: its sample, whether the canary came back true, and the tool it names."""

    sample: Sample
    canary: bool
    tool: ToolChoice | None


def read_answer(answer: Answer, asked: Asked, *, embedded_in_prose: bool) -> Vote | str:
    """The vote in ``answer``, or what keeps it from being one.

    ``embedded_in_prose``: the endpoint cannot be held to JSON, so the one object that fits is looked for in the text.
    """
    if answer.fault is not None:
        return answer.fault
    if not answer.text:
        return "the answer was empty"
    if len(answer.text) > _LIMITS.file_bytes:
        return "the answer was far too long"
    spans = _objects(answer.text) if embedded_in_prose else [(0, len(answer.text))]
    votes = [vote for vote in (_vote(span, answer, asked) for span in spans) if vote is not None]
    if len(votes) == 1:
        return votes[0]
    return "the text held several answers" if votes else "the answer did not fit the schema"


def _whole(text: str) -> Any:
    try:
        check_shape(text, "answer", _LIMITS)
        return load(text)
    except (InputError, JsonFaultsError, RecursionError):
        return None


def _objects(text: str) -> list[tuple[int, int]]:
    """Where the outermost JSON objects in ``text`` stand; a text with very many openings is no answer."""
    decoder = json.JSONDecoder()
    found: list[tuple[int, int]] = []
    place = 0
    for _ in range(_OPENINGS_TRIED):
        opening = _OPENING.search(text, place)
        if opening is None:
            return found
        try:
            _, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            place = opening.end()
            continue
        found.append((opening.start(), end))
        place = end
    return []


def _vote(span: tuple[int, int], answer: Answer, asked: Asked) -> Vote | None:
    """The vote that stands at ``span`` of the answer's text, if one does."""
    data = _whole((answer.text or "")[slice(*span)])
    labels = asked.labels
    expected = {*labels.values(), TOOL_KEY} if asked.tools else set(labels.values())
    if not isinstance(data, dict) or data.keys() != expected:
        return None
    votes: dict[str, bool] = {}
    stated: dict[str, float] = {}
    for name, label in labels.items():
        value = data[label]
        if isinstance(value, dict) and value.keys() <= {"exercised", "certainty"}:
            if "certainty" in value:
                certainty = _certainty(value["certainty"])
                if certainty is None:
                    return None
                stated[name] = certainty if value.get("exercised") is True else 1 - certainty
            value = value.get("exercised")
        if not isinstance(value, bool):
            return None
        votes[name] = value
    tool: ToolChoice | None = None
    if asked.tools:
        chosen = _tool(data[TOOL_KEY], asked.tool_ids)
        if isinstance(chosen, str):
            return None
        tool = chosen
    probabilities, basis = _probabilities(votes, stated, _measured(answer, span, labels))
    names = asked.capabilities
    sample = Sample(
        votes={name: votes[name] for name in names},
        probabilities={name: probabilities[name] for name in names},
        basis=basis,
    )
    return Vote(sample, votes[asked.canary], tool)


def _certainty(value: object) -> float | None:
    """A stated certainty as the probability of being right, in [0.5, 1]; below 50 it says no more than 50 does."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _CERTAIN:
        return None
    return max(value, _TORN) / _CERTAIN


def _tool(value: object, ids: Mapping[str, str]) -> ToolChoice | str | None:
    """The chosen tool, ``None`` for none; a text for what is no choice."""
    wrong = "no choice"
    if not isinstance(value, dict) or not {"id"} <= value.keys() <= {"id", "certainty"}:
        return wrong
    chosen = value["id"]
    certainty = _certainty(value.get("certainty", _CERTAIN))
    if chosen is None:
        return wrong if certainty is None else None
    if certainty is None or not isinstance(chosen, str) or chosen not in ids:
        return wrong
    return ToolChoice(ids[chosen], certainty)


def _probabilities(
    votes: Mapping[str, bool], stated: Mapping[str, float], measured: Mapping[str, float] | None
) -> tuple[Mapping[str, float], Basis]:
    """The probability of TRUE for each vote, by the firmest basis that all of them have."""
    if measured is not None:
        return measured, "log-probabilities"
    if stated.keys() == votes.keys():
        return stated, "stated"
    return {name: float(vote) for name, vote in votes.items()}, "vote"


def _measured(answer: Answer, span: tuple[int, int], labels: Mapping[str, str]) -> dict[str, float] | None:
    """The probability of the word true against false where each vote stands; ``None`` unless all of them have one."""
    if not answer.text or not answer.tokens or "".join(token.text for token in answer.tokens) != answer.text:
        return None
    ends: list[int] = []
    for token in answer.tokens:
        ends.append((ends[-1] if ends else 0) + len(token.text))
    found: dict[str, float] = {}
    for name, label in labels.items():
        place = _place_of_vote(answer.text, span, label)
        if place is None:
            return None
        number = next(number for number, end in enumerate(ends) if end > place)
        token = answer.tokens[number]
        before = token.text[: place - (ends[number] - len(token.text))]
        probability = _of_true(token.alternatives, before)
        if probability is None:
            return None
        found[name] = probability
    return found


def _place_of_vote(text: str, span: tuple[int, int], label: str) -> int | None:
    """Where within ``span`` the word true or false of what is called ``label`` begins."""
    found = re.compile(rf'"{re.escape(label)}"{_BEFORE_VOTE}(?=[tf])').search(text, *span)
    return None if found is None else found.end()


def _of_true(alternatives: Mapping[str, float], before: str) -> float | None:
    """P(true) / (P(true) + P(false)), what is not listed being shared by the two; ``None`` if neither is listed."""
    mass = {"true": 0.0, "false": 0.0}
    for text, value in alternatives.items():
        word = text[len(before) :] if text.startswith(before) else text.lstrip()
        for meant in mass:
            if word and (meant.startswith(word) or word.startswith(meant)):
                mass[meant] += exp(min(value, 0.0))
    if not any(mass.values()):
        return None
    unlisted = max(0.0, 1 - fsum(exp(min(value, 0.0)) for value in alternatives.values()))
    return (mass["true"] + unlisted / 2) / (mass["true"] + mass["false"] + unlisted)


def agree_on_tool(choices: Sequence[ToolChoice | None], names: Sequence[str]) -> ToolChoice | None:
    """The tool that most samples name, no tool included; ties by confidence, then by the order of declaration.

    Its confidence is the mean over all valid samples, those that name something else counting as 0.
    """
    if not names or not choices:
        return None
    support: dict[str | None, tuple[int, float]] = dict.fromkeys([*names, None], (0, 0.0))
    for choice in choices:
        name = None if choice is None else choice.tool
        votes, confidence = support[name]
        support[name] = (votes + 1, confidence + (0.0 if choice is None else choice.confidence))
    best = max(support, key=lambda name: support[name])
    return None if best is None else ToolChoice(best, support[best][1] / len(choices))
