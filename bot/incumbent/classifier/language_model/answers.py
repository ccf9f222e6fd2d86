"""Validates a language model's answers, and reads votes and probabilities from them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum
from typing import Any, Final, TypeAlias

from incumbent.classifier.language_model.completions import ModelAnswer
from incumbent.classifier.language_model.prompt import MOST_STEPS, STEPS_KEY, Asked
from incumbent.classifier.model import Basis, CalledTools, Finding, InferenceRequest, Sample, agree
from incumbent.errors import InputError
from incumbent.files.json_reader import check_shape, load
from incumbent.files.snapshot import ReadingLimits

_LIMITS: Final = ReadingLimits(file_bytes=200_000, nesting_depth=10, nodes=20_000)
"""Maximum characters of an answer; a complete one on a hundred capabilities has about 10,000."""

_CERTAIN: Final = 100
_TORN: Final = 50
_BEFORE_VOTE: Final = r'\s*:\s*(?:\{\s*(?:"certainty"\s*:\s*[^\s,]+\s*,\s*)?"exercised"\s*:\s*)?'
_OPENING: Final = re.compile(r"[{]")
_OPENINGS_TRIED: Final = 200


@dataclass(frozen=True, slots=True)
class SampledCalls:
    """One sample's calls: the probability in [0, 1] that a tool is called, and the tools, step by step.

    Steps that call no tool are left out.
    """

    probability: float
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Vote:
    """A valid sample of one query: its sample, whether the canary came back true, and the tools that it calls.

    ``calls`` is ``None`` if tools were not asked for.
    """

    sample: Sample
    canary: bool
    calls: SampledCalls | None


def read_answer(answer: ModelAnswer, asked: Asked, *, embedded_in_prose: bool) -> Vote | str:
    """The vote in ``answer``, or why it is not valid.

    Every part that was asked for must be there: an answer without one of its certainties does not fit the schema.
    ``embedded_in_prose``: the endpoint cannot be restricted to JSON, so the one object that fits is searched for in the
    text.
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


def parsed(text: str, limits: ReadingLimits) -> Any:
    """The data in ``text``, which is JSON within ``limits``; ``None`` for anything else."""
    if len(text) > limits.file_bytes:
        return None
    try:
        check_shape(text, "answer", limits)
        return load(text, "answer")
    except (InputError, RecursionError):
        return None


def _objects(text: str) -> list[tuple[int, int]]:
    """The spans of the outermost JSON objects in ``text``; a text with very many openings is no answer."""
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


def _vote(span: tuple[int, int], answer: ModelAnswer, asked: Asked) -> Vote | None:
    """The vote at ``span`` of the answer's text, if there is one."""
    data = parsed((answer.text or "")[slice(*span)], _LIMITS)
    labels = asked.labels
    expected = {*labels.values(), STEPS_KEY} if asked.tools else set(labels.values())
    if not isinstance(data, dict) or data.keys() != expected:
        return None
    votes: dict[str, bool] = {}
    certainties: dict[str, int] = {}
    for name, label in labels.items():
        value = data[label]
        if asked.stated:
            if not isinstance(value, dict) or value.keys() != {"exercised", "certainty"}:
                return None
            certainty = _percent(value["certainty"])
            if certainty is None:
                return None
            certainties[name] = certainty
            value = value["exercised"]
        if not isinstance(value, bool):
            return None
        votes[name] = value
    steps = _steps(data[STEPS_KEY], asked.tool_ids) if asked.tools else ()
    if steps is None or _are_shares([*certainties.values(), *(certainty for _, certainty in steps)]):
        return None
    probabilities, basis = _probabilities(votes, certainties, _measured(answer, span, labels))
    names = asked.capabilities
    sample = Sample(
        votes={name: votes[name] for name in names},
        probabilities={name: probabilities[name] for name in names},
        basis=basis,
    )
    return Vote(sample, votes[asked.canary], _calls(steps) if asked.tools else None)


def _percent(value: object) -> int | None:
    """A certainty in percent; ``None`` unless it is a whole number from 0 to 100 (JSON has one number type: 97.0 is
    one).
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _CERTAIN:
        return None
    return int(value) if value == int(value) else None


def _are_shares(certainties: Collection[int]) -> bool:
    """Whether the greatest certainty is 1: the model means shares of 1, and integers carry no information then."""
    return max(certainties, default=0) == 1


def _of_being_right(percent: int) -> float:
    """The probability of being right, in [0.5, 1]; a certainty below 50 means no more than 50."""
    return max(percent, _TORN) / _CERTAIN


_CalledStep: TypeAlias = tuple[str | None, int]
"""The name of the tool that a part of the query calls, if any, and the certainty in percent."""


def _steps(value: object, ids: Mapping[str, str]) -> tuple[_CalledStep, ...] | None:
    """The steps in ``value``; ``None`` if one of them is invalid, or names no tool that was shown."""
    if not isinstance(value, list):
        return None
    steps: list[_CalledStep] = []
    for step in value:
        if not isinstance(step, dict) or step.keys() != {"id", "certainty"}:
            return None
        chosen, certainty = step["id"], _percent(step["certainty"])
        if certainty is None or not (chosen is None or (isinstance(chosen, str) and chosen in ids)):
            return None
        steps.append((None if chosen is None else ids[chosen], certainty))
    return tuple(steps)


def _calls(steps: Sequence[_CalledStep]) -> SampledCalls:
    """The calls of the first ``steps``, as many as were asked for.

    The parts of a query are not independent, so that the probability of any call is that of the most certain step: its
    certainty if it names a tool, one minus its certainty if it names none.
    """
    read = steps[:MOST_STEPS]
    right = [(tool, _of_being_right(certainty)) for tool, certainty in read]
    probability = max((1 - sure if tool is None else sure for tool, sure in right), default=0.0)
    return SampledCalls(probability, tuple(tool for tool, _ in read if tool is not None))


def _probabilities(
    votes: Mapping[str, bool], certainties: Mapping[str, int], measured: Mapping[str, float] | None
) -> tuple[Mapping[str, float], Basis]:
    """The probability of TRUE for each vote: measured, else by the stated certainties, else by the vote.

    All probabilities of an answer have the same basis.
    """
    if measured is not None:
        return measured, "log-probabilities"
    if certainties:
        right = {name: _of_being_right(percent) for name, percent in certainties.items()}
        return {name: right[name] if vote else 1 - right[name] for name, vote in votes.items()}, "stated"
    return {name: float(vote) for name, vote in votes.items()}, "vote"


def _measured(answer: ModelAnswer, span: tuple[int, int], labels: Mapping[str, str]) -> dict[str, float] | None:
    """The probability of the word true against false at each vote; ``None`` unless all votes have one."""
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
    """The place within ``span`` of the word true or false for ``label``."""
    found = re.compile(rf'"{re.escape(label)}"{_BEFORE_VOTE}(?=[tf])').search(text, *span)
    return None if found is None else found.end()


def _of_true(alternatives: Mapping[str, float], before: str) -> float | None:
    """P(true) / (P(true) + P(false)), where unlisted probability is shared by the two; ``None`` if neither
    is listed.
    """
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


def agree_on_calls(sampled: Sequence[SampledCalls]) -> CalledTools:
    """The consensus of the valid samples on the tools that a query calls.

    p = mean over the samples of p_s, the probability of any call in sample s. π_k(t) = the sum of p_s over the samples
    whose k-th tool is t, divided by the sum of p_s over all samples that name a tool; so the first step sums to 1, and
    a step that only some samples have to less.  A sample's weight is its probability of a call; which tool is called
    depends on the tools that samples name.
    """
    if not sampled:
        return CalledTools(0.0)
    naming = [item for item in sampled if item.tools]
    whole = fsum(item.probability for item in naming)
    steps: list[dict[str, float]] = []
    for place in range(max((len(item.tools) for item in naming), default=0)):
        named = [(item.tools[place], item.probability) for item in naming if place < len(item.tools)]
        steps.append({name: fsum(each for other, each in named if other == name) / whole for name in dict(named)})
    return CalledTools(fsum(item.probability for item in sampled) / len(sampled), tuple(steps))


def finding_of(request: InferenceRequest, votes: Sequence[Vote], faults: Counter[str], samples: int) -> Finding:
    """The consensus of the valid ``votes`` on ``request``, of ``samples`` that were wanted.

    If too few are valid it is a shortfall that names the ``faults`` of the others.
    """
    consensus = agree([vote.sample for vote in votes], request.capabilities, samples)
    if consensus is None:
        why = ", ".join(f"{fault} ({count} times)" if count > 1 else fault for fault, count in sorted(faults.items()))
        return Finding(shortfall=f"{len(votes)} of {samples} samples are valid; otherwise {why}")
    return Finding(
        consensus=consensus,
        calls=agree_on_calls([vote.calls for vote in votes if vote.calls is not None]) if request.tools else None,
        attempt=any(vote.canary for vote in votes),  # one sample that obeys the query raises every confidence
    )
