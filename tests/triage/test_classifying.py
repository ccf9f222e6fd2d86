"""What a shard of representatives comes to: classified, settled, without a classification, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from incumbent.classifier.caching_backend import HaltedBackend
from incumbent.classifier.model import Finding, Identity, InferenceRequest, Sample, agree
from incumbent.curator.entry import Entry, Source, entry_id
from incumbent.curator.store import RegressionSet
from incumbent.errors import IncompleteError
from incumbent.intake.specification import Specification
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Package, Submission
from incumbent.triage.classifying import (
    CLASSIFIED,
    ESTIMATED,
    Ground,
    Representative,
    classify_shard,
    estimate_shard,
    known_items,
    known_texts,
    scored,
    settled_by,
)
from tests.factories import make_config, make_entry, make_taxonomy

CAPABILITIES = ("a", "b", "c")
IDENTITY = Identity(backend="embedded", model="m1", prompt="p1", samples=5)


class Reader:
    """A query exercises what it names; of one that is empty of words nobody can tell."""

    identity = IDENTITY
    usage = None

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, request in enumerate(requests):
            if request.turns == ("?",):
                yield place, Finding(shortfall="no valid sample")
                continue
            said = request.turns[0].split()
            sample = Sample(
                votes={name: name in said for name in request.capabilities},
                probabilities={name: 0.9 if name in said else 0.1 for name in request.capabilities},
            )
            yield place, Finding(consensus=agree([sample] * 5, request.capabilities, 5) or {})


def package(customer: str, agent: str) -> Package:
    submission = Submission(customer=customer, agent=agent, folder=f"eval_sets/{customer}/{agent}", queries=())
    specification = Specification(
        platform="any", name=agent, description="", instructions="", auth=None, tools=None, knowledge=None, starters=()
    )
    return Package(submission=submission, specification=specification)


PACKAGES: Mapping[str, Package] = {"acme/desk": package("acme", "desk"), "bolt/line": package("bolt", "line")}


def entry(item: str, text: str, scores: Mapping[str, float]) -> Entry:
    source = Source(customer="acme", agent="desk", item=item, eval_set="eval_sets/acme/desk/evals.yaml")
    return make_entry(entry_id("acme", "desk", item), scores, text, source=source)


def ground(*entries: Entry, waiting: tuple[Entry, ...] = ()) -> Ground:
    known = RegressionSet({item.id: item for item in entries}, {item.id: item for item in waiting}, {})
    platform = Platform(taxonomy=make_taxonomy(*CAPABILITIES), config=make_config(), regression_set=known)
    return Ground(platform=platform, packages=PACKAGES, identity=IDENTITY)


def row(place: int, text: str, agent: str = "acme/desk", id: str = "") -> Representative:
    name = id or f"t{place}"
    return Representative(position=place + 5, place=place, id=name, agent=agent, turns=(text,), weight=place + 1)


def test_each_row_is_rated_against_the_set_and_keeps_its_place() -> None:
    known = ground(entry("q1", "a as before", {"a": 0.9}))
    rows = [row(0, "b here"), row(1, "c there", "bolt/line"), row(2, "a again"), row(3, "nothing")]
    found = classify_shard(rows, known, known.live(), Reader())
    assert [list(item) for item in found] == [list(CLASSIFIED)] * 4
    assert [(item["position"], item["place"], item["customer"], item["weight"]) for item in found] == [
        (5, 0, "acme", 1),
        (6, 1, "bolt", 2),
        (7, 2, "acme", 3),
        (8, 3, "acme", 4),
    ]
    assert [(item["signature"], item["new"]) for item in found] == [(["b"], 1), (["c"], 1), (["a"], 0), ([], 0)]
    query = scored(found[0], rows[0].turns)
    assert (query.id, query.turns, query.customer, list(query.scores)) == ("t0", ("b here",), "acme", ["b"])


def test_an_estimate_has_what_a_query_may_bring_competently_or_not() -> None:
    known = ground(entry("q1", "a as before", {"a": 0.9, "b": 0.9}))
    rows = [row(2, "a b c"), row(0, "c", "bolt/line"), row(1, "?"), row(3, "c b"), row(4, "nothing")]
    found = estimate_shard(rows, known, known.live(), Reader())
    assert [list(item) for item in found] == [list(ESTIMATED)] * 4
    assert [(item["place"], item["competent"], item["pieces"]) for item in found] == [
        (0, ("c",), ["c"]),
        # R has a and b together.
        (2, ("a", "b", "c"), ["a", "b", "c", "a c", "b c"]),
        (3, ("b", "c"), ["b", "c", "b c"]),
        (4, (), []),
    ]
    assert found[1]["strengths"] == [0.9] * 5


def test_a_query_without_a_classification_says_why() -> None:
    known = ground()
    found = classify_shard([row(0, "?"), row(1, "a")], known, known.live(), Reader())
    assert [item["shortfall"] for item in found] == ["no valid sample", None]
    assert found[0]["new"] is None


def test_a_classifier_that_stops_ends_the_shard() -> None:
    known = ground()
    stopped = HaltedBackend(IDENTITY, None, IncompleteError("the budget is used up"))
    with pytest.raises(IncompleteError, match="the budget is used up"):
        classify_shard([row(0, "a")], known, known.live(), stopped)


def test_what_is_on_record_is_settled_and_what_edits_an_entry_is_not_judged_against_it() -> None:
    old, line = entry("q1", "a as before", {"a": 0.9}), entry("q2", "b as before", {"b": 0.9})
    known = ground(old, waiting=(line,))
    assert known_texts(known.platform, PACKAGES["acme/desk"]) == {("a as before",), ("b as before",)}
    assert known_items(known.platform, PACKAGES["acme/desk"]) == {"q1", "q2"}
    assert not known_texts(known.platform, PACKAGES["bolt/line"])
    assert not known_items(known.platform, PACKAGES["bolt/line"])
    rows = [row(0, "b as before"), row(1, "a of today", id="q1"), row(2, "c")]
    settled, edited = settled_by(known.platform, PACKAGES, rows)
    assert settled == {"t0"}
    assert edited >= {old.id}
    judged = replace(known, settled=settled, edited=edited)
    found = classify_shard(rows, judged, judged.live(), Reader())
    assert [(item["id"], item["new"]) for item in found] == [("q1", 1), ("t2", 1)]
