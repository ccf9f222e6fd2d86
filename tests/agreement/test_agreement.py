"""How far people agree: a month worked out by hand, and what holds whatever people say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.consolidator.verdict import Reason
from incumbent.ledger.agreement.agreement import AgreementRow, Month, Overridden, ReasonCount, Share, agreement_of
from incumbent.ledger.agreement.responses import Response, responses_of
from incumbent.ledger.agreement.statistics import ShareInterval, wilson
from tests.agreement.factories import day, facts, response
from tests.agreement.month import EVENTS


def row(
    name: str, explicit: tuple[int, int], implicit: tuple[int, int] = (0, 0), several: int = 0, alpha: Any = None
) -> AgreementRow:
    """Counts are (responses, those that agree)."""
    return AgreementRow(name=name, explicit=Share(*explicit), implicit=Share(*implicit), several=several, alpha=alpha)


def test_a_month_is_counted_as_by_hand() -> None:
    found = agreement_of(responses_of(EVENTS))
    # Two in, one and one, one and one: n = 6, 4 in and 2 out, 4 ordered pairs differ: 1 − 5·4/(36 − 16 − 4).
    assert found.overall == row("all", (10, 5), (1, 1), several=3, alpha=-0.25)
    assert found.decisions == (
        row("INCLUDE", (5, 3), (1, 1), several=2, alpha=0.0),  # 1 − 3·2/(16 − 9 − 1)
        row("EXCLUDE", (2, 1), several=1, alpha=0.0),  # 1 − 1·2/(4 − 1 − 1)
        row("REPLACE", (1, 0)),
        row("EVICT", (2, 1)),
    )
    assert found.routes == (
        row("direct", (3, 1), (1, 1), several=1, alpha=0.0),
        row("review", (7, 4), several=2, alpha=0.0),
    )
    assert found.reasons == (
        row("REDUNDANT", (2, 1), several=1, alpha=0.0),
        row("NEW_COVERAGE", (0, 0), (1, 1)),
        row("DOMINATES", (1, 0)),
        row("NOVEL_COMBO", (5, 3), several=2, alpha=0.0),
        row("LOW_CONFIDENCE", (2, 1), several=1, alpha=0.0),
        row("redundant", (2, 1)),
    )
    assert found.months == (
        Month(month="2026-03", explicit=Share(9, 5), implicit=Share(1, 1)),
        Month(month="2026-04", explicit=Share(1, 0), implicit=Share(0, 0)),
    )
    assert found.said == (
        ReasonCount(text="Too narrow.", count=2, overrides=2),
        ReasonCount(text="We need it.", count=1, overrides=1),
    )
    # a: q1 merged, q5 twice, q6; b: q5 twice, since q2 was undone.
    assert [(item.capability, item.overrides, item.answers, item.implicit) for item in found.overridden] == [
        ("a", 2, 4, 1),
        ("b", 1, 2, 0),
    ]
    assert (found.reversed_explicit, found.reversed_implicit, found.people, found.answers) == (1, 1, 3, 11)


def test_a_share_has_wilsons_interval() -> None:
    half = Share(10, 5)
    assert (half.share, half.interval) == (0.5, wilson(5, 10))
    assert half.interval is not None
    assert (round(half.interval.low, 4), round(half.interval.high, 4)) == (0.2366, 0.7634)
    assert (Share(0, 0).share, Share(0, 0).interval) == (None, None)


def test_without_responses_there_is_nothing() -> None:
    found = agreement_of([])
    assert found.overall == row("all", (0, 0))
    assert (found.answers, found.people, found.decisions, found.months, found.said, found.overridden) == (
        0,
        0,
        (),
        (),
        (),
        (),
    )


def test_few_overrides_do_not_lead_many() -> None:
    def of(name: str, count: int, overrides: int) -> list[Response]:
        known = facts(new=(name,))
        return [response(subject=f"{name}{i}", agrees=i >= overrides, facts=known) for i in range(count)]

    found = agreement_of([*of("once", 1, 1), *of("most", 12, 10), *of("some", 60, 20), *of("never", 9, 0)]).overridden
    assert [item.capability for item in found] == ["most", "some", "once"]
    assert found[2] == Overridden(
        capability="once", overrides=1, answers=1, implicit=0, interval=ShareInterval(found[2].interval.low, 1.0)
    )
    assert round(found[2].interval.low, 4) == 0.2065


@pytest.mark.parametrize(
    ("decision", "more", "names"),
    [
        ("INCLUDE", {"new": ("a",), "won": {"b": 0.5}}, ["a", "b"]),
        ("KEEP-BOTH", {"won": {"a": 0.5}, "new": ("a",)}, ["a"]),
        ("EXCLUDE", {}, ["a", "b"]),
        ("INCLUDE", {}, []),
    ],
)
def test_an_override_counts_for_what_the_verdict_rests_on(decision: str, more: Any, names: list[str]) -> None:
    item = response(decision=decision, agrees=False, facts=facts(**more))
    found = agreement_of([item])
    assert [each.capability for each in found.overridden] == names
    assert all(each.answers == 1 for each in found.overridden)
    assert agreement_of([response(decision=decision, agrees=False)]).overridden == ()


def test_in_and_out_are_what_people_differ_on_whatever_the_verdict() -> None:
    both = [
        response(subject="s1", by="ann"), response(subject="s1", by="bob"),
        response(subject="s2", by="ann", decision="EXCLUDE"), response(subject="s2", by="BOB", decision="EXCLUDE"),
    ]  # fmt: skip
    # They agree with all verdicts; on what should be in the set they agree where there is something to differ on.
    assert agreement_of(both).overall.alpha == 1.0
    assert [item.alpha for item in agreement_of(both).decisions] == [None, None]
    assert agreement_of(both).people == 2


def test_implicit_agreement_is_no_judgement_of_its_own() -> None:
    found = agreement_of([response(agrees=False), response(by="bob", explicit=False)])
    assert (found.overall.several, found.overall.alpha) == (0, None)


responses = st.lists(
    st.builds(
        response,
        subject=st.sampled_from("xyz"),
        decision=st.sampled_from(["INCLUDE", "EXCLUDE", "SWAP", "ODD"]),
        route=st.sampled_from(["direct", "review"]),
        reasons=st.lists(st.sampled_from([*Reason, "odd"]), max_size=3).map(tuple),
        agrees=st.booleans(),
        explicit=st.booleans(),
        by=st.sampled_from(["ann", "bob", "eve"]),
        at=st.tuples(st.integers(1, 28), st.integers(1, 3)).map(lambda when: day(*when)),
        said=st.sampled_from([None, "Yes.", "yes. ", "No."]),
        reversed=st.booleans(),
        facts=st.sampled_from([None, facts(), facts(new=("a",))]),
    ),
    max_size=15,
)


@given(responses, st.randoms(use_true_random=False))
def test_every_response_counts_once_and_in_whatever_order(items: list[Response], random: Any) -> None:
    found = agreement_of(items)
    shuffled = list(items)
    random.shuffle(shuffled)
    assert agreement_of(shuffled) == found
    assert found.answers + found.reversed_explicit + found.reversed_implicit == len(items)
    for rows in (found.decisions, found.routes, found.months):
        assert sum(each.explicit.count + each.implicit.count for each in rows) == found.answers
        assert sum(each.explicit.agreed for each in rows) == found.overall.explicit.agreed
    for each in (found.overall, *found.decisions, *found.routes, *found.reasons):
        for share in (each.explicit, each.implicit):
            if share.interval is not None and share.share is not None:
                assert 0 <= share.interval.low <= share.share <= share.interval.high <= 1
        assert each.alpha is None or (each.several and each.alpha <= 1)
    assert sum(each.count for each in found.said) == sum(item.said is not None and not item.reversed for item in items)
