"""Which numbers have digits that may be somebody's."""

from __future__ import annotations

import pytest

from bot.text.personal_data.plain_text import digits_of


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
