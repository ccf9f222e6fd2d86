"""The ``openai`` backend: one prompt per query for all capabilities, several queries at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Final, TypeAlias

from incumbent.classifier.language_model.abilities import LEAST, Abilities, RememberedAbilities
from incumbent.classifier.language_model.answers import Vote, finding_of, read_answer
from incumbent.classifier.language_model.endpoint import (
    Endpoint,
    QueryFailedError,
    QueryRefusedError,
    UnsupportedError,
    probed,
    still_answers,
)
from incumbent.classifier.language_model.prompt import DRAWS, NAMELESS, Prompts, draws_of
from incumbent.classifier.model import Finding, Identity, InferenceRequest
from incumbent.classifier.usage import Meter, Usage
from incumbent.errors import IncumbentError, OutsideError
from incumbent.taxonomy.config import OpenAISettings
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.personal_data.detector import Detector

Outcome: TypeAlias = Finding | QueryFailedError
"""The finding or failure of one query."""

_IN_A_ROW: Final = 3
"""After this many failures without an answer in between, the endpoint gets a probe that is not a query."""

_AT_MOST: Final = 30
"""After this many failures on queries the endpoint counts as failing, even if it answers probes."""


class EndpointHealth:
    """Distinguishes an endpoint that fails on some queries from one that fails on all.

    ``answers`` probes whether the endpoint answers a request that is not a query.
    """

    def __init__(self, answers: Callable[[], bool]) -> None:
        self._answers = answers
        self._in_a_row = 0
        self._answered = False
        self._last: OutsideError | None = None

    def finding_of(self, outcome: Outcome) -> Finding:
        """The finding, or for a failure one without samples."""
        if isinstance(outcome, Finding):
            self._in_a_row = 0
            self._answered = True
            return outcome
        self._in_a_row += 1
        self._last = outcome.outside
        return Finding(shortfall=str(outcome.outside))

    def exhausted(self) -> OutsideError | None:
        """The error of the endpoint, if it goes on failing."""
        if self._in_a_row == 0 or self._in_a_row % _IN_A_ROW:
            return None
        return None if self._in_a_row < _AT_MOST and self._answers() else self._last

    def end(self) -> None:
        """Raise the error of the endpoint if it never gave an answer, not even to a probe."""
        if self._last is not None and not self._answered and not self._answers():
            raise self._last


def fly(
    ask: Callable[[int], Outcome], places: Sequence[int], size: int, patience: EndpointHealth
) -> Iterator[tuple[int, Finding]]:
    """The findings at ``places``, ``size`` at a time, in the order in which they are made.

    An error that ends the run is raised after the findings that were in flight.
    """
    failure: IncumbentError | None = None
    left = iter(places)
    asked: dict[Future[Outcome], int] = {}
    pool = ThreadPoolExecutor(size, thread_name_prefix="incumbent-model")
    try:
        while True:
            # Submit only as many as are read: a failing endpoint should not be asked about the rest meanwhile.
            if failure is None:
                asked |= {pool.submit(ask, place): place for place in islice(left, size - len(asked))}
            if not asked:
                break
            for future in sorted(wait(asked, return_when=FIRST_COMPLETED).done, key=asked.__getitem__):
                place = asked.pop(future)
                try:
                    yield place, patience.finding_of(future.result())
                    failure = failure or patience.exhausted()
                except IncumbentError as error:
                    failure = failure or error
    finally:
        pool.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure


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

        Raises :class:`incumbent.errors.UsageError` if there is no usable key, endpoint or room for a query, and
        :class:`incumbent.errors.OutsideError` or :class:`incumbent.errors.IncompleteError` after the findings that
        could be made.
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
