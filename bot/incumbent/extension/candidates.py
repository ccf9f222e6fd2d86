"""From observed queries to candidates for a new capability: filtered, sorted by kind, ranked and limited (pure)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from incumbent.extension.clustering import DistinctText, clusters
from incumbent.extension.model import (
    Core,
    DraftExemplar,
    ExtensionCandidate,
    Kind,
    Member,
    Observed,
    Signal,
    TextCluster,
    Trait,
    holds_core,
)
from incumbent.extension.naming import described, free_id, home_group, titled
from incumbent.extension.reference import ReferenceExemplars, groups, pairs, reference_of, text_traits, with_unexplained
from incumbent.extension.signals import Resemblance, probable, resemblance_of, signals_of
from incumbent.taxonomy.config import ExtensionSettings
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import normalise
from incumbent.text.personal_data.detector import Detector
from incumbent.text.secrets import holds_secret


def find_candidates(
    observed: Sequence[Observed],
    taxonomy: Taxonomy,
    settings: ExtensionSettings,
    refused: Collection[Core],
    detector: Detector,
) -> tuple[ExtensionCandidate, ...]:
    """The candidates in ``observed``, the most surprising first, at most ``settings.open_candidates``.

    ``refused`` are the cores of candidates that people closed; no exemplar contains what ``detector`` finds.  The order
    of ``observed`` does not matter.  A taxonomy without exemplars gives no expectation, and so no candidates.
    """
    reference = reference_of(taxonomy, settings.commonplace, settings.misjudged, settings.lift)
    by_text: defaultdict[str, list[Observed]] = defaultdict(list)
    for query in sorted(observed, key=lambda query: query.id):
        by_text[query.text].append(query)
    texts = [by_text[text] for text in sorted(by_text)]
    if not reference.turns or not texts:
        return ()
    shared: dict[Trait, Trait] = {}
    rows = [_row(queries, reference, settings, shared) for queries in texts]
    drafting = _Drafting(texts, taxonomy, reference, settings, detector)
    found: list[ExtensionCandidate] = []
    for cluster in clusters(rows, reference, settings):
        if len(found) == settings.open_candidates:
            break
        if not holds_core([texts[place][0].digest for place in cluster.members], refused, settings.core_overlap):
            found.append(drafting.candidate(cluster, frozenset(item.id for item in found)))
    return tuple(found)


def why_none(observed: Sequence[Observed], taxonomy: Taxonomy, settings: ExtensionSettings) -> str:
    """Why there is no candidate in ``observed``, if there is one reason; also if all were refused."""
    reference = reference_of(taxonomy, settings.commonplace, settings.misjudged, settings.lift)
    customers = {query.customer for query in observed}
    texts = {query.text for query in observed}
    if not reference.turns:
        return "the taxonomy has no exemplars, so that there is nothing to compare with"
    if not texts:
        return "there are no queries: eval_sets/ has none, and neither has the regression set"
    if len(customers) < settings.customers:
        names = f"{len(customers)} {'customer' if len(customers) == 1 else 'customers'}"
        return f"the queries come from {names}, and a candidate needs {settings.customers} (extension.customers)"
    if len(texts) < settings.queries:
        return f"there are {len(texts)} distinct queries, and a candidate needs {settings.queries} (extension.queries)"
    if find_candidates(observed, taxonomy, settings, (), Detector()):
        return "all candidates were refused before"
    return (
        f"no {settings.queries} queries of {settings.customers} customers have wording, structure or combinations "
        "in common that the exemplars do not lead to expect"
    )


def _row(
    queries: Sequence[Observed], reference: ReferenceExemplars, settings: ExtensionSettings, shared: dict[Trait, Trait]
) -> DistinctText:
    """A text and the results of its first query: the classifier judges equal texts alike, except for agents'
    declarations.

    Equal traits are interned in ``shared``: there are thousands of rows with dozens of traits each.
    """
    query = queries[0]
    traits = with_unexplained(text_traits(query.turns), probable(query, reference, settings), reference.companions)
    exercised = frozenset(name for name, belief in query.beliefs.items() if belief.value)
    off = groups(name for each in queries for name in each.off_taxonomy)
    known = pairs(exercised.intersection(reference.distinguishing))
    found = tuple(shared.setdefault(trait, trait) for trait in sorted(traits | known | off))
    return DistinctText(found, frozenset(each.customer for each in queries), exercised)


def _is_private(turn: str, detector: Detector) -> bool:
    """Whether ``turn`` contains something that no file of the repository should contain, or can."""
    return (
        holds_secret(turn) or bool(detector.find(turn)) or any("\ud800" <= character <= "\udfff" for character in turn)
    )


@dataclass(frozen=True)
class _Drafting:
    """The data that candidates are drafted from: the observed ``texts``, each with its queries."""

    texts: Sequence[Sequence[Observed]]
    taxonomy: Taxonomy
    reference: ReferenceExemplars
    settings: ExtensionSettings
    detector: Detector

    @cached_property
    def resemblance(self) -> Resemblance:
        """The similarity of queries to the exemplars."""
        return resemblance_of(self.reference.turns)

    def candidate(self, cluster: TextCluster, taken: frozenset[str]) -> ExtensionCandidate:
        """The candidate of ``cluster``, with an id that is not ``taken``."""
        settings = self.settings
        queries = [self.texts[place][0] for place in cluster.members]
        nearest = [self._nearest(query) for query in queries]
        kind, belongs_to = self._kind(cluster, queries, nearest)
        telling = cluster.telling[: settings.terms]
        presentable = [query for query in queries if not any(_is_private(turn, self.detector) for turn in query.turns)]
        customers = sorted({each.customer for place in cluster.members for each in self.texts[place]})
        group = home_group(self.taxonomy, self._neighbours(belongs_to, nearest))
        id = free_id(self.taxonomy, group, telling, queries[0].digest, taken)
        return ExtensionCandidate(
            kind=kind,
            core=tuple(sorted(query.digest for query in queries[: settings.queries])),
            members=tuple(self._member(query) for query in queries),
            customers=tuple(customers),
            id=id,
            name=titled(telling),
            group=group,
            description=described(kind, belongs_to, telling, len(queries), len(customers)),
            positive=tuple(
                DraftExemplar(turns=query.turns, source=query.id) for query in presentable[: settings.positive]
            ),
            negative=self._negative(cluster, queries),
            telling=telling,
            belongs_to=belongs_to,
            cohesion=cluster.cohesion,
            excess=cluster.excess,
            surprise=cluster.surprise,
        )

    def _nearest(self, query: Observed) -> int | None:
        """The place of the exemplar that is most similar to ``query``; ``None`` if none is similar enough."""
        similarity, place = self.resemblance.nearest(query.turns)
        return None if similarity < self.settings.far else place

    def _member(self, query: Observed) -> Member:
        own = signals_of(query, self.reference, self.resemblance, self.settings)
        signals = (*own, Signal.UNFAMILIAR)
        return Member(id=query.id, customer=query.customer, turns=query.turns, digest=query.digest, signals=signals)

    def _kind(
        self, cluster: TextCluster, queries: Sequence[Observed], nearest: Sequence[int | None]
    ) -> tuple[Kind, tuple[str, ...]]:
        """The kind of ``cluster``, and the known capabilities concerned."""
        enough = self.settings.belongs * len(queries)
        for item in cluster.telling:
            if item.trait.kind == "combination" and item.members >= enough:
                return "new-combination", tuple(item.trait.text.split(" + "))
        missed = {
            name: sum(self._misses(name, query, place) for query, place in zip(queries, nearest, strict=True))
            for name in self.reference.distinguishing
        }
        likeliest = max(missed, key=lambda name: missed[name], default=None)
        if likeliest is not None and missed[likeliest] >= enough:
            return "missed-capability", (likeliest,)
        return "new-behaviour", ()

    def _misses(self, name: str, query: Observed, nearest: int | None) -> bool:
        """Whether ``query`` resembles exemplars of the capability ``name`` but was not classified as exercising it."""
        belief = query.beliefs.get(name)
        alike = name in query.split or (nearest is not None and name in self.reference.capabilities[nearest])
        return alike and (belief is None or not belief.value)

    def _neighbours(self, belongs_to: Sequence[str], nearest: Sequence[int | None]) -> Sequence[str]:
        """The distinguishing capabilities of the nearest exemplars, the most frequent first, after those in
        ``belongs_to``.
        """
        own = set(self.reference.distinguishing)
        counts = Counter(
            name for place in nearest if place is not None for name in self.reference.capabilities[place] & own
        )
        order = sorted(own & counts.keys(), key=lambda name: (-counts[name], self.reference.distinguishing.index(name)))
        return [*belongs_to, *order]

    def _negative(self, cluster: TextCluster, queries: Sequence[Observed]) -> tuple[DraftExemplar, ...]:
        """Exemplars of the taxonomy that have most of the distinctive traits: by their labels they exercise something
        else.
        """
        texts = {query.text for query in queries}
        found: list[DraftExemplar] = []
        for place in cluster.near:
            if len(found) == self.settings.negative:
                break
            turns = self.reference.turns[place]
            # A text that is in the cluster word for word is no counterexample, whatever the taxonomy says about it.
            if normalise(turns) not in texts:
                listed = self.reference.capabilities[place]
                source = next((item.id for item in self.taxonomy.capabilities if item.id in listed), "hard negative")
                found.append(DraftExemplar(turns=turns, source=source))
        return tuple(found)
