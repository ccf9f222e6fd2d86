"""Scored queries from a file, and the intrinsic half of the rater."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.classifier.model import Classification, Judgement
from bot.documents import parse_json, parse_yaml
from bot.errors import InputError
from bot.limits import ReadingLimits
from bot.rater.adapter import rate
from bot.rater.model import ScoredQuery
from bot.rater.scores import read_scores

LIMITS = ReadingLimits(file_bytes=10_000, nesting_depth=10, nodes=1_000)
CAPABILITIES = {"auth.oauth", "tools.read"}


def read(queries: list[Any]) -> tuple[ScoredQuery, ...]:
    text = json.dumps({"queries": queries}, indent=1)
    return read_scores(parse_json(text.encode(), "scores.json", LIMITS), CAPABILITIES)


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
    assert read_scores(document, CAPABILITIES)[0].scores == {"tools.read": 0.5}


def test_all_faults_come_at_once_with_their_lines() -> None:
    text = (
        '{"queries": [\n'
        '{"id": "q1", "turns": ["a"], "scores": {"auth.oath": 0.5}},\n'
        '{"id": "q2", "turns": ["b"], "scores": {"zzz": 0.5,\n'
        '"tools.rea": 0.1}},\n'
        '{"id": "q1", "turns": ["c"], "scores": {}}]}'
    )
    with pytest.raises(InputError) as caught:
        read_scores(parse_json(text.encode(), "scores.json", LIMITS), CAPABILITIES)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (2, "the taxonomy has no capability 'auth.oath'; perhaps you meant 'auth.oauth'"),
        (3, "the taxonomy has no capability 'zzz'"),
        (4, "the taxonomy has no capability 'tools.rea'; perhaps you meant 'tools.read'"),
        (5, "the id 'q1' is used twice"),
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
        ({"id": "q", "turns": ["a"], "scores": {}, "score": {}}, "perhaps you meant 'scores'"),
    ],
)
def test_a_query_that_is_not_whole_is_refused(query: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read([query])
    assert message in caught.value.problems[0].message


def test_a_capability_is_scored_by_its_confidence_if_it_is_true_and_not_at_all_otherwise() -> None:
    classification = Classification(
        query_id="q",
        judgements={
            "a": Judgement(True, 0.7, "inference"),
            "b": Judgement(False, 0.9, "inference"),
            "c": Judgement(True, 0.2, "arbitration"),
            "d": Judgement(False, 1.0, "specification"),
        },
        arbitrated=frozenset({"c"}),
    )
    scored = rate(classification, ("first", "second"))
    assert scored == ScoredQuery(
        id="q", turns=("first", "second"), scores={"a": 0.7, "c": 0.2}, arbitrated=frozenset({"c"})
    )
    assert set(scored.scores) == classification.signature
