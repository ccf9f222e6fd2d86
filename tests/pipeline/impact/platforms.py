"""Platforms as values, queries that say what they exercise, and a classifier that counts what it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incumbent.classifier.model import CalledTools, Finding, Identity, InferenceRequest, Sample, agree
from incumbent.curator.entry import Entry, Source
from incumbent.curator.staging import stored
from incumbent.curator.store import RegressionSet
from incumbent.errors import IncumbentError
from incumbent.files.documents import parse_yaml
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED, Specification
from incumbent.pipeline.impact.measure import Agents, PlatformChange, measure
from incumbent.pipeline.impact.model import Impact
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Package, Submission, with_agent_in_ids
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.model import Capability, Taxonomy
from tests.factories import NO_APPRAISAL, make_config, make_entry, make_taxonomy
from tests.reconcile.runs import IDENTITY, scores_of, text_of

DOCUMENT = parse_yaml(b"version: 1.0.0", "taxonomy/taxonomy.yaml", REVIEWED_FILES)
FOLDER = "eval_sets/acme/desk"


@dataclass
class Counting:
    """A classifier that finds what a query says; a capability is known by the last word of its description.

    ``asked`` holds a request for each query that it was asked about; ``failing`` are queries without a finding,
    ``strange`` those that it cannot judge, and after ``most`` of them it stops with ``error``.
    """

    taxonomy: Taxonomy
    identity: Identity = IDENTITY
    asked: list[InferenceRequest] = field(default_factory=list)
    failing: frozenset[str] = frozenset()
    strange: frozenset[str] = frozenset()
    most: int | None = None
    error: IncumbentError | None = None

    @property
    def usage(self) -> None: ...

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, request in enumerate(requests):
            if self.error is not None and len(self.asked) == self.most:
                raise self.error
            self.asked.append(request)
            if request.query_id in self.failing:
                yield place, Finding(shortfall="the model says nothing of use")
                continue
            by_word = scores_of(request.turns[0])
            words = {name: self.taxonomy.by_id[name].description.split()[-1] for name in request.capabilities}
            sample = Sample(
                votes={name: word in by_word for name, word in words.items()},
                probabilities={name: by_word.get(word, 0.1) for name, word in words.items()},
            )
            calls = CalledTools(1.0, ({request.tools[0].name: 0.9},)) if request.tools else None
            samples = [sample] * self.identity.samples
            yield (
                place,
                Finding(
                    consensus=agree(samples, request.capabilities, len(samples)) or {},
                    calls=calls,
                    unfamiliar="code" if request.query_id in self.strange else None,
                ),
            )


def grown(taxonomy: Taxonomy, version: str, *added: Capability, without: Sequence[str] = (), **more: Any) -> Taxonomy:
    """``taxonomy`` with capabilities that are ``added``, ``without`` others, which retire."""
    kept = tuple(item for item in taxonomy.capabilities if item.id not in without)
    defaults: dict[str, Any] = {
        "retired": (*taxonomy.retired, *without),
        "groups": taxonomy.groups,
        "capabilities": (*kept, *added),
    }
    return Taxonomy(version=version, **defaults | more)


def capability(name: str, word: str | None = None, **more: Any) -> Capability:
    """An intent capability that queries exercise which say ``word``."""
    defaults: dict[str, Any] = {"group": "all", "description": f"about {word or name}", "source": "intent"}
    return Capability(id=name, name=name.upper(), **defaults | more)


def member(id: str, scores: Mapping[str, float], taxonomy: Taxonomy, **more: Any) -> Entry:
    """An entry that says what it exercises, classified under ``taxonomy``."""
    by_word = {taxonomy.by_id[name].description.split()[-1]: score for name, score in scores.items()}
    entry = make_entry(id, stored(scores), text_of(id, by_word))
    classified = entry.classified.model_copy(
        update={
            "taxonomy": taxonomy.version,
            "definitions": {name: taxonomy.by_id[name].definition for name in scores},
        }
    )
    source = Source(customer="acme", agent="desk", eval_set=f"{FOLDER}/evals.yaml", item=id)
    return entry.model_copy(update={"classified": classified, "source": source, **more})


def platform(taxonomy: Taxonomy, *entries: Entry, waiting: Sequence[Entry] = (), **config: Any) -> Platform:
    """A platform whose set holds ``entries``."""
    known = RegressionSet({item.id: item for item in entries}, {item.id: item for item in waiting}, {})
    return Platform(taxonomy=taxonomy, config=make_config(**{"appraisal": NO_APPRAISAL} | config), regression_set=known)


def agents(queries: Mapping[str, str], specification: Specification | None = UNDECLARED) -> Agents:
    """One agent with ``queries`` by item, whose ``specification`` is told of every folder."""
    submission = Submission(
        customer="acme",
        agent="desk",
        folder=FOLDER,
        queries=tuple(
            Query(id=item, turns=(text,), file=f"{FOLDER}/evals.yaml", line=None) for item, text in queries.items()
        ),
    )
    package = with_agent_in_ids(Package(submission=submission, specification=specification or UNDECLARED))
    return Agents(packages=(package,), specification=lambda _: specification)


@dataclass(frozen=True)
class Measurement:
    """An impact, and what both classifiers were asked for it."""

    impact: Impact
    first: Counting
    second: Counting

    def sent(self) -> int:
        """Requests to a model that are due to the change, as many for a query as there are samples."""
        return len(self.second.asked) * self.second.identity.samples


def measured(
    before: Platform, after: Platform, brought: Agents, rejected: Sequence[str] = (), **classifier: Any
) -> Measurement:
    """The impact of going from ``before`` to ``after``."""
    first, second = Counting(before.taxonomy), Counting(after.taxonomy, **classifier)
    change = PlatformChange(before=before, after=after, previous=lambda version: (before.taxonomy,), document=DOCUMENT)
    impact, _ = measure(change, brought, (first, second), None, second.identity, lambda done, total: None, rejected)
    return Measurement(impact, first, second)


BASE = make_taxonomy(*"abcde")
