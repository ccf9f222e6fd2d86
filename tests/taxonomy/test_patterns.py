from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bot.taxonomy.patterns import MOST_WAYS, PatternError, compile_pattern
from tests.taxonomy.backtracking import Matcher

ORDINARY = [
    r"\btables?\b",
    r"\bas (?:a|an) (?:table|list)\b",
    r"\bif\b.{0,60}\bthen\b",
    r"\b(?:first|then|after that)\b.{0,60}\b(?:next|finally)\b",
    r"\b(?:show|send|see|search|set)\b.{0,60}\b(?:table|tab|text|ticket)\b",
    r"\b\d+ rows\b",
    r"\bas\s+a\s+table\b",
    r"\b(?:\w+\s+){0,3}tables?\b",
    r"\bthe (?:first|second|\d+(?:st|nd|rd|th))\b",
    r"(?:\b[a-z]+,\s*){2,5}and\b",
    r"\"[^\"]*\"",
    r"\bfoo.*",
    r"[!?]{2,}",
    r"\b[A-Z]{3,}\b",
    r"^\s*hello",
    r"^.{0,20}$",
    r"(?<!\w)@\w+",
    r"\bdon'?t\b",
    r"\bya?ml\b",
    r"\?$",
    r"```",
    r"(?:(?!no)\w){3}x",
    r"(?>ab|a)c",
]

# What may take very long, and what may scan the same text from every place of it.
SEVERAL_WAYS = [
    r"(a+)+",
    r"(a|a)*",
    r"(a|aa)+",
    r"(.*)*",
    r".*.*x",
    r"(\w+\s?)*$",
    r"(a+)+$",
    r"(x+x+)+y",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"^(a|b|ab)*c$",
    r"(?:\b\w+\b\s*)+x",
    r"if.*then",
    r"\bif\b.*\bthen\b",
    r"(?i:A)+a",
    "s+\u017fx",
    r"[a-m]+[h-z]x",
    r"[^a]+[^b]c",
    r"\d+\w!",
    r"(?=(a+)+b)c",
    r"\w+(?=\w*!)",
    r"\b(a?)+b",
    r"\ba+?a",
    r"\b(?>a+a)+b",
]
ANYWHERE = [r"\w+\s+x", r"\s+$", r"[a-z]+@", r"(?:\w+\s+)+!", r"as\s*\w+!", r"x?y+z", "(?:\u017f|s)+y"]
TOO_MANY = [
    r"(a?){20}a{20}",
    "a?" * 30 + "a" * 30,
    r"(a{0,50}){0,50}b",
    ".{0,60}" * 3 + "x",
    r"(?:\w{1,500} ){0,500}!",
    r"(?:a|ab|aba){20}d",
    r"\d{1,100000}x",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_cue_is_accepted(text: str) -> None:
    assert compile_pattern(text).flags & re.IGNORECASE


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (SEVERAL_WAYS, "can match the same text in several ways"),
        (ANYWHERE, "may begin in the middle of what it matches"),
        (TOO_MANY, f"more than {MOST_WAYS:,} ways"),
        ([r"(\w)\1", r"(a)?(?(1)b|c)"], "refers back to a group"),
        (["x*", "", "a|", r"\b", "$", "(?!x)"], "matches without any character"),
        (["[", "(", "a**", "a{99999999999}", r"\q"], "not a regular expression"),
        (["[[a]b]"], "ambiguous"),
        (["(" * 3000 + ")" * 3000], "nested too deeply"),
    ],
)
def test_unsafe_or_useless_pattern_is_refused_with_a_fix(texts: list[str], message: str) -> None:
    for text in texts:
        with pytest.raises(PatternError, match=re.escape(message)) as caught:
            compile_pattern(text)
        assert caught.value.fix, text


def test_the_fixes_that_messages_propose_are_accepted() -> None:
    for text in [r"\bif\b.{0,60}\bthen\b", r"\d{1,9} rows", r"\b\d+ rows", r"\b\w+\s+x"]:
        compile_pattern(text)


@given(st.text(max_size=30))
def test_any_text_is_accepted_or_refused(text: str) -> None:
    with contextlib.suppress(PatternError):
        compile_pattern(text)


ATOMS = st.sampled_from(["a", "b", "ab", "ba", r"\w", r"\s", ".", "[ab]", "-", " ", r"\b", "aa"])
QUANTIFIERS = st.sampled_from(["?", "*", "+", "{0,2}", "{2}", "{1,3}", "*?", "+?"])


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, QUANTIFIERS).map(lambda two: f"(?:{two[0]}){two[1]}"),
    )


PATTERNS = st.recursive(ATOMS, _larger, max_leaves=7)


@settings(max_examples=400, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    PATTERNS,
    PATTERNS,
    st.text("ab -", max_size=3),
    st.text("ab -", min_size=1, max_size=3),
    st.text("ab-!", max_size=2),
)
def test_accepted_pattern_takes_steps_in_proportion_to_the_text(
    left: str, right: str, head: str, repeated: str, tail: str
) -> None:
    try:
        compile_pattern(left + right)
    except PatternError:
        assume(False)
    matcher = Matcher(left + right)
    steps = []
    for count in (40, 160):
        matcher.search(head + repeated * count + tail)
        steps.append(matcher.steps)
    # Four times the text: linear is a factor of 4, quadratic 16.  The constant is what the ends of the text may cost.
    assert steps[1] <= 6 * steps[0] + 500


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("(a+)+b", (4, 16)),
        ("(a|aa)+b", (4, 16)),
        (r"(\w+\s?)*!", (3, 12)),
        (r"\w+\s+x", (40, 160)),
        ("a.*b", (40, 160)),
    ],
)
def test_the_measure_sees_what_is_worse_than_linear(text: str, counts: tuple[int, int]) -> None:
    matcher = Matcher(text)
    steps = []
    for count in counts:
        matcher.search("a" * count)
        steps.append(matcher.steps)
    assert steps[1] > 6 * steps[0] + 500
