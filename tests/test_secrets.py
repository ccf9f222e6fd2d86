"""What looks like a secret, and what only speaks of one; examples are put together here, so that no scanner minds."""

from __future__ import annotations

import time

import pytest

from bot.secrets import STAND_IN, holds_key, holds_secret, redacted

DIGITS = "0123456789abcdefABCDEF"


@pytest.mark.parametrize(
    "secret",
    [
        "gh" + "p_" + DIGITS * 2,
        "github" + "_pat_" + DIGITS,
        "gl" + "pat-" + DIGITS,
        "s" + "k-proj-" + DIGITS,
        "AK" + "IA" + "ABCDEFGHIJKLMNOP",
        "AI" + "za" + DIGITS + DIGITS,
        "xo" + "xb-" + DIGITS,
        "ey" + "J" + DIGITS + "." + DIGITS + "." + DIGITS,
        "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\n",
        "password" + ": hunter2hunter2",
        "my API" + "_KEY = '" + DIGITS + "'",
        "the token" + " is " + DIGITS,
    ],
)
def test_it_is_never_repeated(secret: str) -> None:
    text = redacted(f"Log in with {secret}")
    assert STAND_IN in text
    assert holds_secret(secret)
    assert "hunter2" not in text
    assert DIGITS not in text
    assert "MIIE" not in text


def test_a_password_in_an_address_is_left_out_and_the_address_stays() -> None:
    text = redacted("Open https://robin:" + "s3same@example.org/page please")
    assert text == f"Open https://{STAND_IN}@example.org/page please"


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password, what now?",
        "Reset the password: send a mail",
        "How many tokens is this? The token is used up.",
        "What is the secret of a good cake?",
        "Show order sk-1234",
        "Rotate the API key of the sandbox",
        "https://example.org:8080/path@here",
    ],
)
def test_speaking_of_secrets_is_none(text: str) -> None:
    assert redacted(text) == text


def test_a_long_text_takes_no_long_time() -> None:
    text = "password is " * 20_000 + "://a:" * 20_000 + "eyJ" * 20_000
    before = time.perf_counter()
    redacted(text)
    assert time.perf_counter() - before < 5


@pytest.mark.parametrize(
    "text",
    [
        "sk-SK-x-ska-local-voice",
        "https://x.example/sk-en-nova-kolekcia-2024",
        "sk-2026-0001-warehouse-north",
        "sk-your-api-key-here",
        "sk-XXXXXXXXXXXXXXXXXXXX",
        "xoxb-your-token-goes-here",
        "github_pat_example_token_goes_here_and_more",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "What does -----BEGIN PRIVATE KEY----- mean?",
        "My password is Winter2026.",
    ],
)
def test_what_people_make_up_is_no_key(text: str) -> None:
    assert not holds_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "ghp_" + "a1B2c3D4" * 5,
        "sk-proj-" + "a1B2c3D4" * 5,
        "use xoxb-" + "123456789012-abcdefABCDEF",
        "AKIA" + "IOSFODNN7ABCDEFG",
        "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA" * 4,
    ],
)
def test_what_is_hardly_anything_else_is_a_key(text: str) -> None:
    assert holds_key(text)


@pytest.mark.parametrize("part", ["eyJ-", "sk-", "sk-a", "ghp_", "xoxb-1", "-----BEGIN ", "AKIA0", "a1B2-"])
def test_looking_for_keys_goes_over_no_text_many_times(part: str) -> None:
    assert not holds_key(part * 300_000)
