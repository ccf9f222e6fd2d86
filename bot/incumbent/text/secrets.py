"""Finds text that looks like a secret, so that reports give its place and never repeat it.

The patterns of providers' keys come from the named detectors of `detect-secrets`.  Its detectors of entropy and of
keywords are not used, since they fire on prose.  Detectors that take quadratic time or match order numbers are not used
either.  This module has patterns of its own for those, and for keys that the library does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from incumbent.text.plain_text import PlainText

STAND_IN = "[looks like a secret]"

# Forms that providers document for their keys, and words that people put before a secret.  Each match begins at the
# beginning of a word, so that the search does not go over a text many times.
_SECRET = re.compile(
    r"""
      (?<![\w-])(?:
          gh[oprsu]_[A-Za-z0-9]{20,}
        | github_pat_[A-Za-z0-9_]{20,}
        | glpat-[A-Za-z0-9_-]{16,}
        | [rs]k_(?:live|test)_[A-Za-z0-9]{16,}
        | (?:AKIA|ASIA)[0-9A-Z]{16}\b
        | AIza[0-9A-Za-z_-]{30,}
        | GOCSPX-[0-9A-Za-z_-]{20,}
        | ya29\.[0-9A-Za-z_-]{20,}
        | xox[abeoprs]-[A-Za-z0-9-]{10,}
        | xapp-[0-9]-[A-Za-z0-9-]{10,}
        | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*
        | npm_[A-Za-z0-9]{36}
        | whsec_[A-Za-z0-9]{24,}
        | sq0[a-z]{3}-[A-Za-z0-9_-]{22,}
        | hf_[A-Za-z0-9]{30,}
        | [A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9]{10,}
        | [A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}
        | discord(?:app)?\.com/api/webhooks/[0-9]{10,}/[A-Za-z0-9_-]{30,}
      )
    | (?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==
    | (?<!\w)(?:(?<=sig=)|(?<=SharedAccessKey=))[A-Za-z0-9%+/=_-]{40,}
    | (?<=_authToken=)[^\s"']{8,}
    | -----BEGIN\ [A-Z0-9\ ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----
      (?s:.)*?(?:-----END\ [A-Z0-9\ ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)
    | PuTTY-User-Key-File-[0-9]:(?s:.)*?(?:Private-MAC:\s{0,3}[0-9a-f]{1,128}|\Z)
    | (?<=://)[^\s/:@]{0,100}:[^\s/]{1,200}(?=@)
    | (?i:
          (?:(?<=password)|(?<=passwd))\s{0,3}(?:=|:|\bis\b)\s{0,3}
        | (?:(?<=secret)|(?<=api[_-]key)|(?<=apikey)|(?<=token))\s{0,3}(?:=\s{0,3}|(?::|\bis\b)\s{0,3}
          # A number with the word for what it counts (100dollars) may be a password, and nothing else that is secret.
          (?!["']?\d{1,6}(?:[.,]\d{1,6})?-?(?-i:(?=[A-Z]?[a-f]{0,20}[g-z])[A-Z]?[a-z]{2,20}(?:[/-][a-z]{1,20}){0,5})
             [.,;:!?)\]"']{0,5}(?:\s|\Z)))
      )["']?(?=[^\s"']{0,60}\d)[^\s"']{8,200}
    """,
    re.VERBOSE,
)
# `sk` is also a language code and a part of many names, so this form counts only where it looks random.
_SHORT_PREFIX = re.compile(r"(?<![\w-])sk-[A-Za-z0-9_-]{16,}")

# The forms that are unlikely in invented text.
_KEY = re.compile(
    r"""
      (?<![\w-])(?:
          github_pat_[A-Za-z0-9_]{30,}
        | sk-[A-Za-z0-9_-]{20,}
        | AIza[0-9A-Za-z_-]{35}
        | GOCSPX-[0-9A-Za-z_-]{28}
        | xapp-[0-9]-[A-Z0-9]{8,}-[0-9]{8,}-[a-f0-9]{30,}
        | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{10,}
        | npm_[A-Za-z0-9]{36}
        | whsec_[A-Za-z0-9]{32}
        | hf_[A-Za-z0-9]{34}
        | [A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9]{10,}
        | [A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}
        | discord(?:app)?\.com/api/webhooks/[0-9]{17,}/[A-Za-z0-9_-]{60,}
      )
    | (?<![A-Za-z0-9+/])[A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{6}==
    | (?<=[?&]sig=)[A-Za-z0-9%+/=_-]{43,}
    | (?<=SharedAccessKey=)[A-Za-z0-9+/]{43}=
    """,
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:\s|\\{1,4}[nr]){0,9}[A-Za-z0-9+/=]{40}")
_ACCOUNT = re.compile("AC[0-9a-z]{32}")
"""The id of a Twilio account: masked, but not a key by itself."""

_MADE_UP = re.compile(
    r"""
      (?i:example|your|placeholder|dummy|sample|change|redacted|insert) | (?i:(\w)\1{6}) | (?i:x{4})
    | eyJzdWIiOiIxMjM0NTY3ODkwI                # the token that jwt.io shows
    | Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50u # the key of the storage emulator
    | 16C7e42F292c6912E7710c838347Ae178B4a | SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe | AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw
    """,
    re.VERBOSE,
)
"""Placeholders, and the example keys in the documentation of GitHub, Google, Telegram and others."""

# Each of those forms contains one of these, and few texts do: this search first is many times faster.
_UNBROKEN = re.compile(r"[A-Za-z0-9_-]{15}")
_WORD = re.compile("passw|secret|api|token|sig=")
_OF_PROVIDER = re.compile(
    r"""
      A3T | A[BKS]IA | ACCA | ["'][0-9a-zA-Z/+]{40}["'] | AccountKey= | gh[oprsu]_ | gl[a-z]{2,5}- | GR1348941
    | [0-9a-z]{32}-us | pypi-AgE | SG\. | (?i:xox[a-z]-|hooks\.slack) | sq0csp- | k_live_ | \d{8}:
    | (?:AC|SK)[a-z0-9]{32} | \.[\w-]{6}\.[\w-]{27}
    """,
    re.VERBOSE | re.ASCII,
)
# A key may be longer than its form says, and the rest of it is still a part of the secret.
_REST = re.compile(r"[\w+/=%~-]*(?:\.[\w+/=%~-]+)*", re.ASCII)
_CAPITALS = re.compile("[0-9A-Z]+")
_RUN = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{12}")


def redacted(text: str) -> str:
    """``text`` with :data:`STAND_IN` in place of everything that looks like a secret."""
    shown, at, plain = [], 0, PlainText(text)
    for start, end in sorted(_places(plain.text)):
        start, end = plain.place(start), plain.place(end - 1) + 1
        if start >= at:
            shown += [text[at:start], STAND_IN]
        at = max(at, end)
    return "".join([*shown, text[at:]])


def holds_secret(text: str) -> bool:
    """Whether ``text`` contains something that looks like a secret."""
    return next(_places(PlainText(text).text), None) is not None


def holds_key(text: str) -> bool:
    """Whether ``text`` almost certainly contains a provider's key."""
    text = PlainText(text).text
    if not _may_hold_secret(text):
        return False
    if _PRIVATE_KEY.search(text):
        return True
    found = [*_KEY.finditer(text), *(key for key in _of_providers(text) if not _ACCOUNT.fullmatch(key[0]))]
    return any(_is_random(key[0]) and not _MADE_UP.search(key[0]) for key in found)


def _places(text: str) -> Iterator[tuple[int, int]]:
    if not _may_hold_secret(text):
        return
    own = _SECRET.finditer(text)
    short = (found for found in _SHORT_PREFIX.finditer(text) if _is_random(found[0]))
    for matches in (own, short, _of_providers(text)):
        end = 0
        for found in matches:
            if found.start() >= end:
                rest = _REST.match(text, found.end())
                end = found.end() if rest is None else rest.end()
                yield found.start(), end


def _of_providers(text: str) -> Iterator[re.Match[str]]:
    """Matches of the library's patterns, except words without a digit and parts of longer numbers."""
    if _OF_PROVIDER.search(text):
        for form in _forms():
            for found in form.finditer(text):
                if re.search("[0-9]", found[0]) and not _is_part_of_number(found):
                    yield found


def _is_part_of_number(found: re.Match[str]) -> bool:
    around = found.string[max(0, found.start() - 1) : found.end() + 1]
    return _CAPITALS.fullmatch(found[0]) is not None and _CAPITALS.fullmatch(around) is not None and around != found[0]


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    # The library is slow to load, and few texts need it.
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

    return (
        *AWSKeyDetector.denylist,
        *AzureStorageKeyDetector.denylist,
        *DiscordBotTokenDetector.denylist,
        *GitHubTokenDetector.denylist,
        *GitLabTokenDetector.denylist,
        *MailchimpDetector.denylist,
        *PypiTokenDetector.denylist,
        *SendGridDetector.denylist,
        *SlackDetector.denylist,
        *SquareOAuthDetector.denylist,
        *StripeDetector.denylist,
        *TelegramBotTokenDetector.denylist,
        *TwilioKeyDetector.denylist,
    )


def _is_random(key: str) -> bool:
    """Whether ``key`` looks random, unlike words and numbers joined by hyphens."""
    if not re.search("[0-9]", key):
        return False
    return (re.search("[a-z]", key) is not None and re.search("[A-Z]", key) is not None) or _RUN.search(key) is not None


def _may_hold_secret(text: str) -> bool:
    if _UNBROKEN.search(text) or "://" in text or "-----BEGIN" in text or "eyJ" in text:
        return True
    return _WORD.search(text.casefold()) is not None
