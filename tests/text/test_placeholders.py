"""What is a placeholder, what only looks like one, and what stands in for it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.text.placeholders import NEUTRAL, placeholders, without_placeholders


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Book a table in ${CITY}.", ["${CITY}"]),
        ("Book a table in ${ city }.", ["${ city }"]),
        ("Ask {{name}} about {{ topic }}, then {{name}} again", ["{{name}}", "{{ topic }}"]),
        ("Deploy to ${{REGION}}", ["${{REGION}}"]),
        ("Pause <cluster> in <PROJECT_ID> of <resource-group> for <userName>!", None),
        ("Grüße {{größe}}", ["{{größe}}"]),
        ("Copy '<file_path>' to (<target>)", ["<file_path>", "<target>"]),
        ("Pause the cluster", []),
        ("", []),
        # Elements of HTML and of other markup.
        ("Make this <b> bold", []),
        ("Make this <B> bold, <H1>", []),
        ("<note>Buy milk</note>", []),
        ("<note>Buy milk</note > for <user>", ["<user>"]),
        ("<br/> and <item/>", []),
        ('<a href="x">', []),
        # Code and formulas.
        ("What is a List<string> or Map<key, value>?", []),
        ("#include <stdio.h>", []),
        ("wrap the title in <<title>>, as in <<song>>", []),
        ("if a <b and c> d", []),
        ("write to <ada@example.com>", []),
        ("<Button> and <fooBar.baz>", []),
        ("awk '{print $1}' and ${#list[@]} and ${x:-1}", []),
        ("{{#if ready}} {{> part}} {{}} { {x} }", []),
        (
            "Ask ${user.name} for {{ user.city }} and {{order number}}",
            ["${user.name}", "{{ user.city }}", "{{order number}}"],
        ),
        ("Call <Name> or <customer name>", ["<Name>", "<customer name>"]),
        ("${1} <1> {{2}}", []),
        ("x <3 you", []),
        ("${" + "a" * 65 + "}", []),
    ],
)
def test_what_is_a_placeholder(text: str, found: list[str] | None) -> None:
    if found is None:
        found = ["<cluster>", "<PROJECT_ID>", "<resource-group>", "<userName>"]
    assert list(placeholders([text])) == found
    expected = text
    for each in found:
        expected = expected.replace(each, NEUTRAL)
    assert without_placeholders(text) == expected
    assert found or without_placeholders(text) is text


def test_the_placeholders_of_all_turns_are_named_once() -> None:
    assert placeholders(["In <b> and <city>", "From ${A} to <city>"]) == ("<city>", "${A}")


@given(st.lists(st.sampled_from(["<", ">", "{", "}", "{{", "}}", "${", "</", "x", "B", " ", "name", "-"]), max_size=12))
def test_a_second_look_finds_no_more_than_what_was_made_of_the_first(parts: list[str]) -> None:
    text = "".join(parts)
    found = placeholders([text])
    assert all(each in text for each in found)
    assert (without_placeholders(text) == text) == (not found)


def test_the_time_is_linear() -> None:
    text = "<a1> ${b} <x" + "<" * 30_000 + "".join(f"<n{number}> </m{number}> {{{{" for number in range(30_000))
    start = time.perf_counter()
    assert len(placeholders([text])) == 30_000 + 2 - 1
    assert time.perf_counter() - start < 2
