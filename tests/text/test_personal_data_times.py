"""Personal data is looked for in time that grows with the text alone."""

from __future__ import annotations

import time
from random import Random

import pytest

from incumbent.text.personal_data.detector import Detector

DETECTOR = Detector()
WITH_NAMES = Detector(names=True)
LONG = 50_000


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


def test_many_numbers_take_no_long_time() -> None:
    draw = Random(1)
    text = " ".join(f"tel 0{draw.randrange(10**9):09d} ssn +{draw.randrange(10**11)}" for _ in range(1_400))
    before = time.process_time()
    DETECTOR.find(text)
    assert time.process_time() - before < 8
