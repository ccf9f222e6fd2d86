from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.github.commands import (
    LONGEST_LINE,
    LONGEST_REASON,
    MOST_COMMANDS,
    USAGE,
    Command,
    Misspelt,
    Tag,
    Verb,
    parse,
    tags_said,
)
from incumbent.github.markdown_text import seen

NAMES = tuple(f"q{number:02}" for number in range(1, 21))
ODD = ("contoso/repairs/q07", "my open tickets", "Order.status-1", "a, b", "tick`ed", "q-0a1b2c3d4e", "q-ffeeddccbb")
RUN = "/incumbent run"
TEXT_LENGTH = 65_536


def one(line: str, names: tuple[str, ...] = NAMES) -> Command | Misspelt:
    (found,) = parse(line, names)
    return found


def command(line: str, names: tuple[str, ...] = NAMES) -> Command:
    found = one(line, names)
    assert isinstance(found, Command), found
    return found


def misspelt(line: str, names: tuple[str, ...] = NAMES) -> str:
    found = one(line, names)
    assert isinstance(found, Misspelt), found
    return found.message


def runs_at(body: str) -> list[int]:
    found = parse(body, NAMES)
    assert all(isinstance(item, Command) and item.verb is Verb.RUN for item in found), found
    return [item.line for item in found]


# -- Which lines are commands ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (RUN, [1]),
        ("/Incumbent RUN", [1]),
        ("   /incumbent run", [1]),
        ("/incumbent   run  ", [1]),
        ("/incumbent\trun", [1]),
        (f"Hello\n{RUN}\nthanks", [2]),
        (f"Hello\r\n\r\n{RUN}\r\n{RUN}\r", [3, 4]),
        (f"one\rtwo\r{RUN}", [3]),
        ("    /incumbent run", []),
        ("\t/incumbent run", []),
        ("  \t/incumbent run", []),
        ("text\n    /incumbent run", []),
        ("say /incumbent run", []),
        ("`/incumbent run`", []),
        ("- /incumbent run", []),
        ("# /incumbent run", []),
        ("/incumbents run", []),
        ("/incumbent-bot run", []),
        ("/incumbent/run", []),
        ("/\u0131ncumbent run", []),
        ("incumbent run", []),
        ("", []),
    ],
)
def test_a_command_is_a_line_that_begins_with_the_word(body: str, lines: list[int]) -> None:
    assert runs_at(body) == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        # fences
        (f"```\n{RUN}\n```\n{RUN}", [4]),
        (f"```sh\n{RUN}\n```", []),
        (f"~~~\n{RUN}\n~~~~\n{RUN}", [4]),
        (f"````\n```\n{RUN}\n````\n{RUN}", [5]),
        (f"```\n~~~\n{RUN}\n```\n{RUN}", [5]),
        (f"```\n``` sh\n{RUN}\n```\n{RUN}", [5]),
        (f"```\n    ```\n{RUN}", []),
        (f"```\n   ```   \n{RUN}", [3]),
        (f"```\n\n{RUN}", []),
        (f"``` a`b\n{RUN}", [2]),
        (f"~~~ a`b\n{RUN}", []),
        (f"``\n{RUN}", [2]),
        (f"text\n```\n{RUN}\n```", []),
        (f"text\n    ```\n{RUN}", [3]),
        (f"    ```\n{RUN}", [2]),
        # lists
        (f"- ```\n  {RUN}\n  ```\n{RUN}", [4]),
        (f"- ```\n{RUN}", [2]),
        (f"- a\n\n  ```\n  b\n\n  {RUN}\n  ```", []),
        (f"-\n  ```\n  {RUN}\n{RUN}", [4]),
        (f"-\n\n  ```\n{RUN}", []),
        (f"1. do\n   {RUN}\n{RUN}", [2, 3]),
        (f"text\n2. ```\n\n   ```\n   {RUN}", []),
        (f"text\n1. ```\n   {RUN}", []),
        (f"text\n-\n```\n{RUN}", []),
        (f"-     ```\n{RUN}", [2]),
        (f"- a\n- - b\n- c\n{RUN}", [4]),
        (f"{'- ' * 9}x\n{RUN}\n\n{RUN}", [2, 4]),
        (f"{'- ' * 30}x\n{RUN}\n\n{RUN}", []),
        (f"- <div>\n{RUN}", [2]),
        # other blocks
        (f"# Title\n{RUN}", [2]),
        (f"***\n{RUN}", [2]),
        (f"Title\n===\n{RUN}", [3]),
        (f"Title\n-\n{RUN}", [3]),
        (f"===\n{RUN}", [2]),
        (f"| a |\n|---|\n\n{RUN}", [4]),
        # quotes
        (f"> {RUN}", []),
        (f">{RUN}", []),
        (f"   > {RUN}", []),
        (f"> > {RUN}", []),
        (f"> text\n{RUN}", []),
        (f"> text\nmore\n     more\n{RUN}", []),
        (f"> text\n\n{RUN}", [3]),
        (f"> text\n>\n{RUN}", [3]),
        (f"> text\n```\n\n{RUN}\n```\n{RUN}", [6]),
        (f"> text\n***\n{RUN}", [3]),
        (f"> text\n<a>\n{RUN}", []),
        (f"- > text\n{RUN}", []),
        (f"    > code\n{RUN}", [2]),
        # comments
        (f"<!-- {RUN} -->", []),
        (f"<!--\n\n{RUN}\n\n-->\n{RUN}", [6]),
        (f"<!-- a -->\n{RUN}", [2]),
        (f"<!-- never closed\n\n{RUN}", []),
        (f"text <!--\n{RUN}\n--> text\n{RUN}", [4]),
        (f"text <!-- never closed\n{RUN}\n\n{RUN}", [2, 4]),
        (f"text <!-->\n{RUN}", [2]),
        (f"text `<!--`\n{RUN}\n-->", [2]),
        (f"text \\<!--\n{RUN}", [2]),
        (f"<div> <!--\n{RUN}\n--> </div>\n{RUN}", [4]),
        (f"<div> <!--\n{RUN}\n\n{RUN}", []),
        (f"- <!--\n{RUN}", []),
        (f"text <?\n{RUN}\n?>\n{RUN}", [4]),
        # code spans over several lines
        (f"see `a\n{RUN}\nb`\n{RUN}", [4]),
        (f"see ``a`\n{RUN}\nb``\n{RUN}", [4]),
        (f"see \\`a\n{RUN}\nb`\n{RUN}", [2, 4]),
        (f"see `a\n{RUN}", [2]),
        # HTML
        (f"<details>\n<summary>x</summary>\n\n{RUN}\n\n</details>\n{RUN}", [7]),
        (f"<DETAILS open>\n\n{RUN}\n\n</Details>\n\n{RUN}", [7]),
        (f"<details>\n\n<details>\n\n</details>\n\n{RUN}\n\n</details>\n\n{RUN}", [11]),
        (f"<details>\n\n{RUN}", []),
        (f"text <details>\n{RUN}\n</details>", []),
        (f"# <details>\n{RUN}", []),
        (f"`<details>`\n{RUN}", [2]),
        (f"```\n<details>\n```\n{RUN}", [4]),
        (f"<detailsx>\n{RUN}", [2]),
        (f"</details>\n{RUN}", [2]),
        (f"<pre>\n\n{RUN}\n\n</pre>\n{RUN}", [6]),
        (f"<pre>a</pre>\n{RUN}", [2]),
        (f"<code>\n\n{RUN}\n\n</code>\n\n{RUN}", [7]),
        (f"<blockquote>\n\n{RUN}\n\n</blockquote>\n\n{RUN}", [7]),
        (f"<script>\n\n{RUN}\n</script>", []),
        (f"<?php\n\n{RUN}\n?>\n{RUN}", [5]),
        (f"<![CDATA[\n{RUN}\n]]>\n{RUN}", [4]),
        (f"<!DOCTYPE\n{RUN}\n>\n{RUN}", [4]),
        (f'<img width="9" src="x>y">\n{RUN}', [2]),
        (f"<div>\n```\n\n{RUN}", [4]),
        (f"text\n<a>\n```\n\n{RUN}", []),
        (f"see <customer>\n{RUN}", [2]),
        (f"see <customer>them</customer>\n{RUN}", [2]),
        (f"see them</b>\n{RUN}", [2]),
        (f"<b>Thanks</b>\n{RUN}", [2]),
        (f"<details/>\n\n{RUN}", []),
        (f"<details><table><tr><td></details>\n\n{RUN}", []),
        (f"<details><p>a</details>\n\n{RUN}", [3]),
        # what renders to nothing
        (f"[note]: https://x 'a\n{RUN}\n'", []),
        (f"[note]: https://x\n'a\n{RUN}\n'\n\n{RUN}", [6]),
        (f"[a](https://x 'a\n{RUN}\n')\n{RUN}", [4]),
        ("[a](\n/incumbent)", []),
        (f"![a\n{RUN}\n](https://x)", []),
        (f'<a title="\n{RUN}\n">x</a>', []),
        (f'text <a title="\n{RUN}\n">x</a>\n{RUN}', [4]),
        (f"<img alt='\n{RUN}\n'>", []),
        (f"<p hidden>\n{RUN}\n</p>", []),
        (f"<p hidden>\n\n{RUN}\n\n</p>", []),
        (f"<p hidden>x</b>\n{RUN}\n</p>", []),
        (f'<div style="display:none">\n\n{RUN}\n\n</div>', []),
        (f"<template>\n{RUN}\n</template>\n\n{RUN}", [5]),
        (f"<summary>\n{RUN}\n</summary>", []),
        (f"[^1]: note\n{RUN}\n\n{RUN}", [4]),
        (f"- [^1]: note\n{RUN}", []),
        (f"$$\n\\phantom{{\n{RUN}\n}}\n$$", []),
        (f"$\\phantom{{ *a*\n{RUN}\n}}$", []),
        (f"it costs $5\n{RUN}", [2]),
        (f"worth $5\n{RUN}\nworth $6", [2]),
        (f"worth **$5**\n{RUN}\n**$6**", [2]),
        (f"$ a\n{RUN}\nb$", [2]),
        (f"$a\n{RUN}\nb $", [2]),
        (f"$a\n{RUN}\nb$", []),
        (f"$&\n{RUN}\n&$", []),
        (f"$`a`\n{RUN}\n`b`$", []),
        (f"<p>$&#97;\n{RUN}\n&#97;$</p>", []),
        # set apart otherwise
        (f"[a\n{RUN}\n](https://x)", []),
        (f"~~a\n{RUN}\nb~~", []),
        (f"~x\n{RUN}\ny~", []),
        (f"~*x*\n{RUN}\n*y*~", []),
        (f"about ~5\n{RUN}\nor ~6", [2]),
        (f"~ x\n{RUN}\ny ~", [2]),
        (f"{RUN} | a\n--- | ---\n{RUN} | b", []),
        (f"{RUN}\n---\nMara", [1]),
        # no line stands for another
        (f"\ue0002\ue000\n<!--\n{RUN}\n-->", []),
        (f"&#xE000;3&#xE000;\n\n<p hidden>\n{RUN}\n</p>", []),
        (f"<img>\n&#xE000;5&#xE000;\n\n<p hidden>\n{RUN}\n</p>", []),
    ],
)
def test_what_readers_do_not_see_as_plain_text_is_no_command(body: str, lines: list[int]) -> None:
    assert runs_at(body) == lines


def test_commands_of_one_comment_come_in_order_with_their_lines() -> None:
    found = parse("Hi\n/incumbent accept q01\n/incumbent foo\n\n/incumbent reject q02 no", NAMES)
    assert [(type(item), item.line) for item in found] == [(Command, 2), (Misspelt, 3), (Command, 5)]


def test_more_commands_than_are_read_are_said_to_be_too_many_once() -> None:
    assert len(parse("/incumbent run\n" * MOST_COMMANDS, NAMES)) == MOST_COMMANDS
    *first, last = parse("/incumbent run\n" * (MOST_COMMANDS + 5), NAMES)
    assert len(first) == MOST_COMMANDS
    assert isinstance(last, Misspelt)
    assert last.line == MOST_COMMANDS + 1
    assert f"more than {MOST_COMMANDS}" in last.message


# -- What a command says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "verb", "names", "reason"),
    [
        ("accept q01", Verb.ACCEPT, ("q01",), None),
        ("ACCEPT Q01", Verb.ACCEPT, ("q01",), None),
        ("accept q03 q01, q02,q03", Verb.ACCEPT, ("q03", "q01", "q02"), None),
        ("accept `q01` ``q02``", Verb.ACCEPT, ("q01", "q02"), None),
        ("accept q03..q05", Verb.ACCEPT, ("q03", "q04", "q05"), None),
        ("accept q03-q05", Verb.ACCEPT, ("q03", "q04", "q05"), None),
        ("accept `q03`..`q05`", Verb.ACCEPT, ("q03", "q04", "q05"), None),
        ("accept `q03..q05`", Verb.ACCEPT, ("q03", "q04", "q05"), None),
        ("accept q03..q03", Verb.ACCEPT, ("q03",), None),
        ("accept q05 q03..q05", Verb.ACCEPT, ("q05", "q03", "q04"), None),
        ("accept q01 good  one, really", Verb.ACCEPT, ("q01",), "good one, really"),
        ("reject q01 because it is vague", Verb.REJECT, ("q01",), "because it is vague"),
        ("reject q01, too vague", Verb.REJECT, ("q01",), "too vague"),
        ("reject q01: too vague", Verb.REJECT, ("q01",), "too vague"),
        ("reject q01\u00a0: too vague", Verb.REJECT, ("q01",), "too vague"),
        ("reject q01 : q02 is better", Verb.REJECT, ("q01",), "q02 is better"),
        ("reject q01: q02 is better", Verb.REJECT, ("q01",), "q02 is better"),
        ("reject q01 -- too vague", Verb.REJECT, ("q01",), "too vague"),
        ("reject q01 – too vague", Verb.REJECT, ("q01",), "too vague"),
        ("reject q01 --too vague", Verb.REJECT, ("q01",), "too vague"),
        ("reject q01 - too vague", Verb.REJECT, ("q01",), "- too vague"),
        ("reject q01: except q02", Verb.REJECT, ("q01",), "except q02"),
        ("reject q01 not useful", Verb.REJECT, ("q01",), "not useful"),
        ("reject q01 and", Verb.REJECT, ("q01",), "and"),
        ("reject q01 `POST /x` unclosed `", Verb.REJECT, ("q01",), "`POST /x` unclosed `"),
        ("accept q01:", Verb.ACCEPT, ("q01",), None),
        ("accept q01 --", Verb.ACCEPT, ("q01",), None),
        ("reject q01: kim.lee@northwind.com is real", Verb.REJECT, ("q01",), "[e-mail 1] is real"),
        ("pin q01 keep it ⚠️", Verb.PIN, ("q01",), "keep it ⚠️"),
        ("unpin q01, q02", Verb.UNPIN, ("q01", "q02"), None),
        ("run", Verb.RUN, (), None),
        ("help", Verb.HELP, (), None),
    ],
)
def test_a_command_names_queries_and_a_reason(
    line: str, verb: Verb, names: tuple[str, ...], reason: str | None
) -> None:
    expected = Command(verb=verb, names=names, reason=reason, line=1)
    assert command(f"/incumbent {line}") == expected


@pytest.mark.parametrize(
    ("line", "names", "reason"),
    [
        ("all", (), None),
        ("ALL", (), None),
        ("`all`", (), None),
        ("all: good", (), "good"),
        ("all of them are fine", (), "of them are fine"),
        ("q02 all", ("q02",), None),
    ],
)
def test_all_is_every_query_besides_those_named(line: str, names: tuple[str, ...], reason: str | None) -> None:
    expected = Command(verb=Verb.ACCEPT, names=names, every=True, reason=reason, line=1)
    assert command(f"/incumbent accept {line}") == expected


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("contoso/repairs/q07", ("contoso/repairs/q07",)),
        ("CONTOSO/Repairs/Q07", ("contoso/repairs/q07",)),
        ("`my open tickets`", ("my open tickets",)),
        ("order.status-1", ("Order.status-1",)),
        ("`a, b`", ("a, b",)),
        ("``tick`ed``", ("tick`ed",)),
        ("tick`ed", ("tick`ed",)),
        ("contoso/repairs/q07..Order.status-1", ODD[:3]),
        ("`my open tickets`-Order.status-1", ODD[1:3]),
        ("`my open tickets..Order.status-1`", ODD[1:3]),
    ],
)
def test_names_of_any_kind_can_be_said(said: str, names: tuple[str, ...]) -> None:
    assert command(f"/incumbent accept {said}", ODD).names == names


@pytest.mark.parametrize(
    ("names", "said", "expected"),
    [
        (("a", "b", "a-b"), "a-b", ("a-b",)),
        (("a", "b", "a..b"), "a..b", ("a..b",)),
        (("Q1", "q1"), "q1", ("q1",)),
        (("Q1", "q1"), "Q1", ("Q1",)),
        (("q1", "q1", "q2"), "q1..q2", ("q1", "q2")),
        (("q1:", "q1"), "q1:", ("q1:",)),
        (("all", "b"), "`all`", ("all",)),
        (("q03", "q01", "q02"), "q03..q02", ("q03", "q01", "q02")),
    ],
)
def test_an_exact_name_comes_before_any_other_reading(
    names: tuple[str, ...], said: str, expected: tuple[str, ...]
) -> None:
    assert command(f"/incumbent accept {said}", names).names == expected


# -- What cannot be followed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/incumbent", "does not say what to do"),
        ("/incumbent  ", "does not say what to do"),
        ("/incumbent: accept q01", "no command ':'"),
        ("/incumbent acept q01", "perhaps you meant 'accept'"),
        ("/incumbent REJECTS q01 bad", "perhaps you meant 'reject'"),
        ("/incumbent xyzzy", "say one of accept, reject"),
        (f"/incumbent {'x' * 200}", "…"),
        ("/incumbent run please", "run is used alone. Write: /incumbent run"),
        ("/incumbent help me", "help is used alone"),
        ("/incumbent accept", "does not say which queries. Write: /incumbent accept ID… [reason]"),
        ("/incumbent accept , ,", "does not say which"),
        ("/incumbent accept -- q01", "no query '--'"),
        ("/incumbent accept wonderful", "queries are named like 'q01'"),
        ("/incumbent accept q001", "no query 'q001' in this pull request; perhaps you meant 'q01'"),
        ("/incumbent accept `q01 q02`", "no query 'q01 q02'"),
        (f"/incumbent accept {'z' * 2000}", f"no query '{'z' * 63}…'"),
        (f"/incumbent accept {'z' * 64}", f"no query '{'z' * 64}'"),
        (f"/incumbent accept {'z' * 65}", f"no query '{'z' * 63}…'"),
        ("/incumbent reject q01", "reject needs a reason. Write: /incumbent reject ID… reason"),
        ("/incumbent reject q01:", "needs a reason"),
        ("/incumbent pin q01 --", "pin needs a reason"),
        ("/incumbent unpin q01 since it is old", "unpin takes no reason"),
        ("/incumbent accept q05..q03", "runs backwards"),
        ("/incumbent accept q05-q03", "runs backwards"),
        ("/incumbent accept q01 q99", "'q99' is no query of this pull request; perhaps you meant"),
        ("/incumbent accept q01 q4567 is wrong", "'q4567' is no query"),
        ("/incumbent accept q01 q99, fine", "'q99' is no query"),
        ("/incumbent accept q01 `q98, q99`", "is no query"),
        ("/incumbent accept q01 `q99", "is no query"),
        ("/incumbent accept q01 q03..q99", "is no query"),
        ("/incumbent accept q01 q98-q99", "is no query"),
        ("/incumbent accept q01 q03...q05", "is no query"),
        ("/incumbent accept q01 q03–q05", "is no query"),
        ("/incumbent accept q01 (q02)", "is no query"),
        ("/incumbent accept q01 and q02", "'and' after an id"),
        ("/incumbent accept q01 & all", "'&' after an id"),
        ("/incumbent accept q01 not q02", "'not' after an id"),
        ("/incumbent accept q01 - q05", "'-' after an id"),
        ("/incumbent accept q01 – q05", "'–' after an id"),
        ("/incumbent accept q01 --q05", "'--' after an id"),
        ("/incumbent accept q01 .. q05", "'..' after an id"),
        ("/incumbent accept all except q03", "exceptions ('except')"),
        ("/incumbent accept all but the last", "exceptions ('but')"),
        ("/incumbent accept q01..q05 without q03", "exceptions ('without')"),
        (f"/incumbent reject q01 {'x' * (LONGEST_REASON + 1)}", f"{LONGEST_REASON + 1} characters"),
    ],
)
def test_in_doubt_the_person_is_asked_and_nothing_is_guessed(line: str, message: str) -> None:
    assert message in misspelt(line)


@pytest.mark.parametrize(
    ("names", "line", "message"),
    [
        (("Q1", "q1", "x"), "accept x", None),
        (("QA", "qA", "x"), "accept qa", "no query 'qa'"),
        (("QA", "qA", "x"), "accept x qa", "'qa' is no query"),
        (("a", "b-c", "a-b", "c"), "accept a-b-c", "more than one way"),
        (("all", "b"), "accept all", "a query is called 'all'"),
        (("contoso/repairs/q07",), "accept q07", "perhaps you meant 'contoso/repairs/q07'"),
        (("contoso/repairs/q07", "b"), "accept b q08", "'q08' is no query"),
        (("q-0a1b2c3d4e", "b"), "accept b q-ffffffffff", "'q-ffffffffff' is no query"),
        ((), "accept q01", "no query 'q01' in this pull request. Write"),
        (("y" * 80, "z/" + "y" * 80), "accept " + "y" * 79, "queries are named like"),
        (("z/" + "y" * 80,), "accept " + "y" * 80, "perhaps you meant 'z/yyy"),
    ],
)
def test_unclear_names_are_asked_about(names: tuple[str, ...], line: str, message: str | None) -> None:
    if message is None:
        command(f"/incumbent {line}", names)
    else:
        assert message in misspelt(f"/incumbent {line}", names)


@pytest.mark.parametrize(
    "character",
    [
        "\u200b",
        "\u200d",
        "\u202e",
        "\u2066",
        "\ufeff",
        "\u00ad",
        "\u2028",
        "\x0b",
        "\x1b",
        "\ud800",
        "\u3164",
        "\U000e0041",
    ],
)
@pytest.mark.parametrize(
    "line",
    ["/incumbent accept q01{}", "/incumbent accept q01 fine{}", "{}/incumbent accept q01", "/incum{}bent accept q01"],
)
def test_invisible_characters_are_refused_and_never_dropped(character: str, line: str) -> None:
    assert f"U+{ord(character):04X}" in misspelt(line.format(character))


def test_a_misspelt_line_is_shown_as_written_and_cut() -> None:
    short, long = "  /incumbent foo", f"/incumbent {'x' * 200}"
    found = parse(f"{short}\n{long}", NAMES)
    assert [item.text for item in found if isinstance(item, Misspelt)] == [short, long[: LONGEST_LINE - 1] + "…"]


def test_a_reason_is_kept_without_a_secret() -> None:
    said = "it is used with token=hunter2secret99 every day"
    assert command(f"/incumbent reject q01: {said}").reason == "it is used with token[looks like a secret] every day"


def test_a_reason_may_have_its_full_length_after_white_space_is_collapsed() -> None:
    reason = "ab " * (LONGEST_REASON // 3) + "ab"
    assert len(reason) <= LONGEST_REASON
    assert command(f"/incumbent reject q01 {reason.replace(' ', '     ')}").reason == reason


def test_every_verb_says_how_it_is_written() -> None:
    assert set(USAGE) == set(Verb)
    assert all(USAGE[verb].startswith(f"/incumbent {verb}") for verb in Verb)


# -- Any input ---------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *(
            "`",
            "~",
            ">",
            "-",
            "*",
            "#",
            "<",
            "|",
            ":",
            ",",
            ".",
            "\t",
            "\r",
            "\n",
            " ",
            "\n",
            "```",
            "> ",
            "- ",
            "1. ",
            "    ",
        ),
        *("<!--", "-->", "<details>", "</details>", "<pre>", "/incumbent ", "/incumbent accept ", "/incumbent reject "),
        *("q01", "q02", "..", "all", "–", "\u200b", "text"),
    ]
)
BODIES = st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join))


@settings(max_examples=settings().max_examples * 4)
@given(BODIES, st.lists(st.one_of(st.text(), st.sampled_from([*NAMES, *ODD, "all"])), max_size=8))
def test_any_comment_is_read_and_only_known_names_come_out(body: str, names: list[str]) -> None:
    found = parse(body, names)
    assert len(found) <= MOST_COMMANDS + 1
    assert [item.line for item in found] == sorted({item.line for item in found})
    for item in found:
        if isinstance(item, Misspelt):
            assert item.message
            assert len(item.text) <= LONGEST_LINE
            continue
        assert set(item.names) <= set(names)
        assert len(set(item.names)) == len(item.names)
        assert (item.verb in (Verb.RUN, Verb.HELP)) == (not item.names and not item.every)
        assert item.verb not in (Verb.REJECT, Verb.PIN) or item.reason
        assert item.reason is None or item.reason == " ".join(item.reason.split())


@settings(max_examples=settings().max_examples * 2)
@given(BODIES)
def test_nothing_of_a_comment_is_said_once_it_is_quoted_or_fenced(body: str) -> None:
    lines = body.splitlines()
    quoted = "".join(f"> {line}\n" for line in lines)
    fenced = "\n".join(["~" * 99, *lines, "~" * 99])
    assert parse(quoted, NAMES) == parse(fenced, NAMES) == ()


@settings(max_examples=settings().max_examples * 2)
@given(BODIES)
def test_lines_that_are_seen_are_among_those_asked_for(body: str) -> None:
    lines = body.split("\n")
    asked = range(1, len(lines) + 1, 2)
    assert set(seen(lines, asked)) <= set(asked)


@pytest.mark.parametrize("before", ["", "aa ", "aa and "])
def test_many_names_that_look_alike_are_compared_in_bounded_time(before: str) -> None:
    words = ["".join("ab"[(number * place) // 7 % 2] for place in range(1, 41)) for number in range(1, 5_001)]
    body = "\n".join(f"/incumbent accept {before}{word[::-1]}" for word in words[:MOST_COMMANDS])
    begin = time.process_time()
    parse(body, ["aa", *words])
    assert time.process_time() - begin < 5


def test_what_is_said_of_entries_is_read_elsewhere() -> None:
    assert parse("/incumbent undo q01\n/incumbent restore q02", NAMES) == ()


# -- Tags --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "names", "tags", "reason"),
    [
        ("correct q01 +links", ("q01",), "+links", None),
        ("correct q01 +request.auth.oauth -links too wide", ("q01",), "+request.auth.oauth -links", "too wide"),
        ("correct q01, q03..q04, +a, -b, no such thing", ("q01", "q03", "q04"), "+a -b", "no such thing"),
        ("correct q01: -links", ("q01",), "-links", None),
        ("correct q01 -links: not -b", ("q01",), "-links", "not -b"),
        ("correct q01 -links: -b does not belong", ("q01",), "-links", "-b does not belong"),
        ("correct q01 +`audio attached` -- it is", ("q01",), "+audio attached", "it is"),
        ("correct q01 +a \u2013 it is", ("q01",), "+a", "it is"),
        ("correct q01 \u2212a", ("q01",), "-a", None),
        ("correct q01 +a +a", ("q01",), "+a", None),
        ("correct q01 +a at -5 degrees", ("q01",), "+a", "at -5 degrees"),
    ],
)
def test_tags_follow_the_queries(line: str, names: tuple[str, ...], tags: str, reason: str | None) -> None:
    found = command(f"/incumbent {line}")
    assert (found.verb, found.names, found.every, found.reason) == (Verb.CORRECT, names, False, reason)
    assert " ".join(map(str, found.tags)) == tags


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("correct", "which queries"),
        ("correct +links", "which queries"),
        ("correct q99 +links", "there is no query 'q99'"),
        ("correct all +links", "name the queries one by one"),
        ("correct q01", "corrects nothing"),
        ("correct q01 --cost 5", "`incumbent correct EVAL_SET_DIR QUERY --cost N` writes it"),
        ("correct q01 +links --COST=5", "is corrected in a reviewed file alone"),
        ("correct q01 links", "corrects nothing"),
        ("correct q01 + links", "without a space"),
        ("correct q01 +` `", "without a space"),
        ("correct q01 +" + "a" * 300, "names no capability"),
        ("correct q01 +a -a", "both + and - of 'a'"),
        ("correct q01 +a q02 -b", "is no query"),
        ("correct q01 +a unlike -b", "'-b' comes after the reason began"),
        ("correct q01 +a " + "w" * (LONGEST_REASON + 1), "characters"),
        ("correct q01 +a\u200bb", "invisible"),
    ],
)
def test_tags_that_are_not_clear_are_asked_about(line: str, words: str) -> None:
    message = misspelt(f"/incumbent {line}")
    assert words in message
    assert USAGE[Verb.CORRECT] in message or "invisible" in words


def test_a_query_that_is_called_like_a_tag_goes_in_backticks() -> None:
    names = ("-a", "q01")
    assert command("/incumbent correct `-a` -b", names).names == ("-a",)
    assert "which queries" in misspelt("/incumbent correct -a -b", names)


def test_the_tags_of_a_comment_are_known_whatever_its_queries_are_called() -> None:
    body = "Hi\n/incumbent correct q1 q2 +a -`b c`: not -d\n> /incumbent correct q1 +e\n/incumbent accept q1 +f"
    assert tags_said(body) == {Tag(True, "a"), Tag(False, "b c")}
    assert tags_said("/incumbent correct q1 +a -a\n/incumbent correct q1") == frozenset()


@given(st.text("qQ01+-\u2212`:, abc..", max_size=60))
def test_any_tags_are_read_or_asked_about(text: str) -> None:
    for found in parse(f"/incumbent correct {text}", NAMES):
        if isinstance(found, Command):
            assert found.names
            assert found.tags
            assert set(found.tags) <= tags_said(f"/incumbent correct {text}") | set(found.tags)
