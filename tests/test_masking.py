"""What is shown to people and to programs has no secret in it, whatever its shape."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.masking import Json, masked, masked_data, masked_json
from bot.secrets import STAND_IN

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
