"""How large the house is, and what one review passes through: python -m dev.structure [FOLDER].

Counts files, packages, classes and lines of ``bot/`` in a checkout (by default this one), and the pairs of classes that
share most of their fields.  Of this checkout it also traces one review of the example customer: the files whose
functions ran, and the classes of values that were made.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from itertools import combinations
from pathlib import Path
from pkgutil import walk_packages
from types import FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
SHARED: Final = 0.6
"""The share of the fields of the smaller class that makes two classes a pair, from three fields on."""


def measures(root: Path) -> dict[str, int]:
    """Sizes of ``bot/`` in the checkout at ``root``."""
    files = sorted((root / "bot" / "incumbent").rglob("*.py"))
    sources = [file.read_text(encoding="utf-8") for file in files]
    classes = [item for source in sources for item in ast.walk(ast.parse(source)) if isinstance(item, ast.ClassDef)]
    return {
        "files": len(files),
        "packages": len({file.parent for file in files}),
        "lines": sum(source.count("\n") for source in sources),
        "classes": len(classes),
        "class names used twice": len(classes) - len({item.name for item in classes}),
        "pairs of classes that share fields": sum(1 for _ in _pairs([_fields(item) for item in classes])),
    }


def _fields(item: ast.ClassDef) -> frozenset[str]:
    named = (node.target for node in item.body if isinstance(node, ast.AnnAssign))
    return frozenset(target.id for target in named if isinstance(target, ast.Name))


def _pairs(classes: list[frozenset[str]]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for one, other in combinations([fields for fields in classes if len(fields) >= 3], 2):
        if len(one & other) >= SHARED * min(len(one), len(other)) and len(one & other) >= 3:
            yield one, other


def passed_by_a_review() -> dict[str, int]:
    """How many files run and how many classes of values are made in one review of the example customer.

    All modules are loaded before: to define a class is not to run anything of it.
    """
    for module in walk_packages([str(ROOT / "bot" / "incumbent")], "incumbent."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    from incumbent.cli.main import run

    files: set[str] = set()
    made: set[type] = set()
    package = str(ROOT / "bot" / "incumbent")

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package) and code.co_name != "<module>":
            files.add(code.co_filename)
        if event == "call" and code.co_name == "__init__" and "self" in frame.f_locals:
            kind = type(frame.f_locals["self"])
            if kind.__module__.startswith("incumbent."):
                made.add(kind)

    folder = str(ROOT / "examples/customers/northwind-tracker/tracker")
    with redirect_stdout(StringIO()):
        sys.setprofile(watch)
        try:
            run(["review", folder, "--repo", str(ROOT), "--format", "markdown"])
        finally:
            sys.setprofile(None)
    return {"files that one review runs": len(files), "classes of values that one review makes": len(made)}


def main(arguments: list[str]) -> int:
    """Print the measures of a checkout."""
    root = Path(arguments[0]).resolve() if arguments else ROOT
    found = measures(root) | (passed_by_a_review() if root == ROOT else {})
    for what, count in found.items():
        print(f"{count:>8,}  {what}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
