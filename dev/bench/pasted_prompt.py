"""Our prompt without its defences: the query stands in the user message as it was written, and nothing warns of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from incumbent.classifier.language_model.abilities import Abilities, RememberedAbilities
from incumbent.classifier.language_model.backend import LanguageModelBackend
from incumbent.classifier.language_model.endpoint import Endpoint
from incumbent.classifier.language_model.prompt import NAMELESS, Prompt, Prompts
from incumbent.classifier.model import Finding, Identity, InferenceRequest
from incumbent.taxonomy.config import OpenAISettings
from incumbent.taxonomy.model import Taxonomy

_WARNING: Final = "The last user message holds"
"""How the paragraph begins that says what is data, and that data instructs nobody."""


class PastedPrompts(Prompts):
    """Prompts without their defences."""

    def of(self, request: InferenceRequest, *, stated: bool) -> Prompt:
        """The prompt for ``request``, its turns as they were written."""
        prompt = super().of(request, stated=stated)
        paragraphs = prompt.system.split("\n\n")
        kept = [paragraph for paragraph in paragraphs if not paragraph.startswith(_WARNING)]
        assert len(kept) == len(paragraphs) - 1
        described = {tool.name: tool.description for tool in request.tools}
        tools = "".join(f"Tool {id}: {name} {described[name]}\n" for id, name in prompt.asked.tool_ids.items())
        # Half of a surrogate pair is no text and cannot be sent.
        said = (tools + "\n".join(request.turns)).encode("utf-8", "replace").decode()
        pasted = zip(self._examples[request.capabilities], prompt.examples, strict=True)
        examples = tuple(("\n".join(example.turns), answer) for example, (_, answer) in pasted)
        return Prompt(prompt.asked, "\n\n".join(kept), examples, said[: self._settings.prompt_bytes])


class PastedBackend(LanguageModelBackend):
    """The language model backend, its prompt undefended; no canary is looked at."""

    def __init__(
        self,
        taxonomy: Taxonomy,
        settings: OpenAISettings,
        samples: int,
        environment: Mapping[str, str],
        memory: RememberedAbilities,
    ) -> None:
        super().__init__(taxonomy, settings, samples, environment, memory)
        self._prompts = PastedPrompts(taxonomy, settings, NAMELESS)

    @property
    def identity(self) -> Identity:
        """Comparable with nothing but itself."""
        return replace(super().identity, backend="pasted", prompt="pasted")

    def _ask(self, endpoint: Endpoint, abilities: Abilities, request: InferenceRequest) -> Finding:
        return replace(super()._ask(endpoint, abilities, request), attempt=False)
