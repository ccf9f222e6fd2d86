"""Inputs that fuzzing begins with: the templates, and what earlier runs found worth keeping (``seeds.jsonl``).

After a long run ``python -m tests.fuzz.seeds build/fuzz/inputs`` keeps the small files of what it found here.
"""

from __future__ import annotations

import base64
import json
import sys
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


_LARGEST = 400
"""Bytes of an input that is kept: a large one takes long in every run of the tests, and reaches little more."""


def keep(folder: Path) -> None:
    """Write the small inputs of ``folder`` to ``seeds.jsonl``."""
    found = sorted({path.read_bytes() for path in folder.iterdir()})
    inputs = {(str(template), content) for template, content in map(parted, found) if len(content) <= _LARGEST}
    inputs -= {(str(template), written(template)) for template in TARGETS}
    lines = (json.dumps([name, base64.b85encode(content).decode()]) + "\n" for name, content in sorted(inputs))
    _KEPT.write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
