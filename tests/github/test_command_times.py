"""However long a comment is, and whatever it repeats: commands are read in time that grows with the text alone."""

from __future__ import annotations

import time
from itertools import cycle, product

import pytest

from incumbent.github.commands import parse
from tests.hostile.attacks import ALL

NAMES = tuple(f"q{number:02}" for number in range(1, 21))
TEXT_LENGTH = 65_536
BEFORE = ("", "/incumbent reject q01 ", "- " * 9_000)
UNITS = [
    *("> ", ">", "- ", "-\n", "1. ", "* * ", "`", "` ``\n", "` `` ``` ", "~~~\n", "```\n", "[", "\\", "#", "_ "),
    *("<!--", "<!-- ", "<?", "<details>", "<details ", "</pre>", "<pre>\n", "<div>\n", "<a ", "<a b=", "<a b='"),
    *("<!-- /incumbent\n", "<a\n/incumbent\n", "&", "$", "![", "[^1]:", "[a]: <", "|", "~~", "<b>", "</b>"),
    *("\n", "  \n", "\t", "a\n", "/incumbent accept ", "/incumbent accept q01..q20 ", "/incumbent\n"),
    *("/incumbent reject q01 q02..q03-\n", "q01-", "q01.."),
]
TRIED = [*product(BEFORE, UNITS)] if ALL else [*zip(cycle(BEFORE), UNITS, strict=False)]
"""Each unit behind one beginning; with ``INCUMBENT_HOSTILE=all`` behind each."""


@pytest.mark.parametrize(("before", "unit"), TRIED)
def test_a_comment_of_full_length_is_read_in_linear_time(before: str, unit: str) -> None:
    body = (before + unit * TEXT_LENGTH)[:TEXT_LENGTH]
    begin = time.process_time()
    parse(body, NAMES)
    # One or two seconds on an idle machine; a quadratic reader takes minutes.
    assert time.process_time() - begin < 20


@pytest.mark.parametrize(
    "body",
    [
        "".join("`" * length + " " for length in range(1, 361)),
        "/incumbent accept " + "".join("`" * length + " " for length in range(1, 361)),
        "".join(f"{' ' * depth}- x\n" for depth in range(340)) + "a\n" * 5_000,
        "- " * 16_000 + "x\n" + "\n" * 16_000 + "y\n" * 8_000,
        "/incumbent accept " + "-" * 60_000,
        "/incumbent accept q01 " + "q02-" * 15_000,
    ],
)
def test_nested_and_unclosed_things_are_read_in_linear_time(body: str) -> None:
    begin = time.process_time()
    parse(body, NAMES)
    assert time.process_time() - begin < 10
