"""The client of an OpenAI-compatible endpoint: requests out, answers in, and failures in our words.

The key comes from the environment variable that the config names, and appears in none of our messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from incumbent.classifier.language_model.abilities import DEFAULT_ENDPOINT, Abilities, find_out, probe, shows
from incumbent.classifier.language_model.completions import (
    MALFORMED,
    NO_COMPLETION,
    AnswerRefusedError,
    ModelAnswer,
    answers_of,
    tokens_of,
)
from incumbent.classifier.usage import Meter
from incumbent.errors import OutsideError, UsageError
from incumbent.extras import require_extra
from incumbent.files.documents import as_mapping
from incumbent.taxonomy.config import OpenAISettings

if TYPE_CHECKING:
    import openai


class QueryRefusedError(Exception):
    """The endpoint refuses this query, whatever is asked about it; says why."""


class QueryFailedError(Exception):
    """The endpoint failed on this query, but may not on others; ``outside`` is the error to raise if it
    fails on all.
    """

    def __init__(self, outside: OutsideError) -> None:
        super().__init__(str(outside))
        self.outside = outside


class UnsupportedError(QueryFailedError):
    """The endpoint may not support these parameters; ``passing``: it may also be out of order for a moment."""

    def __init__(self, outside: OutsideError, *, passing: bool) -> None:
        super().__init__(outside)
        self.passing = passing


class Endpoint:
    """A connection to the endpoint in ``settings``; ``environment`` contains the key.

    Raises :class:`UsageError` at once if there is no usable key or address; nothing is sent yet.
    """

    def __init__(self, settings: OpenAISettings, environment: Mapping[str, str], meter: Meter) -> None:
        self._settings = settings
        self._meter = meter
        self._key = key_of(settings, environment)
        self._host = host_of(settings)
        self._client = connect(settings, self._key, settings.timeout_seconds, settings.response_bytes, meter.sending)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def complete(self, parameters: Mapping[str, Any], *, retry: bool = True) -> Sequence[ModelAnswer]:
        """The answers to one request, not validated, and no more than it asked for.

        Raises :class:`QueryRefusedError`, :class:`QueryFailedError` if the endpoint cannot be reached or fails after
        the retries, :class:`OutsideError` if it would fail on every query, and
        :class:`incumbent.errors.IncompleteError` when a budget is used up.
        """
        import openai

        left = self._meter.check()
        retries = min(self._settings.retries, left - 1) if retry else 0
        create: Any = self._client.with_options(max_retries=retries).chat.completions.with_raw_response.create
        try:
            raw = create(model=self._settings.model, temperature=self._settings.temperature, **parameters)
        except AnswerRefusedError as error:
            raise QueryFailedError(OutsideError(f"what {self._host} sends is not taken: {error}")) from None
        except openai.OpenAIError as error:
            reason = is_about_the_query(error)
            # Causes are dropped on purpose: their texts may repeat headers or the key.
            if reason is not None:
                raise QueryRefusedError(reason) from None
            outside = OutsideError(advice(error, self._settings, self._host, self._key, retries))
            if is_everybodys(error):
                raise outside from None
            if is_unsupported(error):
                raise UnsupportedError(outside, passing=isinstance(error, openai.InternalServerError)) from None
            raise QueryFailedError(outside) from None
        try:
            completion = as_mapping(json.loads(raw.http_response.content))
        except MALFORMED:
            return (NO_COMPLETION,)
        self._meter.received(*tokens_of(completion))
        return answers_of(completion, parameters.get("n", 1))


def connect(
    settings: OpenAISettings, key: str, seconds: float, most: int, sending: Callable[[], None]
) -> openai.OpenAI:
    """A client of the endpoint in ``settings``, whose requests each end after ``seconds``.

    An answer has ``most`` bytes at most; ``sending`` is called before each request.
    """
    require_extra("llm", "a language model")
    import openai

    from incumbent.classifier.language_model.bounded_client import BoundedClient

    common: dict[str, Any] = {
        "api_key": key,
        "timeout": seconds,
        "max_retries": settings.retries,
        "http_client": BoundedClient(seconds, most, sending),
    }
    if settings.endpoint is None:
        return openai.OpenAI(base_url=DEFAULT_ENDPOINT, **common)
    # Account data in the environment must not be sent to another host.
    common["default_headers"] = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
    if settings.api_version is not None:
        return openai.AzureOpenAI(azure_endpoint=settings.endpoint, api_version=settings.api_version, **common)
    return openai.OpenAI(base_url=settings.endpoint, **common)


def key_of(settings: OpenAISettings, environment: Mapping[str, str]) -> str:
    """The key of the endpoint; raises :class:`UsageError` if there is no usable one."""
    variable = settings.key_variable
    key = environment.get(variable, "").strip()
    if not key:
        raise UsageError(
            f"the environment variable {variable} is not set; put the endpoint's key there (any text, if it wants "
            "none), or set classifier.backend to `embedded` in the config, which needs no key"
        )
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"the environment variable {variable} holds characters that no key has; set it again")
    return key


def host_of(settings: OpenAISettings) -> str:
    """The host of the endpoint; its URL may contain more than messages should repeat."""
    if settings.api_version is not None and settings.endpoint is None:
        raise UsageError("classifier.openai.api_version goes with an endpoint: the resource's URL on Azure")
    with suppress(ValueError):
        parts = urlsplit(settings.endpoint or DEFAULT_ENDPOINT)
        if parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0):
            return parts.hostname
    raise UsageError("classifier.openai.endpoint is no URL; write it like http://localhost:8080/v1")


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


def still_answers(endpoint: Endpoint, abilities: Abilities, samples: int) -> bool:
    """Whether ``endpoint`` answers a probe, with these ``abilities``."""
    try:
        return shows(endpoint.complete(probe(abilities, samples), retry=False), abilities, samples)
    except (QueryFailedError, QueryRefusedError):
        return False


def probed(endpoint: Endpoint, meter: Meter, samples: int) -> Abilities:
    """The abilities of ``endpoint``; raises :class:`OutsideError` if it cannot be reached."""

    def ask(asked: dict[str, Any], final: bool) -> Sequence[ModelAnswer] | None:
        try:
            try:
                return endpoint.complete(asked, retry=False)
            except UnsupportedError as error:
                return ask(asked, False) if final and error.passing else None
            except (QueryFailedError, OutsideError):
                return endpoint.complete(asked)  # an unreachable server may come back
        except (UnsupportedError, QueryRefusedError):
            return None
        except QueryFailedError as error:
            raise error.outside from None

    def demand(asked: dict[str, Any]) -> Sequence[ModelAnswer]:
        try:
            return endpoint.complete(asked)
        except QueryFailedError as error:
            raise error.outside from None
        except QueryRefusedError:
            return ()

    meter.probe(True)
    try:
        return find_out(ask, demand, samples)
    finally:
        meter.probe(False)
