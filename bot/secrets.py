"""What looks like a secret is named by its place and never repeated: its author may have overlooked it."""

from __future__ import annotations

import re

STAND_IN = "[looks like a secret]"

# Forms that providers document for their keys, and words that people put before a secret.  Each begins at the beginning
# of a word, so that no text is gone over many times.
_SECRET = re.compile(
    r"""
      (?<![\w-])(?:
          gh[opsur]_[A-Za-z0-9]{20,255}
        | github_pat_[A-Za-z0-9_]{20,255}
        | glpat-[A-Za-z0-9_-]{16,64}
        | sk-[A-Za-z0-9_-]{16,255}
        | (?:AKIA|ASIA)[0-9A-Z]{16}\b
        | AIza[0-9A-Za-z_-]{30,60}
        | xox[abeprs]-[A-Za-z0-9-]{10,255}
        | eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{0,1000}
      )
    | -----BEGIN\ [A-Z\ ]{0,40}PRIVATE\ KEY-----.{0,8000}
    | (?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)
    | (?i:(?<=password)|(?<=passwd)|(?<=secret)|(?<=api[_-]key)|(?<=apikey)|(?<=token))
      (?i:\s{0,3}(?:=|:|\bis\b)\s{0,3})["']?(?=[^\s"']{0,60}\d)[^\s"']{8,200}
    """,
    re.VERBOSE | re.DOTALL,
)
# Of these, what hardly anybody makes up: placeholders and examples of documentation have no digits, or say so.
_KEY = re.compile(
    r"""
      (?<![\w-])(?!\w{0,60}EXAMPLE)(?=[\w-]{0,255}\d)(?:
          gh[opsur]_[A-Za-z0-9]{30,255}
        | github_pat_[A-Za-z0-9_]{30,255}
        | glpat-[A-Za-z0-9_-]{20,64}
        | sk-(?=[\w-]{0,255}[A-Z])(?=[\w-]{0,255}[a-z])[A-Za-z0-9_-]{20,255}
        | (?:AKIA|ASIA)[0-9A-Z]{16}\b
        | AIza[0-9A-Za-z_-]{35}
        | xox[abeprs]-\d{8,20}-[A-Za-z0-9-]{10,255}
        | eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{10,1000}
      )
    | -----BEGIN\ [A-Z\ ]{0,40}PRIVATE\ KEY-----\s{0,9}[A-Za-z0-9+/=]{40}
    """,
    re.VERBOSE,
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
    """Whether ``text`` holds what can hardly be anything else than a key of a provider."""
    return _may_hold_secret(text) and _KEY.search(text) is not None


def _may_hold_secret(text: str) -> bool:
    if _UNBROKEN.search(text) or "://" in text or "-----BEGIN" in text or "eyJ" in text:
        return True
    return _WORD.search(text.casefold()) is not None
