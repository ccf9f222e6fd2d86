"""Texts in formats that render them as Nunjucks or Jinja templates, such as promptfoo's: as templates that say them.

A text of a customer is no template: rendered as one it could show secrets of the environment, or run code.
"""

from __future__ import annotations

import re
from typing import Final

MARKS: Final = re.compile(r"\{\{|\{%|\{#|#\}")
"""What such a format reads as the beginning of a template."""
LOADED: Final = ("file://", "package:")
"""How the addresses begin that promptfoo loads."""

_NOTHING: Final = '{{ "" }}'
_QUOTED: Final = re.compile(r'\{\{ "([{}]?)" \}\}')


def as_template(text: str) -> str:
    """A template that renders to ``text``, whatever it holds; a text without anything of a template as it is.

    It does not begin like the address of a file, which promptfoo would load, nor end with a line break, which it would
    cut off.
    """
    if MARKS.search(text):
        text = re.sub(r"[{}]", lambda brace: f'{{{{ "{brace[0]}" }}}}', text)
    if text.lstrip().startswith(LOADED):
        text = _NOTHING + text
    return text + _NOTHING if text.endswith("\n") else text


def from_template(template: str) -> str:
    """The text that ``template`` says, if :func:`as_template` wrote it; of another one what it wrote so."""
    return _QUOTED.sub(lambda quoted: quoted[1], template)
