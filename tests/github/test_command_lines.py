"""Command lines: which lines are some, which words they hold, and where a reason begins."""

from __future__ import annotations

import pytest

from incumbent.github.commands import LONGEST_LINE, bare, command_lines, cut, first_word, is_unseen, things, tokens_of


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("/incumbent run", [(1, " run")]),
        ("   /Incumbent run", [(1, " run")]),
        ("/incumbent", [(1, "")]),
        ("/incumbent: run", [(1, ": run")]),
        ("/incumbents run", []),
        ("please /incumbent run", []),
        ("one\r\n/incumbent run\r/incumbent help", [(2, " run"), (3, " help")]),
        ("```\n/incumbent run\n```\n/incumbent help", [(4, " help")]),
        ("> /incumbent run\n\n/incumbent help", [(3, " help")]),
        ("\u200b/incum\u2060bent run", [(1, " run")]),
    ],
)
def test_a_line_that_its_author_says_and_that_begins_so_is_a_command(
    body: str, expected: list[tuple[int, str]]
) -> None:
    assert [(number, words) for number, _, words in command_lines(body)] == expected


def test_a_command_line_is_given_back_as_it_was_written() -> None:
    assert [line for _, line, _ in command_lines("  /incumbent\u200b run\n")] == ["  /incumbent\u200b run"]


@pytest.mark.parametrize(("words", "expected"), [(" Undo x", "undo"), (" , RUN", "run"), ("  ", ""), ("", "")])
def test_the_first_word_is_what_is_to_be_done_in_any_case(words: str, expected: str) -> None:
    assert first_word(words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (" undo", ()),
        (" undo x y", ("x", "y")),
        (" undo x,y , z", ("x", "y", "z")),
        (" undo `x` ``y z``", ("x", "y z")),
        (" undo x: it is wrong", ("x",)),
        (" undo `x`: it is wrong", ("x",)),
        (" undo x : it is wrong", ("x",)),
        (" undo x -- it is wrong", ("x",)),
        (" undo x – it is wrong", ("x",)),
        (" undo x - y", ("x", "-", "y")),
        (" undo x-1--y", ("x-1--y",)),
    ],
)
def test_what_is_named_ends_where_a_colon_or_a_dash_sets_a_reason_apart(words: str, expected: tuple[str, ...]) -> None:
    assert things(words) == expected


@pytest.mark.parametrize(("text", "expected"), [("`x`", "x"), ("`` x ``", "x"), ("`x", "`x"), ("x", "x"), ("", "")])
def test_backticks_around_a_name_are_taken_off(text: str, expected: str) -> None:
    assert bare(text) == expected


@pytest.mark.parametrize(
    ("character", "unseen"),
    [("\t", False), ("a", False), (" ", False), ("\u200b", True), ("\u2028", True), ("\x1b", True), ("\u3164", True)],
)
def test_only_what_shows_nothing_is_unseen(character: str, unseen: bool) -> None:
    assert is_unseen(character) is unseen


def test_a_long_line_is_cut_to_what_is_shown() -> None:
    assert cut("x" * LONGEST_LINE) == "x" * LONGEST_LINE
    assert cut("x" * (LONGEST_LINE + 1)) == "x" * (LONGEST_LINE - 1) + "…"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b", ["a", "b"]),
        ("a`b, c`d e", ["a`b, c`d", "e"]),
        ("`open a", ["`open", "a"]),
        ("`` a ` b `` c", ["`` a ` b ``", "c"]),
    ],
)
def test_words_are_apart_at_spaces_and_commas_outside_of_backticks(text: str, expected: list[str]) -> None:
    found = list(tokens_of(text))
    assert [token for token, _, _ in found] == expected
    assert all(text[start:end] == token for token, start, end in found)
