"""Text from outside, made harmless: in Markdown nothing of it comes alive, on a console it moves no cursor.

In Markdown, foreign text stands in code spans only: there GitHub makes no mentions, links, references, images or HTML.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, urlencode

from incumbent.text.plain_text import is_invisible

SHOWN_CHARACTERS = 160
"""A query is shown up to this length; the whole text is in the eval set and in the JSON report."""

LONGEST_BACKTICKS = 8
"""Longer runs are broken: GitHub's parser takes more than 80 backticks for text, and no code span begins there."""

LONGEST_ADDRESS = 2000
"""Longer addresses are not linked; browsers and GitHub take at least this."""

_UNASSIGNED = frozenset({"Co", "Cn"})
_BREAK = "\u200b"
_LINES = {ord(sign): None for sign in "\n\t"}


def visible(text: str) -> str:
    """``text`` on one line, with blank, control, format (bidi, zero-width, tag) and unassigned signs made visible."""
    flat = " ".join(text.split())
    if flat.isascii() and flat.isprintable():
        return flat
    return "".join("\ufffd" if _is_unseen(character) else character for character in flat)


def printable(text: str) -> str:
    """``text`` for a console: its lines and tabs stay, all that could move a cursor is made visible."""
    if text.isascii() and text.translate(_LINES).isprintable():
        return text
    return "".join("\ufffd" if _is_unseen(character) and character not in "\n\t" else character for character in text)


def _is_unseen(character: str) -> bool:
    return is_invisible(character) or unicodedata.category(character) in _UNASSIGNED


def unlogged(text: str) -> str:
    """``text`` for the log of a job: no line of it is a command to the runner (``::set-output``, ``##[group]``)."""
    return re.sub(":(?=:)", f":{_BREAK}", printable(text)).replace("##[", f"##{_BREAK}[")


def shortened(text: str, length: int = SHOWN_CHARACTERS) -> str:
    """``text`` cut at ``length`` characters, with an ellipsis where something is missing."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def code(text: str) -> str:
    """``text`` as a Markdown code span that holds in a table cell, whatever it contains."""
    safe = visible(text) or "(empty)"
    # A table splits cells before it reads code spans: a pipe is escaped, and no backslash may stand before the escape.
    safe = re.sub(r"\\(?=\|)", lambda _: "\\" + _BREAK, safe).replace("|", "\\|")
    safe = _within_fences(safe)
    if safe.endswith("\\"):
        safe += _BREAK
    fence = "`" * (_longest_run(safe) + 1)
    pad = " " if safe.startswith("`") or safe.endswith("`") else ""
    return f"{fence}{pad}{safe}{pad}{fence}"


def code_block(text: str) -> str:
    """``text`` as a block of code in Markdown, its lines kept: nothing in it comes alive or ends the block."""
    safe = _within_fences(printable(text))
    fence = "`" * max(3, _longest_run(safe) + 1)
    return f"{fence}text\n{safe}\n{fence}"


def _within_fences(text: str) -> str:
    """``text`` without long runs of backticks, and without the beginning of a comment."""
    text = re.sub(f"`{{{LONGEST_BACKTICKS}}}(?=`)", lambda run: run[0] + _BREAK, text)
    return text.replace("<!--", f"<{_BREAK}!--")


def _longest_run(text: str) -> int:
    """How many backticks follow each other at most."""
    return max(map(len, re.findall(r"`+", text)), default=0)


def plain(text: str) -> str:
    """``text`` from reviewed files (names of capabilities) as ordinary Markdown words."""
    escaped = re.sub(r"([\\`*_{}\[\]<>()#+!|~@$&])", r"\\\1", visible(text))
    # GitHub finds mentions, references, addresses and emoji in what is left once escapes are read: these are broken.
    return re.sub(r"[@#]|:(?=\S)|(?<=www)(?=\.)", lambda sign: sign[0] + _BREAK, escaped, flags=re.IGNORECASE)


def link(words: str, address: str) -> str:
    """``words`` (Markdown of ours) as a link to ``address``, a path or a page of the web.

    Whatever ``address`` contains, it neither leaves the link nor names another scheme; too long a one is left out.
    """
    # After a scheme of the web a colon only parts the port; elsewhere it could end a scheme.
    scheme = re.match(r"https?:", address)
    start = scheme[0] if scheme else ""
    rest = quote(address[len(start) :], safe="/%?=&+,@~:" if scheme else "/%?=&+,@~", errors="replace")
    return f"[{words}]({start}{rest})" if len(rest) <= LONGEST_ADDRESS else words


def address_parameters(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values as the parameters of an address."""
    return urlencode([*pairs])
