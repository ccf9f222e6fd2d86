"""What a query asks, without courtesies, chat spellings and background."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dev.required_words import pattern_digest, required
from incumbent.classifier.embedded.phrases import REQUIRED, required_words
from incumbent.classifier.embedded.wording import (
    JUDGED,
    JUDGED_CHARACTERS,
    Background,
    asking,
    core,
    patterns,
    phrases,
    plain,
    sentences,
    spelled_out,
)
from tests.factories import REPOSITORY

LABELS = sorted((REPOSITORY / "tests/labels").glob("wordings*.tsv")) + [
    REPOSITORY / f"tests/labels/languages/{language}.tsv" for language in ("de", "es", "tr", "ja")
]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Show my tickets.", "show my tickets"),
        ("Hi there, could you please show my tickets? Many thanks!", "show my tickets"),
        ("Sorry to bother you, would you mind showing my tickets?", "showing my tickets"),
        ("can u gimme my tickets rn pls", "give me my tickets now"),
        ("I'd like to know the status of 12, if you get a moment.", "the status of 12"),
        ("Könntest du mir bitte die Liste schicken? Vielen Dank!", "die liste schicken"),
        ("Podrías mostrar mis pedidos, por favor", "mostrar mis pedidos"),
        ("すみません、在庫を教えてください", "在庫を教えてください"),
        ("Thanks!", "thanks!"),
        ("", ""),
        ("What I need is 12 ounces in grams.", "12 ounces in grams"),
        ("The long and short of it is that the invoice is due", "the invoice is due"),
        ("So, anyway, the number of bolts in Leeds is what I'm after.", "the number of bolts in leeds"),
        ("Who knows it well, and how is it so far?", "who knows it well, and how is it so far"),
        ("outline w headings n a table pls", "outline with headings and a table"),
        ("W Polsce mieszkam w domu", "w polsce mieszkam w domu"),
        ("book a desk + order toner for the printer", "book a desk and order toner for the printer"),
        ("Ich hätte gerne die Liste der Rechnungen", "die liste der rechnungen"),
        ("Thankless tasks of today", "thankless tasks of today"),
        ("Might I trouble you for the status of 12? Remain blessed.", "give me the status of 12"),
        ("May I just quickly ask who leads sales?", "who leads sales"),
        ("I'd be very glad to hear, whenever suits, who leads sales. Diolch!", "who leads sales"),
        ("No rush at all, but I'd be obliged for the list of sites.", "give me the list of sites"),
        ("Would you be an angel and look up flight 12, if it isn't any bother?", "look up flight 12"),
        ("Be so good as to close ticket 12, if you'd be so kind.", "close ticket 12"),
        ("Sorry to be a nuisance, but could you possibly close ticket 12?", "close ticket 12"),
        ("Respected office, kindly close ticket 12. Thanks and regards.", "close ticket 12"),
        ("Hey there, if you've got a sec, close ticket 12.", "close ticket 12"),
        ("I'd like to close ticket 12, if I may. You're a star.", "close ticket 12"),
        ("Close ticket 12 if it is not urgent.", "close ticket 12 if it is not urgent"),
        ("When could you come?", "when could you come"),
        ("Thank you for repeating the same useless answer.", "thank you for repeating the same useless answer"),
        ("Forgive the poor light in the photo I'm sending.", "forgive the poor light in the photo i'm sending"),
        ("Close the ticket in the morning", "close the ticket in the morning"),
    ],
)
def test_courtesies_and_chat_spellings_are_left_out(text: str, asked: str) -> None:
    assert plain(text) == asked


@pytest.mark.parametrize(
    "run",
    [
        "so ",
        "so, ",
        "please ",
        ", ",
        " ",
        "thank you very very much ",
        "i would be so glad ",
        "may you ",
        "a b ",
        "!. ",
    ],
)
def test_a_long_run_of_courtesies_is_read_in_time(run: str) -> None:
    text = (run * 8_000)[:8_000]
    started = time.process_time()
    plain(text)
    asking([[text]], None)
    assert time.process_time() - started < 2


@given(st.text(max_size=200))
def test_something_is_left_of_any_text(text: str) -> None:
    assert bool(plain(text).strip()) or not text.strip() or not plain(text)
    assert len(core([text], asking([[text]], None)[0])) == 1


def test_sentences_end_with_their_signs_and_lines() -> None:
    assert sentences("One. Two? Three\nFour。Five") == ["One.", "Two?", "Three", "Four。", "Five"]
    assert sentences("") == []


class Lengths:
    """An embedder of tests: how long a text is."""

    name = "lengths-1"

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        return np.array([[min(len(text), 100)] for text in texts], np.int8)


# The embedding's own score counts, and that something is handed over.
CONTEXT_WEIGHTS = [1.0] + [0.0] * 8 + [50.0] + [0.0] * 8


def test_a_courtesy_is_not_embedded() -> None:
    class Nothing(Lengths):
        def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
            raise AssertionError(texts)

    assert asking([["Good morning! Show my tickets. Many thanks."]], Nothing()) == [[False, True, False]]
    assert asking([["Hello! Thanks."]], Nothing()) == [[True, True]]


def test_background_is_left_out_and_the_surest_sentence_never() -> None:
    background = Background.of(
        {
            "weights": [-50.0],
            "intercept": 3.0,
            "context_weights": CONTEXT_WEIGHTS,
            "context_intercept": 0.0,
            "cut": 0.0,
        }
    )

    def told_apart(*parts: str) -> list[bool]:
        return background.asking(parts, Lengths().embed(parts))

    assert told_apart("Show it.", "x" * 90) == [True, False]
    assert told_apart("Show it.", "The long plan is attached.") == [True, True]
    assert told_apart("y" * 35, "x" * 90) == [True, False]


def test_what_a_text_asks_is_its_asking_sentences_and_those_that_were_not_judged() -> None:
    assert core(["One. Two.", "Three."], [True, False, True]) == ("one", "three")
    assert core(["One. Two.", "Three."], [False]) == ("two", "three")
    assert asking([["One. Two.", "Three."], ["Four."]], None) == [[True] * 3, [True]]
    assert asking([["a. " * (JUDGED + 5), "b."]], None) == [[True] * JUDGED]


def test_of_a_long_query_the_first_sentences_are_judged() -> None:
    turns = ["x" * 700 + ". Two.", "y" * 700 + ". " + "z" * 200 + ". Three.", "Four."]
    assert asking([turns], None) == [[True] * 3]
    assert asking([[f"{'x' * JUDGED_CHARACTERS}. Two."]], None) == [[]]
    assert core(["z" * JUDGED_CHARACTERS + ". Two."], [])[0].endswith("two")


@given(st.text(alphabet="ab .!?,\"')\n\t؟”", max_size=40))
def test_sentences_are_the_same_beside_signs_that_end_one_without_a_blank(text: str) -> None:
    assert [part.replace("*", "。") for part in sentences(f"{text} *")] == sentences(f"{text} 。")


# What is known of the patterns of phrases.


TEXTS = sorted({cell for path in LABELS for cell in re.split(r"[\t\n]", path.read_text(encoding="utf-8")) if cell})


def test_no_pattern_matches_a_text_that_lacks_what_it_requires() -> None:
    compiled = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns().items()}
    found = set()
    for text in (*TEXTS, *(text.upper() for text in TEXTS[::7]), "\u0130f it \u0131s not too much trouble"):
        possible = phrases().possible(text)
        matching = {name for name, pattern in compiled.items() if pattern.search(text)}
        assert matching <= possible, text
        found |= matching
        for name in matching:
            assert phrases().sub([name], "|", text) == compiled[name].sub("|", text), text
    assert {*COURTESIES, "wrapper", "may you", "spelling", "borderless", "asking", "frame 0"} <= found


COURTESIES = [name for name in patterns() if name.startswith("courtesy")]
POLITE = [
    "hi",
    "good morning",
    "sorry to",
    "bother you",
    "but",
    "please",
    "kindly",
    "thanks",
    "thank you",
    "a lot",
    "if you",
]
POLITE += ["have time", "no rush", "at all", "when you can", "and", ",", ".", "close ticket 12"]


@given(
    st.lists(st.sampled_from(POLITE)).map(" ".join),
    st.sets(st.sampled_from(COURTESIES), min_size=2).map(sorted),
)
def test_patterns_are_replaced_as_the_branches_of_one_are(text: str, names: list[str]) -> None:
    either = re.compile("|".join(patterns()[name] for name in names), re.IGNORECASE)
    assert phrases().sub(names, "|", text) == either.sub("|", text)


@pytest.mark.parametrize("name", ["spelling", "english spelling"])
def test_chat_spellings_are_those_that_their_pattern_finds(name: str) -> None:
    pattern = re.compile(patterns()[name], re.IGNORECASE)
    for text in (*TEXTS, "PICS w/o u, w/ a Std Dev of std devs", "how's 'u ur' u.r u. plz@u #u doin' doin’ P\u0130CS"):
        assert spelled_out(text, name) == pattern.sub(lambda found: spelled_out(found[0], name), text)
    assert (
        spelled_out("Send me the PICS w/ the std dev, doin' fine", name)
        == {
            "spelling": "Send me the pictures w/ the std dev, doin' fine",
            "english spelling": "Send me the PICS with the standard deviation, doing fine",
        }[name]
    )


def test_what_is_required_was_made_of_the_patterns_as_they_are() -> None:
    made_of = json.loads(REQUIRED.read_text(encoding="utf-8"))["patterns"]
    assert made_of == pattern_digest(patterns()), "python -m dev.required_words makes the file anew"
    for name in ("filler", "for me", "seeing", "telling", "asking", "spelling", "frame 9"):
        assert required(patterns()[name]) == required_words()[name]
