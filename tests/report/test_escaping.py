"""Escaping, whatever the text: what Markdown, a console and a runner make of it."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from incumbent.report.escaping import (
    LONGEST_ADDRESS,
    LONGEST_BACKTICKS,
    SHOWN_CHARACTERS,
    code,
    code_block,
    link,
    plain,
    printable,
    shortened,
    unlogged,
    visible,
)
from incumbent.text.plain_text import is_invisible
from tests.github.hostile import HALF_CHARACTER, HOSTILE
from tests.github.test_hostile_text import dead

BREAK = "\u200b"
UNASSIGNED = {"Co", "Cn"}
MARKS = "`|\\<>!-:#[]@$* \n\r\t\u200b\u202e\x1b\u3164\u2800"
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")

texts = st.one_of(
    st.text(st.sampled_from(MARKS + "ab1"), max_size=40),
    st.text(st.characters(), max_size=200),
    st.sampled_from([*HOSTILE.values(), HALF_CHARACTER]),
    st.builds("".join, st.lists(st.sampled_from(["`", "```", "`" * 90, "\\", "|", "\\|", "<!--", "-->", "a", " "]))),
)


def unseen(text: str) -> set[str]:
    return {sign for sign in text if is_invisible(sign) or unicodedata.category(sign) in UNASSIGNED}


def inline(markdown: str) -> list[tuple[str, str]]:
    """What the parser makes of one paragraph."""
    tokens = PARSER.parse(markdown)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    return [(token.type, token.content) for token in tokens[1].children or []]


def cells(markdown: str) -> list[list[tuple[str, str]]]:
    """What the parser makes of a table of one head and one row of these cells."""
    tokens = PARSER.parse(f"| a | b |\n| --- | --- |\n{markdown}")
    assert [token.type for token in tokens].count("td_open") == 2
    assert [token.type for token in tokens].count("tr_open") == 2
    assert tokens[-1].type == "table_close"
    found = [token.children or [] for token in tokens if token.type == "inline"]
    return [[(token.type, token.content) for token in children] for children in found[2:]]


def without_breaks(text: str) -> str:
    return text.replace(BREAK, "")


@given(texts)
@example("\\|")
@example("a\\")
@example("`")
def test_code_is_one_code_span_that_shows_the_text(text: str) -> None:
    ((kind, content),) = inline(code(text))
    assert kind == "code_inline"
    # Outside a table the escape of a pipe is shown.
    assert without_breaks(content).replace("\\|", "|") == (visible(text) or "(empty)")


@given(texts, texts)
def test_code_holds_in_the_cells_of_a_table(first: str, second: str) -> None:
    row = cells(f"| {code(first)} | **{code(second)}**<br>{code(first)} |")
    shown = [[without_breaks(content) for kind, content in cell if kind == "code_inline"] for cell in row]
    wanted = [visible(text) or "(empty)" for text in (first, second)]
    assert shown == [[wanted[0]], [wanted[1], wanted[0]]]
    assert [kind for kind, _ in row[0]] == ["code_inline"]
    assert [kind for kind, content in row[1] if content or kind != "text"] == [
        "strong_open",
        "code_inline",
        "strong_close",
        "html_inline",
        "code_inline",
    ]


@given(texts)
@example("a \\\\\\| b")
def test_a_pipe_in_code_stands_behind_one_backslash_alone(text: str) -> None:
    """Parsers differ on what several backslashes before a pipe mean."""
    assert all(len(run) == 1 for run in re.findall(r"(\\*)\|", code(text)))


@given(texts)
def test_code_holds_no_comment_and_no_run_of_backticks_that_github_takes_for_text(text: str) -> None:
    span = code(text)
    assert "<!--" not in span
    assert "\n" not in span
    assert max(map(len, re.findall("`+", span))) <= LONGEST_BACKTICKS + 1 <= 80
    assert unseen(span) <= {BREAK}


@given(st.text(st.characters(categories=["L", "N"], include_characters=" .,?'"), min_size=1))
def test_harmless_text_is_quoted_as_it_is(text: str) -> None:
    flat = " ".join(text.split())
    assert code(text) == f"`{flat or '(empty)'}`"
    assert unlogged(text) == printable(text)


@given(texts)
def test_visible_is_one_line_without_unseen_signs_and_stays_as_it_is(text: str) -> None:
    shown = visible(text)
    assert not unseen(shown)
    assert len(shown.splitlines()) <= 1
    assert shown == shown.strip()
    assert visible(shown) == shown


@given(texts)
def test_printable_keeps_lines_and_tabs_and_shows_all_else(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert unseen(shown) <= {"\n", "\t"}
    assert all(new in (old, "\ufffd") for old, new in zip(text, shown, strict=True))
    assert shown.encode("utf-8").decode("utf-8") == shown


@given(texts)
@example(":::")
@example("::::")
@example("###[[")
def test_no_line_of_unlogged_is_a_command(text: str) -> None:
    shown = unlogged(text)
    assert "::" not in shown
    assert "##[" not in shown
    assert without_breaks(shown) == printable(text)


@given(texts, st.integers(min_value=1, max_value=50))
def test_shortened_is_never_longer_and_says_that_it_is_cut(text: str, length: int) -> None:
    shown = shortened(text, length)
    assert len(shown) <= length
    assert (shown == text) == (len(text) <= length or shown == text)
    if shown != text:
        assert shown.endswith("…")
        assert text.startswith(shown[:-1])


@given(texts)
def test_a_cut_text_is_quoted_as_safely_as_a_whole_one(text: str) -> None:
    ((kind, content),) = inline(code(shortened(visible(text), 20)))
    assert kind == "code_inline"
    assert len(without_breaks(content).replace("\\|", "|")) <= 20
    assert len(shortened(visible(text))) <= SHOWN_CHARACTERS


@given(texts)
def test_plain_words_are_text_alone(text: str) -> None:
    if not visible(text):
        return
    found = inline(f"x {plain(text)} x")
    assert {kind for kind, _ in found} <= {"text", "text_special"}
    shown = "".join(content for _, content in found)
    assert without_breaks(shown) == f"x {visible(text)} x"
    assert not re.search(r"@\w|#\d|://|\bwww\.|:[a-z0-9_+-]+:", shown, re.IGNORECASE)


@given(texts)
def test_a_block_of_code_is_one_and_ends_where_we_end_it(text: str) -> None:
    (block,) = PARSER.parse(code_block(text))
    assert (block.type, block.info) == ("fence", "text")
    assert without_breaks(block.content) == printable(text) + "\n"
    assert "<!--" not in block.content


EVERY: tuple[Any, ...] = (
    test_code_is_one_code_span_that_shows_the_text,
    test_a_pipe_in_code_stands_behind_one_backslash_alone,
    test_code_holds_no_comment_and_no_run_of_backticks_that_github_takes_for_text,
    test_visible_is_one_line_without_unseen_signs_and_stays_as_it_is,
    test_printable_keeps_lines_and_tabs_and_shows_all_else,
    test_no_line_of_unlogged_is_a_command,
    test_a_cut_text_is_quoted_as_safely_as_a_whole_one,
    test_plain_words_are_text_alone,
    test_a_block_of_code_is_one_and_ends_where_we_end_it,
)


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.__name__.removeprefix("test_"))
def test_every_hostile_text_is_escaped(check: Any) -> None:
    """The properties above draw some of the texts; each holds for all."""
    for text in (*HOSTILE.values(), HALF_CHARACTER):
        check.hypothesis.inner_test(text)


def test_no_hostile_text_comes_alive_in_a_cell() -> None:
    for text in (*HOSTILE.values(), HALF_CHARACTER):
        cut = code(shortened(visible(text)))
        dead(f"| a | b |\n| --- | --- |\n| {code(text)} | {cut} |", None)
        cells(f"| {code(text)} | {cut} |")


@pytest.mark.parametrize("text", ["Tool calls", "Authentication: OAuth", "Answers (short)", "Ünïcode, 3.5 % done"])
def test_plain_names_read_as_they_are(text: str) -> None:
    assert "".join(shown for _, shown in inline(plain(text))) == text


@pytest.mark.parametrize(
    ("address", "written"),
    [
        ("../compare/main...evict-x?expand=1&title=a", "../compare/main...evict-x?expand=1&title=a"),
        ("https://github.example:8443/o/r", "https://github.example:8443/o/r"),
        ("http://localhost/o/r", "http://localhost/o/r"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("HTTPS://x", "HTTPS%3A//x"),
        (")](https://evil.example) `|<b>\n", "%29%5D%28https%3A//evil.example%29%20%60%7C%3Cb%3E%0A"),
    ],
)
def test_a_link_leads_nowhere_else(address: str, written: str) -> None:
    assert link("words", address) == f"[words]({written})"


@given(texts)
def test_a_link_is_one_whatever_its_address(text: str) -> None:
    (paragraph,) = [token for token in PARSER.parse(link("words", f"../{text}")) if token.type == "inline"]
    kinds = [token.type for token in paragraph.children or ()]
    assert kinds in (["link_open", "text", "link_close"], ["text"])


def test_too_long_an_address_is_not_linked() -> None:
    assert link("words", "x" * LONGEST_ADDRESS) == f"[words]({'x' * LONGEST_ADDRESS})"
    assert link("words", "x" * (LONGEST_ADDRESS + 1)) == "words"
