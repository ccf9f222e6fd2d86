"""Every kind is found in many writings, and what only looks like it is left alone."""

from __future__ import annotations

import time
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.text.personal_data.detector import Detector
from bot.text.personal_data.model import PersonalDataKind
from tests.text.personal_data.examples import NAMES, NOT_PERSONAL, PERSONAL, marked

DETECTOR = Detector()
WITH_NAMES = Detector(names=True)
LONG = 50_000


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


@settings(max_examples=150, deadline=None)
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


@pytest.mark.integration
@pytest.mark.parametrize(
    "part",
    [
        "a", "1", "1 ", "1-", "0 ", "(0)", "1)1(", "+1234567890 ", "a@", "a.", "a@b.", "(at)", " dot ", "ssn ",
        "tel 0171 2345678 ", "de12 ",
        "DE89370400440532013001 ", "4539 1488 0343 6468 ", "12 Rue a ", "12 A St ", "Via a ", "12, ",
        "北京市", "Mr. A ", "Abc ",
        "1234,", "4539,1488,0343,6467,", "4539\t", "card 4539, 1488, 0343, 6467 ", "4539148803436467card", "de75",
        "a%40", "a&#64;", "a&#64;b&#46;", "a@b。", "&#", "2018 12345 ",
        "[e-mail 1]", "１", "\u200b", "ул. а 1 ", "order ", "123-45-678 ",
        "the tax id of the firm that is known to nobody in this whole wide world but to me and to my 123456 friends ",
    ],
)  # fmt: skip
def test_time_grows_with_the_text_alone(part: str) -> None:
    text = (part * LONG)[:LONG]
    before = time.process_time()
    WITH_NAMES.find(text)
    assert time.process_time() - before < 5


@pytest.mark.integration
def test_many_numbers_take_no_long_time() -> None:
    draw = Random(1)
    text = " ".join(f"tel 0{draw.randrange(10**9):09d} ssn +{draw.randrange(10**11)}" for _ in range(1_400))
    before = time.process_time()
    DETECTOR.find(text)
    assert time.process_time() - before < 8
