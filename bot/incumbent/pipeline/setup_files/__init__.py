"""The files that ``incumbent init`` writes into a platform repository, as they are before their blanks are filled.

Beside them the config with the paper's reading, whose values ``incumbent migrate`` takes for a file of that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

WORKFLOW: Final = ".github/workflows/incumbent.yml"
PAGES: Final = ".github/workflows/incumbent-pages.yml"
CODEOWNERS: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""The places where GitHub looks, in that order; the first one counts."""
# In a checkout of the product these are its own; a wheel carries copies (pyproject.toml).
_OWN = {
    "taxonomy.yaml": "taxonomy/taxonomy.yaml",
    "curation.yaml": "config/curation.yaml",
    "paper.yaml": "config/paper.yaml",
    "exemplars": "taxonomy/exemplars",
}


def setup_file(name: str) -> str:
    """The text of the file ``name``."""
    return _place(name).read_text(encoding="utf-8")


def exemplar_files() -> dict[str, str]:
    """The texts of the exemplar files by their paths below ``taxonomy/exemplars/``, sorted."""
    return {path: file.read_text(encoding="utf-8") for path, file in sorted(_below(_place("exemplars"), ""))}


def _place(name: str) -> Traversable:
    place = files(__name__) / name
    if name in _OWN and not (place.is_file() or place.is_dir()):
        return Path(__file__).parents[4] / _OWN[name]
    return place


def _below(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _below(item, f"{prefix}{item.name}/")
        elif item.name.endswith(".tsv"):
            yield f"{prefix}{item.name}", item
