"""A chat completion as the protocol words it, read into answers (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Final

from bot.classifier.language_model.answers import ModelAnswer, Token
from bot.files.documents import Data, as_list, as_mapping

NO_COMPLETION: Final = ModelAnswer(None, fault="the answer was no chat completion")
MALFORMED: Final = (ValueError, RecursionError)
"""What reading a body ends with that is no JSON, or none that can be read."""

_ROUNDING: Final = 0.01
"""By how much the log-probability of what is certain may exceed 0."""
_FAULTS: Final = {"length": "the answer was cut off", "content_filter": "a content filter stopped the answer"}


def tokens_of(completion: Mapping[str, Data]) -> tuple[int, int, int]:
    """Tokens in, those of them cached, and out; 0 for what the endpoint does not say."""
    usage = as_mapping(completion.get("usage"))
    cached = as_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
    found = (usage.get("prompt_tokens"), cached, usage.get("completion_tokens"))
    tokens_in, cached_in, out = (value if isinstance(value, int) and value > 0 else 0 for value in found)
    return tokens_in, cached_in, out


def answers_of(completion: Mapping[str, Data], most: int) -> tuple[ModelAnswer, ...]:
    """The answers in ``completion``, none of them checked, and ``most`` at most; one that is none where it has none."""
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
    """The tokens with their alternatives; none where they have another shape than they should."""
    found = []
    for told in as_list(content):
        token = _listed(told)
        alternatives = [_listed(item) for item in as_list(as_mapping(told).get("top_logprobs"))]
        if token is None or None in alternatives:
            return ()
        found.append(Token(token[0], dict([token, *filter(None, alternatives)])))
    return tuple(found)


def _listed(item: Data) -> tuple[str, float] | None:
    """A token and its log-probability, which is finite (a probability of 0 is not listed); ``None`` if it is none."""
    text, value = (as_mapping(item).get(key) for key in ("token", "logprob"))
    if not isinstance(text, str) or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return (text, float(value)) if isfinite(value) and value <= _ROUNDING else None
