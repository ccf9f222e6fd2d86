"""The embedded backend behind the interface of inference backends."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from incumbent.classifier.embedded.cache import Arrays, ModelCache
from incumbent.classifier.embedded.embedding import E5Embedder, Embedder, RememberingEmbedder
from incumbent.classifier.embedded.features import KnownRow
from incumbent.classifier.embedded.model import (
    METHOD,
    FittedModel,
    from_arrays,
    held_out,
    kind_of,
    model_digest,
    model_key,
    rows_by_text,
    to_arrays,
)
from incumbent.classifier.embedded.recorded import RecordedModels
from incumbent.classifier.embedded.tools import ToolIndex
from incumbent.classifier.exemplars import Bar, HeldOutExemplars, model_capabilities
from incumbent.classifier.model import (
    CalledTools,
    Consensus,
    Finding,
    Identity,
    InferenceRequest,
    Stages,
    consensus_of,
    silent,
)
from incumbent.intake.specification import Tool
from incumbent.taxonomy.config import EmbeddedSettings
from incumbent.taxonomy.model import Taxonomy

if TYPE_CHECKING:
    from incumbent.classifier.embedded.preview import Preview

SHIPPED: Final = ModelCache(Path(__file__).with_name("fitted"), shipped=True)
"""The fitted models of the shipped taxonomy (dev/fit.py)."""

_TOGETHER: Final = 32
"""How many queries are judged together: so many that the cores share their texts, so few that progress shows."""

_AGENTS: Final = 16
"""Of how many agents, those asked about last, the tools stay read."""


class EmbeddedBackend:
    """Members fitted on the taxonomy's exemplars, each giving one sample; needs no key and no network.

    The model ships with the product, or is restored from ``cache``, or fitted when it is first asked for.  ``samples``
    is the number of members; ``embedder`` is the one that ``settings`` name; ``stages`` shows how far the fitting is.
    With ``preview``, a quick model serves where the exemplars differ little from those of a fitted one.
    If there are ``recorded`` models, no other may stand for one of them.
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        settings: EmbeddedSettings,
        samples: int,
        cache: ModelCache,
        embedder: Embedder | None = None,
        stages: Stages = silent,
        *,
        preview: bool = False,
        recorded: RecordedModels | None = None,
    ) -> None:
        self._taxonomy = taxonomy
        self._settings = settings
        self._samples = samples
        self._cache = cache
        self._stages = stages
        self._may_preview = preview
        self._preview: str | None = None
        self._recorded = recorded
        self._embedder = None if embedder is None else RememberingEmbedder(embedder, cache)
        self.refused: Path | None = None
        """The file in the cache that is not used: cut, altered, of another version, or others could have written it."""
        self._fitting = Lock()
        self._given: Arrays | None = None
        self._index = lru_cache(maxsize=_AGENTS)(self._new_index)

    @cached_property
    def identity(self) -> Identity:
        """That of its settings and its embedder."""
        return embedded_identity(self._settings, self._samples, None if self._embedder is None else self._embedder.name)

    @property
    def usage(self) -> None:
        """It costs nothing."""

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        """The findings in order, all samples valid; a capability without exemplars is never TRUE."""
        try:
            yield from enumerate(self._findings(requests))
        finally:
            if self._embedder is not None:
                self._embedder.keep()

    def _findings(self, requests: Sequence[InferenceRequest]) -> Iterator[Finding]:
        for start in range(0, len(requests), _TOGETHER):
            together = requests[start : start + _TOGETHER]
            asked = [replace(request, capabilities=_asked(request)) for request in together]
            found = [
                {name: consensus_of(row) for name, row in probabilities.items()}
                for probabilities in self._probabilities(asked)
            ]
            texts = [request.turns for request, consensus in zip(together, found, strict=True) if consensus]
            judged = iter(self.fit().familiarity.judge_all(texts) if texts else ())
            for request, consensus, calls in zip(together, found, self._calls(together, found), strict=True):
                yield Finding(
                    consensus={name: consensus[name] for name in request.capabilities},
                    calls=calls,
                    unfamiliar=next(judged).why if consensus else None,
                )

    def _calls(
        self, requests: Sequence[InferenceRequest], found: Sequence[Mapping[str, Consensus]]
    ) -> list[CalledTools | None]:
        """The tools that each of ``requests`` calls, given what is ``found`` in its text; ``None`` without tools."""
        # By identity: hashing all that an agent declares, for each query, takes longer than most else.
        agents: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for place, request in enumerate(requests):
            if request.tools:
                agents[id(request.tools), id(request.starters)].append(place)
        calls: list[CalledTools | None] = [None] * len(requests)
        for places in agents.values():
            asked = [(requests[place].turns, _text_probability(requests[place], found[place])) for place in places]
            index = self._index(requests[places[0]].tools, requests[places[0]].starters)
            for place, each in zip(places, index.all_calls(asked), strict=True):
                calls[place] = each
        return calls

    def _new_index(self, tools: tuple[Tool, ...], starters: tuple[str, ...]) -> ToolIndex:
        return ToolIndex(tools, starters, self._embedder)

    def _probabilities(self, requests: Sequence[InferenceRequest]) -> list[dict[str, Sequence[float]]]:
        """For each of ``requests``, by capability what each member says of it; 0 of one that has no exemplars."""
        asked = [place for place, request in enumerate(requests) if request.capabilities]
        unknown = (0.0,) * self._samples
        found: list[dict[str, Sequence[float]]] = [dict.fromkeys(request.capabilities, unknown) for request in requests]
        if asked:
            model = self.fit()
            rows = model.probabilities([requests[place].turns for place in asked]).tolist()
            for place, own in zip(asked, rows, strict=True):
                known = zip(model.capabilities, own, strict=True)
                found[place] |= {name: row for name, row in known if name in found[place]}
        return found

    def fit(self) -> FittedModel:
        """The model, restored or fitted by now; of several threads that come at once, one does it for all."""
        with self._fitting:
            return self._model

    @property
    def preview(self) -> str | None:
        """Why the model is none that was fitted on the exemplars as they are; ``None`` if it is or none is known."""
        return self._preview

    @property
    def file(self) -> Path | None:
        """Where the fitted model is kept on this machine, if it is."""
        files = (place.file(self.key) for place in (SHIPPED, self._cache) if place.folder is not None)
        return next((file for file in files if file.is_file()), None)

    def held_out(self, bar: Bar) -> dict[str, HeldOutExemplars]:
        """How the fit judges exemplars that it was made without, by capability; what reaches its ``bar`` is tagged."""
        model = self.fit()
        counts = zip(model.capabilities, model.held_out.tolist(), strict=True)
        return {name: held_out(row, bar(name)) for name, row in counts}

    @cached_property
    def key(self) -> str:
        """Under which the fitted model is kept: its kind, and a digest of what it rests on."""
        digest = model_key(self._taxonomy, self._settings, self._samples, self._embedder)
        return f"{kind_of(self._embedder)}-{digest}"

    def handed_over(self) -> Arrays | None:
        """The model for this backend elsewhere; ``None`` where it ships with the product or is a preview."""
        model = self.fit()
        return None if self._preview is not None or SHIPPED.load(self.key) is not None else to_arrays(model)

    def hand_over(self, arrays: Arrays) -> None:
        """Use the model that the same backend was :meth:`handed_over` elsewhere, before it is first asked for."""
        self._given = arrays

    @property
    def weights(self) -> E5Embedder | None:
        """What embeds by weights from a file, if anything does."""
        inner = None if self._embedder is None else self._embedder.inner
        return inner if isinstance(inner, E5Embedder) else None

    @property
    def is_own(self) -> bool:
        """Whether the model is the platform's own: there are exemplars, and none of theirs ships with the product."""
        return bool(model_capabilities(self._taxonomy)) and not SHIPPED.holds(self.key)

    @cached_property
    def _model(self) -> FittedModel:
        for arrays in self._kept():
            model = None if arrays is None else from_arrays(arrays, self._taxonomy, self._samples, self._embedder)
            if model is not None:
                return model
        if self._cache.holds(self.key):
            self.refused = self._cache.file(self.key)
        quick = self._quick() if self._may_preview else None
        if quick is not None:
            self._preview = quick.why
            return quick.model
        return self._made()

    def fit_anew(self) -> FittedModel:
        """The model by a whole fit, which takes the place of what was kept."""
        with self._fitting:
            self._model = self._made()
            return self._model

    def _made(self) -> FittedModel:
        model = self._fitted()
        arrays = to_arrays(model)
        if self._recorded is not None and self.is_own:
            self._recorded.refuse_other(self.key, model_digest(arrays))
        self._cache.store(self.key, arrays)
        return model

    def _quick(self) -> Preview | None:
        """A preview by the model that was stored last, or by the one that ships."""
        from incumbent.classifier.embedded.preview import preview_of

        for place in (self._cache, SHIPPED):
            arrays = place.newest(kind_of(self._embedder))
            earlier = arrays and from_arrays(arrays, self._taxonomy, self._samples, self._embedder)
            if earlier:
                found = preview_of(earlier, self._taxonomy, self._settings, self._samples)
                if found is not None:
                    return found
        return None

    def _kept(self) -> Iterator[Arrays | None]:
        yield self._given
        yield SHIPPED.load(self.key)
        if self._recorded is None or not self.is_own:
            yield self._cache.load(self.key)
            return
        own = self._cache.load(self.key)
        yield own if own is not None and self._recorded.accepts(self.key, own) else self._recorded.load(self.key)

    def _fitted(self) -> FittedModel:
        from incumbent.classifier.embedded.fitting import fit_model

        known = self._known(kind_of(self._embedder))
        return fit_model(self._taxonomy, self._settings, self._samples, self._embedder, known, self._stages)

    def _known(self, kind: str) -> dict[str, KnownRow]:
        """The rows of texts that need not be made again."""
        known: dict[str, KnownRow] = {}
        found = (self._cache.newest(kind),) if self._recorded is None else self._recorded.of_kind(kind, self._cache)
        for arrays in (*found, SHIPPED.newest(kind)):
            known |= {} if arrays is None else rows_by_text(arrays, self._embedder)
        return known


def embedded_identity(settings: EmbeddedSettings, samples: int, embedder: str | None) -> Identity:
    """The method with the name of its ``embedder``, and in place of a prompt a digest of its ``settings``.

    Not the exemplars: what the classifier sees of a capability is digested per capability.  Which embedder is used the
    method says already.
    """
    given = json.dumps(settings.model_dump(mode="json", exclude={"embedding"}), sort_keys=True)
    digest = hashlib.sha256(given.encode()).hexdigest()[:8]
    model = METHOD if embedder is None else f"{METHOD}+{embedder}"
    return Identity(backend="embedded", model=model, prompt=f"settings-{digest}", samples=samples)


def _text_probability(request: InferenceRequest, found: Mapping[str, Consensus]) -> float | None:
    """What the text alone says of a tool call; ``None`` without a capability for that."""
    return None if request.call_capability is None else found[request.call_capability].confidence


def _asked(request: InferenceRequest) -> tuple[str, ...]:
    """The capabilities that ``request`` asks for, and that of a tool call where it matters."""
    call = request.call_capability
    return request.capabilities if call is None else tuple(dict.fromkeys((*request.capabilities, call)))
