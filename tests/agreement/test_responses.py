"""What people answered, from what happened: who counts, what they were shown, and what did not last."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.ledger.agreement.responses import Response, responses_of
from incumbent.ledger.events import Closed, LedgerEvent, Suggested
from tests.agreement.factories import (
    ADMIT,
    COMMIT,
    LEAVE,
    answered,
    by_hand,
    corrected,
    correction_ended,
    day,
    decided,
    facts,
    name_of,
    passed,
    requested,
    settled,
    shown,
    withdrawn,
)


def only(*events: LedgerEvent) -> Response:
    (found,) = responses_of(events)
    return found


@pytest.mark.parametrize(
    ("codes", "action", "agrees"),
    [
        ("INCLUDE direct NEW_COVERAGE", "accept", True),
        ("INCLUDE review NOVEL_COMBO", "reject", False),
        ("REPLACE direct DOMINATES", "accept", True),
        ("KEEP-BOTH review SPLIT_OR_FLOOR LOW_CONFIDENCE", "reject", False),
        ("EXCLUDE direct CLONE", "accept", False),
        ("EXCLUDE direct REDUNDANT", "reject", True),
    ],
)
def test_a_command_agrees_with_a_verdict_or_overrides_it(codes: str, action: Any, agrees: bool) -> None:
    found = only(shown(codes=codes), decided(codes=codes, action=action, reason="Why not?"))
    decision, route, *reasons = codes.split()
    assert (found.decision, found.route, found.reasons) == (decision, route, tuple(reasons))
    assert (found.agrees, found.overrides, found.explicit, found.reversed) == (agrees, not agrees, True, False)
    assert (found.by, found.at, found.pull_request, found.said) == ("ann", day(2), 7, "Why not?")
    assert (found.entry, found.content) == ("q1", name_of("q1"))


def test_what_was_shown_stands_with_the_response() -> None:
    last = facts(similarity=0.2)
    found = only(
        shown(at=day(1), place=1),
        shown(at=day(2), place=2, base="e" * 40, facts=last),
        shown(at=day(3), place=3),
        shown(at=day(2), place=4, codes=LEAVE),
        shown(at=day(2), place=5, content=name_of("another text")),
        shown(at=day(2), place=6, pull_request=8),
        decided(at=day(2)),
    )
    assert (found.author, found.facts) == ("author", last)
    assert found.seen is not None
    assert (found.seen.base, found.seen.place) == ("e" * 40, 2)


def test_of_what_was_shown_at_one_moment_one_is_chosen_whatever_the_order() -> None:
    both = [shown(place=1), shown(place=2)]
    assert only(*both, decided()).seen == only(*reversed(both), decided()).seen


def test_a_decision_on_what_no_event_shows_has_no_facts() -> None:
    found = only(decided(at=day(2)))
    assert (found.author, found.seen, found.facts) == (None, None, None)


def test_a_commit_of_the_future_was_shown_all_the_same() -> None:
    found = only(shown(at=day(5)), decided(at=day(2)))
    assert found.author == "author"
    assert found.seen is not None
    assert found.seen.base == COMMIT


def test_who_takes_a_rejection_back_answers_the_verdict_that_stood_before_it() -> None:
    none = {"codes": "none", "verdict": name_of("no verdict")}
    events: list[LedgerEvent] = [shown(), decided(action="reject", at=day(2)), shown(at=day(2), **none)]
    events += [decided(action="accept", at=day(3), comment=9, **none)]
    last = responses_of(events)[-1]
    assert (last.decision, last.agrees, last.reversed) == ("INCLUDE", True, False)
    assert last.facts is not None
    assert len({item.subject for item in responses_of(events)}) == 1


@pytest.mark.parametrize(
    "codes", ["none", "regression set changed by hand", "INCLUDE", "INCLUDE perhaps", "MAYBE direct"]
)
def test_what_is_no_verdict_can_be_agreed_with_by_nobody(codes: str) -> None:
    assert responses_of([shown(codes=codes), decided(codes=codes), passed("q2", codes)]) == ()


@pytest.mark.parametrize("action", ["pin", "unpin"])
def test_pins_are_no_answer_to_a_verdict_and_reverse_none(action: Any) -> None:
    assert responses_of([decided(action=action)]) == ()
    assert not only(decided(), decided(action=action, at=day(5), comment=2)).reversed


def test_who_judged_the_same_content_and_verdict_answers_the_same_question() -> None:
    same = {"content": decided().content, "verdict": decided().verdict}
    ann, bob = responses_of([decided(), decided("q9", by="bob", comment=2, pull_request=8, **same)])
    assert ann.subject == bob.subject
    elsewhere, other = responses_of([decided("q2"), decided(codes="INCLUDE review NOVEL_COMBO", comment=2)])
    assert len({ann.subject, elsewhere.subject, other.subject}) == 3


# Merges


def test_a_merge_agrees_implicitly() -> None:
    found = only(shown(), passed())
    assert (found.agrees, found.explicit, found.by, found.at, found.author) == (True, False, "max", day(3), "author")
    assert found.facts == facts()


@pytest.mark.parametrize(
    "more", [{"by_bot": True}, {"by": "merge-queue[bot]"}, {"by": "Merge-Queue[BOT]"}, {"by": "ghost"}]
)
def test_bots_and_accounts_that_are_gone_are_no_people(more: Any) -> None:
    assert responses_of([passed(**more), answered(**more)]) == ()
    if "by" in more:
        assert responses_of([decided(**more)]) == ()
        assert not only(passed(), requested(**more)).reversed
    assert not only(passed(), by_hand(removed=("q1",), **more)).reversed


def test_of_content_that_was_decided_on_the_command_counts_and_not_the_merge() -> None:
    assert only(passed(), decided()).explicit
    assert not any(found.agrees for found in responses_of([passed(), decided(action="reject")]))
    # A pin, or a word on another pull request, says nothing of this merge.
    assert not only(passed(), decided(action="pin")).explicit
    assert [item.explicit for item in responses_of([passed(), decided(pull_request=8)])] == [True, False]


def test_a_command_that_was_taken_back_leaves_the_merge_to_count() -> None:
    for action in ("accept", "reject"):
        word = decided(action=action)
        found = responses_of([shown(), word, withdrawn(word), passed()])
        assert [(item.explicit, item.reversed) for item in found] == [(True, True), (False, False)]
        again = decided(action=action, at=day(3), comment=2)
        found = responses_of([shown(), word, withdrawn(word), again, passed()])
        assert [(item.explicit, item.reversed) for item in found] == [(True, True), (True, False)]


# Suggestions


@pytest.mark.parametrize(
    ("agrees", "suggestion", "decision"),
    [(True, "redundant", "EVICT"), (False, "swap", "SWAP"), (True, "admission", "ADMIT")],
)
def test_a_suggestion_is_answered_by_its_merge_or_its_closing(agrees: bool, suggestion: str, decision: str) -> None:
    found = only(answered(agrees=agrees, suggestion=suggestion, entries=("q1", "q2")))
    assert (found.subject, found.entry, found.content) == ("incumbent/evict/q1", "q1", "")
    assert (found.decision, found.route, found.reasons) == (decision, "review", (suggestion,))
    assert (found.agrees, found.explicit, found.author, found.facts) == (agrees, True, None, None)
    assert only(answered(entries=())).entry == ""


@pytest.mark.parametrize(
    ("event", "reversed"),
    [
        (requested("q2", "restore"), True),
        (by_hand(added=("q2",)), True),
        (by_hand(changed=("q2",)), False),
        (by_hand(removed=("q2",)), False),
        (requested("q2", "undo"), False),
        (requested("q3", "restore"), False),
        (requested("q2", "restore", at=day(4)), False),
        (answered(agrees=False, at=day(5)), True),
        (answered(agrees=False, at=day(5), by="bob"), False),
        (answered(agrees=False, at=day(5), branch="incumbent/evict/other"), False),
    ],
)
def test_an_eviction_is_reversed_by_who_brings_the_entry_back(event: LedgerEvent, reversed: bool) -> None:
    found = responses_of([event, answered(entries=("q1", "q2"))])[0]
    assert (found.agrees, found.reversed) == (True, reversed)
    if not isinstance(event, type(answered())):
        assert not only(event, answered(agrees=False, entries=("q1", "q2"))).reversed


# What did not last

_ACCEPTED = decided()


@pytest.mark.parametrize(
    ("event", "accepted", "merged"),
    [
        (withdrawn(_ACCEPTED), True, False),
        (withdrawn(decided(comment=2)), False, False),
        (withdrawn(decided(action="reject")), False, False),
        (withdrawn(decided(content=name_of("another text"))), False, False),
        (requested(), True, True),
        (requested("q2"), False, False),
        (requested(action="restore"), False, False),
        (requested(at=day(1)), False, False),
        (requested(at=day(2)), False, False),
        (requested(at=day(3)), True, False),
        (by_hand(removed=("q2", "q1")), True, True),
        (by_hand(removed=("q1",), at=day(1)), False, False),
        (by_hand(changed=("q1",), added=("q1",)), False, False),
        (Closed(at=day(8), pull_request=7, commit=COMMIT), False, False),
        (Suggested(at=day(8), pull_request=9, branch="b", suggestion="undone", entries=("q1",)), False, False),
    ],
)
def test_an_acceptance_and_a_merge_are_reversed_by_what_undoes_them(
    event: LedgerEvent, accepted: bool, merged: bool
) -> None:
    assert only(event, _ACCEPTED).reversed is accepted
    assert only(event, passed()).reversed is merged
    # Nothing of it was in the set.
    assert only(event, passed(codes=LEAVE)).reversed is False


def test_a_rejection_outlasts_that_its_entry_goes() -> None:
    assert not only(decided(action="reject"), requested(), by_hand(removed=("q1",))).reversed
    assert not only(decided(action="reject", codes=LEAVE), requested()).reversed
    assert only(decided(action="accept", codes=LEAVE), requested()).reversed


@pytest.mark.parametrize(
    ("back", "reversed"),
    [
        (requested(action="restore", at=day(9)), False),
        (by_hand(added=("q1",), at=day(9)), False),
        (by_hand(added=("q1",), at=day(7)), True),
        (by_hand(added=("q2",), at=day(9)), True),
    ],
)
def test_what_was_brought_back_after_it_was_taken_out_lasts(back: LedgerEvent, reversed: bool) -> None:
    for out in (requested(), by_hand(removed=("q1",))):
        assert only(back, out, decided()).reversed is reversed
        assert only(back, out, passed()).reversed is reversed


def test_an_eviction_lasts_where_what_was_brought_back_was_taken_out_again() -> None:
    back = by_hand(added=("q1",))
    assert only(answered(), back, requested(at=day(7))).reversed
    assert not only(answered(), back, requested(at=day(9))).reversed


@pytest.mark.parametrize(
    ("end", "reversed"),
    [
        (settled(), False),
        (settled(happened=True), True),
        (settled("q2"), True),
        (settled(action="restore"), True),
        (settled(comment=51), True),
    ],
)
def test_a_request_that_ended_without_effect_reverses_nothing(end: LedgerEvent, reversed: bool) -> None:
    assert only(requested(), end, decided()).reversed is reversed
    assert only(end, requested(), passed()).reversed is reversed
    asked = requested(action="restore")
    assert not only(answered(), asked, settled(action="restore")).reversed


@pytest.mark.parametrize(
    ("second", "reversed"),
    [
        (decided(action="reject", at=day(5), comment=2), True),
        (decided(action="reject", at=day(5), comment=2, by="ANN"), True),
        (decided("q9", LEAVE, action="reject", at=day(5), pull_request=8, content=name_of("q1")), True),
        (decided(action="reject", comment=2), True),
        (decided(action="reject", at=day(1), comment=2), False),
        (decided(action="reject", at=day(5), comment=2, by="bob"), False),
        (decided(action="reject", at=day(5), comment=2, content=name_of("another text")), False),
        (decided(action="accept", at=day(5), comment=2, codes="INCLUDE review NOVEL_COMBO"), False),
    ],
)
def test_a_word_is_reversed_by_the_same_persons_other_word_later(second: LedgerEvent, reversed: bool) -> None:
    first = next(
        item for item in responses_of([second, decided()]) if item.agrees and item.reasons == ("NEW_COVERAGE",)
    )
    assert first.reversed is reversed


def test_a_word_that_is_gone_reverses_no_other() -> None:
    later = decided(action="reject", at=day(5), comment=2)
    first, second = responses_of([decided(), later, withdrawn(later)])
    assert (first.agrees, first.reversed, second.agrees, second.reversed) == (True, False, False, True)


def test_who_says_both_in_one_comment_says_neither() -> None:
    assert all(item.reversed for item in responses_of([decided(), decided(action="reject")]))
    # An edited comment says what it says now.
    before = decided()
    found = responses_of([before, withdrawn(before), decided(action="reject")])
    assert [(item.agrees, item.reversed) for item in found] == [(False, False), (True, True)]


def test_of_several_ends_the_last_one_decides() -> None:
    ends = [requested(at=day(8)), requested(at=day(1), comment=51)]
    assert only(decided(), *ends).reversed
    assert only(decided(), *reversed(ends)).reversed


def test_to_and_fro_leaves_the_last_word_standing() -> None:
    found = responses_of([decided(), decided(action="reject", at=day(3), comment=2), decided(at=day(4), comment=3)])
    assert [(item.agrees, item.reversed) for item in found] == [(True, True), (False, True), (True, False)]


def test_who_says_it_again_counts_once() -> None:
    found = only(
        decided(reason="Good."), decided(at=day(5), comment=2, by="Ann"), decided(at=day(6), comment=3, all=True)
    )
    assert (found.at, found.said) == (day(2), "Good.")
    gone = decided()
    found_again = responses_of([gone, withdrawn(gone), decided(at=day(5), comment=2)])
    assert [item.reversed for item in found_again] == [True, False]
    again = decided(at=day(5), comment=2)
    assert [item.reversed for item in responses_of([decided(), again, withdrawn(again)])] == [False, True]
    assert len(responses_of([decided(), decided(by="bob")])) == 2
    assert len(responses_of([passed(), passed(pull_request=8, at=day(4))])) == 1


@pytest.mark.parametrize("days", [(2, 5), (5, 2)])
def test_what_was_recorded_twice_happened_once_and_first(days: tuple[int, int]) -> None:
    assert only(*(passed(at=day(number)) for number in days)).at == day(2)


# Any history

days = st.integers(1, 6).map(day)
entries = st.sampled_from(["q1", "q2"])
codes = st.sampled_from([ADMIT, LEAVE, "none"])
people = st.sampled_from(["ann", "Ann", "bob", "x[bot]"])
numbers = st.integers(1, 3)
actions = st.sampled_from(["accept", "reject", "pin"])


@st.composite
def decisions(draw: st.DrawFn) -> Any:
    return decided(
        draw(entries), draw(codes), at=draw(days), by=draw(people), comment=draw(numbers), action=draw(actions),
        pull_request=draw(numbers), reason=draw(st.sampled_from([None, "x", "y"])),
    )  # fmt: skip


histories = st.lists(
    st.one_of(
        decisions(),
        decisions().map(withdrawn),
        st.builds(
            lambda *of: shown(of[0], of[1], at=of[2], place=of[3], pull_request=of[3]), entries, codes, days, numbers
        ),
        st.builds(
            lambda *of: passed(of[0], of[1], at=of[2], by=of[3], pull_request=of[4]),
            entries,
            codes,
            days,
            people,
            numbers,
        ),
        st.builds(lambda *of: answered(of[0], at=of[1], by=of[2], agrees=of[3]), entries, days, people, st.booleans()),
        st.builds(lambda *of: requested(of[0], of[1], at=of[2]), entries, st.sampled_from(["undo", "restore"]), days),
        st.builds(lambda *of: by_hand(at=of[0], removed=(of[1],), added=(of[2],)), days, entries, entries),
    ),
    max_size=12,
)


@given(histories, st.randoms(use_true_random=False))
def test_the_order_of_events_says_nothing_beyond_their_times(events: list[LedgerEvent], random: Any) -> None:
    found = responses_of(events)
    shuffled = [*events, *events[:3]]
    random.shuffle(shuffled)
    assert responses_of(shuffled) == found
    assert [item.at for item in found] == sorted(item.at for item in found)
    standing = [(item.subject, item.by, item.explicit, item.agrees) for item in found if not item.reversed]
    assert len(standing) == len(set(standing))
    assert not any(item.by.endswith("[bot]") or item.by != item.by.lower() for item in found)


@pytest.mark.parametrize(
    ("events", "reversed"),
    [
        ([requested("q1"), by_hand(removed=("q2",))], True),
        ([by_hand(removed=("q1", "q2"))], True),
        ([requested("q2")], False),
        ([by_hand(removed=("q2", "q3"))], False),
        ([requested("q1"), requested("q2", at=day(4))], False),
        ([by_hand(removed=("q1", "q2")), by_hand(added=("q2",), at=day(9))], False),
        ([by_hand(added=("q1", "q2"))], False),
    ],
)
def test_an_offer_of_admissions_is_reversed_by_who_takes_all_of_it_out(
    events: list[LedgerEvent], reversed: bool
) -> None:
    found = only(*events, answered(entries=("q1", "q2"), suggestion="admission"))
    assert found.reversed is reversed
    assert not only(*events, answered(entries=("q1", "q2"), suggestion="admission", agrees=False)).reversed
    assert not only(*events, answered(entries=(), suggestion="admission")).reversed


@pytest.mark.parametrize(
    ("event", "reversed"),
    [
        (requested("new"), True),
        (by_hand(removed=("new",)), True),
        (requested("q1", "restore"), True),
        (requested("q1"), False),
        (requested("new", at=day(4)), False),
        (by_hand(added=("new",)), False),
    ],
)
def test_a_swap_is_reversed_by_who_undoes_either_half(event: LedgerEvent, reversed: bool) -> None:
    swap = Suggested(
        at=day(3), pull_request=20, branch="incumbent/swap/new", suggestion="swap", entries=("q1",), admits="new"
    )
    answer = {"branch": swap.branch, "suggestion": "swap"}
    assert only(swap, event, answered(**answer)).reversed is reversed
    assert not only(swap, event, answered(agrees=False, **answer)).reversed


def test_an_answer_to_a_suggestion_knows_how_many_coverers_would_be_left() -> None:
    suggestion = Suggested(
        at=day(1), pull_request=20, branch="incumbent/evict/q1", suggestion="redundant", entries=("q1",),
        remaining={"a": 3},
    )  # fmt: skip
    recorded, unrecorded = responses_of([answered(), suggestion, answered("q2", pull_request=21)])
    assert (recorded.remaining, unrecorded.remaining) == ({"a": 3}, {})


def test_what_curators_say_of_tags_stands_with_the_responses_to_that_content() -> None:
    later = corrected(value=True, comment=5)
    recorded: list[LedgerEvent] = [
        shown(),
        decided(),
        corrected(),
        later,
        corrected("q2"),
        corrected(capability="b", by="ghost"),
    ]
    (found,) = responses_of(recorded)
    assert found.corrected == {"a": True}
    (found,) = responses_of([shown(), decided(), later, corrected()])
    assert found.corrected == {"a": True}
    (found,) = responses_of([*recorded, correction_ended(later)])
    assert found.corrected == {"a": False}
