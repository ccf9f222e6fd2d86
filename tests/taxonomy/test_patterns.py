from __future__ import annotations

import contextlib
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.taxonomy import patterns as patterns_module
from incumbent.taxonomy.patterns import TOGETHER, PatternError, PatternSet, compile_pattern

HOSTILE = [
    r"(a+)+$",
    r"(a|a)*b",
    r"(a|aa)+b",
    r"(.*)*z",
    r"(.*)(.*)(.*)(.*)(.*)z",
    r"(?:x+x+)+y",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(\w+\s?)*!",
    r"if.*then.*else.*!",
    r"\s+$",
    r"(?:a?){300}a{300}b",
    r"(?:a|aa){300}b",
    r"[^z]{0,500}a[^z]{0,400}q",
]
"""What a backtracking engine may take for ever over, or scans again from every place of the text."""


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"\btables?\b", "as TABLES, please", True),
        (r"\btables?\b", "stable", False),
        (r"\bif\b.{0,60}\bthen\b", "If it rains, then stay", True),
        (r"^.{0,20}$", "short", True),
        (r"(?-i:\b[A-Z]{3,})", "pdf", False),
        (r"(?-i:\b[A-Z]{3,})", "PDF", True),
        # Case is that of any script; words and digits are those of ASCII.
        (r"ÉCOUTE", "écoute", True),
        (r"\bcsv\b", "csv로", True),
        (r"\bécoute\b", "écoute", False),
        (r"(?:^|[^\pL])écoute(?:[^\pL]|$)", "Écoute!", True),
        (r"(?:^|[^\pL])écoute(?:[^\pL]|$)", "réécoute", False),
        (r"fotos?(?:[^\p{Latin}]|$)", "fotosíntesis", False),
        (r"\d", "٣", False),
        # Ends of the text, and not of a line.
        (r"please$", "please\n", False),
        (r"^do", "ok\ndo it", False),
        (r"\\1", r"a \1", True),
        (r"\{,5", "x{,5}", True),
    ],
)
def test_what_a_pattern_matches(pattern: str, text: str, matches: bool) -> None:
    assert (compile_pattern(pattern).search(text.encode()) is not None) is matches


@pytest.mark.parametrize(
    ("patterns", "message", "fix"),
    [
        ([r"a(?=b)", r"a(?!b)", r"(?<=a)b", r"(?<!\w)b"], "looks ahead or behind", "match the text around"),
        ([r"(\w)\1", r"(?P<x>a)(?P=x)", r"(a)?(?(1)b|c)"], "refers back to a group", "write out what the group"),
        ([r"(?>a|b)c", r"a++b", r"a?+b"], "atomic group or a possessive repeat", "write (?: and a plain repeat"),
        ([r"a{,5}b", "a{99999999999}", "a{1,999999999}"], "a repeat without a lower bound", "write {0,5}"),
        ([r"end\Z"], r"`\Z`", r"write \z or $"),
        ([r"\u20ac", r"\N{EURO SIGN}"], r"`\u`", "write the character itself"),
        (["[", "(", "a**", "*a", r"\q", r"\pX", "(?P<x>a", "(?x)a"], "not a regular expression of RE2", "correct"),
        (["a{2000}", "(?:(?:a{100}){100}){100}"], "combine to more than 1,000", "lower their"),
        ([r"(?:\pL{1,30} ){0,30}x", "(?:[\\pL\\pN]{1,15} ){0,5}x"], "too large", "lower the bounds"),
        (["x*", "", "a|", r"\b", "$", "(?:)"], "matches without any character", "make at least one part"),
        (["(" * 3000 + ")" * 3000], "matches without any character", "make at least one part"),
        (["\ud800"], "half of a surrogate pair", "write the whole character"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_fix(patterns: list[str], message: str, fix: str) -> None:
    for pattern in patterns:
        with pytest.raises(PatternError, match=re.escape(message)) as caught:
            compile_pattern(pattern)
        assert fix in caught.value.fix, pattern


@given(st.text(max_size=30))
def test_any_text_is_accepted_or_refused(text: str) -> None:
    with contextlib.suppress(PatternError):
        compile_pattern(text).search(b"any text")


def seconds(pattern: str, text: str) -> float:
    """The least time that a search takes, of a few."""
    compiled, encoded = compile_pattern(pattern), text.encode()
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        compiled.search(encoded)
        taken.append(time.perf_counter() - start)
    return min(taken)


@pytest.mark.parametrize("pattern", HOSTILE)
@pytest.mark.parametrize("piece", ["a", "ax ", "lorem ipsum dolor "])
def test_no_pattern_takes_long(pattern: str, piece: str) -> None:
    text = piece * (10_000 // len(piece))
    # Four times the text: a factor of 4 where the time is linear, 16 where it is quadratic.
    assert seconds(pattern, 4 * text) <= 8 * seconds(pattern, text) + 0.05
    assert seconds(pattern, text) <= 2


ATOMS = st.sampled_from(["a", "b", "ab", "ba", r"\w", r"\s", ".", "[ab]", "-", " ", r"\b", "aa", r"\pL"])
QUANTIFIERS = st.sampled_from(["?", "*", "+", "{0,2}", "{2}", "{1,9}", "*?", "+?", "{0,99}"])


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, QUANTIFIERS).map(lambda two: f"(?:{two[0]}){two[1]}"),
    )


@given(st.recursive(ATOMS, _larger, max_leaves=9), st.text("ab -", min_size=1, max_size=3))
def test_an_accepted_pattern_is_searched_for_in_time(pattern: str, repeated: str) -> None:
    try:
        compiled = compile_pattern(pattern)
    except PatternError:
        return
    start = time.perf_counter()
    compiled.search((repeated * 3_000 + "!").encode())
    assert time.perf_counter() - start < 2


def test_the_largest_patterns_are_bounded() -> None:
    compile_pattern("[^z]{0,500}a")
    with pytest.raises(PatternError, match="too large"):
        compile_pattern("[^z]{0,500}a" * 3)


def test_a_set_finds_the_patterns_that_match() -> None:
    patterns = PatternSet((r"\btables?\b", "ÉCOUTE", "table", "table", "(?-i:PDF)"))
    assert sorted(patterns.matching("écoute les tables, pdf".encode())) == [0, 1, 2, 3]
    assert patterns.matching(b"PDF") == [4]
    assert patterns.matching(b"") == []
    assert PatternSet(()).matching(b"table") == []


@given(st.lists(st.text(max_size=20), max_size=3).map(" table ".join))
def test_a_set_finds_what_single_patterns_find(text: str) -> None:
    patterns = (r"\btables?\b", r"^.{0,20}$", r"[^\pL]", "le", "[0-9]") * TOGETHER
    encoded = text.encode("utf-8", "replace")
    assert sorted(PatternSet(patterns).matching(encoded)) == [
        place for place, pattern in enumerate(patterns) if compile_pattern(pattern).search(encoded) is not None
    ]


@pytest.mark.parametrize("memory", [1 << 14, 1 << 18])
def test_a_set_that_is_too_large_for_one_search_finds_all_the_same(
    memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = tuple(rf"[^z]{{0,{number}}}a[^z]{{0,200}}q" for number in range(200, 220))
    text = b"xa" * 300 + b"q"
    wanted = [place for place, pattern in enumerate(large) if compile_pattern(pattern).search(text) is not None]
    monkeypatch.setattr(patterns_module, "MAX_MEMORY", memory)
    found = PatternSet(large)
    assert all(part is None or part.Match(text) is None for _, part in found._parts)
    assert sorted(found.matching(text)) == wanted
