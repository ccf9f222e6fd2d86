"""Which entries people are asked to quarantine, and whose quarantine could end: by releases since they answered."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.curator.entry import Entry
from incumbent.ledger.releases.history import histories
from incumbent.ledger.releases.quarantine import FLAPS, Others, QuarantineOffer, others_in, quarantine_offers
from incumbent.ledger.releases.record import ReleaseRecord
from tests.results.test_history import SETTINGS, entry, releases, result

COUNTS = {"+": (1, 0), "-": (0, 1), "~": (1, 1)}
STABLE = SETTINGS.model_copy(update={"stable": 4})


def records_of(marks: Mapping[str, str], entries: Mapping[str, Entry]) -> tuple[ReleaseRecord, ...]:
    """A release a day from v0 on 1 January; ``.``: it did not run."""
    most = max(map(len, marks.values()), default=0)
    return releases(
        *(
            {
                id: result(entries[id], *COUNTS[said[place]])
                for id, said in marks.items()
                if said[place : place + 1] in COUNTS
            }
            for place in range(most)
        )
    )


def offered(
    marks: Mapping[str, str], reasons: Mapping[str, str] | None = None, refused: Mapping[str, str] | None = None
) -> tuple[QuarantineOffer, ...]:
    """The offers of a set with entries that released so; ``reasons`` are those of the quarantined ones."""
    entries = {id: entry(id).model_copy(update={"quarantined": (reasons or {}).get(id)}) for id in marks}
    records = records_of(marks, entries)
    return quarantine_offers(entries, histories(entries, records, STABLE), records, STABLE, refused or {})


@pytest.mark.parametrize(
    ("marks", "reason", "since", "ends"),
    [
        ("+-+", None, None, None),
        ("+-+-", None, None, False),
        ("+~", None, None, False),
        ("+-+---", None, None, False),
        ("+-+-----", None, None, None),
        ("+-+-++++", None, None, None),
        ("", FLAPS, None, None),
        ("....", FLAPS, None, None),
        ("+-+-", FLAPS, None, None),
        ("+-+-+++", FLAPS, None, None),
        ("+-+-++++", FLAPS, None, True),
        ("+-+-++.++", FLAPS, None, True),
        ("+-+-----", FLAPS, None, True),
        ("+-+-+++~", FLAPS, None, None),
        ("+-+-++++", "a person's own", None, None),
        # Only releases since people refused it count.
        ("+-+-+", None, "2026-01-02T12:00:00Z", None),
        ("+-+-+-", None, "2026-01-02T12:00:00Z", False),
        ("+-+-++++", FLAPS, "2026-01-05T12:00:00Z", None),
        ("+-+-+++++", FLAPS, "2026-01-05T12:00:00Z", True),
        ("+-+-+++++", FLAPS, "2026-01-05T14:00:00+02:00", True),
        ("+-+-", None, "2026-01-04T00:00:00Z", None),
    ],
)
def test_what_is_offered(marks: str, reason: str | None, since: str | None, ends: bool | None) -> None:
    found = offered({"e": marks}, {} if reason is None else {"e": reason}, {} if since is None else {"e": since})
    assert [item.ends for item in found] == ([] if ends is None else [ends])
    for item in found:
        assert (item.entry.id, item.since) == ("e", since)
        assert item.changed.quarantined == (None if ends else FLAPS)
        assert item.changed.model_copy(update={"quarantined": reason}) == item.entry
        assert len(item.outcomes) == item.history.releases
        assert all(outcome.ran for outcome in item.outcomes)


def test_what_could_end_comes_first_then_what_changed_most() -> None:
    marks = {"a": "+-+-", "b": "+-+-+-", "c": "~~~~~~", "d": "++++", "e": "+-+-+-"}
    assert [item.entry.id for item in offered(marks, {"d": FLAPS})] == ["d", "c", "b", "e", "a"]


def test_an_entry_without_a_history_is_not_offered() -> None:
    assert quarantine_offers({"e": entry()}, {}, (), STABLE, {}) == ()


def test_the_grounds_are_other_ones_for_another_text_or_question_and_after_a_refusal() -> None:
    (one,), (same,) = offered({"e": "+-+-"}), offered({"e": "+-+-+-"})
    assert one.grounds == same.grounds, "no release alone asks anew"
    (ended,) = offered({"e": "++++"}, {"e": FLAPS})
    (again,) = offered({"e": "+-+-+-"}, refused={"e": "2026-01-02T00:00:00Z"})
    other = QuarantineOffer(
        entry=one.entry.model_copy(update={"turns": ("another",)}),
        ends=False,
        since=None,
        outcomes=one.outcomes,
        history=one.history,
    )
    assert len({item.grounds for item in (one, ended, again, other)}) == 4


def test_others_are_those_that_share_a_capability_that_counts() -> None:
    marks = {"e": "-+-", "kin": "-+.", "twin": "-~+", "base": "---", "far": "---"}
    scores = {"e": "ab", "kin": "ac", "twin": "ab", "base": "bc", "far": "d"}
    entries = {id: entry(id, "acme", **dict.fromkeys(names, 0.9)) for id, names in scores.items()}
    records = records_of(marks, entries)
    found = others_in(entries["e"], entries, records, {"b"})
    assert [(found[f"v{place}"].failed, found[f"v{place}"].ran) for place in range(3)] == [(2, 2), (1, 2), (0, 1)]
    assert others_in(entries["far"], entries, records[:1], {"b"}) == {"v0": Others(0, 0)}
    assert others_in(entries["e"], entries, (), {"b"}) == {}


@given(st.text("+-~.", max_size=15), st.integers(0, 15), st.sampled_from([None, FLAPS, "others"]))
def test_a_refusal_never_makes_an_offer(marks: str, day: int, reason: str | None) -> None:
    reasons = {} if reason is None else {"e": reason}
    plain = offered({"e": marks}, reasons)
    after = offered({"e": marks}, reasons, {"e": f"2026-01-{day + 1:02}T00:00:00Z"})
    assert {(item.entry.id, item.ends) for item in after} <= {(item.entry.id, item.ends) for item in plain}
    carried_out = {item.entry.id: item.changed.quarantined for item in plain}
    left = {id: text for id, text in (reasons | carried_out).items() if text is not None}
    assert offered({"e": marks}, left) == () or not plain, "what was merged is not offered back at once"
