"""The files that ``incumbent init`` writes into a platform repository, as they are before their blanks are filled."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

# In a checkout of the product these two are its own; a wheel carries copies (pyproject.toml).
_OWN = {"taxonomy.yaml": "taxonomy/taxonomy.yaml", "curation.yaml": "config/curation.yaml"}


def setup_file(name: str) -> str:
    """The text of the file ``name``."""
    place = files(__name__) / name
    if not place.is_file() and name in _OWN:
        return (Path(__file__).parents[2] / _OWN[name]).read_text(encoding="utf-8")
    return place.read_text(encoding="utf-8")
