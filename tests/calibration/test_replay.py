"""Past verdicts come back as they were, and change where a knob that they rest on does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.consolidator.cycle import run_cycle
from incumbent.ledger.calibration.replay import PastSet, Replayed, judged, replay
from incumbent.ledger.events import Shown, VerdictFacts
from incumbent.rater.model import RatedEntry, ScoredQuery
from incumbent.report.verdict_text import codes
from tests.agreement.factories import COMMIT, day, facts, name_of, shown
from tests.factories import make_config, query, resident

CONFIG = make_config()
R = (resident("r1", {"a": 0.7, "b": 0.55}), resident("r2", {"a": 0.6}), resident("r3", {"a": 0.6}))


def stand(residents: Sequence[RatedEntry] = R, config: Any = CONFIG) -> Any:
    return lambda commit: PastSet(residents=tuple(residents), config=config) if commit == COMMIT else None


def showing(scores: dict[str, float], codes: str, entry: str = "q1", place: int = 0, **more: Any) -> Shown:
    recorded = facts(scores=scores, similarity=more.pop("similarity", 0.1))
    return shown(entry, codes, **{"place": place, "facts": recorded} | more)


def only(found: dict[Any, Replayed]) -> Replayed:
    (item,) = found.values()
    return item


@pytest.mark.parametrize(
    ("scores", "codes", "more"),
    [
        ({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", {}),
        ({"c": 0.55}, "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE", {}),
        ({"a": 0.6}, "EXCLUDE direct REDUNDANT", {}),
        ({"a": 0.9, "b": 0.6}, "REPLACE direct DOMINATES", {}),
        ({"a": 0.9}, "KEEP-BOTH direct SPLIT_OR_FLOOR", {}),
        ({"c": 0.7}, "INCLUDE review CLONE NEW_COVERAGE", {"similarity": 0.95}),
        ({"c": 0.7}, "INCLUDE review NEW_COVERAGE UNTRUSTED_AUTHOR CUSTOMER_SHARE", {}),
    ],
)
def test_what_was_shown_comes_back(scores: dict[str, float], codes: str, more: dict[str, Any]) -> None:
    residents = (*R, resident("r4", {"b": 0.5}), resident("r5", {"b": 0.5}))
    found = only(replay([showing(scores, codes, **more)], stand(residents), None))
    assert found.codes == codes
    assert not found.changed


def test_another_config_gives_another_verdict() -> None:
    past = showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE")
    stricter = make_config(CONFIG, per_capability={"c": {"competence_bar": 0.8}})
    found = only(replay([past], stand(), stricter))
    assert (found.codes, found.changed) == ("EXCLUDE direct REDUNDANT", True)
    assert (found.uncovered, found.behind) == ({"c": 0.7}, {})


def test_doubts_of_then_keep_no_verdict_that_admits_nothing() -> None:
    past = showing({"c": 0.7}, "INCLUDE review NEW_COVERAGE ATTEMPT")
    stricter = make_config(CONFIG, per_capability={"c": {"competence_bar": 0.8}})
    assert only(replay([past], stand(), stricter)).codes == "EXCLUDE direct REDUNDANT"
    careful = make_config(CONFIG, honesty_floor=0.9)
    assert only(replay([past], stand(), careful)).codes == "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE ATTEMPT"


def test_a_lead_within_the_margin_and_a_score_under_the_bar_are_told() -> None:
    found = only(replay([showing({"a": 0.73, "c": 0.4}, "EXCLUDE direct REDUNDANT")], stand(), None))
    assert (found.uncovered, found.behind) == ({"c": 0.4}, {"a": 0.03})
    covered = only(replay([showing({"b": 0.4}, "EXCLUDE direct REDUNDANT")], stand(), None))
    assert (covered.uncovered, covered.behind) == ({}, {})


def test_those_judged_before_stand_in_r_or_wait() -> None:
    first = showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", "q1", 0)
    second = showing({"c": 0.7}, "EXCLUDE direct REDUNDANT", "q2", 1)
    waiting = showing({"a": 0.6, "b": 0.55, "c": 0.52}, "INCLUDE review NOVEL_COMBO", "q3", 2)
    found = replay([second, waiting, first], stand(), None)
    assert [found[judged(item)].changed for item in (first, second, waiting)] == [False, False, False]
    stricter = make_config(CONFIG, per_capability={"c": {"competence_bar": 0.71}})
    again = replay([second, first], stand(), stricter)
    assert again[judged(second)].uncovered == {"c": 0.7}


def test_a_review_shown_anew_takes_what_stood_from_before() -> None:
    first = showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", "q1", 0)
    second = showing({"c": 0.7}, "EXCLUDE direct REDUNDANT", "q2", 1)
    rejected = shown("q1", "none", place=0, facts=None, at=day(2))
    moved_up = showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", "q2", 0, at=day(2))
    later = showing({"c": 0.6}, "EXCLUDE direct REDUNDANT", "q3", 1, at=day(3))
    found = replay([first, second, rejected, moved_up, later], stand(), None)
    assert [found[judged(item)].changed for item in (first, second, moved_up, later)] == [False] * 4
    assert len(found) == 4


def test_a_later_push_is_judged_beside_what_it_left_unchanged() -> None:
    sibling = showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", "q1", 0)
    pushed = showing({"c": 0.7}, "EXCLUDE direct REDUNDANT", "q2", 1, at=day(2), head="e" * 40)
    rebased = showing({"c": 0.6}, "EXCLUDE direct REDUNDANT", "q3", 1, at=day(3), head="f" * 40, base="b" * 40)
    elsewhere = showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", "q4", 0, at=day(3), pull_request=8)
    standing = PastSet(residents=R, config=CONFIG)
    found = replay([rebased, elsewhere, pushed, sibling], lambda _: standing, None)
    assert [found[judged(item)].changed for item in (sibling, pushed, rebased, elsewhere)] == [False] * 4
    assert len(found) == 4
    # Whoever comes first now stands before those that came first then.
    first = showing({"c": 0.8}, "INCLUDE direct NEW_COVERAGE", "q5", 0, at=day(2), head="e" * 40)
    assert not replay([sibling, first], stand(), None)[judged(first)].changed


def test_a_later_showing_of_a_query_takes_the_place_of_its_earlier_one() -> None:
    first = showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", "q1", 0)
    edited = showing({"d": 0.7}, "INCLUDE direct NEW_COVERAGE", "q1", 0, at=day(2), head="e" * 40, content=name_of("d"))
    pushed = showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", "q2", 1, at=day(2), head="e" * 40)
    found = replay([first, edited, pushed], stand(), None)
    assert [found[judged(item)].changed for item in (first, edited, pushed)] == [False] * 3


def test_what_was_shown_at_an_unknown_commit_stands_beside_later_pushes() -> None:
    lost = showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", "q1", 0, base="a" * 40)
    pushed = showing({"c": 0.7}, "EXCLUDE direct REDUNDANT", "q2", 1, at=day(2))
    assert not only(replay([lost, pushed], stand(), None)).changed


def test_an_edited_query_is_judged_without_its_own_entry() -> None:
    own = showing({"b": 0.55}, "INCLUDE review NEW_COVERAGE LOW_CONFIDENCE", "r1")
    assert not only(replay([own], stand(), None)).changed


def test_what_stood_at_an_unknown_commit_cannot_be_replayed() -> None:
    assert replay([showing({"c": 0.7}, "INCLUDE direct NEW_COVERAGE", base="a" * 40)], stand(), None) == {}


scored = st.dictionaries(st.sampled_from("abcde"), st.integers(20, 100).map(lambda n: n / 100), min_size=1)


@given(st.lists(scored, min_size=1, max_size=6), st.lists(scored, max_size=4))
def test_every_cycle_of_the_engine_comes_back(news: list[dict[str, float]], olds: list[dict[str, float]]) -> None:
    residents = [resident(f"r{place}", scores) for place, scores in enumerate(olds)]
    queries = [query(f"q{place}", scores) for place, scores in enumerate(news)]
    by_id: dict[str, ScoredQuery] = {item.id: item for item in queries}
    events = [
        shown(
            item.id,
            codes(item),
            place=place,
            content=name_of(item.id),
            facts=VerdictFacts(
                taxonomy="1.0.0",
                scores=dict(by_id[item.id].scores),
                similarity=item.facts.max_similarity,
                most_similar=item.facts.most_similar,
            ),
        )
        for place, item in enumerate(run_cycle(queries, residents, CONFIG))
    ]
    found = replay(events, stand(residents), None)
    assert len(found) == len(queries)
    assert [item.shown.entry for item in found.values() if item.changed] == []
