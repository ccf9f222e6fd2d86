"""YAML and JSON from outside: whatever the bytes, plain bounded data or an error that says where and what to do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Document, Parsed, as_list, as_mapping, decode, parse, parse_json, parse_yaml
from incumbent.files.snapshot import ReadingLimits

LIMITS = ReadingLimits(file_bytes=100_000, nesting_depth=20, nodes=1_000)
LINE_ENDS = ["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"]

Parser = Callable[[bytes, str, ReadingLimits], Document]


def yaml_data(text: str) -> Data:
    return parse_yaml(text.encode(), "f.yaml", LIMITS).data


def json_data(text: str) -> Data:
    return parse_json(text.encode(), "f.json", LIMITS).data


def fault(parser: Parser, content: bytes | str, limits: ReadingLimits = LIMITS) -> Problem:
    raw = content.encode() if isinstance(content, str) else content
    with pytest.raises(InputError) as caught:
        parser(raw, "f", limits)
    (problem,) = caught.value.problems
    assert problem.fix
    return problem


# Which type a value has

NO_CORE_VALUES = ["on", "off", "yes", "no", "y", "n", "On", "NO", "Yes", "12:30", "190:20:30", "2001-01-01", "1_000"]
NO_CORE_VALUES += ["2001-12-14T21:59:43.10Z", "0b1", "017_0", "1,000", "0o8", "0xG", "+0x1", "-0o7", "1e", "1e+", "."]
NO_CORE_VALUES += [".e1", "+", "--", ".infinity", "nan", "inf", "tRue", "nUll", "<<", "=", "~~", "nothing"]


@pytest.mark.parametrize("text", NO_CORE_VALUES)
def test_what_the_core_schema_does_not_name_is_a_string(text: str) -> None:
    assert yaml_data(f"value: {text}") == {"value": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("TRUE", True),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-12", -12),
        ("+12", 12),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("-0.0", -0.0),
        ("'12'", "12"),
        ('"true"', "true"),
        ("!!str 12", "12"),
        ('!!int "12"', 12),
        ("!!float 1", 1.0),
        ("!!null ''", None),
        ("|\n  a\n  b\n", "a\nb\n"),
        (">\n  a\n  b\n", "a b\n"),
        ("[]", []),
        ("{}", {}),
    ],
)
def test_what_the_core_schema_names_has_its_type(text: str, value: Data) -> None:
    data = yaml_data(f"value: {text}")
    assert isinstance(data, dict)
    assert data == {"value": value}
    assert type(data["value"]) is type(value)


def test_keys_are_names_as_people_see_them() -> None:
    assert yaml_data("on: 1\n200: 2\nnull: 3\n2.50: 4\n~: 5\ntrue: 6\n? 0o7\n: 7") == {
        "on": 1,
        "200": 2,
        "null": 3,
        "2.50": 4,
        "~": 5,
        "true": 6,
        "0o7": 7,
    }


def test_an_alias_repeats_the_value_of_its_anchor() -> None:
    assert yaml_data("a: &a [1, 2]\nb: *a\nc: &c d\n*c : 3\n") == {"a": [1, 2], "b": [1, 2], "c": "d", "d": 3}


def test_an_older_yaml_directive_changes_no_type() -> None:
    assert yaml_data("%YAML 1.1\n---\nvalue: yes\n") == {"value": "yes"}


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "\n\n", "---\n...\n", "~"])
def test_an_empty_document_is_null(text: str) -> None:
    assert yaml_data(text) is None


@pytest.mark.parametrize("parser", [parse_yaml, parse_json])
def test_a_byte_order_mark_is_no_part_of_the_text(parser: Parser) -> None:
    document = parser(b'\xef\xbb\xbf{"a": 1}', "f", LIMITS)
    assert document.data == {"a": 1}
    assert document.line(("a",)) == 1


def test_json_takes_tabs_escapes_and_pairs_of_half_characters() -> None:
    assert json_data('\t{\t"a"\t:\t["\\u0000", "\\ud83d\\ude00", "\\/", 1.0, -0.0]}\r\n') == {
        "a": ["\0", "😀", "/", 1.0, -0.0]
    }


# Hostile and broken YAML


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: !!python/object/apply:os.system ['true']", 2, "python/object/apply:os.system' is not allowed"),
        ("a:\n  !!python/name:os.system x: 1", 2, "is not allowed"),
        ("a: !secret x", 1, "the tag '!secret' is not allowed"),
        ("%TAG ! tag:example.com,2000:\n---\na: !x 1", 3, "the tag 'tag:example.com,2000:x' is not allowed"),
        ("a: !!timestamp 2001-01-01", 1, "is not allowed"),
        ("a: !!binary aGVsbG8=", 1, "is not allowed"),
        ("a: !!set {x}", 1, "is not allowed"),
        ("a: !!omap [x: 1]", 1, "is not allowed"),
        ("a: !!str [x]", 1, "is not allowed"),
        ("a: !!map x", 1, "is not allowed"),
        ("a: 1\nb: !!bool maybe", 2, "'maybe' is not a value of the type bool"),
        ("a: 1\nb: !!null nothing", 2, "'nothing' is not a value of the type null"),
        ("a: 1\nb: !!int one", 2, "'one' is not a value of the type int"),
        ("a: 1\nb: !!float one", 2, "'one' is not a value of the type float"),
        ("a: 1\nb: .nan", 2, "'.nan' is not a finite number"),
        ("a: 1\nb: .inf", 2, "'.inf' is not a finite number"),
        ("a: 1\nb: [-.Inf]", 2, "'-.Inf' is not a finite number"),
        ("a: 1\nb: 1e999", 2, "'1e999' is not a finite number"),
        ("a: 1\nb: " + "9" * 5_000, 2, "'" + "9" * 40 + "' is not a value of the type int"),
        ("a: 1\nb: 0x" + "f" * 5_000, 2, "'0x" + "f" * 38 + "' is not a value of the type int"),
        ("a: 1\nb: 2\na: 3", 3, "the key 'a' is given twice"),
        ("a:\n  b: 1\n  c: 2\n  b: 3", 4, "the key 'b' is given twice"),
        ("a: {b: 1,\n b: 2}", 2, "the key 'b' is given twice"),
        ('a: 1\n"a": 2', 2, "the key 'a' is given twice"),
        ('1: 1\n"1": 2', 2, "the key '1' is given twice"),
        ("a: 1\n? [b, c]\n: 2", 2, "a key is not a plain scalar"),
        ("a: 1\n{b: c}: 2", 2, "a key is not a plain scalar"),
        ("a: &a\n  b: *a", 2, "the alias *a refers to itself or to nothing"),
        ("a: &a [x, [*a]]", 1, "the alias *a refers to itself or to nothing"),
        ("a: 1\nb: *c", 2, "the alias *c refers to itself or to nothing"),
        ("a: &x 1\nb: &x 2", 2, "an anchor is given twice"),
        ("a: 1\n---\nb: 2", 2, "a second document begins here"),
        ("a: 1\nb: [1, 2", 2, "not valid YAML"),
        ("a: 1\nb: {c: 1\n\n\n", 2, "not valid YAML"),
        ("a: 1\n b: 2", 2, "not valid YAML"),
        ("a: 1\n\tb: 2", 2, "not valid YAML"),
        ("a: 'x", 1, "not valid YAML"),
        ("a: b: c", 1, "not valid YAML"),
        ("a: @x", 1, "not valid YAML"),
        ("a: %x", 1, "not valid YAML"),
        ('a: "\\ud800"', 1, "not valid YAML"),
        ('a: "\\q"', 1, "not valid YAML"),
        ("%YAML 2.0\n---\na: 1", 1, "not valid YAML"),
        ("a: 1\nb: \x01", 2, "the character U+0001 is not allowed"),
        ("a: 1\n\nb: x\x1b[2J", 3, "the character U+001B is not allowed"),
        ("a: \x7f", 1, "the character U+007F is not allowed"),
        ("a: \ufffe", 1, "the character U+FFFE is not allowed"),
    ],
)
def test_broken_or_hostile_yaml_is_an_error_with_its_line(text: str, line: int, message: str) -> None:
    problem = fault(parse_yaml, text)
    assert message in problem.message
    assert (problem.file, problem.line) == ("f", line)


@pytest.mark.parametrize("end", LINE_ENDS, ids=repr)
def test_mappings_nested_too_deeply_by_indentation_are_refused(end: str) -> None:
    deepest = end.join(" " * level + "a:" for level in range(LIMITS.nesting_depth))
    assert isinstance(yaml_data(deepest), dict)
    too_deep = end.join(" " * level + "a:" for level in range(LIMITS.nesting_depth + 1))
    assert "nested deeper than 20" in fault(parse_yaml, too_deep).message


@pytest.mark.parametrize("opener", ["[", "{a: ", "[a: ", "- ", "? ", "[[", "[{a: ", "- ? "])
def test_values_nested_too_deeply_on_one_line_are_refused(opener: str) -> None:
    assert "nested deeper than 20" in fault(parse_yaml, opener * 21).message
    assert "nested deeper than 20" in fault(parse_yaml, opener * 20_000).message


@pytest.mark.parametrize("end", ["\n", "\r"], ids=repr)
def test_lists_nested_too_deeply_by_indentation_are_refused(end: str) -> None:
    assert "nested deeper" in fault(parse_yaml, end.join(" " * level + "-" for level in range(21))).message


def test_single_pairs_in_a_flow_list_count_as_levels() -> None:
    assert yaml_data("[a: " * 10 + "1" + "]" * 10)
    assert "nested deeper" in fault(parse_yaml, "[a: " * 11 + "1" + "]" * 11).message


def test_aliases_that_multiply_are_refused_before_they_expand() -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    problem = fault(parse_yaml, "\n".join(lines))
    assert "more than 1,000 values" in problem.message
    assert problem.line == 4


def test_aliases_in_moderation_are_read() -> None:
    assert yaml_data("a: &a [1, 2]\nb: [*a, *a]\nc: &c {d: *a}\ne: *c") == {
        "a": [1, 2],
        "b": [[1, 2], [1, 2]],
        "c": {"d": [1, 2]},
        "e": {"d": [1, 2]},
    }


@pytest.mark.parametrize("text", ["[" + "1," * 1_000 + "1]", "a:\n" + "- 1\n" * 1_000, "{" + "a, " * 500 + "}"])
def test_yaml_with_too_many_values_is_refused(text: str) -> None:
    assert "more than 1,000 values" in fault(parse_yaml, text).message


@pytest.mark.parametrize(
    ("parser", "text", "count"),
    [
        (parse_yaml, "- 1\n" * 19, 20),
        (parse_yaml, "".join(f"key{n}: value\n" for n in range(10)), 21),
        (parse_yaml, "- &a [1, 2, 3]\n" + "- *a\n" * 4, 1 + 5 * 4),
        (parse_yaml, "- &a {b: 1, c: [2]}\n" + "- *a\n" * 4, 1 + 5 * 6),
        (parse_yaml, "- &a word\n" + "- *a\n" * 8, 1 + 9),
        (parse_yaml, "- &a [&b [1], *b]\n- *a\n- *b\n- *a\n", 1 + 3 * 5 + 2),
        (parse_json, "[" + "1," * 18 + "1]", 20),
        (parse_json, '{"a": 1, "b": [2, {"c": 3}]}', 1 + 2 + 2 + 1 + 3),
        (parse_json, "[[], {}, [[]], {}]", 1 + 1 + 1 + 2 + 1),
        (parse_json, '["a,b:[{", "", [true, null]]', 1 + 2 + 3),
    ],
)
def test_as_many_values_as_the_limit_says_are_read_and_not_one_more(parser: Parser, text: str, count: int) -> None:
    limits = ReadingLimits(file_bytes=1_000, nesting_depth=5, nodes=count)
    assert parser(text.encode(), "f", limits).data
    fewer = ReadingLimits(file_bytes=1_000, nesting_depth=5, nodes=count - 1)
    assert f"more than {count - 1} values" in fault(parser, text, fewer).message


@pytest.mark.parametrize("anchored", ["x" * 100, f"[{'x' * 50}, {'y' * 50}]", f"[[{'x' * 99}], y]"])
def test_aliases_repeat_as_many_characters_as_the_limit_says_and_not_one_more(anchored: str) -> None:
    for before, size in (("", 500), (f"- {'z' * 50}\n", 550)):
        text = f"{before}- &a {anchored}\n" + "- *a\n" * 4
        assert yaml_data(text) == parse_yaml(text.encode(), "f", ReadingLimits(size, 5, 60)).data
        fewer = fault(parse_yaml, text, ReadingLimits(size - 1, 5, 60))
        assert f"more than the limit of {size - 1} characters" in fewer.message


def test_limits_that_are_set_too_high_end_in_an_error_all_the_same() -> None:
    limits = ReadingLimits(file_bytes=10**7, nesting_depth=10**6, nodes=10**7)
    for problem in (fault(parse_yaml, "- " * 5_000, limits), fault(parse_json, "[" * 100_000, limits)):
        assert problem.message == "the values are nested more deeply than can be read"
        assert problem.fix == "flatten the file"


def messages(parser: Parser, text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        parser(text.encode(), "f", LIMITS)
    assert all(problem.file == "f" and problem.fix for problem in caught.value.problems)
    return [(problem.line, problem.message) for problem in caught.value.problems]


def yaml_faults(text: str) -> list[tuple[int | None, str]]:
    return [(line, message.removeprefix("not valid YAML: ")) for line, message in messages(parse_yaml, text)]


def test_all_values_of_a_yaml_file_that_cannot_be_read_are_reported_at_once() -> None:
    text = f"""\
a: .nan
b: {{c: !!int one, d: [1, -.inf, 1e999]}}
? [e, f]
: !x
  - .nan
  - !y {{g: 1, g: .inf}}
a: {"9" * 5_000}
!z h: fine
"""
    assert yaml_faults(text) == [
        (1, "'.nan' is not a finite number"),
        (2, "'-.inf' is not a finite number"),
        (2, "'1e999' is not a finite number"),
        (2, "'one' is not a value of the type int"),
        (3, "a key is not a plain scalar"),
        (4, "the tag '!x' is not allowed"),
        (5, "'.nan' is not a finite number"),
        (6, "'.inf' is not a finite number"),
        (6, "the key 'g' is given twice"),
        (6, "the tag '!y' is not allowed"),
        (7, f"'{'9' * 40}' is not a value of the type int"),
        (7, "the key 'a' is given twice"),
        (8, "the tag '!z' is not allowed"),
    ]


def test_a_value_that_aliases_repeat_is_one_fault() -> None:
    assert yaml_faults("a: &a [.nan]\nb: [*a, *a]\n") == [(1, "'.nan' is not a finite number")]


def test_a_long_text_that_aliases_repeat_is_too_long() -> None:
    limits = ReadingLimits(file_bytes=1_000, nesting_depth=5, nodes=1_000)
    for text in (
        "a: &a " + "x" * 200 + "\nb: [*a, *a, *a, *a, *a]",
        "a: &a [" + "x" * 200 + "]\nb: [*a, *a, *a, *a, *a]",
    ):
        with pytest.raises(InputError) as caught:
            parse_yaml(text.encode(), "f", limits)
        (problem,) = caught.value.problems
        assert (problem.line, "more than the limit of 1,000 characters" in problem.message) == (2, True)


def test_very_many_values_that_cannot_be_read_take_no_long_time() -> None:
    limits = ReadingLimits(file_bytes=10**6, nesting_depth=5, nodes=10**6)
    with pytest.raises(InputError) as caught:
        parse_yaml(b"- .nan\n" * 20_000, "f", limits)
    assert len(caught.value.problems) == 1_000


# Hostile and broken JSON


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a": 1,\n "b": 2,\n "a": 3}', 3, "the key 'a' is given twice"),
        ('{"a": "a",\n "b": ["a", "a"],\n "a": 3}', 3, "the key 'a' is given twice"),
        ('{"x": {"id": 1},\n "y": {"id": 2},\n "z": {"id": 3,\n "id": 4}}', 4, "the key 'id' is given twice"),
        ('[{"id": 1},\n["id", "id"],\n {"id": 3,\n\n "id": 4}]', 5, "the key 'id' is given twice"),
        ('{"é": 1,\n "é": 2}', 2, "the key 'é' is given twice"),
        ('{"a": 1,\n "\\u0061": 2}', 2, "the key 'a' is given twice"),
        ('{"\\"": 1,\n "\\u0022": 2}', 2, "is given twice"),
        ('{"": 1,\n "": 2}', 2, "the key '' is given twice"),
        ('{"a": {"b": 1,\n "b": 2},\n "c": 3}', 2, "the key 'b' is given twice"),
        ('{"a": "NaN is\\n no number",\n "b": NaN}', 2, "NaN is not a JSON value"),
        ("[1,\n\n-Infinity]", 3, "-Infinity is not a JSON value"),
        ("Infinity", 1, "Infinity is not a JSON value"),
        ("[1,\n1e999]", 2, "1e999 is not a JSON value"),
        ("[1,\n-1E+999]", 2, "-1E+999 is not a JSON value"),
        ("[1,\n" + "9" * 5_000 + "]", 2, "9" * 40 + " is not a JSON value"),
        ("", 1, "not valid JSON"),
        ("\n\n", 3, "not valid JSON"),
        ("{}\n{}", 2, "not valid JSON"),
        ("{// x\n}", 1, "not valid JSON"),
        ("[1,\n]", 2, "not valid JSON"),
        ("{'a': 1}", 1, "not valid JSON"),
        ('{"a":\n "x\ty"}', 2, "not valid JSON"),
        ('{"a": 01}', 1, "not valid JSON"),
        ('{"a": .5}', 1, "not valid JSON"),
        ('{"a": 0x1}', 1, "not valid JSON"),
        ('{"a": "\\x41"}', 1, "not valid JSON"),
        ('["a",\n {"b": "\\ud800"}]', 2, "half of a surrogate pair"),
        ('["a",\n {"\\udfff": 1}]', 2, "half of a surrogate pair"),
        ('["\\uDE00\\uD83D"]', 1, "half of a surrogate pair"),
    ],
)
def test_broken_or_hostile_json_is_an_error_with_its_line(text: str, line: int, message: str) -> None:
    problem = fault(parse_json, text)
    assert message in problem.message
    assert (problem.file, problem.line) == ("f", line)


def test_all_faults_of_a_json_file_are_reported_at_once() -> None:
    text = f"""{{
"a": NaN, "b": [1e999, "NaN", 1e999],
"c": {{"a": 1, "d": {"9" * 5_000},
 "a": [-Infinity]}}, "a": {{"x": "\\ud800"}},
"e": 1"""
    found = [
        (2, "1e999 is not a JSON value that can be read"),
        (2, "NaN is not a JSON value that can be read"),
        (3, f"{'9' * 40} is not a JSON value that can be read"),
        (4, "-Infinity is not a JSON value that can be read"),
        (4, "the key 'a' is given twice"),
    ]
    for end, more in [("}", []), (',\n"f"; NaN, "e": 2', [(6, "not valid JSON: Expecting ':' delimiter")])]:
        with pytest.raises(InputError) as caught:
            parse_json(f"{text}{end}".encode(), "f", LIMITS)
        assert [(problem.line, problem.message) for problem in caught.value.problems] == [*found, *more]
        assert all(problem.file == "f" and problem.fix for problem in caught.value.problems)


def test_all_half_characters_of_a_json_file_are_reported_at_once() -> None:
    with pytest.raises(InputError) as caught:
        parse_json(b'["\\ud800",\n"\\ud83d\\ude00",\n{"a": "x\\udc00"}]', "f", LIMITS)
    assert [problem.line for problem in caught.value.problems] == [1, 3]


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2, "b', '{"a": 1, "a": 2}}', '{"a": 1, "a"]', '["a", "a", "\\q"', "]{"]
)
def test_broken_json_with_repeated_keys_is_reported_wherever_it_ends(text: str) -> None:
    assert ("the key 'a' is given twice" in [message for _, message in messages(parse_json, text)]) == text.startswith(
        '{"a": 1, "a"'
    )


def test_json_nested_too_deeply_is_refused_where_it_happens() -> None:
    assert json_data("[" * 20 + "]" * 20)
    assert fault(parse_json, "[\n" * 21 + "]" * 21).line == 21
    assert "nested deeper" in fault(parse_json, '{"a": ' * 21).message
    assert "nested deeper" in fault(parse_json, "[" * 50_000).message


def test_brackets_in_strings_and_side_by_side_are_no_nesting() -> None:
    assert json_data('"' + "[{" * 50 + '"') == "[{" * 50
    assert json_data('["\\"[[[[[[[[[[[[[[[[[[[[[[[", "\\\\", [' + "[],{}," * 30 + "0]]")


def test_json_with_too_many_values_is_refused() -> None:
    assert json_data("[" + "1," * 600 + "1]")
    assert "more than 1,000 values" in fault(parse_json, "[" + "1," * 1_000 + "1]").message
    assert "more than 1,000 values" in fault(parse_json, json.dumps({str(n): n for n in range(600)})).message
    assert isinstance(json_data('"' + "x" * 5_000 + '"'), str)


def test_a_key_given_twice_among_very_many_is_found_quickly() -> None:
    keys = ",".join(f'"{n}": 0' for n in range(5_000))
    limits = ReadingLimits(file_bytes=10**6, nesting_depth=2, nodes=10**6)
    assert "'4999' is given twice" in fault(parse_json, "{" + keys + ', "4999": 1}', limits).message


# What is no text


@pytest.mark.parametrize("parser", [parse_yaml, parse_json])
@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"a: 1\nb: \xff", 2, "not valid UTF-8"),
        ("a: é".encode("latin-1"), 1, "not valid UTF-8"),
        ("a: 1".encode("utf-16"), 1, "not valid UTF-8"),
        ("a: 1\n".encode("utf-16-le"), 1, "NUL"),
        (b"\n\na\x00b", 3, "NUL"),
        (b"\xed\xa0\x80", 1, "not valid UTF-8"),
        (b"\xc0\xaf", 1, "not valid UTF-8"),
        (b"\xf4\x90\x80\x80", 1, "not valid UTF-8"),
        (b"\n\xe2\x82", 2, "not valid UTF-8"),
        (b"x" * 100_001, None, "100,001 bytes, more than the limit of 100,000"),
    ],
)
def test_what_is_no_utf8_text_within_the_limit_is_refused(
    parser: Parser, content: bytes, line: int | None, message: str
) -> None:
    problem = fault(parser, content)
    assert message in problem.message
    assert problem.line == line


def test_text_is_decoded_up_to_the_limit() -> None:
    assert decode(b"x" * 100_000, "f", LIMITS) == "x" * 100_000


def test_the_ending_decides_between_json_and_yaml() -> None:
    assert parse(b"a: yes", "f.yaml", LIMITS).data == {"a": "yes"}
    assert parse(b'{"a": 1}', "F.JSON", LIMITS).is_json
    assert parse(b'{"a": 1}', "f.txt", LIMITS).data == {"a": 1}
    with pytest.raises(InputError):
        parse(b"a: yes", "f.json", LIMITS)


# Lines


@pytest.mark.parametrize("parser", [parse_yaml, parse_json])
def test_a_value_is_found_at_the_line_of_its_key_or_its_first_character(parser: Parser) -> None:
    text = b'{\n "a": {\n  "b":\n   [1,\n    {"c": [\n]}]},\n "200": "x",\n "d, \\"": 2, "": [0]\n}'
    document = parser(text, "f", LIMITS)
    lines = {
        (): 1,
        ("a",): 2,
        ("a", "b"): 3,
        ("a", "b", 0): 4,
        ("a", "b", 1): 5,
        ("a", "b", 1, "c"): 5,
        ("200",): 7,
        ('d, "',): 8,
        ("", 0): 8,
        ("missing",): 1,
        ("a", "missing", "deeper"): 2,
        ("a", "b", 7): 3,
        ("a", "b", 0, "no mapping"): 4,
        ("200", 0): 7,
    }
    assert {path: document.line(path) for path in lines} == lines


def test_a_problem_of_a_document_names_file_and_line() -> None:
    document = parse_yaml(b"a: 1\nb: 2\n", "folder/f.yaml", LIMITS)
    problem = document.problem(("b",), "is wrong", "mend it")
    assert problem == Problem("folder/f.yaml", 2, "is wrong", "mend it")


def test_what_has_no_tree_has_no_lines() -> None:
    assert Document("f", "a: [", None).line(("a",)) is None
    assert Document("f", "", None).line() is None


MERGED = """\
a: &a {x: 1, y: {z: 2}}
b:
  <<: *a
  x: 3
c:
  k: 4
  <<: [{x: 5}, *a]
"<<": {x: 6}
"""


def test_a_merge_key_takes_over_the_keys_of_others_where_there_are_none() -> None:
    document = parse_yaml(MERGED.encode(), "f", LIMITS)
    assert document.data == {
        "a": {"x": 1, "y": {"z": 2}},
        "b": {"x": 3, "y": {"z": 2}},
        "c": {"x": 5, "y": {"z": 2}, "k": 4},
        "<<": {"x": 6},
    }
    lines = {("b", "x"): 4, ("b", "y", "z"): 1, ("c", "x"): 7, ("c", "y"): 1, ("c", "k"): 6, ("<<", "x"): 8}
    assert {path: document.line(path) for path in lines} == lines


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: {<<: 1}", "f:1: not valid YAML: `<<` takes over the keys of a mapping, and this is none"),
        ("a:\n  <<: [{b: 1}, c]", "f:2: not valid YAML: `<<` takes over the keys of a mapping, and this is none"),
        ("a: {<<: {b: 1}, <<: {c: 2}}", "f:1: not valid YAML: the key `<<` is given twice"),
        ("a: &a {<<: *a}", "f:1: the alias *a refers to itself or to nothing"),
    ],
)
def test_a_merge_key_that_merges_nothing_is_a_fault(text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_yaml(text.encode(), "f", LIMITS)
    assert str(raised.value).startswith(said)


def test_numbers_as_keys_are_found_by_their_name() -> None:
    assert parse_yaml(b"x: 0\n200: a\n", "f", LIMITS).line(("200",)) == 2


def test_data_of_another_shape_is_walked_as_if_empty() -> None:
    assert as_mapping({"a": 1}) == {"a": 1}
    assert as_mapping([1]) == as_mapping(None) == {}
    assert as_list([1]) == [1]
    assert as_list({"a": 1}) == as_list("abc") == []


def test_a_value_knows_its_place_and_what_it_is() -> None:
    text = '{"a": [1, {"b c": " x "}, null],\n "d": {"e": 2}}'
    root = Parsed("a/f.json", parse_json(text.encode(), "shown/f.json", LIMITS)).root
    assert (str(root), root.name, root.is_mapping, root.is_list, root.text) == ("shown/f.json", "", True, False, "")
    listed = root["a"]
    assert (listed.is_list, listed.is_mapping, [item.data for item in listed.items]) == (
        True,
        False,
        [1, {"b c": " x "}, None],
    )
    inner = listed.items[1]["b c"]
    assert (inner.name, str(inner), inner.text) == ("a[1]['b c']", "shown/f.json: a[1]['b c']", "x")
    assert [item.absent for item in listed.items] == [False, False, True]
    assert [(key, value.name, value.line) for key, value in root.entries] == [("a", "a", 1), ("d", "d", 2)]
    assert (root["d"]["e"].name, root["d"].has("e"), root["d"].has("f"), listed.has("a")) == ("d.e", True, False, False)
    # Of another shape, nothing is there.
    assert (root.items, listed.entries, listed["a"].absent, root["d"]["e"].text) == ((), (), True, "")
    problem = root["d"].problem("wrong", "mend it")
    assert problem == Problem("shown/f.json", 2, "wrong", "mend it")


def test_problems_are_printed_without_what_would_move_a_cursor() -> None:
    problem = Problem("f\x1b[2J.yaml", 3, "the key 'a\nb\udcff' is odd", "drop \u202eit")
    assert str(problem) == "f\ufffd[2J.yaml:3: the key 'a\ufffdb\ufffd' is odd\n    fix: drop \ufffdit"
    assert str(Problem("f", None, "m", "x")) == "f: m\n    fix: x"


def test_an_error_carries_each_problem_once_in_reading_order() -> None:
    first, second = Problem("a", 2, "x", "y"), Problem("a", 10, "x", "y")
    error = InputError([Problem("b", None, "x", "y"), second, first, second])
    assert error.problems == (first, second, Problem("b", None, "x", "y"))
    assert str(error).startswith("a:2: x")


# Properties

YAML_PARTS = [
    "a",
    "b: ",
    "- ",
    "? ",
    ": ",
    "\n",
    "\n  ",
    "\n    ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "&a ",
    "*a",
    "!!int ",
    "!x ",
]
YAML_PARTS += ["|", ">", "'", '"', "#", "---\n", "...\n", "%", "\t", "1", "0x", ".inf", "~", *LINE_ENDS, "\\u12"]
JSON_PARTS = ["{", "}", "[", "]", ",", ":", '"a"', '"', "\\u", "d800", "1", "-", "1e999", "NaN", "null", "\n"]
yaml_like = st.lists(st.sampled_from(YAML_PARTS), max_size=40).map("".join)
json_like = st.lists(st.sampled_from(JSON_PARTS), max_size=40).map("".join)
anything = st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode), yaml_like.map(str.encode))


def plain(value: Data, depth: int = 0) -> int:
    """How many values there are, all of them of plain types, finite, and not too deep."""
    assert depth <= LIMITS.nesting_depth
    if isinstance(value, dict):
        assert all(type(key) is str for key in value)
        return 1 + len(value) + sum(plain(item, depth + 1) for item in value.values())
    if isinstance(value, list):
        return 1 + sum(plain(item, depth + 1) for item in value)
    assert type(value) in (str, int, float, bool, type(None))
    assert not isinstance(value, float) or math.isfinite(value)
    return 1


def check_any(parser: Parser, content: bytes) -> None:
    try:
        document = parser(content, "f", LIMITS)
    except InputError as caught:
        problems = caught.problems
    else:
        problems = ()
        assert plain(document.data) <= LIMITS.nodes
        document.line(("a", 0))
    assert all(problem.fix and problem.message for problem in problems)


@settings(max_examples=settings().max_examples * 4)
@given(anything)
@example(b"? &a [*a]: 1")
@example(b"a: !!int")
def test_any_bytes_are_plain_yaml_data_or_an_input_error(content: bytes) -> None:
    check_any(parse_yaml, content)


@settings(max_examples=settings().max_examples * 4)
@given(st.one_of(anything, json_like.map(str.encode)))
@example(b'"}\x01')
@example(b',"a"')
@example(b'{"a": NaN}} "b')
@example(b'{"\\u12": NaN, "\\q')
def test_any_bytes_are_plain_json_data_or_an_input_error(content: bytes) -> None:
    check_any(parse_json, content)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(values, st.sampled_from([None, 1, 4]), st.booleans())
def test_json_that_python_writes_is_read_back_with_its_lines(value: Data, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document = parse_json(text.encode(), "f.json", LIMITS)
    assert document.data == value
    paths: list[tuple[tuple[str | int, ...], Data]] = [((), value)]
    rows = text.split("\n")
    while paths:
        path, item = paths.pop()
        line = document.line(path)
        assert line is not None
        assert 1 <= line <= len(rows)
        if path and isinstance(path[-1], str):
            assert json.dumps(path[-1], ensure_ascii=ascii_only) in rows[line - 1]
        if isinstance(item, dict):
            paths += [((*path, key), inner) for key, inner in item.items()]
        elif isinstance(item, list):
            paths += [((*path, place), inner) for place, inner in enumerate(item)]
