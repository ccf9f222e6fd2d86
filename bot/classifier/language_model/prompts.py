"""Makes the prompts of one classifier: queries without personal data, and fixed worked examples per set of
questions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from bot.classifier.language_model.endpoint_features import Abilities, Draw, parameters
from bot.classifier.language_model.examples import Example, worked_examples
from bot.classifier.language_model.prompt import PROMPT, Prompt, answer_schema, compose
from bot.classifier.model import InferenceRequest
from bot.config import OpenAISettings
from bot.taxonomy.model import Taxonomy
from bot.text.masking import masked_with
from bot.text.personal_data.detector import Detector

NAMELESS: Final = Detector()
"""Finds personal data, except names. It allows no exceptions: those of a config may change, and the prompt may not."""


DRAWS: Final = 2
"""A sample that does not parse is drawn again once, then dropped (semantics, section 2.2)."""


class Prompts:
    """The prompts under ``settings``; ``detector`` finds what is masked first."""

    def __init__(self, taxonomy: Taxonomy, settings: OpenAISettings, detector: Detector) -> None:
        self._taxonomy = taxonomy
        self._settings = settings
        self._detector = detector
        self._examples: dict[tuple[str, ...], tuple[Example, ...]] = {}

    @property
    def version(self) -> str:
        """A digest of the prompt's words, how often examples show a capability, and whether names are masked."""
        return f"{PROMPT}-{self._settings.examples}{'-names' if self._detector.names else ''}"

    def of(self, request: InferenceRequest, *, stated: bool) -> Prompt:
        """The prompt for ``request``; ``stated``: with a certainty for every vote.

        Raises :class:`bot.errors.UsageError` if it leaves no room for a query.
        """
        sent = _without_personal_data(request, self._detector)
        names = request.capabilities
        if names not in self._examples:
            self._examples[names] = worked_examples(self._taxonomy, names, self._settings.examples)
        size = self._settings.prompt_bytes
        prompt = compose(self._taxonomy, sent, self._examples[names], stated=stated, size=size)
        # The answer names tools by number; the caller knows them by their own names.
        own = {masked.name: tool.name for masked, tool in zip(sent.tools, request.tools, strict=True)}
        return replace(prompt, asked=replace(prompt.asked, tools=tuple(map(own.__getitem__, prompt.asked.tools))))


def draws_of(
    prompt: Prompt, abilities: Abilities, settings: OpenAISettings, samples: int, drawn: int
) -> dict[int, dict[str, Any]]:
    """The parameters of the requests for ``samples`` answers: a single request if the endpoint supports that.

    By the number of their first sample: ``drawn`` were requested before, and each request has its own seed.
    """
    schema = answer_schema(prompt.asked)
    each = samples if abilities.several else 1
    return {
        number: parameters(
            Draw(
                messages=prompt.messages,
                schema=schema,
                samples=each,
                seed=settings.seed + number,
                tokens=settings.answer_tokens,
            ),
            abilities,
        )
        for number in range(drawn, drawn + (1 if abilities.several else samples))
    }


def _without_personal_data(request: InferenceRequest, detector: Detector) -> InferenceRequest:
    """``request`` as it is sent to the provider."""
    names, descriptions = (
        masked_with(detector, texts)
        for texts in ([tool.name for tool in request.tools], [tool.description for tool in request.tools])
    )
    return replace(
        request,
        turns=tuple(masked_with(detector, request.turns)),
        tools=tuple(
            replace(tool, name=name, description=description)
            for tool, name, description in zip(request.tools, names, descriptions, strict=True)
        ),
    )
