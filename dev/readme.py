"""Put the current verdict comment, shortened, and the workflow into the README; a test checks that they are there."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

from incumbent.cli.main import run

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLE = re.compile(r"(<!-- example: incumbent ([^\n]*) -->\n)(.*?)(<!-- /example -->)", re.DOTALL)
WORKFLOW = re.compile(r"(<!-- workflow -->\n)(.*?)(<!-- /workflow -->)", re.DOTALL)

MAX_ROWS = 2
"""Rows of each table that the excerpt shows."""

_FOLDED = re.compile(r"<details>.*?</details>\n+", re.DOTALL)


def excerpt(comment: str) -> str:
    """``comment`` without its folded sections, and with the first rows alone of each table."""
    return "\n".join(_without_rest(_FOLDED.sub("", comment).rstrip().split("\n")))


def _without_rest(lines: list[str]) -> Iterator[str]:
    rows = 0
    for line in lines:
        rows = rows + 1 if line.startswith("| **") else 0
        if rows <= MAX_ROWS:
            yield line
        elif rows == MAX_ROWS + 1:
            yield "| … | | |"


def workflow() -> str:
    """The workflow that ``init`` writes, with a place for the Action of the reader."""
    shipped = REPOSITORY / "bot" / "incumbent" / "pipeline" / "setup_files" / "incumbent.yml"
    return shipped.read_text(encoding="utf-8").replace("uses: ACTION", "uses: YOU/incumbent@COMMIT")


def rendered(text: str) -> str:
    """``text`` with the output of each example's command, and with the workflow, between their marks."""

    def fill(match: re.Match[str]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.chdir(REPOSITORY):
            code = run(match.group(2).split())
        if code:
            raise SystemExit(f"incumbent {match.group(2)} ended with {code}")
        quoted = "\n".join(f"> {line}".rstrip() for line in excerpt(out.getvalue()).split("\n"))
        return f"{match.group(1)}\n{quoted}\n\n{match.group(4)}"

    pasted = WORKFLOW.sub(lambda found: f"{found[1]}\n```yaml\n{workflow()}```\n\n{found[3]}", text)
    return EXAMPLE.sub(fill, pasted)


if __name__ == "__main__":
    readme = REPOSITORY / "README.md"
    readme.write_text(rendered(readme.read_text(encoding="utf-8")), encoding="utf-8")
