"""Parsed files are kept while they are likely to be asked for again, and never too many of them."""

from __future__ import annotations

import pytest

from incumbent.errors import InputError, Problem
from incumbent.files.documents import parsed_once
from incumbent.files.snapshot import ReadingLimits

LIMITS = ReadingLimits(file_bytes=1_000, nesting_depth=5, nodes=10)


class Parser:
    """Counts what it is asked to parse; what begins with a bracket is broken."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    def parse(self, content: bytes, file: str, limits: ReadingLimits) -> list[bytes]:
        self.asked.append(content)
        if content.startswith(b"["):
            raise InputError([Problem(file, 1, "is broken", "mend it")])
        return [content]


def test_a_file_is_parsed_once() -> None:
    parser = Parser()
    parse = parsed_once(parser.parse)
    assert parse(b"a", "f", LIMITS) is parse(b"a", "f", LIMITS)
    assert parser.asked == [b"a"]


def test_what_is_wrong_with_a_file_is_found_once() -> None:
    parser = Parser()
    parse = parsed_once(parser.parse)
    for _ in range(2):
        with pytest.raises(InputError) as raised:
            parse(b"[", "f", LIMITS)
        assert raised.value.problems == (Problem("f", 1, "is broken", "mend it"),)
    assert parser.asked == [b"["]


@pytest.mark.parametrize(
    ("content", "file", "limits"),
    [
        (b"b", "f", LIMITS),
        (b"a", "g", LIMITS),
        (b"a", "f", ReadingLimits(file_bytes=1_000, nesting_depth=6, nodes=10)),
    ],
)
def test_another_content_name_or_limit_is_another_file(content: bytes, file: str, limits: ReadingLimits) -> None:
    parser = Parser()
    parse = parsed_once(parser.parse)
    assert parse(b"a", "f", LIMITS) is not parse(content, file, limits)
    assert len(parser.asked) == 2


@pytest.mark.parametrize(
    ("contents", "again"),
    [
        ([b"x" * 100], []),
        ([b"x" * 100, b"y" * 10], []),
        ([b"x" * 100, b"y" * 6, b"z" * 6], [b"x" * 100]),
        ([b"y" * 6, b"z" * 6, b"x" * 100], [b"y" * 6]),
        ([b"x" * 100, b"y" * 100], [b"x" * 100]),
        ([b"x" * 100, b"y" * 100, b"z" * 3], [b"x" * 100]),
    ],
)
def test_one_large_file_is_kept_and_few_small_ones(contents: list[bytes], again: list[bytes]) -> None:
    parser = Parser()
    parse = parsed_once(parser.parse)
    for content in contents:
        parse(content, "f", LIMITS)
    for content in reversed(contents):
        if content not in again:
            parse(content, "f", LIMITS)
    assert parser.asked == contents
    for content in again:
        parse(content, "f", LIMITS)
    assert parser.asked == [*contents, *again]
