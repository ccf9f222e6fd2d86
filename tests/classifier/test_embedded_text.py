"""What the embedded backend reads of a query: cleaning, bounds, structure, terms."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from incumbent.classifier.embedded import kernel
from incumbent.classifier.embedded.features import (
    LIMIT,
    MANY_PATTERNS,
    STRUCTURE_STEP,
    Cues,
    FeatureSpace,
    Rows,
)
from incumbent.classifier.embedded.kernel import STEPS, TILE, ReferenceQueries, gram
from incumbent.classifier.embedded.structure import CLAUSE_FEATURES, NAMES, clause_features, structure
from incumbent.classifier.embedded.text import (
    BUCKETS,
    READ_CHARACTERS,
    TermVocabulary,
    character_terms,
    hashed_terms,
    read_text,
    vocabulary_of,
    word_terms,
)
from incumbent.classifier.visible_text import READ_TURNS

anything = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=80)


def feature(name: str, *turns: str) -> float:
    return structure(read_text(turns))[NAMES.index(name)]


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        pytest.param("  show \t my  orders ", "show my orders", id="white space"),
        pytest.param("a \n\n  b", "a\nb", id="line breaks stay, once"),
        pytest.param("\uff53\uff48\uff4f\uff57 \ufb01les", "show files", id="compatibility forms"),
        pytest.param("pa\u200brt\u202e \u00adlist\U000e0041\ufeff", "part list", id="characters nobody sees"),
        pytest.param("a\rb\u2028c", "a b c", id="other separators"),
        pytest.param("a\x00b\x1bc\ud800d", "abcd", id="control characters and half characters"),
    ],
)
def test_a_turn_is_read_as_people_see_it(turn: str, text: str) -> None:
    assert read_text([turn]).text == text


def test_of_a_long_turn_the_beginning_and_the_end_are_read() -> None:
    read = read_text(["first " + "x" * 1_000_000 + " last"])
    assert len(read.text) <= READ_CHARACTERS + 1
    assert read.text.startswith("first ")
    assert read.text.endswith(" last")


def test_of_a_long_conversation_the_first_and_the_last_turns_are_read() -> None:
    read = read_text([f"turn {number}" for number in range(10_000)])
    assert len(read.turns) == READ_TURNS
    assert (read.turns[0], read.turns[-1]) == ("turn 0", "turn 9999")


HOSTILE = {
    "one word": "a" * 4_000_000,
    "commas": "," * 4_000_000,
    "white space": " " * 4_000_000 + "x",
    "line breaks": "\n " * 2_000_000,
    "apostrophes": "a'" * 2_000_000,
    "enumeration": "a, b and " * 500_000,
    "marks in the wrong order": "a" + "\u0316\u0301" * 2_000_000,
    "characters that grow": "\ufdfa" * 1_000_000,
    "tags": "\U000e0041" * 1_000_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_megabytes_of_text_cost_no_more_than_what_is_read(text: str) -> None:
    started = time.process_time()
    read = read_text([text])
    structure(read)
    character_terms(read)
    word_terms(read)
    assert time.process_time() - started < 2.0


@given(st.lists(anything, max_size=4))
def test_any_text_has_finite_features(turns: list[str]) -> None:
    values = structure(read_text(turns))
    assert len(values) == len(NAMES)
    assert all(0 <= value < 20 for value in values)


@pytest.mark.parametrize(
    ("name", "more", "less"),
    [
        ("turns", ("Show my tasks", "Only today's"), ("Show my tasks, only today's",)),
        ("sentences", ("Stop the pump. Call Ida.",), ("Stop the pump",)),
        ("question marks", ("Why? How?",), ("Why how?",)),
        ("longest enumeration", ("Weather in Oslo, Graz, Lyon and Turku",), ("Weather in Oslo and Turku",)),
        ("longest enumeration", ("Weather in Oslo and Turku",), ("Weather in Oslo",)),
        ("coordinated actions", ("Find the order and cancel it",), ("Find the order and the bill",)),
        ("coordinated actions", ("Find it, book it, send it",), ("Find it",)),
        ("later sentences with an action", ("Find the bill. Send it to Ida.",), ("Find the bill. Thanks.",)),
        ("condition", ("Call Ida if it rains unless it is late",), ("Call Ida when it rains",)),
        ("alternative", ("Call Ida, otherwise Tom",), ("Call Ida and Tom",)),
        ("order", ("First stop it, then start it",), ("Stop it and start it",)),
        ("reference after a coordination", ("Find the bill and send it to Ida",), ("Send it to Ida",)),
        ("attachment", ("See the attached file",), ("See the bill",)),
        ("dotted names", ("Read minutes.docx",), ("Read minutes. Docx",)),
        ("begins with an action", ("List my bills",), ("My bills",)),
        ("begins with a question word", ("Who called?",), ("Somebody called who?",)),
        ("shouted words", ("GIVE ME ALL",), ("Give me all",)),
        ("capitalised words", ("Flights to Oslo and Turku",), ("Flights to town",)),
        ("numbers", ("Orders 12 and 40",), ("Orders",)),
        ("brackets", ('{"a": [1]}',), ("a 1",)),
        ("lines", ("pears\napples\nplums",), ("pears apples plums",)),
    ],
)
def test_structure_is_seen(name: str, more: tuple[str, ...], less: tuple[str, ...]) -> None:
    assert feature(name, *more) > feature(name, *less)


def test_terms_are_words_their_pairs_and_character_sequences_with_borders() -> None:
    read = read_text(["List 12 Bills, list bills"])
    assert word_terms(read) == {
        "list": 2,
        "bills": 2,
        "0": 1,
        "list 0": 1,
        "0 bills": 1,
        "bills list": 1,
        "list bills": 1,
    }
    assert character_terms(read_text(["Bus bus"])) == {" bu": 2, "bus": 2, "us ": 2, " bus": 2, "bus ": 2}


def test_hashed_terms_have_a_place_each_and_one_length() -> None:
    places, values = (each.tolist() for each in hashed_terms(read_text(["List 12 Bills, list bills"])))
    assert places == sorted(set(places))
    for own in ([v for p, v in zip(places, values, strict=True) if (p < BUCKETS) is words] for words in (True, False)):
        assert sum(value**2 for value in own) == pytest.approx(255**2, rel=0.02)
    assert [len(each) for each in hashed_terms(read_text([""]))] == [0, 0]


def learned(documents: list[Counter[str]], least: int) -> TermVocabulary:
    frequencies = Counter(term for document in documents for term in document)
    return vocabulary_of(frequencies, len(documents), least)


def test_known_terms_are_weighed_to_length_one_and_rare_ones_weigh_more() -> None:
    vocabulary = learned([word_terms(read_text([text])) for text in ("a b", "a c", "a d")], 1)
    places, values = vocabulary.weigh(word_terms(read_text(["a b unknown"])))
    weights = {vocabulary.terms[place]: value for place, value in zip(places, values, strict=True)}
    assert places == sorted(places)
    assert sum(value**2 for value in values) == pytest.approx(1.0)
    assert weights["b"] > weights["a"]
    assert "unknown" not in weights


def test_terms_of_too_few_documents_are_left_out() -> None:
    vocabulary = learned([word_terms(read_text([text])) for text in ("a b", "a c")], 2)
    assert vocabulary.terms == ("a",)


def test_cues_count_the_patterns_of_each_capability_that_match() -> None:
    cues = Cues.of([(r"\btables?\b", r"\bcolumns\b"), (), (r"\bphotos?\b",)])
    assert cues.counts("A TABLE with columns, tables") == [2, 0, 0]
    assert cues.counts("photos, tables") == [1, 0, 1]
    assert Cues.of([("a", "b", "c", "d")]).counts("abcd") == [MANY_PATTERNS]


@given(st.lists(anything, min_size=1, max_size=4))
def test_a_row_is_of_whole_numbers_and_the_same_every_time(turns: list[str]) -> None:
    space = FeatureSpace(Cues.of([("photo",)]))
    row = space.rows([turns])
    assert list(row.places) == sorted(set(row.places.tolist()))
    assert (row.places < 2 * BUCKETS).all()
    assert (row.values > 0).all()
    assert (np.abs(row.structure) <= LIMIT * STRUCTURE_STEP).all()
    assert {name: array.tobytes() for name, array in space.rows([turns]).arrays().items()} == {
        name: array.tobytes() for name, array in row.arrays().items()
    }


@given(st.lists(anything, min_size=1, max_size=3), st.lists(anything, min_size=1, max_size=3))
def test_similarity_is_the_same_both_ways_and_greatest_with_itself(one: list[str], other: list[str]) -> None:
    space = FeatureSpace(Cues.of([("photo",)]))
    rows = [space.rows([turns]) for turns in (one, other)]
    there, back = (float(ReferenceQueries.of(rows[place]).similarities(rows[1 - place])[0, 0]) for place in (0, 1))
    assert there == pytest.approx(back, abs=1e-9)
    assert there <= float(ReferenceQueries.of(rows[0]).similarities(rows[0])[0, 0]) + 1e-2


@pytest.mark.parametrize("frequent", [1024, 0, 5])
def test_the_matrix_of_similarities_is_what_single_ones_are(frequent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "FREQUENT", frequent)
    texts = ["List my bills", "Show the attached photo", "List my bills as a table", "x"]
    texts += [f"{text} {number}" for text in texts for number in range(100)]
    space = FeatureSpace(Cues.of([("photo",), ("table",)]))
    rows = space.rows([[text] for text in texts])
    reference = ReferenceQueries.of(rows)
    singles = np.concatenate([reference.similarities(space.rows([[text]])) for text in texts])
    for number, row in enumerate(gram(rows)):
        found = np.concatenate(row, axis=1) * STEPS
        start = number * TILE
        assert found.tolist() == singles[start : start + len(found), : found.shape[1]].tolist()
    assert reference.similarities(rows).tobytes() == singles.tobytes()


def test_rows_are_restored_from_their_arrays() -> None:
    texts = [["Show the attached photo"], [""], ["x", "List my bills"], [""]]
    rows = FeatureSpace(Cues.of([("photo",)])).rows(texts)
    again = Rows.from_arrays(rows.arrays())
    for part in fields(Rows):
        own, other = getattr(rows, part.name), getattr(again, part.name)
        assert (own.dtype, own.tolist()) == (other.dtype, other.tolist())
        alone = getattr(rows.between(slice(2, 3)), part.name)
        assert alone.tolist() == getattr(FeatureSpace(Cues.of([("photo",)])).rows(texts[2:3]), part.name).tolist()


class Lengths:
    """An embedder that gives the length of each text, and remembers the texts."""

    name = "lengths-1"

    def __init__(self) -> None:
        self.heard: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        self.heard.extend(texts)
        return np.array([[len(text) % 128] for text in texts], np.int8)


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("Deploy ${APP} to {{region}} for <user>", "deploy X to X for X"),
        ("Deploy <b>now</b>", "deploy <b>now</b>"),
        ("Deploy the app", "deploy the app"),
    ],
)
def test_of_judged_queries_alone_the_meaning_is_that_without_placeholders(text: str, heard: str) -> None:
    rows, texts = {}, {}
    for judged in (False, True):
        embedder = Lengths()
        rows[judged] = FeatureSpace(Cues.of([("photo",)]), embedder).rows([[text]], judged=judged).arrays()
        texts[judged] = embedder.heard[-1]
    assert texts == {False: text.lower(), True: heard}
    differing = [name for name, array in rows[False].items() if array.tobytes() != rows[True][name].tobytes()]
    assert differing == (["embedding"] if "X" in heard else [])


def counted(name: str, *turns: str) -> float:
    return clause_features(read_text(turns))[CLAUSE_FEATURES.index(name)]


@pytest.mark.parametrize(
    ("name", "query", "count"),
    [
        ("clauses", "", 0),
        ("clauses", "show my orders", 1),
        ("clauses", "show my orders, close ticket 5 and then call Ann", 3),
        ("clauses", "... , and; !", 0),
        ("clauses that begin with an action", "please show my orders, close ticket 5", 2),
        ("clauses that begin with an action", "my orders show nothing", 0),
        ("clauses that begin with a question word", "what's new? could you tell me where Ann is", 1),
        ("clauses that begin with a question word", "Wer ist da und wann kommt Eva?", 2),
        ("later clauses that begin with either", "orders, close ticket 5, when is lunch", 2),
        ("later clauses that begin with either", "close ticket 5", 0),
        ("conjunctions before an action", "lock the door and call Ann, open the gate", 1),
        ("conjunctions before a question word", "who is in and what’s for lunch", 1),
        ("clauses that begin alike", "stock of nuts, stock of bolts, list of screws", 1),
        ("shared words of neighbouring clauses", "what did tin close at and what did zinc close at", 4),
        ("repeated words", "tin and zinc and tin", 1),
        ("repeated pairs of words", "the red door, the red gate", 1),
        ("words with digits", "bay 4, van7 and dock", 2),
        ("words per clause", "one two three, four", 2),
        ("parallel items", "cpu on a1, cpu on b2, disk", 1),
        ("parallel items", "ticket 4, order 5, call Ann", 1),
    ],
)
def test_clauses_are_counted(name: str, query: str, count: float) -> None:
    assert counted(name, query) == count


@given(st.lists(st.text(max_size=60), max_size=4))
def test_whatever_is_read_gives_finite_counts(turns: list[str]) -> None:
    features = clause_features(read_text(turns))
    assert len(features) == len(CLAUSE_FEATURES)
    assert all(0 <= value < float("inf") for value in features)


def test_longer_is_not_slower_than_linear_by_far() -> None:
    read = read_text(["call Ann and what is up, " * 100_000])
    assert len(clause_features(read)) == len(CLAUSE_FEATURES)
