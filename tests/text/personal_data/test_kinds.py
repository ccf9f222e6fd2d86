"""Every kind is found in many writings, and what only looks like it is left alone."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.text.personal_data.detector import Detector
from incumbent.text.personal_data.model import PersonalDataKind
from tests.text.personal_data.examples import NAMES, NOT_PERSONAL, PERSONAL, marked

DETECTOR = Detector()
WITH_NAMES = Detector(names=True)
LONG = 50_000


@pytest.mark.untraced
@pytest.mark.parametrize(("kind", "example"), [(kind, each) for kind, all_ in PERSONAL.items() for each in all_])
def test_it_is_found_where_it_is(kind: str, example: str) -> None:
    text, part = marked(example)
    assert [(it.kind.value, text[it.start : it.end]) for it in DETECTOR.find(text)] == [(kind, part)]


@pytest.mark.parametrize("text", NOT_PERSONAL)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert [(it.kind.value, text[it.start : it.end]) for it in DETECTOR.find(text)] == []


@pytest.mark.parametrize("example", NAMES)
def test_names_are_found_on_request(example: str) -> None:
    text, part = marked(example)
    assert [(it.kind, text[it.start : it.end]) for it in WITH_NAMES.find(text)] == [(PersonalDataKind.NAME, part)]
    assert DETECTOR.find(text) == ()


@pytest.mark.parametrize(
    "hiding", ["\u200b", "\u00ad", "\u2060", "\u3164", "\u0301", "\x07", "\x7f", "\x85", "\U00013441"]
)
@pytest.mark.parametrize("kind", PERSONAL)
def test_signs_that_are_not_seen_hide_nothing(kind: str, hiding: str) -> None:
    text, part = marked(PERSONAL[kind][0])
    hidden = text.replace(part, hiding.join(part))
    assert [it.kind for it in DETECTOR.find(hidden)] == [kind]


@pytest.mark.parametrize("example", [each for all_ in PERSONAL.values() for each in all_])
def test_the_replaced_text_is_personal_no_more(example: str) -> None:
    text, part = marked(example)
    for changed in (DETECTOR.replaced(text), DETECTOR.masked(text)):
        assert part not in changed
        assert DETECTOR.find(changed) == ()


PIECES = [marked(each)[0] for all_ in (*PERSONAL.values(), NAMES) for each in all_]
PIECES += [*NOT_PERSONAL, " ", "-", "1", "tel ", "SSN", "[phone number 1]", "@", "(", "\u200b"]


@settings(max_examples=settings().max_examples * 3 // 2, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=6), st.sampled_from(["", " ", "\n", ", ", "-"]))
def test_whatever_is_beside_it(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    found = WITH_NAMES.find(text)
    assert all(0 <= it.start < it.end <= len(text) for it in found)
    assert all(first.end <= second.start for first, second in pairwise(found))
    replaced = WITH_NAMES.replaced(text)
    assert WITH_NAMES.find(replaced) == ()
    assert WITH_NAMES.replaced(replaced) == replaced
    assert WITH_NAMES.find(WITH_NAMES.masked(text)) == ()
