"""The ``openai`` inference backend: any OpenAI-compatible endpoint (semantics, section 2.2).

One request per query and sample.  The key comes from the environment variable that the config names, and appears in no
message of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from bot.classifier.model import Identity, Inference, InferenceRequest, Progress, Sample, ToolChoice
from bot.classifier.openai_prompt import PROMPT, agree_on_tool, answer_schema, messages, parse_answer
from bot.config import OpenAISettings
from bot.errors import OutsideError, UsageError
from bot.taxonomy.model import Taxonomy

if TYPE_CHECKING:
    import openai

DEFAULT_ENDPOINT: Final = "https://api.openai.com/v1"

_DRAWS: Final = 2
"""A sample that does not parse is drawn again once, then dropped."""

_KEY_PART: Final = 6
"""So many characters of the key in a row count as the key."""

_SCHEMA_NAME: Final = "classification"
_UNSUPPORTED_FORMAT: Final = frozenset({400, 404, 415, 422, 500, 501})
"""How endpoints answer that do not know ``json_schema``."""


class OpenAIBackend:
    """A language model behind an OpenAI-compatible endpoint; ``environment`` holds the key."""

    def __init__(
        self, taxonomy: Taxonomy, settings: OpenAISettings, samples: int, environment: Mapping[str, str]
    ) -> None:
        self._taxonomy = taxonomy
        self._settings = settings
        self._samples = samples
        self._environment = environment
        self._format: Literal["json_schema", "json_object"] = "json_schema"

    @property
    def identity(self) -> Identity:
        """The model by its name, and a digest of the prompt's template."""
        return Identity(backend="openai", model=self._settings.model, prompt=PROMPT, samples=self._samples)

    def infer(self, requests: Sequence[InferenceRequest], progress: Progress) -> tuple[Inference, ...]:
        """One answer per request, in order, with the valid samples only.

        Raises :class:`UsageError` if there is no usable key or endpoint, and :class:`OutsideError` when the endpoint
        cannot be reached, refuses, or fails after the client's retries.
        """
        key = self._key()
        host = self._host()
        import openai

        client = openai.OpenAI(
            api_key=key,
            base_url=self._settings.endpoint or DEFAULT_ENDPOINT,
            timeout=self._settings.timeout_seconds,
            max_retries=self._settings.retries,
        )
        answers: list[Inference] = []
        with client:
            for done, request in enumerate(requests, 1):
                try:
                    answers.append(self._ask(client, request))
                except openai.OpenAIError as error:
                    # The cause is dropped on purpose: its text may repeat headers or the key.
                    raise OutsideError(self._advice(error, host, key)) from None
                progress(done, len(requests))
        return tuple(answers)

    def _key(self) -> str:
        variable = self._settings.key_variable
        key = self._environment.get(variable, "").strip()
        if not key:
            raise UsageError(
                f"the environment variable {variable} is not set; put the endpoint's key there (any text, if it wants "
                "none), or set classifier.backend to `embedded` in the config, which needs no key"
            )
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"the environment variable {variable} holds characters that no key has; set it again")
        return key

    def _host(self) -> str:
        """Which host the endpoint is on; its URL may hold more than messages should repeat."""
        endpoint = self._settings.endpoint or DEFAULT_ENDPOINT
        try:
            parts = urlsplit(endpoint)
            if parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0):
                return parts.hostname
        except ValueError:
            pass
        raise UsageError("classifier.openai.endpoint is no URL; write it like http://localhost:8080/v1")

    def _ask(self, client: openai.OpenAI, request: InferenceRequest) -> Inference:
        samples: list[Sample] = []
        tools: list[ToolChoice | None] = []
        for _ in range(self._samples):
            for _ in range(_DRAWS):
                content = self._draw(client, request)
                parsed = None if content is None else parse_answer(content, request)
                if parsed is not None:
                    samples.append(parsed[0])
                    tools.append(parsed[1])
                    break
        return Inference(samples=tuple(samples), tool=agree_on_tool(tools, request))

    def _draw(self, client: openai.OpenAI, request: InferenceRequest) -> str | None:
        """The text of one answer; ``None`` for an answer without text, such as a refusal."""
        import openai

        if self._format == "json_schema":
            try:
                return self._complete(client, request, "json_schema")
            except openai.APIStatusError as error:
                if error.status_code not in _UNSUPPORTED_FORMAT:
                    raise
            content = self._complete(client, request, "json_object")
            self._format = "json_object"
            return content
        return self._complete(client, request, "json_object")

    def _complete(
        self, client: openai.OpenAI, request: InferenceRequest, kind: Literal["json_schema", "json_object"]
    ) -> str | None:
        response_format: dict[str, Any] = {"type": kind}
        if kind == "json_schema":
            schema = answer_schema(request)
            response_format["json_schema"] = {"name": _SCHEMA_NAME, "strict": True, "schema": schema}
        create: Any = client.chat.completions.create
        asked = messages(self._taxonomy, request)
        try:
            completion = create(
                model=self._settings.model,
                messages=asked,
                temperature=self._settings.temperature,
                response_format=response_format,
            )
            content = completion.choices[0].message.content
        except (AttributeError, LookupError, TypeError, ValueError):
            # The client does not check what it received: a body of another shape is an answer that does not parse.
            return None
        return content if isinstance(content, str) else None

    def _advice(self, error: openai.OpenAIError, host: str, key: str) -> str:
        """What went wrong and what to do, without the key."""
        import openai

        settings = self._settings
        tries = f"also after {settings.retries} retries" if settings.retries else "and retries are off"
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
                "or raise classifier.openai.retries"
            )
        if status >= 500:
            return f"{host} failed (HTTP {status}), {tries}; try later"
        return f"{host} refused the request (HTTP {status}){_quoted(error, key)}; check classifier.openai"


def _quoted(error: openai.APIStatusError, key: str) -> str:
    """The endpoint's own words, unless they may hold a part of the key."""
    message = error.message.removeprefix(f"Error code: {error.status_code} - ")
    text = " ".join("".join(character if character.isprintable() else " " for character in message).split())[:200]
    parts = {key[start : start + _KEY_PART] for start in range(max(1, len(key) - _KEY_PART + 1))}
    return "" if not text or any(part in text for part in parts) else f": {text}"
