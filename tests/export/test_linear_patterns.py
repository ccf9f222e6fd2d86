"""Which regular expressions of customers reach a runner, and that those that do take no time to speak of."""

from __future__ import annotations

import random
import re
import time

import pytest

from incumbent.runners.export.linear_patterns import pattern_fault

CHARACTERS = 4_000


PASSED = [
    *(
        "",
        "yes",
        "^yes$",
        "yes|no",
        "|a",
        "a|",
        r"Order \d+",
        r"^\d+$",
        r"^.*moored",
        r"https?://\S+",
        r"[A-Z]{2}\d{4}",
    ),
    *(r"\b\d{1,20} ships\b", "(?:a|b)?c", "a{0,50}b", "^(?:a+|b+)c", "(a(b)?)?", "(?:ab+)?", "x{3}", "a{2,}", "^a*?b"),
    *(r"[^a\]]*", r"[a\-z]", r"\x41", r"\{\"berth\": \d+", "é+"),
]
KEPT_BACK = {
    "repeats more than one character without a bound": ["^(a+)+$", "(ab)*", "^(a|a)*$", "(?:a?){2,}", "(?:^a|b)*?c"],
    "repeats what repeats without a bound": ["(a+){2}", "(?:a*b){1,3}"],
    "far longer than its text is long": ["a*b", r"\s+$", "^a*a*b", "^.*foo.*$", "(?:a*)b", "(?:^a|b*)c"],
    "too many ways": ["(a|b|c){9}d", "(?:a?){20}b", "(a{1,100}){1,100}", "a" * 20_000, "(" * 30 + "a" + ")" * 30],
    "not all engines read alike": [
        *(
            r"(a)\1",
            "(?=a)",
            "(?<!a)b",
            "(?i)a",
            "(?P<n>a)",
            r"\pL",
            "[]a]",
            "[^]a]",
            "a{,5}",
            "{",
            "}",
            "]",
            r"\u{41}",
        ),
        *("\\", "["),
    ],
    "repeats nothing that can be repeated": ["*a", "a**", "^*", "(+)", "|?", r"\b+", "a{2}{3}"],
    "is not closed": ["(a", "((a)"],
    "was not opened": ["a)"],
}


@pytest.mark.parametrize("text", PASSED)
def test_what_is_tried_in_few_ways_is_let_through(text: str) -> None:
    assert pattern_fault(text) is None
    re.compile(text)


@pytest.mark.parametrize(("why", "text"), [(why, text) for why, texts in KEPT_BACK.items() for text in texts])
def test_what_may_be_tried_in_many_ways_is_kept_back_with_a_fix(why: str, text: str) -> None:
    fault = pattern_fault(text)
    assert fault is not None
    assert why in fault
    assert re.search("write|begin", fault)


def some_pattern(chance: random.Random, depth: int = 3) -> str:
    """A pattern of few characters, repeats of all kinds, and groups."""
    parts = []
    for _ in range(chance.randint(1, 4)):
        part = chance.choice(["a", "b", ".", r"\w", "[ab]", "[^b]", r"\b", "^", "$"])
        if depth and chance.random() < 0.4:
            inner = "|".join(some_pattern(chance, depth - 1) for _ in range(chance.randint(1, 2)))
            part = f"({inner})"
        repeats = ["", "", "?", "*", "+", "*?", "{2}", "{0,3}", "{1,20}"]
        parts.append(part + chance.choice(repeats if part not in ("^", "$", r"\b") else [""]))
    return "".join(parts)


@pytest.mark.untraced
def test_what_is_let_through_takes_no_time_whatever_it_is_searched_in() -> None:
    chance = random.Random(20260101)
    patterns = {some_pattern(chance) for _ in range(3_000)}
    passed = sorted(pattern for pattern in patterns if pattern_fault(pattern) is None)
    assert 200 < len(passed) < len(patterns)
    slowest = 0.0
    for pattern in passed:
        compiled = re.compile(pattern)
        for unit in ("a", "ab", "b", "aab", "!"):
            began = time.process_time()
            compiled.search(unit * (CHARACTERS // len(unit)) + "!")
            slowest = max(slowest, time.process_time() - began)
    assert slowest < 1
