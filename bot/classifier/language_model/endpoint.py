"""The client of an OpenAI-compatible endpoint: requests out, answers in, and failures in our words.

The key comes from the environment variable that the config names, and appears in none of our messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from bot.classifier.language_model.answers import ModelAnswer
from bot.classifier.language_model.budget import Meter
from bot.classifier.language_model.completions import MALFORMED, NO_COMPLETION, answers_of, tokens_of
from bot.classifier.language_model.endpoint_features import DEFAULT_ENDPOINT
from bot.classifier.language_model.failures import (
    AnswerRefusedError,
    advice,
    is_about_the_query,
    is_everybodys,
    is_unsupported,
)
from bot.config import OpenAISettings
from bot.errors import OutsideError, UsageError
from bot.files.documents import as_mapping

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
        the retries, :class:`OutsideError` if it would fail on every query, and :class:`bot.errors.IncompleteError` when
        a budget is used up.
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
    import openai

    from bot.classifier.language_model.bounded_client import BoundedClient

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
