"""What an export of a regression set writes into files for their way back: data of the entry, and escaped templates.

The key ``incumbent``, at a place where the format allows foreign keys, contains the entry's id, capabilities, source
and set-up, and the part of the expectation that the format cannot express.  Readers keep it like all unknown data.
This module finds it again, so that an exported set is imported with its ids and expectations.

A customer's text must not be rendered as a Nunjucks or Jinja template, as promptfoo does: it could show secrets of the
environment, or run code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from incumbent.errors import InputError
from incumbent.files.documents import Data, as_list, as_mapping, parse_json_text
from incumbent.files.snapshot import ReadingLimits

CARRIED: Final = "incumbent"
HOLDERS: Final = ("extensions", "metadata", "additional_metadata")
"""Keys below which formats allow foreign keys: M365 Copilot eval documents; promptfoo and Inspect; DeepEval."""

SEALED: Final = "expected_json"
"""The key of an expectation that is stored as JSON in a string."""
_LIMITS: Final = ReadingLimits(file_bytes=1_000_000, nesting_depth=100, nodes=100_000)


def carried(expected: Data) -> Mapping[str, Data]:
    """The export's data in ``expected`` of a query; empty if the query was not exported.

    A query of several turns may have it in its first turn.  It is JSON in a string in formats that render templates,
    and so is an expectation that is not flat.
    """
    turns = as_list(as_mapping(expected).get("turns"))
    for held in (as_mapping(expected), *map(as_mapping, turns[:1])):
        for holder in (held, *(as_mapping(held.get(name)) for name in HOLDERS)):
            found = _block(holder.get(CARRIED))
            if found:
                return found
    return {}


def _block(value: Data) -> Mapping[str, Data]:
    block = as_mapping(_parsed(value) if isinstance(value, str) and value.startswith("{") else value)
    text = block.get(SEALED)
    sealed = _parsed(text) if isinstance(text, str) else None
    if sealed is None:
        return block
    return {"expected": sealed, **{key: held for key, held in block.items() if key != SEALED}}


def _parsed(text: str) -> Data:
    """``text`` parsed as JSON; ``None`` if it is not JSON."""
    if len(text) > _LIMITS.file_bytes:
        return None
    try:
        return parse_json_text(text, CARRIED, _LIMITS).data
    except InputError:
        return None


def carried_id(expected: Data) -> str | None:
    """The entry's id in the export's data of ``expected``; ``None`` if there is none."""
    found = carried(expected).get("id")
    return found if isinstance(found, str) else None


def bare(expected: Data) -> Data:
    """``expected`` without the export's data, and without mappings that become empty."""
    held = dict(as_mapping(expected))
    turns = as_list(held.get("turns"))
    if turns and isinstance(turns[0], dict):
        held["turns"] = [_bare(turns[0]), *turns[1:]]
    return _bare(held)


def _bare(held: Mapping[str, Data]) -> dict[str, Data]:
    kept: dict[str, Data] = {}
    for key, value in held.items():
        if key in HOLDERS and isinstance(value, dict):
            capabilities = _block(value.get(CARRIED)).get("capabilities")
            # The export repeats capabilities beside the block, since promptfoo filters by them.
            again = (
                {"capabilities"} if capabilities is not None and value.get("capabilities") == capabilities else set()
            )
            inner = {name: each for name, each in _bare(value).items() if name not in again}
            if inner:
                kept[key] = inner
        elif key != CARRIED or not _block(value):
            kept[key] = value
    return kept


def without_carried(expected: Data) -> Data:
    """``expected`` without the export's data about the entry; the expectation beyond the format stays."""
    if not carried(expected):
        return expected
    held = dict(as_mapping(expected))
    turns = as_list(held.get("turns"))
    if turns and isinstance(turns[0], dict):
        held["turns"] = [_stripped(turns[0]), *turns[1:]]
    return _stripped(held) or None


def _stripped(held: Mapping[str, Data]) -> dict[str, Data]:
    kept: dict[str, Data] = {}
    for key, value in held.items():
        block = _block(value) if key == CARRIED else {}
        if block:
            if "expected" in block:
                kept[key] = {"expected": block["expected"]}
        elif key in HOLDERS and isinstance(value, dict) and _block(value.get(CARRIED)):
            inner = _stripped(value)
            if inner:
                kept[key] = inner
        else:
            kept[key] = value
    return kept


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
