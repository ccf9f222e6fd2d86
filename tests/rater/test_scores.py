"""Scored queries from a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from incumbent.classifier.model import Identity
from incumbent.errors import InputError, Problem
from incumbent.files.documents import parse_json, parse_yaml
from incumbent.files.snapshot import ReadingLimits
from incumbent.rater.model import Doubt, ScoredQuery
from incumbent.rater.scores import KeptScores, ScoredQueryFile, read_scores
from incumbent.taxonomy.model import Group, Taxonomy
from tests.factories import make_taxonomy

LIMITS = ReadingLimits(file_bytes=10_000, nesting_depth=10, nodes=1_000)
TAXONOMY = make_taxonomy("auth.oauth", "tools.read", version="1.2.0")
CLASSIFIER = {"backend": "embedded", "model": "m1", "prompt": "p1", "samples": 5}


def kept(**content: Any) -> KeptScores:
    text = json.dumps(content, indent=1)
    return read_scores(parse_json(text.encode(), "scores.json", LIMITS), TAXONOMY)


def read(queries: list[Any]) -> tuple[ScoredQuery, ...]:
    return kept(queries=queries).queries


def faults(text: str) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.message) for problem in problems(text)]


def problems(text: str) -> Sequence[Problem]:
    with pytest.raises(InputError) as caught:
        read_scores(parse_json(text.encode(), "scores.json", LIMITS), TAXONOMY)
    return caught.value.problems


def test_queries_come_with_their_scores() -> None:
    found = read([{"id": "q2", "turns": ["a", "b"], "scores": {"auth.oauth": 1, "tools.read": 0.25}}])
    assert found == (ScoredQuery(id="q2", turns=("a", "b"), scores={"auth.oauth": 1.0, "tools.read": 0.25}),)
    assert found[0].arbitrated == frozenset()


def test_the_order_of_the_file_is_kept_and_none_is_no_fault() -> None:
    queries: list[Any] = [{"id": id, "turns": [id], "scores": {}} for id in ("z", "a", "m")]
    assert [query.id for query in read(queries)] == ["z", "a", "m"]
    assert read([]) == ()


def test_yaml_does_as_well() -> None:
    document = parse_yaml(b"queries: [{id: q, turns: [hello], scores: {tools.read: 0.5}}]", "s.yaml", LIMITS)
    assert read_scores(document, TAXONOMY).queries[0].scores == {"tools.read": 0.5}


def test_what_is_known_of_the_scores_comes_with_them() -> None:
    rows = [
        {"id": "q1", "turns": ["a"], "scores": {}, "entry": "e1", "content": "c1"},
        {"id": "q2", "turns": ["b"], "scores": {}, "entry": "e2"},
        {"id": "q3", "turns": ["c"], "scores": {}, "entry": None, "content": None},
    ]
    found = kept(queries=rows, taxonomy="1.2.0", classifier=CLASSIFIER)
    assert (found.entries, found.contents) == ({"q1": "e1", "q2": "e2"}, {"q1": "c1"})
    assert found.identity == Identity(backend="embedded", model="m1", prompt="p1", samples=5)


def test_nothing_of_that_has_to_be_known() -> None:
    for found in (kept(queries=[]), kept(queries=[], taxonomy=None, classifier=None)):
        assert (found.entries, found.contents, found.identity) == ({}, {}, None)


def test_scores_of_another_taxonomy_are_refused_and_what_follows_from_that_is_no_second_fault() -> None:
    text = (
        '{"queries": [\n'
        '{"id": "q1", "turns": ["a"], "scores": {"retired": 0.5}, "entry": "e"},\n'
        '{"id": "q2", "turns": ["b"], "scores": {}, "entry": "e"}],\n'
        '"taxonomy": "1.1.0"}'
    )
    assert faults(text) == [
        (3, "the entry 'e' is that of 'q1' already"),
        (4, "taxonomy: the scores are of version 1.1.0, and the platform has 1.2.0"),
    ]


def test_all_faults_come_at_once_with_their_lines() -> None:
    text = (
        '{"queries": [\n'
        '{"id": "q1", "turns": ["a"], "scores": {"auth.oath": 0.5}},\n'
        '{"id": "q2", "turns": ["b"], "scores": {"zzz": 0.5,\n'
        '"tools.rea": 0.1}},\n'
        '{"id": "q1", "turns": ["c"], "scores": {}}]}'
    )
    assert faults(text) == [
        (2, "the taxonomy has no capability 'auth.oath'; perhaps you meant 'auth.oauth'"),
        (3, "the taxonomy has no capability 'zzz'"),
        (4, "the taxonomy has no capability 'tools.rea'; perhaps you meant 'tools.read'"),
        (5, "the id 'q1' is used twice"),
    ]


def test_a_doubt_about_a_member_of_a_group_is_instead_of_the_one_that_is_exercised() -> None:
    one = Group(id="one", name="One", constraint="exactly-one")
    members = [item.model_copy(update={"group": "one"}) for item in make_taxonomy("small", "large").capabilities]
    taxonomy = Taxonomy(version="1.0.0", groups=(one,), capabilities=tuple(members))
    asked = {"id": "q", "turns": ["a"], "scores": {"small": 0.6}, "doubts": {"large": 0.4}}
    document = parse_json(json.dumps({"queries": [asked]}).encode(), "scores.json", LIMITS)
    (query,) = read_scores(document, taxonomy).queries
    assert query.doubts == (Doubt(capability="large", probability=0.4, excludes=("small",)),)


def test_every_fault_says_what_to_do() -> None:
    text = json.dumps(
        {
            "queries": [
                {"id": "q", "turns": ["a"], "scores": {"tools.read": 0.5}, "entry": "e", "doubts": {"tools.read": 0.3}},
                {"id": "q", "turns": ["b"], "scores": {}, "entry": "e", "arbitrated": ["auth.oauth"]},
                {"id": "r", "turns": ["c"], "scores": {"zzz": 0.5}, "content": "0"},
                {"id": "s", "turns": ["d"], "scores": {}, "entry": "e"},
            ],
        }
    )
    assert sorted({str(problem.fix) for problem in problems(text)}) == [
        "give every query an id of its own",
        "give the `entry` too, or leave `content` out",
        "leave it out of `doubts`, or out of `scores`",
        "leave out one of the two queries, or the `entry` that is not its own",
        "name capabilities of `scores` alone",
        "use a capability id of taxonomy/taxonomy.yaml",
    ]
    other = json.dumps({"queries": [], "taxonomy": "1.1.0"})
    assert [problem.fix for problem in problems(other)] == ["rate the queries again under the platform's taxonomy"]


def test_what_is_said_of_nothing_is_a_fault() -> None:
    text = (
        '{"queries": [\n'
        '{"id": "q1", "turns": ["a"], "scores": {"auth.oauth": 0.5}, "arbitrated": ["auth.oauth"]},\n'
        '{"id": "q2", "turns": ["b"], "scores": {"auth.oauth": 0.5},\n'
        '"arbitrated": ["auth.oath"]},\n'
        '{"id": "q3", "turns": ["c"], "scores": {},\n'
        '"content": "0"},\n'
        '{"id": "q4", "turns": ["d"], "scores": {"auth.oauth": 0.5},\n'
        '"doubts": {\n'
        '"auth.oauth": 0.3}},\n'
        '{"id": "q5", "turns": ["e"], "scores": {}, "doubts": {\n'
        '"auth.oath": 0.3}}]}'
    )
    assert faults(text) == [
        (4, "'auth.oath' is arbitrated and has no score; perhaps you meant 'auth.oauth'"),
        (6, "`content` is what an entry is compared with, and there is no `entry`"),
        (9, "'auth.oauth' is exercised, and there is doubt whether it is"),
        (11, "the taxonomy has no capability 'auth.oath'; perhaps you meant 'auth.oauth'"),
    ]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"turns": ["a"], "scores": {}}, "queries.0.id: the key is missing"),
        ({"id": "q", "scores": {}}, "queries.0.turns: the key is missing"),
        ({"id": "q", "turns": ["a"]}, "queries.0.scores: the key is missing"),
        ({"id": "", "turns": ["a"], "scores": {}}, "queries.0.id: must be a text"),
        ({"id": "q", "turns": [], "scores": {}}, "queries.0.turns: must have 1 or more items"),
        ({"id": "q", "turns": "a", "scores": {}}, "queries.0.turns: must be a list"),
        ({"id": "q", "turns": [" "], "scores": {}}, "queries.0.turns.0: must be a text"),
        ({"id": "q", "turns": ["a"], "scores": {"tools.read": 1.5}}, "queries.0.scores.tools.read: must be less than"),
        ({"id": "q", "turns": ["a"], "scores": {"tools.read": True}}, "queries.0.scores.tools.read: must be a number"),
        ({"id": "q", "turns": ["a"], "scores": {"tools.read": None}}, "queries.0.scores.tools.read: must be a number"),
        ({"id": "q", "turns": ["a"], "scores": []}, "queries.0.scores: must be a mapping"),
        (
            {"id": "q", "turns": ["a"], "scores": {}, "doubts": {"tools.read": 1.5}},
            "doubts.tools.read: must be less than",
        ),
        ({"id": "q", "turns": ["a"], "scores": {}, "score": {}}, "perhaps you meant 'scores'"),
        ({"id": "q", "turns": ["a"], "scores": {}, "entry": ""}, "queries.0.entry: must be a text"),
        ({"id": "q", "turns": ["a"], "scores": {}, "entry": 7}, "queries.0.entry: must be a string"),
    ],
)
def test_a_query_that_is_not_whole_is_refused(query: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read([query])
    assert message in caught.value.problems[0].message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"taxonomy": 1.2}, "taxonomy: must be a string"),
        ({"classifier": "m1"}, "classifier: must be a mapping"),
        ({"classifier": CLASSIFIER | {"samples": 0}}, "classifier.samples: must be greater than or equal to 1"),
        ({"classifier": {"backend": "embedded", "prompt": "p1", "samples": 5}}, "classifier.model: the key is missing"),
        ({"taxonmy": "1.2.0"}, "perhaps you meant 'taxonomy'"),
    ],
)
def test_what_is_said_of_all_scores_must_be_whole(content: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        kept(queries=[], **content)
    assert message in caught.value.problems[0].message


def test_a_query_comes_back_with_the_doubts_that_were_worth_writing() -> None:
    doubts = tuple(
        Doubt(capability=name, probability=chance) for name, chance in (("auth.oauth", 0.4), ("tools.read", 0.1))
    )
    query = ScoredQuery(
        id="q",
        turns=("a",),
        scores={"tools.read": 0.9},
        customer="acme",
        doubts=doubts,
        arbitrated=frozenset({"x"}),
        attempt=True,
        personal={"card": 2},
        familiar=False,
    )
    assert set(ScoredQueryFile.of(query, 0.1, None, None).doubts) == {"auth.oauth", "tools.read"}
    row = ScoredQueryFile.of(query, 0.2, "e1", "c1")
    assert (row.entry, row.content, row.doubts, row.arbitrated) == ("e1", "c1", {"auth.oauth": 0.4}, ())
    (found,) = read([row.model_dump(mode="json")])
    assert found == replace(query, doubts=doubts[:1], arbitrated=frozenset())
