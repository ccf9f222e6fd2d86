"""JSON Lines: every good line is read with its number, whatever the others hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.files.documents import parse_json_lines
from incumbent.files.snapshot import ReadingLimits

LIMITS = ReadingLimits(file_bytes=100_000, nesting_depth=5, nodes=50)


def lines(text: str) -> tuple[list[tuple[object, int | None]], list[tuple[int | None, str]]]:
    found = parse_json_lines(text, "f.jsonl", LIMITS)
    assert all(problem.file == "f.jsonl" and problem.fix for problem in found.problems)
    values: list[tuple[object, int | None]] = [(document.data, document.line()) for document in found.documents]
    return values, [(problem.line, problem.message) for problem in found.problems]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("\n \n", []),
        ('{"a": 1}\n\n"b"\n', [({"a": 1}, 1), ("b", 3)]),
        ("1\r\n2\r\n", [(1, 1), (2, 2)]),
        ('"a\u2028b"\n"c"', [("a\u2028b", 1), ("c", 2)]),
    ],
)
def test_each_line_is_a_value(text: str, values: list[tuple[object, int]]) -> None:
    assert lines(text) == (values, [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON"),
        ("1 2", "not valid JSON"),
        ('{"a": 1, "a": 2}', "the key 'a' is given twice"),
        ("NaN", "NaN is not a JSON value"),
        ("[" * 6 + "]" * 6, "nested deeper than 5"),
        ('"\\ud800"', "half of a surrogate pair"),
    ],
)
def test_a_broken_line_costs_no_other(line: str, message: str) -> None:
    values, problems = lines(f"1\n\n{line}\n2\n")
    assert values == [(1, 1), (2, 4)]
    ((number, text),) = problems
    assert number == 3
    assert message in text


def test_values_of_all_lines_count_together_and_each_line_as_one_more() -> None:
    values, problems = lines("[1]\n" * 30)
    assert len(values) == 16
    assert [number for number, _ in problems] == [17]
    assert [len(found) for found in lines("[1,1,1]\n" * 10)] == [10, 0]
    assert [len(found) for found in lines("[1,1,1]\n" * 11)] == [10, 1]


def test_reading_ends_after_many_broken_lines() -> None:
    values, problems = lines("{\n" * 60 + "1\n")
    assert values == []
    assert len(problems) == 51
    assert problems[-1] == (51, "too many lines cannot be read; what follows was not looked at")
    values, problems = lines("{\n" * 49 + "1\n")
    assert (values, len(problems)) == ([(1, 50)], 49)


@given(st.lists(st.text(max_size=5) | st.integers() | st.none() | st.lists(st.booleans(), max_size=2), max_size=8))
def test_what_is_written_is_read(values: list[object]) -> None:
    found, problems = lines("\n".join(map(json.dumps, values)))
    assert problems == []
    assert [value for value, _ in found] == values


@given(st.text(max_size=40))
def test_any_text_is_read_or_reported(text: str) -> None:
    values, problems = lines(text)
    assert len(values) + len(problems) >= len([line for line in text.split("\n") if line.strip()])
