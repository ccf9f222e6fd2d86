"""The ``openai`` backend: each query asked in one prompt for all capabilities, several queries at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.classifier.consistency import agree
from bot.classifier.language_model.abilities import LEAST, Abilities, Draw, find_out, parameters, probe, shows
from bot.classifier.language_model.answers import Answer, Vote, agree_on_calls, read_answer
from bot.classifier.language_model.endpoint import Endpoint, QueryFailedError, QueryRefusedError, UnsupportedError
from bot.classifier.language_model.examples import Example, worked_examples
from bot.classifier.language_model.flight import Outcome, Patience, fly
from bot.classifier.language_model.meter import Meter
from bot.classifier.language_model.prompt import PROMPT, Prompt, answer_schema, compose
from bot.classifier.language_model.remembered import RememberedAbilities
from bot.classifier.model import Finding, Identity, InferenceRequest
from bot.classifier.usage import Usage
from bot.config import OpenAISettings
from bot.errors import OutsideError
from bot.masking import masked_with
from bot.personal_data.detector import Detector
from bot.taxonomy.model import Taxonomy

_DRAWS: Final = 2
"""A sample that does not parse is drawn again once, then dropped (semantics, section 2.2)."""

NAMELESS: Final = Detector()
"""Finds personal data, names apart.  No value is allowed: what a config allows may change, and the prompt may not."""


class LanguageModelBackend:
    """A language model behind an OpenAI-compatible endpoint; ``environment`` holds the key.

    ``memory`` keeps what the endpoint can do.  Nothing is connected before it is asked.
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        settings: OpenAISettings,
        samples: int,
        environment: Mapping[str, str],
        memory: RememberedAbilities,
        detector: Detector = NAMELESS,
    ) -> None:
        self._taxonomy = taxonomy
        self._settings = settings
        self._samples = samples
        self._environment = environment
        self._memory = memory
        self._detector = detector
        self._meter = Meter(settings.budget, settings.prices)
        self._examples: dict[tuple[str, ...], tuple[Example, ...]] = {}

    @property
    def identity(self) -> Identity:
        """The model by its name, a digest of the prompt's words, how often examples show a capability, and whether
        names of people are masked.
        """
        prompt = f"{PROMPT}-{self._settings.examples}{'-names' if self._detector.names else ''}"
        return Identity(backend="openai", model=self._settings.model, prompt=prompt, samples=self._samples)

    @property
    def usage(self) -> Usage:
        """What has been asked so far."""
        return self._meter.usage

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        """Findings in the order in which they are made; those in flight when something fails are kept.

        Raises :class:`bot.errors.UsageError` if there is no usable key, endpoint or room for a query, and
        :class:`bot.errors.OutsideError` or :class:`bot.errors.IncompleteError` after what could be found.
        """
        if not requests:
            return
        places: dict[object, list[int]] = {}
        for place, request in enumerate(requests):
            places.setdefault((request.capabilities, request.tools), []).append(place)
        first, *leaders = [group[0] for group in places.values()]
        others = [place for group in places.values() for place in group[1:]]
        for place in (first, *leaders):
            self._prompt(requests[place], stated=True)  # a prompt that leaves no room costs no request
        with Endpoint(self._settings, self._environment, self._meter) as endpoint:
            patience = Patience(lambda: self._answers(endpoint))
            # The first query of a prompt goes alone, so that the others find its unchanging part in the cache.
            abilities, outcome = self._begin(endpoint, requests[first])
            yield first, patience.hear(outcome)

            def ask(place: int) -> Outcome:
                return self._attempt(endpoint, abilities, requests[place])

            for group in (leaders, others):
                yield from fly(ask, group, self._settings.in_flight, patience)
            patience.end()

    def _begin(self, endpoint: Endpoint, request: InferenceRequest) -> tuple[Abilities, Outcome]:
        """What the endpoint can do, and what became of the first query: it shows whether what is remembered holds."""
        known = self._memory.load(self._settings, self._samples)
        if known is not None:
            outcome = self._attempt(endpoint, known, request)
            if not isinstance(outcome, UnsupportedError) or self._answers(endpoint, known):
                return known, outcome
        abilities = self._probe(endpoint)
        self._memory.store(self._settings, self._samples, abilities)
        return abilities, self._attempt(endpoint, abilities, request)

    def _attempt(self, endpoint: Endpoint, abilities: Abilities, request: InferenceRequest) -> Outcome:
        try:
            return self._ask(endpoint, abilities, request)
        except QueryFailedError as error:
            return error

    def _answers(self, endpoint: Endpoint, abilities: Abilities = LEAST) -> bool:
        """Whether ``endpoint`` answers what is no query, and still can do what it could."""
        try:
            return shows(endpoint.complete(probe(abilities, self._samples), retry=False), abilities, self._samples)
        except (QueryFailedError, QueryRefusedError):
            return False

    def _probe(self, endpoint: Endpoint) -> Abilities:
        def ask(asked: dict[str, Any], final: bool) -> Sequence[Answer] | None:
            try:
                try:
                    return endpoint.complete(asked, retry=False)
                except UnsupportedError as error:
                    return ask(asked, False) if final and error.passing else None
                except (QueryFailedError, OutsideError):
                    return endpoint.complete(asked)  # a server that is away may come back
            except (UnsupportedError, QueryRefusedError):
                return None
            except QueryFailedError as error:
                raise error.outside from None

        def demand(asked: dict[str, Any]) -> Sequence[Answer]:
            try:
                return endpoint.complete(asked)
            except QueryFailedError as error:
                raise error.outside from None
            except QueryRefusedError:
                return ()

        self._meter.probe(True)
        try:
            return find_out(ask, demand, self._samples)
        finally:
            self._meter.probe(False)

    def _prompt(self, request: InferenceRequest, *, stated: bool) -> Prompt:
        sent = _without_personal_data(request, self._detector)
        names = request.capabilities
        if names not in self._examples:
            self._examples[names] = worked_examples(self._taxonomy, names, self._settings.examples)
        size = self._settings.prompt_bytes
        prompt = compose(self._taxonomy, sent, self._examples[names], stated=stated, size=size)
        # The answer names tools by number; who reads it knows them by their own names.
        own = {masked.name: tool.name for masked, tool in zip(sent.tools, request.tools, strict=True)}
        return replace(prompt, asked=replace(prompt.asked, tools=tuple(map(own.__getitem__, prompt.asked.tools))))

    def _ask(self, endpoint: Endpoint, abilities: Abilities, request: InferenceRequest) -> Finding:
        prompt = self._prompt(request, stated=not abilities.log_probabilities)
        votes: list[Vote] = []
        faults: Counter[str] = Counter()
        try:
            for draw in range(_DRAWS):
                lacking = self._samples - len(votes)
                for answer in self._draw(endpoint, abilities, prompt, lacking, draw * self._samples):
                    vote = read_answer(answer, prompt.asked, embedded_in_prose=abilities.format == "plain")
                    if isinstance(vote, str):
                        faults[vote] += 1
                    else:
                        votes.append(vote)
                if len(votes) >= self._samples:
                    break
        except QueryRefusedError as error:
            faults[str(error)] += 1
        except QueryFailedError:
            # Samples that came before are worth what they are, if they are enough.
            if 2 * len(votes) <= self._samples:
                raise
        return self._finding(request, prompt, votes[: self._samples], faults)

    def _draw(
        self, endpoint: Endpoint, abilities: Abilities, prompt: Prompt, samples: int, drawn: int
    ) -> Iterator[Answer]:
        """``samples`` answers, in one request where the endpoint can; ``drawn`` were asked for before."""
        requests = 1 if abilities.several else samples
        for number in range(requests):
            draw = Draw(
                messages=prompt.messages,
                schema=answer_schema(prompt.asked),
                samples=samples if abilities.several else 1,
                seed=self._settings.seed + drawn + number,
                tokens=self._settings.answer_tokens,
            )
            yield from endpoint.complete(parameters(draw, abilities))

    def _finding(
        self, request: InferenceRequest, prompt: Prompt, votes: Sequence[Vote], faults: Counter[str]
    ) -> Finding:
        consensus = agree([vote.sample for vote in votes], request.capabilities, self._samples)
        if consensus is None:
            why = ", ".join(
                f"{fault} ({count} times)" if count > 1 else fault for fault, count in sorted(faults.items())
            )
            return Finding(shortfall=f"{len(votes)} of {self._samples} samples are valid; otherwise {why}")
        return Finding(
            consensus=consensus,
            calls=agree_on_calls([vote.calls for vote in votes if vote.calls is not None]) if request.tools else None,
            attempt=any(vote.canary for vote in votes),  # one sample that obeys raises every confidence
        )


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
