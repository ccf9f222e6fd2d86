from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.intake.eval_sets.folders import messages_of, read_one, refused, turns

HEADER = "Prompt,Expected response ,Test Method Type,Passing Score\r\n"


def test_a_test_set_with_byte_order_mark_and_odd_headers_is_read(tmp_path: Path) -> None:
    found = read_one(
        tmp_path,
        "tests.csv",
        "\ufeff"
        + HEADER
        + 'Who is my manager?,"A name, and an address",CompareMeaning,70\r\nHow do I get a badge?,,,\r\n',
    )
    first, second = found.queries
    assert not found.problems
    assert (first.turns, first.line) == (("Who is my manager?",), 2)
    assert first.expected == {
        "Expected response": "A name, and an address",
        "Test Method Type": "CompareMeaning",
        "Passing Score": "70",
    }
    assert (second.turns, second.line, second.expected) == (("How do I get a badge?",), 3, None)


@pytest.mark.parametrize(
    "header",
    [
        "Prompt,Expected response",
        "Question,Expected response",
        "question,expectedResponse",
        "Test Utterance,EXPECTED_RESPONSE",
        " Prompt ,Expected  Response",
        '"Prompt","Expected answer"',
        "Question,Testing method",
        "Question,Passing score",
        "Prompt,Pass score,Category,,",
    ],
)
def test_headers_are_found_however_they_are_spelt(tmp_path: Path, header: str) -> None:
    assert turns(read_one(tmp_path, "t.csv", f"{header}\na,b{',' * (header.count(',') - 1)}\n")) == ["a"]


def test_columns_may_come_in_any_order_and_more_may_come_along(tmp_path: Path) -> None:
    found = read_one(
        tmp_path,
        "t.csv",
        "Category, Owner ,Expected response,Prompt,Owner\nHR,Ann,x,Hello?,Bob\n",
    )
    assert turns(found) == ["Hello?"]
    assert found.queries[0].expected == {
        "Category": "HR",
        "Owner": "Ann",
        "Expected response": "x",
        "Owner (2)": "Bob",
    }


def test_a_column_of_prompts_alone_is_enough(tmp_path: Path) -> None:
    assert turns(read_one(tmp_path, "t.csv", "Prompt\nWhat is open?\n\nWhat is closed?\n")) == [
        "What is open?",
        "What is closed?",
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_spreadsheets_separators_and_instructions_above_the_header(tmp_path: Path, separator: str) -> None:
    rows = [["Up to 100 questions, each in a row."], [""], ["Prompt", "Expected response"], ["a, b; c", "d"]]
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    found = read_one(tmp_path, "t.csv", text.getvalue())
    assert turns(found) == ["a, b; c"]
    assert found.queries[0].line == 4
    assert not found.problems


def test_what_stands_above_the_header_may_be_anything(tmp_path: Path) -> None:
    found = read_one(tmp_path, "t.csv", '"Tip": keep it short\n,,,,\nQuestion,Expected response,#\na,b,1\n')
    assert turns(found) == ["a"]
    assert found.queries[0].expected == {"Expected response": "b", "#": "1"}
    assert not found.problems


def test_rows_of_a_conversation_are_its_turns(tmp_path: Path) -> None:
    found = read_one(
        tmp_path,
        "t.csv",
        "Conversation,Question,Expected response,Test case id\n"
        "1,Book room 4.,Booked.,t-1\n"
        ",What else is free?,,\n"
        "2,Hello,,t-2\n"
        "1,And tomorrow?,,\n",
    )
    booking, free, hello = found.queries
    assert not found.problems
    assert (booking.id, booking.line, booking.turns) == ("t-1", 2, ("Book room 4.", "And tomorrow?"))
    assert booking.expected == {"conversation": "1", "turns": [{"Expected response": "Booked."}, {}]}
    assert (free.turns, free.expected) == (("What else is free?",), None)
    assert (hello.id, hello.turns, hello.expected) == ("t-2", ("Hello",), None)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,b,CompareMeaning,70,extra", "the row has 5 cells, the header 4"),
        ("a,b", "the row has 2 cells, the header 4"),
        ("a, b, c, d, e", "the row has 5 cells, the header 4"),
        (",b,CompareMeaning,70", "the prompt is empty"),
        ("  ,b,,", "the prompt is empty"),
        ('"a"x,b,c,d', "the row cannot be read"),
        ('"a,b,CompareMeaning,70', "the row cannot be read"),
    ],
)
def test_a_broken_row_is_a_fault_at_its_line_and_the_others_are_read(tmp_path: Path, row: str, message: str) -> None:
    found = read_one(tmp_path, "t.csv", f'{HEADER}"before\nand more",b,,\n{row}\nafter,b,,\n"and, after",b,,,\n')
    assert turns(found) == ["before\nand more", "after", "and, after"]
    ((line, text),) = messages_of(found)
    assert line == 4
    assert message in text


def test_a_conversation_with_a_broken_row_is_left_out(tmp_path: Path) -> None:
    found = read_one(tmp_path, "t.csv", "Prompt,Expected response,Conversation\na,x,1\n,x,1\nb,x,2\n")
    assert turns(found) == ["b"]
    left_out = "the row is left out, since line 3 of its conversation cannot be read"
    assert messages_of(found) == [(2, left_out), (3, "the prompt is empty")]


def test_a_conversation_has_one_id(tmp_path: Path) -> None:
    found = read_one(
        tmp_path, "t.csv", "Id,Prompt,Expected response,Conversation\np,a,x,1\np,b,x,1\nq,c,x,1\nr,d,x,2\n"
    )
    assert turns(found) == ["d"]
    assert messages_of(found) == [(4, "the conversation '1' has a second id, 'q'")]


def test_columns_that_mean_the_same_are_a_fault(tmp_path: Path) -> None:
    found = read_one(tmp_path, "t.csv", "Notes\nPrompt,Question,Expected response,Id,Test ID\na,b,c,d,e\n")
    assert messages_of(found) == [
        (2, "several columns could hold the id: 'Id' and 'Test ID'"),
        (2, "several columns could hold the prompt: 'Prompt' and 'Question'"),
    ]
    assert found.queries == ()


@pytest.mark.parametrize("content", ["Question,Answer\na,b\n", "input,note\na,b\n"])
def test_a_table_that_only_resembles_a_test_set_is_a_plain_one(tmp_path: Path, content: str) -> None:
    found = read_one(tmp_path, "t.csv", content)
    assert (found.format, turns(found), found.problems) == ("plain-table", ["a"], ())


@pytest.mark.parametrize("content", ["a,b\nPrompt\n", "prompted text\nx\n"])
def test_other_tables_are_no_test_sets(tmp_path: Path, content: str) -> None:
    refused(tmp_path, {"t.csv": content})


def test_many_broken_quotes_end_the_reading(tmp_path: Path) -> None:
    # Each of these lines opens a quote that only the file's end closes, so that every attempt reads to the end.
    found = read_one(tmp_path, "t.csv", "Prompt,Expected response\nfine,x\n" + 'x","a\n' * 20_000)
    assert turns(found) == ["fine"]
    assert messages_of(found)[-1][1] == "too many rows cannot be read; what follows was not looked at"
    assert len(found.problems) < 100


def test_the_length_of_a_cell_is_bounded_by_our_limits_alone(tmp_path: Path) -> None:
    long = "long " * 50_000
    found = read_one(tmp_path, "t.csv", f"Prompt,Expected response\na,{long}\n{long},b\n", turn_characters=10)
    assert turns(found) == ["a"]
    assert found.queries[0].expected == {"Expected response": long}
    assert messages_of(found) == [(3, "the query has 250,000 characters, more than the limit of 10")]


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(CELLS.filter(str.strip), CELLS), min_size=1, max_size=5), st.sampled_from([",", ";", "\t"]))
def test_what_a_spreadsheet_writes_is_what_is_read(tmp_path: Path, rows: list[tuple[str, str]], separator: str) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator).writerows([("Prompt", "Expected response"), *rows])
    found = read_one(tmp_path, "t.csv", text.getvalue())
    assert not found.problems
    assert [query.turns[0] for query in found.queries] == [prompt for prompt, _ in rows]
    assert [(query.expected or {"Expected response": ""}) for query in found.queries] == [
        {"Expected response": expected if expected.strip() else ""} for _, expected in rows
    ]
