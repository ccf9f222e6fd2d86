from __future__ import annotations

import pytest

from bot.intake.query import Query, Setup


@pytest.mark.parametrize(
    ("attachments", "heard"),
    [
        ((), ("Hello", "What is this?")),
        (("images/boat.PNG",), ("Hello", "What is this?\n(attached image: images/boat.PNG)")),
        (("image/png (9 characters)",), ("Hello", "What is this?\n(attached image: image/png (9 characters))")),
        (("plan.pdf", "a.jpg"), ("Hello", "What is this?\n(attached file: plan.pdf)\n(attached image: a.jpg)")),
    ],
)
def test_a_classifier_hears_of_what_is_attached(attachments: tuple[str, ...], heard: tuple[str, ...]) -> None:
    turns = ("Hello", "What is this?")
    query = Query(id="q", turns=turns, setup=Setup(attachments=attachments), file="f", line=1)
    assert query.heard == heard
    assert query.turns == turns
