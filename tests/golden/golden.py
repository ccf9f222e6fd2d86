"""Golden files: a case makes a text, and the file of its name holds what it made when it was last agreed to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

FILES = Path(__file__).with_name("files")
UPDATES = os.environ.get("INCUMBENT_GOLDEN") == "update"
_DECIMAL = re.compile(r"\d+\.(\d+)")


@dataclass(frozen=True)
class Case:
    """A text that is compared; ``make`` is given a folder for what it needs.

    ``near`` lets decimals differ a little, as embeddings do from processor to processor.
    """

    name: str
    make: Callable[[Path], str]
    near: bool = False


def difference(case: Case, work: Path) -> str:
    """How the text of ``case`` differs from its file, as a diff; empty where it is the same, or was updated."""
    path, found = FILES / case.name, _ended(case.make(work))
    known = path.read_bytes().decode() if path.exists() else ""
    if found == known:
        return ""
    if UPDATES:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found, encoding="utf-8", newline="\n")
        return ""
    if case.near and _is_near(known, found):
        return ""
    names = (f"agreed/{case.name}", f"found/{case.name}")
    return "\n".join(unified_diff(known.split("\n"), found.split("\n"), *names, lineterm=""))


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _is_near(one: str, other: str) -> bool:
    """Whether the texts differ in decimals alone, by no more than 0.002, or 0.01 where two digits are shown."""
    if _DECIMAL.sub("0.0", one) != _DECIMAL.sub("0.0", other):
        return False
    pairs = zip(_DECIMAL.finditer(one), _DECIMAL.finditer(other), strict=True)
    return all(abs(float(a[0]) - float(b[0])) <= (0.002 if min(len(a[1]), len(b[1])) > 2 else 0.0101) for a, b in pairs)
