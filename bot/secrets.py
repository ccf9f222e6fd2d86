"""What looks like a secret is named by its place and never repeated: its author may have overlooked it."""

from __future__ import annotations

import re

STAND_IN = "[looks like a secret]"

# Forms that providers document for their keys.  Each is linear.
_KEYS = r"""
      \bgh[opsur]_[A-Za-z0-9]{20,255}
    | \bgithub_pat_[A-Za-z0-9_]{20,255}
    | \bglpat-[A-Za-z0-9_-]{16,64}
    | \bsk-[A-Za-z0-9_-]{16,255}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \bAIza[0-9A-Za-z_-]{30,60}
    | \bxox[abeprs]-[A-Za-z0-9-]{10,255}
    | \beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{0,1000}
    | -----BEGIN\ [A-Z\ ]{0,40}PRIVATE\ KEY-----.{0,8000}
"""
_KEY = re.compile(_KEYS, re.VERBOSE | re.DOTALL)
# Beside them, words that people put before a secret, or before an example of one.
_SECRET = re.compile(
    _KEYS
    + r"""
    | (?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)
    | (?i:(?<=password)|(?<=passwd)|(?<=secret)|(?<=api[_-]key)|(?<=apikey)|(?<=token))
      (?i:\s{0,3}(?:=|:|\bis\b)\s{0,3})["']?(?=[^\s"']{0,60}\d)[^\s"']{8,200}
    """,
    re.VERBOSE | re.DOTALL,
)


# What each of those forms has, and hardly any text: looking for it first is many times quicker.
_UNBROKEN = re.compile(r"[A-Za-z0-9_-]{15}")
_WORD = re.compile("passw|secret|api|token")


def redacted(text: str) -> str:
    """``text`` with a stand-in for whatever looks like a secret."""
    return _SECRET.sub(STAND_IN, text) if _may_hold_secret(text) else text


def holds_secret(text: str) -> bool:
    """Whether something in ``text`` looks like a secret."""
    return _may_hold_secret(text) and _SECRET.search(text) is not None


def holds_key(text: str) -> bool:
    """Whether ``text`` holds a key in the form of a provider, which hardly any made-up one has."""
    return _may_hold_secret(text) and _KEY.search(text) is not None


def _may_hold_secret(text: str) -> bool:
    if _UNBROKEN.search(text) or "://" in text or "-----BEGIN" in text or "eyJ" in text:
        return True
    return _WORD.search(text.casefold()) is not None
