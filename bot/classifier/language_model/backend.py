"""The ``openai`` backend: one prompt per query for all capabilities, several queries at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bot.classifier.language_model.answers import Vote, finding_of, read_answer
from bot.classifier.language_model.budget import Meter
from bot.classifier.language_model.concurrency import EndpointHealth, Outcome, fly
from bot.classifier.language_model.endpoint import Endpoint, QueryFailedError, QueryRefusedError, UnsupportedError
from bot.classifier.language_model.endpoint_features import LEAST, Abilities
from bot.classifier.language_model.features_cache import RememberedAbilities
from bot.classifier.language_model.probing import probed, still_answers
from bot.classifier.language_model.prompts import DRAWS, NAMELESS, Prompts, draws_of
from bot.classifier.model import Finding, Identity, InferenceRequest
from bot.classifier.usage import Usage
from bot.config import OpenAISettings
from bot.taxonomy.model import Taxonomy
from bot.text.personal_data.detector import Detector


class LanguageModelBackend:
    """A language model behind an OpenAI-compatible endpoint; ``environment`` contains the key.

    ``memory`` stores the abilities of the endpoint.  Nothing is connected before it is asked.
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
        self._settings = settings
        self._samples = samples
        self._environment = environment
        self._memory = memory
        self._prompts = Prompts(taxonomy, settings, detector)
        self._meter = Meter(settings.budget, settings.prices)

    @property
    def identity(self) -> Identity:
        """The model's name, the version of the prompt, and the number of samples."""
        version = self._prompts.version
        return Identity(backend="openai", model=self._settings.model, prompt=version, samples=self._samples)

    @property
    def usage(self) -> Usage:
        """The requests and tokens up to now."""
        return self._meter.usage

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        """Findings in the order in which they are made; those in flight when something fails are kept.

        Raises :class:`bot.errors.UsageError` if there is no usable key, endpoint or room for a query, and
        :class:`bot.errors.OutsideError` or :class:`bot.errors.IncompleteError` after the findings that could be made.
        """
        if not requests:
            return
        places: dict[object, list[int]] = {}
        for place, request in enumerate(requests):
            places.setdefault((request.capabilities, request.tools), []).append(place)
        first, *leaders = [group[0] for group in places.values()]
        others = [place for group in places.values() for place in group[1:]]
        for place in (first, *leaders):
            self._prompts.of(requests[place], stated=True)  # a prompt that leaves no room costs no request
        with Endpoint(self._settings, self._environment, self._meter) as endpoint:
            patience = EndpointHealth(lambda: still_answers(endpoint, LEAST, self._samples))
            # The first query of a prompt goes alone, so that the others find its constant part in the endpoint's cache.
            known = self._memory.load(self._settings, self._samples)
            abilities, outcome = self._begin(endpoint, known, requests[first])
            yield first, patience.finding_of(outcome)

            refused: list[int] = []

            def ask(place: int) -> Outcome:
                outcome = self._attempt(endpoint, abilities, requests[place])
                if isinstance(outcome, UnsupportedError):
                    refused.append(place)
                return outcome

            try:
                for group in (leaders, others):
                    yield from fly(ask, group, self._settings.in_flight, patience)
                patience.end()
            finally:
                # It may have refused a remembered ability, or only these queries.
                if refused and abilities is known and not still_answers(endpoint, abilities, self._samples):
                    self._memory.forget(self._settings, self._samples)

    def _begin(
        self, endpoint: Endpoint, known: Abilities | None, request: InferenceRequest
    ) -> tuple[Abilities, Outcome]:
        """The endpoint's abilities, and the result of the first query, which shows whether the ``known`` abilities
        apply.
        """
        if known is not None:
            outcome = self._attempt(endpoint, known, request)
            if not isinstance(outcome, UnsupportedError) or still_answers(endpoint, known, self._samples):
                return known, outcome
        abilities = probed(endpoint, self._meter, self._samples)
        self._memory.store(self._settings, self._samples, abilities)
        return abilities, self._attempt(endpoint, abilities, request)

    def _attempt(self, endpoint: Endpoint, abilities: Abilities, request: InferenceRequest) -> Outcome:
        try:
            return self._ask(endpoint, abilities, request)
        except QueryFailedError as error:
            return error

    def _ask(self, endpoint: Endpoint, abilities: Abilities, request: InferenceRequest) -> Finding:
        prompt = self._prompts.of(request, stated=not abilities.log_probabilities)
        votes: list[Vote] = []
        faults: Counter[str] = Counter()
        try:
            for draw in range(DRAWS):
                lacking = self._samples - len(votes)
                for asked in draws_of(prompt, abilities, self._settings, lacking, draw * self._samples).values():
                    for answer in endpoint.complete(asked):
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
            # Earlier samples still count, if they are enough.
            if 2 * len(votes) <= self._samples:
                raise
        return finding_of(request, votes[: self._samples], faults, self._samples)
