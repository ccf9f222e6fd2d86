"""Label files, good and broken: every fault at once, with its line; unknown is never FALSE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.evaluation.labels import (
    LabelledQuery,
    LabelVocabulary,
    corrected,
    join,
    read_labelled_queries,
)
from incumbent.errors import InputError
from incumbent.ledger.migrated import corrections_in
from incumbent.ledger.model import CORRECTIONS, CorrectionRecord, StoredCorrection
from incumbent.taxonomy.config import REVIEWED_FILES, Limits
from incumbent.taxonomy.migration import Lineage
from incumbent.taxonomy.model import Exemplars
from incumbent.text.compare import text_key
from tests.classifier.factories import counted, declared, intent, of_tools, taxonomy
from tests.evaluation.factories import labelled, vocabulary
from tests.factories import SHIPPED

ABC = vocabulary("a", "b", "c", spec=["s"])
LIMITS = SHIPPED.limits


def read(text: str | bytes, file: str = "l.tsv", known: LabelVocabulary = ABC, limits: Limits = LIMITS) -> Any:
    """Turns → labels of one file."""
    content = text if isinstance(text, bytes) else text.encode()
    return {item.turns: dict(item.values) for item in read_labelled_queries({file: content}, known, limits)}


def faults(text: str | bytes, file: str = "l.tsv", known: LabelVocabulary = ABC, limits: Limits = LIMITS) -> list[str]:
    """Line and message of each fault of one file."""
    with pytest.raises(InputError) as caught:
        read(text, file, known, limits)
    return [f"{problem.line}: {problem.message}" for problem in caught.value.problems]


# Tables


def test_a_table_labels_what_occurs_in_it() -> None:
    found = read("labels\tquery\na,b\tone\n?a\ttwo\n\tthree\n")
    assert found == {
        ("one",): {"a": True, "b": True},
        ("two",): {"b": False},
        ("three",): {"a": False, "b": False},
    }


def test_a_table_may_say_what_it_labels() -> None:
    head = "# Made by hand: see there\n# just words\n# from: a survey\n"
    head += "# capabilities: a, c\n# capabilities: b\n\nlabels\tquery\n"
    assert read(f"{head}a\tone\n") == {("one",): {"a": True, "b": False, "c": False}}


def test_names_are_mapped_by_the_file_before_the_command_line() -> None:
    known = vocabulary("a", "b", x="a", y="b", z="-")
    text = "# names: x=b, w=-\nlabels\tquery\nx\tone\ny,z\ttwo\nw\tthree\n"
    assert read(text, known=known) == {("one",): {"b": True}, ("two",): {"b": True}, ("three",): {"b": False}}


@pytest.mark.parametrize(
    "text",
    [
        "\ufefflabels\tquery\r\n a , ?b\tone \t\r\n\r\n",
        " Labels\tQuery\t\t\n a , ?b\tone \t\n \t \n",
    ],
)
def test_tables_come_from_spreadsheets(text: str) -> None:
    assert read(text) == {("one ",): {"a": True}}


def test_turns_are_cells() -> None:
    assert read("labels\tturns\na\tone\ttwo\tthree\n\tone\n") == {
        ("one", "two", "three"): {"a": True},
        ("one",): {"a": False},
    }


def test_signs_that_other_formats_give_a_meaning_have_none() -> None:
    text = 'labels\tquery\na\t"one\\n\\t, #two""\u2028\x0b\x85\n'
    assert read(text) == {('"one\\n\\t, #two""\u2028\x0b\x85',): {"a": True}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["1: the header is missing, which says what the columns are"]),
        ("a\tone\n", ["1: the header is missing, which says what the columns are"]),
        ("# words\nlabels\n", ["2: the header is missing, which says what the columns are"]),
        (
            "# capabilites: a\nlabels\tquery\na\tone\n",
            ["1: nothing is called 'capabilites'; perhaps you meant 'capabilities'"],
        ),
        ("labels\tquery\na\tone\ttwo\n", ["2: the line has 3 cells, and the header 2"]),
        ("labels\tquery\na\n", ["2: the line has no query"]),
        ("labels\tquery\na,,b\tone\n", ["2: a label has no name"]),
        ("labels\tquery\n?\tone\n", ["2: a label has no name"]),
        ("labels\tquery\na,a\tone\n", ["2: a is labelled twice"]),
        ("labels\tquery\na,?a\tone\n", ["2: a is labelled twice"]),
        ("# names: x=a\nlabels\tquery\nx,?a\tone\n", ["3: a is both TRUE and unknown"]),
        ("labels\tturns\na\tone\t \tthree\n", ["2: a turn is empty"]),
        ("labels\tquery\n\tone\n", ["None: the file labels no capability: none occurs in it"]),
        (
            "# capabilities: a\nlabels\tquery\nb\tone\n",
            ["3: b is not among the capabilities that the file says it labels"],
        ),
        (
            "# capabilities: d\nlabels\tquery\na\tone\n",
            [
                "1: the taxonomy has no capability 'd'",
                "3: a is not among the capabilities that the file says it labels",
            ],
        ),
        ("# names: x\nlabels\tquery\na\tone\n", ["1: 'x' does not give the meaning of a name"]),
        ("# names: x=a, x=b\nlabels\tquery\nx\tone\n", ["1: 'x' means two capabilities"]),
        (
            "# names: x=d\nlabels\tquery\na,x\tone\n",
            ["1: 'x' cannot stand for that: the taxonomy has no capability 'd'"],
        ),
        ("labels\tquery\ns\tone\n", ["2: s is decided by the agent (`source: spec`), and a label file has no agent"]),
        (
            "labels\tquery\na\tOne  two\n\tone two\n?a\tone TWO\n",
            ["3: a is FALSE here, and TRUE for the same text in l.tsv:2"],
        ),
    ],
)
def test_broken_tables_say_what_is_wrong(text: str, expected: list[str]) -> None:
    assert faults(text) == expected


SOURCES = taxonomy(
    intent("gated", when="contains(knowledge, 'files')"),
    counted("turns", "user_turns > `1`"),
    of_tools("call", "`true`", exemplars=Exemplars(positive=("do it",))),
    of_tools("card", "card"),
    declared("auth", "contains(auth_modes, 'oauth')"),
)


@pytest.mark.parametrize(
    ("with_agent", "capabilities"),
    [(False, ("gated", "turns", "call")), (True, ("gated", "turns", "call", "card", "auth"))],
)
def test_what_the_text_shows_can_be_labelled_without_an_agent(with_agent: bool, capabilities: tuple[str, ...]) -> None:
    assert LabelVocabulary(taxonomy=SOURCES, meanings={}, with_agent=with_agent).capabilities == capabilities


def test_what_the_agent_decides_is_refused_with_its_source() -> None:
    known = LabelVocabulary(taxonomy=SOURCES, meanings={}, with_agent=False)
    assert faults("labels\tquery\ncard\tone\n", known=known) == [
        "2: card is decided by the agent (`source: tool`), and a label file has no agent"
    ]


def test_all_faults_of_all_files_come_at_once_and_a_name_counts_once() -> None:
    files = {
        "a.tsv": b"labels\tquery\nnope,capability.one\tone\nnope\ttwo\na,a\tthree\n",
        "b.tsv": b"nothing",
        "c.yaml": b"labels: 2\nqueries: [{query: one}]\n",
        "d.csv": b"",
        "e.tsv": b"labels\tquery\na\tx\n",
        "f.tsv": b"labels\tquery\n\tX\nb\ty\n",
        "g.tsv": b"# capabilities: a\nlabels\tquery\n\tx\n",
    }
    known = vocabulary("a", "b", "capability.two")
    with pytest.raises(InputError) as caught:
        read_labelled_queries(files, known, LIMITS)
    assert [(item.file, item.line) for item in caught.value.problems] == [
        ("a.tsv", 2),
        ("a.tsv", 2),
        ("a.tsv", 4),
        ("b.tsv", 1),
        ("c.yaml", 1),
        ("c.yaml", 2),
        ("d.csv", None),
        ("g.tsv", 3),
    ]
    text = str(caught.value)
    assert "perhaps you meant 'capability.two'" in text
    assert "--name nope=CAPABILITY" in text
    assert "a is FALSE here, and TRUE for the same text in e.tsv:2" in text


def test_the_limits_of_queries_hold() -> None:
    limits = LIMITS.model_copy(update={"turns": 2, "turn_characters": 3})
    expected = [
        "2: a turn has 4 characters, more than the limit of 3",
        "2: the query has 3 turns, more than the limit of 2",
    ]
    assert faults("labels\tturns\na\tone\ttwos\tone\n", limits=limits) == expected
    text = "labels: 1\nqueries: [{turns: [one, twos, one], true: [a]}]\n"
    assert faults(text, "l.yaml", limits=limits) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"labels\tquery\na\t\xff\n", "2: the file is not valid UTF-8"),
        (b"labels\tquery\na\t\0\n", "2: the file contains a NUL character"),
        (
            b"x" * (REVIEWED_FILES.file_bytes + 1),
            "None: the file has 32,000,001 bytes, more than the limit of 32,000,000",
        ),
    ],
    ids=["utf-8", "nul", "size"],
)
def test_hostile_bytes_are_faults(content: bytes, message: str) -> None:
    assert faults(content) == [message]


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(content: bytes) -> None:
    for file in ("l.tsv", "l.yaml", "l.json"):
        for start in (b"", b"labels\tquery\n", b"labels\tturns\n"):
            try:
                read(start + content, file)
            except InputError:
                continue


# YAML


def test_yaml_says_the_same() -> None:
    text = """\
labels: 1
capabilities: [a, x, c]
names: {x: b, y: "-"}
queries:
  - query: one
    true: [a, y]
    note: seen twice
  - turns: [one, two]
    true: []
    unknown: [x]
"""
    expected = {("one",): {"a": True, "b": False, "c": False}, ("one", "two"): {"a": False, "c": False}}
    assert read(text, "l.yaml") == expected


def test_json_is_read_as_well() -> None:
    assert read('{"labels": 1, "queries": [{"query": "one", "true": ["a"]}]}', "l.json") == {("one",): {"a": True}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", ["1: the file: must be a mapping"]),
        ("labels: 1\n", ["1: queries: the key is missing"]),
        ("labels: 1\nqueries: one\n", ["2: queries: must be a list"]),
        ("labels: 1\nqueries:\n- {query: one}\n", ["3: queries.0.true: the key is missing"]),
        (
            "labels: 1\nqueries:\n- {query: one, truth: [a]}\n",
            ["3: queries.0.true: the key is missing", "3: queries.0.truth: unknown key; perhaps you meant 'true'"],
        ),
        (
            "labels: 1\nqueries:\n- {query: one, turns: [one], true: [a]}\n- {true: [d]}\n- {query: two, true: [d]}\n",
            [
                "3: queries.0: must be given as exactly one of `query` (one turn) or `turns` (a list)",
                "4: queries.1: must be given as exactly one of `query` (one turn) or `turns` (a list)",
                "5: the taxonomy has no capability 'd'",
            ],
        ),
        (
            "labels: 1\nnames: {x: d}\nqueries: [{query: one, true: [x, a]}]\n",
            ["2: 'x' cannot stand for that: the taxonomy has no capability 'd'"],
        ),
        (
            "labels: 1\ncapabilities: []\nqueries: [{query: one, true: []}]\n",
            ["None: the file labels no capability: none occurs in it"],
        ),
    ],
)
def test_broken_yaml_says_what_is_wrong(text: str, expected: list[str]) -> None:
    assert faults(text, "l.yaml") == expected


# Names and joins


def test_with_an_agent_its_facts_can_be_labelled() -> None:
    known = vocabulary("a", spec=["s"], with_agent=True)
    assert read("labels\tquery\na,s\tone\n", known=known) == {("one",): {"a": True, "s": True}}


def test_two_names_of_one_capability_are_one() -> None:
    known = vocabulary("a", x="a", y="a")
    assert read("labels\tquery\nx,y\tone\ny\ttwo\n", known=known) == {("one",): {"a": True}, ("two",): {"a": True}}


def test_labels_of_one_text_are_joined_and_the_order_of_files_does_not_matter() -> None:
    rows = [labelled("One", a=True), labelled("one ", "other.tsv", b=False), labelled("two", a=False), labelled("two")]
    found = join(rows)
    assert {item.turns: dict(item.values) for item in found} == {
        ("One",): {"a": True, "b": False},
        ("two",): {"a": False},
    }
    again = join(reversed(rows))
    assert [item.key for item in again] == [item.key for item in found] == sorted(item.key for item in found)
    assert [item.values for item in again] == [item.values for item in found]


LABELS = st.dictionaries(st.sampled_from("abc"), st.booleans())


@given(st.lists(st.tuples(st.sampled_from(["one", "two", "ONE"]), LABELS), max_size=6))
def test_a_contradiction_is_never_settled_by_order(rows: list[tuple[str, Mapping[str, bool]]]) -> None:
    queries = [LabelledQuery(turns=(text,), values=values, file="l", line=None) for text, values in rows]
    said: dict[tuple[str, str], set[bool]] = {}
    for text, values in rows:
        for name, value in values.items():
            said.setdefault((text.lower(), name), set()).add(value)
    if any(len(values) > 1 for values in said.values()):
        with pytest.raises(InputError, match="for the same text in l"):
            join(queries)
    else:
        found = {
            (item.turns[0].lower(), name): {value} for item in join(queries) for name, value in item.values.items()
        }
        assert found == said


SAID = "0" * 24


def correction(value: bool | None) -> StoredCorrection:
    return StoredCorrection(value=value, by="robin", comment=1, said=SAID)


def test_a_correction_labels_what_it_speaks_of_and_nothing_else() -> None:
    here, gone, doubtful = (text_key([text]) for text in ("One query", "gone", "doubtful"))
    record = CorrectionRecord(
        texts={
            here: {"a": correction(True), "b": correction(False), "c": correction(None), "old": correction(True)},
            gone: {"a": correction(True)},
            doubtful: {"a": correction(None)},
        }
    )
    texts = {here: ("one  QUERY",), doubtful: ("doubtful",)}
    found = corrected(
        corrections_in(record, Lineage(())), texts, vocabulary("a", "b", "c", "d", spec=["s"]), CORRECTIONS
    )
    (query,) = found.queries
    assert (query.turns, dict(query.values), query.line) == (("one  QUERY",), {"a": True, "b": False}, None)
    assert query.key == here
    assert (found.lost, found.unlabelled) == ((gone,), ("old",))


def test_nothing_was_corrected() -> None:
    found = corrected({}, {}, vocabulary("a"), CORRECTIONS)
    assert (found.queries, found.lost, found.unlabelled) == ((), (), ())
