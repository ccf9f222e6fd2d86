"""What is said of personal data in a query: kinds and counts, and never a value."""

from __future__ import annotations

from typing import Any

import pytest

from bot.intake.query import Query, Setup
from bot.text.personal_data.counting import kinds_in_words, personal_in
from bot.text.personal_data.detector import Detector
from bot.text.personal_data.model import PersonalDataKind

CARD = "4539 1488 0343 6467"
MAIL = "kim.lee@northwind.com"


@pytest.mark.parametrize(
    ("given", "kinds", "words"),
    [
        ({"turns": ("Show my bills",)}, {}, ""),
        ({"turns": (f"Write to {MAIL}",)}, {"e-mail": 1}, "an e-mail address"),
        ({"turns": (f"Write to {MAIL}", f"to {MAIL.upper()}, I said")}, {"e-mail": 1}, "an e-mail address"),
        (
            {"turns": (f"Charge {CARD}", f"and tell {MAIL} and jo@adatum.com")},
            {"card": 1, "e-mail": 2},
            "a payment card number and 2 e-mail addresses",
        ),
        ({"turns": ("Hi",), "expected": {"answer": [{"contains": MAIL}]}}, {"e-mail": 1}, "an e-mail address"),
        ({"turns": ("Hi",), "expected": {"card": 4539148803436467}}, {"card": 1}, "a payment card number"),
        ({"turns": ("Hi",), "expected": {MAIL: True, "none": None, "share": 0.5}}, {"e-mail": 1}, "an e-mail address"),
        ({"turns": ("Hi",), "expected": {"card": 4539148803436467.0}}, {"card": 1}, "a payment card number"),
        ({"turns": ("Hi",), "expected": {"share": 0.8146362049801931}}, {}, ""),
        ({"turns": ("Hi",), "setup": Setup(tenant=MAIL, fixtures=("bills",))}, {"e-mail": 1}, "an e-mail address"),
        ({"turns": ("Hi",), "setup": Setup(attachments=(f"{MAIL}",))}, {"e-mail": 1}, "an e-mail address"),
    ],
)
def test_all_that_an_entry_would_keep_counts(given: dict[str, Any], kinds: dict[str, int], words: str) -> None:
    query = Query(id="q", file="evals.yaml", line=1, **given)
    found = personal_in(query.texts, Detector())
    assert dict(found) == kinds
    assert kinds_in_words(found) == words


def test_every_kind_has_words_for_one_and_for_several() -> None:
    assert kinds_in_words({kind.value: 1 for kind in PersonalDataKind}).count(",") == len(PersonalDataKind) - 2
    assert all(
        kinds_in_words({kind.value: 2}).startswith("2 ") or kind is PersonalDataKind.NAME for kind in PersonalDataKind
    )
