"""Escapes texts for formats that render them as Nunjucks or Jinja templates, such as promptfoo's.

A customer's text must not be rendered as a template: it could show secrets of the environment, or run code.
"""

from __future__ import annotations

import re
from typing import Final

MARKS: Final = re.compile(r"\{\{|\{%|\{#|#\}")
"""Marks of a template."""
LOADED: Final = ("file://", "package:")
"""Prefixes of addresses that promptfoo loads."""

_NOTHING: Final = '{{ "" }}'
_QUOTED: Final = re.compile(r'\{\{ "([{}]?)" \}\}')


def as_template(text: str) -> str:
    """A template that renders to ``text``; a text without marks of a template is returned unchanged.

    It does not begin like the address of a file, which promptfoo would load, nor end with a line break, which promptfoo
    would strip.
    """
    if MARKS.search(text):
        text = re.sub(r"[{}]", lambda brace: f'{{{{ "{brace[0]}" }}}}', text)
    if text.lstrip().startswith(LOADED):
        text = _NOTHING + text
    return text + _NOTHING if text.endswith("\n") else text


def from_template(template: str) -> str:
    """The inverse of :func:`as_template`; the escapes in any other template are undone too."""
    return _QUOTED.sub(lambda quoted: quoted[1], template)
