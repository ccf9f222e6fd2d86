"""The meaning of an endpoint's refusals and failures, in our words and without the key."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from bot.config import OpenAISettings

if TYPE_CHECKING:
    import openai

_KEY_PART: Final = 6
"""This many characters of the key in a row count as the key."""

UNSUPPORTED: Final = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses for an unknown parameter, or an unknown value of one."""

_FILTERED: Final = frozenset(
    {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "data_inspection_failed"}
)
_MODERATED_WORDS: Final = ("moderation", "flagged")
_TOO_LONG: Final = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_TOO_LARGE: Final = frozenset({"tokens_limit_reached"})
_TOO_LONG_WORDS: Final = ("maximum context length", "context size", "context window", "too many tokens", "too long")
_EVERYBODYS: Final = frozenset({401, 403, 404, 429})
"""Statuses about key, address and quota, and redirects: every other query would fail, too."""


class AnswerRefusedError(Exception):
    """An endpoint's answer is not accepted; says why, and what to do."""


def is_unsupported(error: openai.OpenAIError) -> bool:
    """Whether the endpoint may not support the request, rather than being out of order."""
    import openai

    return isinstance(error, openai.APIStatusError) and error.status_code in UNSUPPORTED


def is_everybodys(error: openai.OpenAIError) -> bool:
    """Whether every other query would fail, too; otherwise only this query may be affected, if others pass."""
    import openai

    return isinstance(error, openai.APIStatusError) and (error.status_code in _EVERYBODYS or _redirects(error))


def is_about_the_query(error: openai.OpenAIError) -> str | None:
    """Why the endpoint refuses this query from anyone; ``None`` if something else is wrong."""
    import openai

    if not isinstance(error, openai.APIStatusError):
        return None
    return refusal_of(error.status_code, {str(name) for name in (error.code, error.type) if name}, error.message)


def refusal_of(status: int, names: Collection[str], message: str) -> str | None:
    """Why the endpoint refuses a query from anyone, by the status, codes and message of its answer; or ``None``.

    Statuses that are not about the query are no such reason.
    """
    said = message.casefold()
    moderated = status == 403 and any(words in said for words in _MODERATED_WORDS)
    if _FILTERED & set(names) or moderated:
        return "the endpoint's content filter refused the query"
    explanation = said if status in (400, 422) else ""
    if (_TOO_LONG | _TOO_LARGE) & set(names) or status == 413 or any(words in explanation for words in _TOO_LONG_WORDS):
        return "the prompt is too long for the model; lower classifier.openai.prompt_bytes"
    return None


def advice(error: openai.OpenAIError, settings: OpenAISettings, host: str, key: str, retries: int) -> str:
    """What went wrong and what to do, without the key."""
    import openai

    tries = f"also after {retries} retries" if retries else "and nothing was tried again"
    if isinstance(error, openai.APITimeoutError):
        return (
            f"{host} did not answer within {settings.timeout_seconds:g} s, {tries}; "
            "try later, or raise classifier.openai.timeout_seconds"
        )
    if not isinstance(error, openai.APIStatusError):
        return (
            f"{host} cannot be reached or is no OpenAI-compatible endpoint, {tries}; "
            "check the network and classifier.openai.endpoint"
        )
    status = error.status_code
    if status in (401, 403):
        return (
            f"{host} refuses the key (HTTP {status}); put a valid key for the model {settings.model} into the "
            f"environment variable {settings.key_variable}"
        )
    if status == 404:
        return (
            f"{host} knows no such path or model (HTTP 404); check classifier.openai.endpoint and "
            f"classifier.openai.model ({settings.model})"
        )
    if status == 429:
        return (
            f"{host} limits the rate or the budget (HTTP 429), {tries}; try later, check the account's quota, "
            "lower classifier.openai.in_flight, or raise classifier.openai.retries"
        )
    if _redirects(error):
        return (
            f"{host} sends requests on to another address (HTTP {status}), and queries go to no other; write the "
            "address that answers as classifier.openai.endpoint"
        )
    if status >= 500:
        return f"{host} failed (HTTP {status}), {tries}; try later"
    return f"{host} refused the request (HTTP {status}){_quoted(error, key)}; check classifier.openai"


def _redirects(error: openai.APIStatusError) -> bool:
    return 300 <= error.status_code < 400


def _quoted(error: openai.APIStatusError, key: str) -> str:
    """The endpoint's own words, unless they may contain a part of the key."""
    message = error.message.removeprefix(f"Error code: {error.status_code}").lstrip(" -")
    text = " ".join("".join(character if character.isprintable() else " " for character in message).split())[:200]
    parts = {key[start : start + _KEY_PART] for start in range(max(1, len(key) - _KEY_PART + 1))}
    return "" if not text or any(part in text for part in parts) else f": {text}"
