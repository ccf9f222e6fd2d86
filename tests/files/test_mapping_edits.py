"""Edits in place: each key in its place, and comments with their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from incumbent.errors import InputError
from incumbent.files.mapping_edits import insert_key, rename_keys
from incumbent.files.yaml_writer import edited
from incumbent.taxonomy.config import REVIEWED_FILES


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({}, {"a": 1, "b": 2, "c": 3}),
        ({"x": "y"}, {"a": 1, "b": 2, "c": 3}),
        ({"b": "x"}, {"a": 1, "x": 2, "c": 3}),
        ({"a": "b", "b": "a"}, {"b": 1, "a": 2, "c": 3}),
        ({"a": "c"}, {"b": 2, "c": 3}),
        ({"a": "b", "b": "c", "c": "d"}, {"b": 1, "c": 2, "d": 3}),
    ],
)
def test_keys_are_renamed_where_they_stand(names: dict[str, str], expected: dict[str, int]) -> None:
    mapping = {"a": 1, "b": 2, "c": 3}
    rename_keys(mapping, names)
    assert mapping == expected
    assert list(mapping) == list(expected)


def test_a_key_is_put_before_another() -> None:
    mapping = {"a": 1, "b": 2}
    insert_key(mapping, "b", "x", 3)
    assert list(mapping.items()) == [("a", 1), ("x", 3), ("b", 2)]


TEXT = """\
# At the top.
a: 1 # on a
b:
  # above c
  c: [x,  y] # on c
  'd': "2"

# At the end.
"""


def edit(text: str, change: Callable[[Any], None]) -> str:
    return edited(text.encode(), "f.yaml", REVIEWED_FILES, change)


def test_comments_stay_with_their_keys() -> None:
    def change(data: Any) -> None:
        rename_keys(data, {"a": "z"})
        rename_keys(data["b"], {"c": "cc"})
        insert_key(data["b"], "d", "n", None)

    expected = TEXT.replace("a: 1", "z: 1").replace("c: [x,  y]", "cc: [x, y]").replace("  'd'", "  n: null\n  'd'")
    assert edit(TEXT, change) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb:\n  - x # on x\n  - y\n",
        "a: 1\nb:\n- x # on x\n- y\n",
        "a: 1\nb:\n    c:\n        - x\n        - y: 2\n          z: 3\n",
        "a: 1\nb:\n  c:\n  - x\n  - y: 2\n    z: 3\n",
        "a: 1\nb:\n    c:\n      - x\n      - y: 2\n        z: 3\n",
        "a: 1\nb:\n    c:\n    - x\n    - y: 2\n      z: 3\n",
        "a: 1\nb:\n    - x\n    - y: 2\n      z: 3\nc: {d: 1}\n",
        "a: 1\r\nb:\r\n- x # on x\r\n",
        "\ufeffa: 1\nb: ~\n",
    ],
)
def test_the_form_of_the_file_is_kept(text: str) -> None:
    found = edited(text.encode(), "f.yaml", REVIEWED_FILES, lambda data: data.update(a=2))
    assert found.replace("null", "~") == text.replace("a: 1", "a: 2")


def test_what_cannot_be_kept_moves_as_few_lines_as_it_can() -> None:
    text = "a: 1\nb:\n- x\n- y\nc:   {k:  1}\nd:\n- z\n"
    assert edit(text, lambda data: data.update(a=2)) == text.replace("a: 1", "a: 2").replace(
        "c:   {k:  1}", "c: {k: 1}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "a: &x {k: 1}\nb: *x\n",
        "base: &x {k: 1}\na:\n  <<: *x\n  l: 2\n",
    ],
)
def test_what_speaks_for_several_places_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="anchors, aliases or merge keys"):
        edit(text, lambda data: rename_keys(data["a"], {"k": "m"}))


def test_keys_that_look_like_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="put such keys between quotes"):
        edit("1: {k: 1}\n", lambda data: rename_keys(data["1"], {"k": "m"}))
    assert edit('"1": {k: 1}\n', lambda data: rename_keys(data["1"], {"k": "m"})) == '"1": {m: 1}\n'
