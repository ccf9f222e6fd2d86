"""Which characters show nothing, and which numbers have digits that may be somebody's."""

from __future__ import annotations

import pytest

from incumbent.errors import Problem
from incumbent.intake.query import fault_of_id
from incumbent.report.escaping import code, printable, visible
from incumbent.text.plain_text import digits_of, is_invisible, is_shown

BLANK = "\u3164\u2800\u115f\u1160\uffa0\u034f\u17b4\u180b\U0001d159\U00013441"


@pytest.mark.parametrize("character", [*BLANK, "\u200b", "\u202e", "\U000e0041", "\x1b", "\u2028", "\xad", "\ud800"])
def test_what_shows_nothing_is_invisible(character: str) -> None:
    assert is_invisible(character)
    assert not is_shown(character)


@pytest.mark.parametrize("character", ["a", " ", "é", "ㄱ", "⠿", "가", "\ufe0f", "\U000e0100", "\ue000", "\u0378"])
def test_what_shows_something_or_changes_its_look_is_not(character: str) -> None:
    assert not is_invisible(character)


@pytest.mark.parametrize("character", BLANK)
def test_blank_glyphs_are_made_visible_wherever_text_is_shown(character: str) -> None:
    text = f"a{character}b"
    assert visible(text) == printable(text) == "a\ufffdb"
    assert code(text) == "`a\ufffdb`"
    assert character not in str(Problem(text, None, text, text))
    assert fault_of_id(text) is not None


@pytest.mark.parametrize("character", ["a", " ", "é", "ㄱ", "⠿", "가", "\ufe0f"])
def test_other_characters_are_shown_as_they_are(character: str) -> None:
    assert is_shown(character)


@pytest.mark.parametrize("character", ["\ue000", "\u0378", "\u00a0"])
def test_what_means_nothing_and_other_blanks_are_not(character: str) -> None:
    assert not is_shown(character)


@pytest.mark.parametrize(
    ("number", "digits"),
    [
        (4539148803436467, "4539148803436467"),
        (4539148803436467.0, "4539148803436467"),
        (-7, "-7"),
        (0.8146362049801931, None),
        (float("nan"), None),
        (True, None),
        (None, None),
        ("7", None),
    ],
)
def test_whole_numbers_have_digits_and_fractions_are_nobodys(number: object, digits: str | None) -> None:
    assert digits_of(number) == digits
