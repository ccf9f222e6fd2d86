"""What is shown to people and to programs has no secret in it, whatever its shape."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.text.masking import Json, mask_by, masked, masked_data, masked_json, masked_together, may_be_masked_part
from incumbent.text.personal_data.detector import Detector
from incumbent.text.secrets import STAND_IN

PASSWORD = "password: hunter2secret99"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def test_texts_are_masked_at_any_depth() -> None:
    data: Json = {"turns": [PASSWORD, {"deep": [PASSWORD, 1, None, True, 0.5]}], PASSWORD: "x"}
    shown = f"password{STAND_IN}"
    assert masked_data(data) == {"turns": [shown, {"deep": [shown, 1, None, True, 0.5]}], shown: "x"}


def test_no_name_takes_the_place_of_another() -> None:
    names = [f"password: hunter{number}secret" for number in range(3)]
    shown = f"password{STAND_IN}"
    assert masked_data(dict.fromkeys(names, 0)) == {shown: 0, f"{shown} 2": 0, f"{shown} 3": 0}


def test_the_id_of_an_entry_is_shown_as_it_is() -> None:
    assert masked("sk-contoso-a1b2c3d4e5f6g7-q12-1a2b3c4d") == "sk-contoso-a1b2c3d4e5f6g7-q12-1a2b3c4d"
    assert masked("sk-contoso-A1b2c3d4e5f6g7-q12-1a2b3c4d") == STAND_IN


@given(JSON)
def test_json_without_a_secret_says_what_the_data_say(data: Json) -> None:
    assert json.loads(masked_json(data)) == json.loads(json.dumps(masked_data(data)))
    assert json.loads(masked_json(data, indent=None)) == json.loads(masked_json(data))


@pytest.mark.parametrize(
    "sign", "\u202e\u200b\u2066\U000e0041\u3164\u2800\u115f\u1160\uffa0\u2028\x1b\x9b\x7f\ue000\ud800"
)
def test_what_shows_nothing_is_written_as_an_escape(sign: str) -> None:
    text = masked_json([f"a{sign}b", "schön 日本 ❤️ 👍"])
    assert sign not in text
    assert "\\u" in text
    assert json.loads(text) == [f"a{sign}b", "schön 日本 ❤️ 👍"]
    assert "schön 日本 ❤️ 👍" in text


CARD = "4539 1488 0343 6467"
MAIL = "kim.lee@northwind.com"


def test_personal_data_is_masked_where_secrets_are() -> None:
    assert masked(f"Charge {CARD} of {MAIL}, {PASSWORD}") == (
        f"Charge [payment card 1] of [e-mail 1], password{STAND_IN}"
    )
    assert masked_data({MAIL: [CARD]}) == {"[e-mail 1]": ["[payment card 1]"]}


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (4539148803436467, "[payment card 1]"),
        (4539148803436467.0, "[payment card 1]"),
        (0.8146362049801931, 0.8146362049801931),
        (1763930000000, 1763930000000),
        (12, 12),
        (True, True),
        (None, None),
        (float("inf"), float("inf")),
    ],
)
def test_a_number_is_masked_where_its_digits_would_be(number: Json, shown: Json) -> None:
    assert masked_data({"n": [number]}) == {"n": [shown]}


def test_a_value_has_one_stand_in_in_all_turns_of_a_query() -> None:
    turns = ["Write to jo@adatum.com", f"and to {MAIL}", "then to jo@adatum.com", "contoso-repairs-q07-1a2b3c4d"]
    shown = ["Write to [e-mail 1]", "and to [e-mail 2]", "then to [e-mail 1]", "contoso-repairs-q07-1a2b3c4d"]
    assert masked_together(turns) == shown
    assert masked_data({"turns": [*turns], "more": [*turns, 1]})["turns"] == shown  # type: ignore[index, call-overload]


def test_what_the_config_allows_is_shown() -> None:
    mask_by(Detector(allowed=frozenset({"@northwind.com"})))
    assert masked(f"{MAIL} or jo@adatum.com") == f"{MAIL} or [e-mail 1]"


@pytest.mark.parametrize(
    ("shown", "text", "said"),
    [
        ("too private", "/incumbent reject q1: too private", True),
        ("too public", "/incumbent reject q1: too private", False),
        ("of [e-mail 2], no test", f"/incumbent reject q1: of {MAIL}, no test", True),
        ("of [e-mail 1], a test", f"/incumbent reject q1: of {MAIL}, no test", False),
        (f"password{STAND_IN}", f"/incumbent reject q1: {PASSWORD}", True),
    ],
)
def test_what_was_said_is_known_again_behind_its_stand_ins(shown: str, text: str, said: bool) -> None:
    assert may_be_masked_part(shown, text) is said
