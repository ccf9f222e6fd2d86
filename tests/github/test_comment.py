"""What the comment says of unfamiliar queries, close calls, and what is in the way of the excluded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incumbent.github.facts import QueryFacts
from tests.github.scenes import PAIR, QUERIES, Hub, make_analysis, make_platform, make_query, make_releases


def unfamiliar(query: QueryFacts) -> QueryFacts:
    """``query`` with a classification that says that its text cannot be judged."""
    assert query.classification is not None
    known = replace(query.classification, unfamiliar="language")
    return query.model_copy(update={"classification": known})


def doubtful(query: QueryFacts, capability: str, probability: float) -> QueryFacts:
    """``query`` which may exercise ``capability`` after all."""
    assert query.classification is not None
    judgements = dict(query.classification.judgements)
    judgements[capability] = replace(judgements[capability], confidence=probability)
    known = replace(query.classification, judgements=judgements)
    return query.model_copy(update={"classification": known})


def test_all_queries_that_the_classifier_cannot_judge_are_one_question() -> None:
    odd = [unfamiliar(make_query(f"u{place}", {"a": 0.7}, text=f"{place} " * 40)) for place in range(3)]
    hub = Hub()
    hub.review(make_analysis((*QUERIES, *odd)))
    (comment,) = hub.ours
    assert "2 need you" in comment
    assert "#### Needs you: 3 queries are of a kind that the classifier cannot judge (language 3)" in comment
    assert "`/incumbent reject u0 u1 u2: REASON`" in comment
    assert "`/incumbent accept q02` or" in comment
    hub.say("cora", "/incumbent accept all")
    hub.review(make_analysis((*QUERIES, *odd)))
    assert "3 queries are of a kind" in hub.ours[0]
    hub.say("cora", "/incumbent reject u0 u1 u2: not ours to judge")
    hub.review(make_analysis((*QUERIES, *odd)))
    assert "are of a kind" not in hub.ours[0]
    assert "#### Rejected (3)" in hub.ours[0]


def test_a_close_call_is_named_with_the_command_that_admits_it() -> None:
    close = doubtful(make_query("q05", {"a": 0.6}, line=7), "c", 0.45)
    hub = Hub()
    hub.review(make_analysis((*QUERIES, close)))
    (comment,) = hub.ours
    assert "1 close call among the excluded" in comment
    assert "*A* + *C* 0.45" in comment
    assert "`/incumbent accept q05: REASON`" in comment


def test_a_tag_below_the_bar_is_a_close_call_too() -> None:
    weak = make_query("q05", {"a": 0.9, "e": 0.6}, line=7)
    hub = Hub(make_platform(competence_bar=0.75))
    hub.review(make_analysis((*QUERIES, weak)))
    (comment,) = hub.ours
    assert "1 close call among the excluded" in comment
    assert "Each would bring something new if it competently exercised what is named: so likely is that." in comment
    assert "*E* 0.60" in comment


def test_the_excluded_share_their_reason_and_each_has_somebody_in_its_way() -> None:
    more = [make_query(f"q{place:02d}", {"d": 0.6}, text=f"{place} " * 40) for place in range(5, 8)]
    hub = Hub()
    hub.review(make_analysis((*QUERIES, *more)))
    (comment,) = hub.ours
    reason = "Adds nothing new: its capabilities are covered, it beats no champion and brings no new combination:"
    assert comment.count(reason) == 1
    assert comment.count("`q01` covers all of it") == 3


def test_an_annotation_stands_where_somebody_is_needed_and_on_no_other_verdict() -> None:
    hub = Hub()
    hub.review(make_analysis((*QUERIES, make_query("q09", PAIR, text="nine " * 40, line=9))))
    assert hub.check is not None
    assert {item.title.partition(":")[0] for item in hub.check.annotations} == {"q02"}


@pytest.mark.parametrize(
    ("quarantined", "said"),
    [
        ("ra1 ra2", "all present tests of *A* flap or are quarantined."),
        ("ra1", "no present test of *A* that neither flaps nor is quarantined ever failed."),
    ],
)
def test_a_quarantined_test_shows_nothing_for_certain(quarantined: str, said: str) -> None:
    platform = make_platform()
    entries = platform.regression_set.entries
    hidden = {id: entries[id].model_copy(update={"quarantined": "it flaps"}) for id in quarantined.split()}
    known = replace(platform.regression_set, entries={**entries, **hidden})
    hub = Hub(replace(platform, regression_set=known), releases=make_releases(entries, {"ra1": "-++", "ra2": "+++"}))
    hub.review()
    hub.say("cora", "/incumbent accept q02")
    hub.review()
    (line,) = [line for line in hub.ours[0].splitlines() if line.startswith("> In release runs")]
    assert said in line


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ({"ra1": "+-+-", "ra2": "-+-+", "rb1": "++++"}, "all present tests of *A* flap; no present test of *B* that "),
        ({"ra1": "+-+-", "ra2": "++++"}, "no present test of *A* that does not flap ever failed. What is admitted"),
        ({"ra1": "+-+-", "ra2": "+--+", "rb1": "-+++"}, None),
        ({"rc1": "++++"}, None),
        ({}, None),
    ],
)
def test_what_release_runs_say_is_told_where_an_admitted_query_covers_it(
    marks: dict[str, str], said: str | None
) -> None:
    platform = make_platform()
    releases = make_releases(platform.regression_set.entries, marks) if marks else ()
    hub, without = Hub(platform, releases=releases), Hub(platform)
    for each in (hub, without):
        each.review()
        assert "In release runs" not in each.ours[0], "nothing that covers these is admitted"
        each.say("cora", "/incumbent accept q02")
        each.review()
    lines = [line for line in hub.ours[0].splitlines() if line.startswith("> In release runs")]
    assert len(lines) == (said is not None)
    assert said is None or said in lines[0]
    assert hub.record == without.record
    assert (hub.check and hub.check.conclusion) == (without.check and without.check.conclusion)
