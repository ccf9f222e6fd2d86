"""The edge to an OpenAI-compatible endpoint: requests out, answers in, and failures in our words.

The key comes from the environment variable that the config names, and appears in no message of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import isfinite
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from bot.classifier.language_model.answers import Answer, Token
from bot.classifier.language_model.failures import advice, is_about_the_query, is_everybodys, is_unsupported
from bot.classifier.language_model.meter import Meter
from bot.config import OpenAISettings
from bot.errors import OutsideError, UsageError

if TYPE_CHECKING:
    import openai

DEFAULT_ENDPOINT: Final = "https://api.openai.com/v1"

_NO_COMPLETION: Final = Answer(None, fault="the answer was no chat completion")
_ROUNDING: Final = 0.01
"""By how much the log-probability of what is certain may exceed 0."""

_MALFORMED: Final = (AttributeError, LookupError, TypeError, ValueError, RecursionError, OverflowError)
"""What the client, or reading what it gives, ends with for a body that is JSON of another shape, or none."""
_FAULTS: Final = {"length": "the answer was cut off", "content_filter": "a content filter stopped the answer"}


class QueryRefusedError(Exception):
    """The endpoint will not take this query, whatever is asked of it; says why."""


class QueryFailedError(Exception):
    """The endpoint failed on this query, and may not on others; ``outside`` is what to say if it does on all."""

    def __init__(self, outside: OutsideError) -> None:
        super().__init__(str(outside))
        self.outside = outside


class UnsupportedError(QueryFailedError):
    """The endpoint may not take these parameters at all; ``passing``: it may also be out of order for a moment."""

    def __init__(self, outside: OutsideError, *, passing: bool) -> None:
        super().__init__(outside)
        self.passing = passing


class Endpoint:
    """A connection to the endpoint that ``settings`` name; ``environment`` holds the key.

    Raises :class:`UsageError` at once if there is no usable key or address; nothing is sent yet.
    """

    def __init__(self, settings: OpenAISettings, environment: Mapping[str, str], meter: Meter) -> None:
        self._settings = settings
        self._meter = meter
        self._key = _key(settings, environment)
        self._host = _host(settings)
        self._client = self._connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def _connect(self) -> openai.OpenAI:
        import openai

        settings = self._settings
        http = openai.DefaultHttpxClient(event_hooks={"request": [lambda request: self._meter.sending()]})
        common: dict[str, Any] = {
            "api_key": self._key,
            "timeout": settings.timeout_seconds,
            "max_retries": settings.retries,
            "http_client": http,
        }
        if settings.endpoint is None:
            return openai.OpenAI(base_url=DEFAULT_ENDPOINT, **common)
        # What the environment says of an account with the provider is no business of another host.
        common["default_headers"] = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
        if settings.api_version is not None:
            return openai.AzureOpenAI(azure_endpoint=settings.endpoint, api_version=settings.api_version, **common)
        return openai.OpenAI(base_url=settings.endpoint, **common)

    def complete(self, parameters: Mapping[str, Any], *, retry: bool = True) -> Sequence[Answer]:
        """The answers to one request, none of them checked.

        Raises :class:`QueryRefusedError`, :class:`QueryFailedError` when the endpoint cannot be reached or fails after
        the retries, :class:`OutsideError` when it would fail on every query, and
        :class:`bot.errors.IncompleteError` when a budget is used up.
        """
        import openai

        left = self._meter.check()
        retries = min(self._settings.retries, left - 1) if retry else 0
        create: Any = self._client.with_options(max_retries=retries).chat.completions.create
        try:
            completion = create(model=self._settings.model, temperature=self._settings.temperature, **parameters)
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
        except _MALFORMED:
            # The client does not check what it received: a body of another shape is an answer that does not parse.
            return (_NO_COMPLETION,)
        self._meter.received(*_counted(completion))
        try:
            return tuple(_answer(choice) for choice in completion.choices) or (_NO_COMPLETION,)
        except _MALFORMED:
            return (_NO_COMPLETION,)


def _key(settings: OpenAISettings, environment: Mapping[str, str]) -> str:
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


def _host(settings: OpenAISettings) -> str:
    """Which host the endpoint is on; its URL may hold more than messages should repeat."""
    if settings.api_version is not None and settings.endpoint is None:
        raise UsageError("classifier.openai.api_version goes with an endpoint: the resource's URL on Azure")
    with suppress(ValueError):
        parts = urlsplit(settings.endpoint or DEFAULT_ENDPOINT)
        if parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0):
            return parts.hostname
    raise UsageError("classifier.openai.endpoint is no URL; write it like http://localhost:8080/v1")


def _counted(completion: Any) -> tuple[int, int, int]:
    """Tokens in, those of them cached, and out; 0 for what the endpoint does not say."""
    usage = getattr(completion, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    found = (
        getattr(usage, "prompt_tokens", None),
        getattr(details, "cached_tokens", None),
        getattr(usage, "completion_tokens", None),
    )
    tokens_in, cached, out = (value if isinstance(value, int) and value > 0 else 0 for value in found)
    return tokens_in, cached, out


def _answer(choice: Any) -> Answer:
    message = choice.message
    if getattr(message, "refusal", None):
        return Answer(None, fault="the model refused")
    fault = _FAULTS.get(str(choice.finish_reason))
    text = message.content
    if text is not None and not isinstance(text, str):
        return _NO_COMPLETION
    return Answer(text, _tokens(getattr(choice, "logprobs", None)), fault)


def _tokens(logprobs: Any) -> tuple[Token, ...]:
    """The tokens with their alternatives; none where they have another shape than they should."""
    content = getattr(logprobs, "content", None)
    if not isinstance(content, list):
        return ()
    found = []
    for token in content:
        listed = [token, *(getattr(token, "top_logprobs", None) or ())]
        alternatives = {item.token: float(item.logprob) for item in listed if _is_listed(item)}
        if not _is_listed(token) or len(alternatives) < len({getattr(item, "token", None) for item in listed}):
            return ()
        found.append(Token(token.token, alternatives))
    return tuple(found)


def _is_listed(item: Any) -> bool:
    """Whether ``item`` is a token with a log-probability, which is finite (a probability of 0 is not listed)."""
    value = getattr(item, "logprob", None)
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value <= _ROUNDING
    return number and isinstance(getattr(item, "token", None), str)
