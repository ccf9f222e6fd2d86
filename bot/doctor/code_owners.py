"""Who owns which files by a CODEOWNERS file (pure): the last pattern that matches decides."""

from __future__ import annotations

import re
from typing import Final

PLACES: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks, in that order; the first one counts."""

_COMMENT: Final = re.compile(r"(?:^|\s)#.*$")
_SIGNS: Final = re.compile(r"/\*\*/|\*\*/|/\*\*|\*\*|\*|\?|[^*?/]+|/")


def owners(text: str, path: str) -> tuple[str, ...]:
    """The owners of ``path``; none where no pattern matches, or the last that does names none."""
    found: tuple[str, ...] = ()
    for line in text.splitlines():
        pattern, *named = _COMMENT.sub("", line).replace("\\ ", "?").split() or [""]
        if pattern and _expression(pattern).fullmatch(path):
            found = tuple(named)
    return found


def _expression(pattern: str) -> re.Pattern[str]:
    """``pattern`` as a regular expression for whole paths: like .gitignore's, but ``folder/*`` does not go deeper."""
    anchored = "/" in pattern.rstrip("/")
    body = pattern.strip("/")
    pieces = [_piece(sign) for sign in _SIGNS.findall(body)]
    # What names a folder owns all below it; a star at the end owns files only.
    below = "/.*" if pattern.endswith("/") else ("" if body.endswith("*") and "/" in body else "(?:/.*)?")
    return re.compile(("" if anchored else "(?:.*/)?") + "".join(pieces) + below, re.DOTALL)


def _piece(sign: str) -> str:
    match sign:
        case "/**/":
            return "/(?:.*/)?"
        case "**/":
            return "(?:.*/)?"
        case "/**":
            return "/.*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _:
            return re.escape(sign)
