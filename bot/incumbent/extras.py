"""The packages of an extra, which only some commands need."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from incumbent.errors import UsageError

PACKAGES: Final = {
    "github": ("github",),
    "llm": ("openai",),
    "mcp": ("mcp",),
    "site": ("vl_convert",),
    "triage": ("datasketch", "duckdb"),
    "cluster": ("ray", "pandas", "pyarrow"),
}
"""What is imported of each extra in ``pyproject.toml``."""

KINDS: Final = {"github": "analyse", "llm": "analyse"}
"""Which kind of ``dev/setup.sh`` has an extra, where the names differ."""


def require_extra(extra: str, purpose: str) -> None:
    """Raise :class:`UsageError`, with the command to run, if a package is missing that ``purpose`` needs."""
    if any(find_spec(package) is None for package in PACKAGES[extra]):
        raise UsageError(
            f"{purpose} needs the packages of the extra `{extra}`: run `pip install 'incumbent[{extra}]'` (in a clone "
            f"of Incumbent: `sh dev/setup.sh {KINDS.get(extra, extra)}`)"
        )
