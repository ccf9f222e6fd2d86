"""Problems: what they say is as it was given, and which part of a fix a stranger chose is never lost."""

from __future__ import annotations

import pickle
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from incumbent.errors import InputError, Problem, untrusted, untrusted_list
from incumbent.github.facts import without_secrets

SIGNS = ("\ufdd0", "\ufdd1")
KEY = "ghp_" + "a1B2" * 9
TEXT = st.text() | st.sampled_from([*SIGNS, KEY, "x" * 9_000, "x" * 40_000])
PIECES = st.lists(st.tuples(TEXT, st.booleans()), max_size=5)


def problem(fix: str) -> Problem:
    return Problem("f", 1, "wrong", fix)


def quoting(pieces: list[tuple[str, bool]]) -> str:
    return "".join(untrusted(text) if strange else text for text, strange in pieces)


def ours(found: Problem) -> str:
    return "".join(text for text, strange in found.parts if not strange)


def test_a_fix_reads_as_if_nothing_were_told_apart() -> None:
    found = problem(f"name {untrusted('a b')}, or {untrusted('c')}")
    assert found.fix == "name a b, or c"
    assert str(found) == "f:1: wrong\n    fix: name a b, or c"
    assert repr(found) == repr(problem("name a b, or c"))
    assert found.parts == (("name ", False), ("a b", True), (", or ", False), ("c", True))
    assert problem("write it").parts == (("write it", False),)
    assert problem(f"use one of: {untrusted_list('ab')}").parts[1:] == (("a", True), (", ", False), ("b", True))
    assert problem(f"in {untrusted('')}here").parts == (("in ", False), ("here", False))
    assert Problem("f", 1, f"no {untrusted('x')}", "y").message == "no x"


def test_problems_that_say_the_same_are_the_same() -> None:
    marked, plain = problem(f"name {untrusted('a')}"), problem("name a")
    assert marked == plain
    assert hash(marked) == hash(plain)
    assert marked.order == plain.order
    assert len(InputError([marked, plain]).problems) == 1
    assert without_secrets(marked) == without_secrets(plain) == marked
    assert pickle.loads(pickle.dumps(marked)).parts == marked.parts


def test_a_problem_that_is_told_elsewhere_knows_the_same() -> None:
    found = problem(f"name {untrusted('a')}")
    assert replace(found, file="g", line=None).parts == found.parts
    assert replace(found, fix=f"{found.fix}; or {untrusted('b')} there").parts == (
        *(("name ", False), ("a", True), ("; or ", False), ("b", True)),
        (" there", False),
    )
    assert problem(found.given_fix).parts == found.parts
    assert replace(problem("write it"), fix="write that").parts == (("write that", False),)


def test_what_became_of_a_fix_otherwise_is_foreign() -> None:
    found = problem(f"name {untrusted('a')}")
    assert replace(found, fix=f"first {found.fix}").parts == (("first name a", True),)


def test_a_text_cannot_leave_its_quotation() -> None:
    assert problem(f"name {untrusted('a' + SIGNS[1] + 'b')}!").parts == (("name ", False), ("ab", True), ("!", False))
    assert problem(f"a{SIGNS[0]}b{SIGNS[0]}c").parts == (("a", False), ("b", True), ("c", True))
    assert problem(f"a{SIGNS[1]}b").parts == (("ab", False),)


def test_of_a_fix_that_was_cut_our_word_begins_and_ends_it() -> None:
    cut = problem(f"name {untrusted('x' * 9_000)}, or {untrusted('y')} there")
    assert len(cut.fix) == 3_999
    assert [(text[:9], strange) for text, strange in cut.parts] == [
        ("name ", False),
        ("xxxxxxxxx", True),
        (" there", False),
    ]
    assert problem(f"{untrusted('x' * 9_000)}").parts[0][1]
    assert problem(f"{'x' * 9_000}{untrusted('y')}").parts[0][1], "our word was cut as well"
    assert problem(f"{'x' * 9_000}{SIGNS[1]}").parts == ((problem("x" * 9_000).fix, False),)
    secret = problem(f"name {untrusted(KEY)}!")
    assert KEY not in secret.fix
    assert [strange for _, strange in secret.parts] == [False, True, False]


@given(PIECES)
@example([("a", False), (SIGNS[0], False), ("b", False), (SIGNS[1], True)])
def test_the_parts_are_the_fix(pieces: list[tuple[str, bool]]) -> None:
    found = problem(quoting(pieces))
    assert "".join(text for text, _ in found.parts) == found.fix
    assert not any(sign in found.fix for sign in SIGNS)
    plain = "".join(text for text, _ in pieces)
    for sign in SIGNS:
        plain = plain.replace(sign, "")
    assert found.fix == problem(plain).fix


@given(
    st.lists(st.tuples(st.text(alphabet="ab ") | st.just("a" * 9_000), st.just(False)) | st.tuples(TEXT, st.just(True)))
)
def test_nothing_foreign_is_ever_called_ours(pieces: list[tuple[str, bool]]) -> None:
    own = "".join(text for text, strange in pieces if not strange)
    found = problem(quoting(pieces))
    assert len(ours(found)) <= len(own)
    assert set(ours(found)) <= set("ab .")
    assert ours(replace(found, file="g")) == ours(found)
    assert ours(replace(found, fix=f"{found.fix}{untrusted('c')}")).count("c") == 0
