"""Placeholders of templates in queries: ``${NAME}``, ``{{name}}`` and ``<name>`` (semantics, section 2.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

NEUTRAL: Final = "X"
"""What stands in for a placeholder: a word of every language that says nothing of its own."""

_FORM: Final = re.compile(
    r"\$\{\s?[^\W\d][\w.]{0,63}(?:[ -][\w.]{1,63}){0,3}\s?\}"
    r"|\$?\{\{\s?[^\W\d][\w.]{0,63}(?:[ -][\w.]{1,63}){0,3}\s?\}\}"
    # Behind a letter it is a type with a parameter, as in List<string>.
    r"|(?<![\w<])<([A-Za-z][A-Za-z0-9_-]{0,63})(?: [a-z][A-Za-z0-9_-]{0,63}){0,2}>(?!>)"
)

_CLOSED: Final = re.compile(r"</([A-Za-z][A-Za-z0-9_-]{0,63})\s*>")

_HTML: Final = """
a abbr acronym address applet area article aside audio b base bdi bdo big blink blockquote body br button canvas caption
center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure
font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li
link main map mark marquee math menu meta meter nav nobr noscript object ol optgroup option output p param picture pre
progress q rp rt ruby s samp script search section select slot small source span strike strong style sub summary sup svg
table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr
"""
_TAGS: Final = frozenset(_HTML.split())
"""The elements of HTML, those of former versions too."""


def placeholders(turns: Sequence[str]) -> tuple[str, ...]:
    """The different placeholders in ``turns``, in the order of their first use."""
    return tuple(dict.fromkeys(found[0] for turn in turns for found in _found(turn)))


def without_placeholders(text: str) -> str:
    """``text`` with :data:`NEUTRAL` in place of each placeholder; the same object if it has none."""
    parts: list[str] = []
    end = 0
    for found in _found(text):
        parts += (text[end : found.start()], NEUTRAL)
        end = found.end()
    return "".join([*parts, text[end:]]) if parts else text


def _found(text: str) -> Iterator[re.Match[str]]:
    """The placeholders in ``text``.  A name in angle brackets is none if it is an element of HTML or is closed."""
    if "{" not in text and "<" not in text:
        return
    closed = frozenset(_CLOSED.findall(text))
    for found in _FORM.finditer(text):
        name = found[1]
        if name is None or not (name.lower() in _TAGS or name in closed):
            yield found
