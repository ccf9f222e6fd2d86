"""Inputs that fuzzing begins with: the templates, and what earlier runs found worth keeping (``seeds.jsonl``)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.targets import TARGETS
from tests.hostile.templates import Template, written

_KEPT = Path(__file__).parent / "seeds.jsonl"
_BY_NAME = {str(template): template for template in TARGETS}


def joined(template: Template, content: bytes) -> bytes:
    """An input: which file, and what it holds."""
    return f"{template}\n".encode() + content


def parted(data: bytes) -> tuple[Template, bytes]:
    """What :func:`joined` joined; a name that is none counts as some template's."""
    name, _, content = data.partition(b"\n")
    found = _BY_NAME.get(name.decode("utf-8", "replace"))
    return (TARGETS[sum(name) % len(TARGETS)] if found is None else found), content


def seeds() -> Iterator[tuple[Template, bytes]]:
    """All of them; a kept one of a template that is gone is left out."""
    yield from ((template, written(template)) for template in TARGETS)
    if _KEPT.is_file():
        for line in _KEPT.read_text(encoding="ascii").splitlines():
            name, content = json.loads(line)
            if name in _BY_NAME:
                yield _BY_NAME[name], base64.b85decode(content)
