"""Chat completions as an endpoint gives them: its answers with their tokens, not yet validated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Final

from incumbent.files.documents import Data, as_list, as_mapping


class AnswerRefusedError(Exception):
    """An endpoint's answer is not accepted; says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an answer, and the log-probabilities of its alternatives, itself included."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One answer as the endpoint gave it.

    ``text``: its content, ``None`` if there is none; ``tokens`` with their log-probabilities if the endpoint gives
    them; ``fault`` says what is wrong with the answer as a whole: it was refused, filtered or cut off.
    """

    text: str | None
    tokens: tuple[Token, ...] = ()
    fault: str | None = None


NO_COMPLETION: Final = ModelAnswer(None, fault="the answer was no chat completion")
MALFORMED: Final = (ValueError, RecursionError)
"""The errors of a body that is not JSON, or that cannot be read."""

_ROUNDING: Final = 0.01
"""The most by which the log-probability of a certain token may exceed 0."""
_FAULTS: Final = {"length": "the answer was cut off", "content_filter": "a content filter stopped the answer"}


def tokens_of(completion: Mapping[str, Data]) -> tuple[int, int, int]:
    """Tokens in, cached ones of these, and out; 0 for those that the endpoint does not report."""
    usage = as_mapping(completion.get("usage"))
    cached = as_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
    found = (usage.get("prompt_tokens"), cached, usage.get("completion_tokens"))
    tokens_in, cached_in, out = (value if isinstance(value, int) and value > 0 else 0 for value in found)
    return tokens_in, cached_in, out


def answers_of(completion: Mapping[str, Data], most: int) -> tuple[ModelAnswer, ...]:
    """The answers in ``completion``, not validated, at most ``most``; an empty one where an answer is missing."""
    return tuple(map(_answer, as_list(completion.get("choices"))[:most])) or (NO_COMPLETION,)


def _answer(choice: Data) -> ModelAnswer:
    held = as_mapping(choice)
    message = held.get("message")
    if not isinstance(message, dict):
        return NO_COMPLETION
    if message.get("refusal"):
        return ModelAnswer(None, fault="the model refused")
    fault = _FAULTS.get(str(held.get("finish_reason")))
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        return NO_COMPLETION
    return ModelAnswer(text, _tokens(as_mapping(held.get("logprobs")).get("content")), fault)


def _tokens(content: Data) -> tuple[Token, ...]:
    """The tokens with their alternatives; none if they have the wrong shape."""
    found = []
    for entry in as_list(content):
        token = _listed(entry)
        alternatives = [_listed(item) for item in as_list(as_mapping(entry).get("top_logprobs"))]
        if token is None or None in alternatives:
            return ()
        found.append(Token(token[0], dict([token, *filter(None, alternatives)])))
    return tuple(found)


def _listed(item: Data) -> tuple[str, float] | None:
    """A token and its finite log-probability (a probability of 0 is not listed); ``None`` if it is invalid."""
    text, value = (as_mapping(item).get(key) for key in ("token", "logprob"))
    if not isinstance(text, str) or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return (text, float(value)) if isfinite(value) and value <= _ROUNDING else None
