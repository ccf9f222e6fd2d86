"""The naive scheme, written out: one call per capability and sample, the query pasted after the instructions.

It is what the product is measured against: without defences (nothing separates the query from the instructions, the
answer is bound to no schema, nothing watches for attempts), and without economy (each call pays for its whole prompt).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any, Final, TypeAlias

from incumbent.classifier.model import CalledTools, Finding, Identity, InferenceRequest, Sample, agree
from incumbent.classifier.usage import Usage
from incumbent.errors import OutsideError, UsageError
from incumbent.intake.specification import Tool
from incumbent.taxonomy.config import OpenAISettings
from incumbent.taxonomy.model import Capability, Taxonomy

Messages: TypeAlias = list[dict[str, str]]

_SYSTEM: Final = "You are an expert in evaluating AI agents."
_CAPABILITY: Final = """\
Decide whether the query below, which a user sends to an AI agent, exercises this capability of the agent.

Capability: {name}
Description: {description}
{exemplars}
Answer in JSON: {{"exercised": true or false, "probability": 0 to 100}}. The probability says how likely it is that the
query exercises the capability.

Query:
{query}
"""
_TOOL: Final = """\
Which of these tools would an AI agent call first to serve the query below?

Tools:
{tools}

Answer in JSON: {{"tool": "NAME" or null, "probability": 0 to 100}}. The probability says how sure you are.

Query:
{query}
"""
_OBJECT: Final = re.compile(r"\{.*\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NaiveCall:
    """One call: the id of the ``capability`` it asks about (``None``: which tool would be called), and its messages."""

    capability: str | None
    messages: Messages


def naive_calls(taxonomy: Taxonomy, request: InferenceRequest, samples: int, exemplars: int) -> Iterator[NaiveCall]:
    """Every call for one query, sample by sample.

    ``exemplars`` is how many positive and how many negative exemplars of its capability a call shows.
    """
    for _ in range(samples):
        for name in request.capabilities:
            yield NaiveCall(name, capability_messages(taxonomy.by_id[name], request.turns, exemplars))
        if request.tools:
            yield NaiveCall(None, tool_messages(request.tools, request.turns))


def capability_messages(capability: Capability, turns: Sequence[str], exemplars: int) -> Messages:
    """The messages that ask about one capability."""
    shown = [
        f"Example that {verb}: {_joined(exemplar)}"
        for verb, kind in (
            ("exercises it", capability.exemplars.positive),
            ("does not", capability.exemplars.negative),
        )
        for exemplar in kind[:exemplars]
    ]
    text = _CAPABILITY.format(
        name=capability.name,
        description=capability.description.strip(),
        exemplars="".join(f"{line}\n" for line in shown),
        query=_joined(turns),
    )
    return [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": text}]


def tool_messages(tools: Sequence[Tool], turns: Sequence[str]) -> Messages:
    """The messages that ask which tool would be called."""
    listed = "\n".join(f"- {tool.name}: {tool.description}" for tool in tools)
    text = _TOOL.format(tools=listed, query=_joined(turns))
    return [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": text}]


def _joined(turns: str | Sequence[str]) -> str:
    return turns if isinstance(turns, str) else "\n".join(turns)


@dataclass(kw_only=True)
class NaiveBackend:
    """The naive scheme as an inference backend; ``usage`` is what the endpoint reports.

    What does not parse counts as FALSE with probability 0.  So does what the endpoint refuses, for its length perhaps;
    ``refused`` counts it.
    """

    taxonomy: Taxonomy
    settings: OpenAISettings
    samples: int
    environment: Mapping[str, str]
    exemplars: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)
    _client: Any = field(default=None, init=False)

    @property
    def identity(self) -> Identity:
        """Comparable with nothing but itself."""
        return Identity(backend="naive", model=self.settings.model, prompt="naive", samples=self.samples)

    def calls(self, request: InferenceRequest) -> Iterator[NaiveCall]:
        """What is asked about one query."""
        return naive_calls(self.taxonomy, request, self.samples, self.exemplars)

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        """One finding after another; raises :class:`UsageError` without a key, :class:`OutsideError` on a failure."""
        import openai

        key = self.environment.get(self.settings.key_variable, "").strip()
        if not key:
            raise UsageError(f"the environment variable {self.settings.key_variable} is not set; put the key there")
        self._client = openai.OpenAI(
            api_key=key,
            base_url=self.settings.endpoint,
            timeout=self.settings.timeout_seconds,
            max_retries=self.settings.retries,
        )
        with self._client:
            for place, request in enumerate(requests):
                try:
                    finding = self._ask(request)
                except openai.OpenAIError as error:
                    # The cause is dropped on purpose: its text may repeat headers or the key.
                    raise OutsideError(f"the endpoint failed: {type(error).__name__}; try again") from None
                yield place, finding

    def _ask(self, request: InferenceRequest) -> Finding:
        samples: list[Sample] = []
        chosen: dict[str, float] = {}
        votes: dict[str, bool] = {}
        probabilities: dict[str, float] = {}
        for call in self.calls(request):
            answer = self._answer(call.messages)
            if call.capability is None:
                name = answer.get("tool")
                if isinstance(name, str) and name in {tool.name for tool in request.tools}:
                    chosen[name] = chosen.get(name, 0.0) + _probability(answer) / self.samples
                continue
            votes[call.capability] = answer.get("exercised") is True
            probabilities[call.capability] = _probability(answer)
            if len(votes) == len(request.capabilities):
                samples.append(Sample(votes=votes, probabilities=probabilities))
                votes, probabilities = {}, {}
        called = min(1.0, sum(chosen.values()))
        steps = ({name: share / called for name, share in chosen.items()},) if called else ()
        calls = CalledTools(called, steps) if request.tools else None
        return Finding(consensus=agree(samples, request.capabilities, self.samples) or {}, calls=calls)

    def _answer(self, messages: Messages) -> Mapping[str, Any]:
        import openai

        self.usage = replace(self.usage, requests=self.usage.requests + 1)
        # Half of a surrogate pair is no text and cannot be sent; the naive author would lose it in a file.
        sent = [{**message, "content": message["content"].encode("utf-8", "replace").decode()} for message in messages]
        try:
            completion = self._client.chat.completions.create(
                model=self.settings.model, messages=sent, temperature=self.settings.temperature
            )
        except openai.BadRequestError:
            self.refused += 1
            return {}
        if completion.usage:
            self.usage = replace(
                self.usage,
                tokens_in=self.usage.tokens_in + completion.usage.prompt_tokens,
                tokens_out=self.usage.tokens_out + completion.usage.completion_tokens,
            )
        return _parsed(completion.choices[0].message.content or "")


def _parsed(text: str) -> Mapping[str, Any]:
    """The object in ``text``, whatever stands around it; empty if there is none."""
    found = _OBJECT.search(text)
    try:
        value = json.loads(found.group()) if found else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _probability(answer: Mapping[str, Any]) -> float:
    value = answer.get("probability")
    return min(100.0, max(0.0, float(value))) / 100 if isinstance(value, int | float) and not isnan(value) else 0.0
