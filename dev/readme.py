"""Put the current verdict comment of the example customer into the README; a test checks that it is there."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from bot.cli.main import run

REPOSITORY = Path(__file__).resolve().parent.parent
EXAMPLE = re.compile(r"(<!-- example: incumbent ([^\n]*) -->\n)(.*?)(<!-- /example -->)", re.DOTALL)


def rendered(text: str) -> str:
    """``text`` with the output of each example's command between its marks."""

    def fill(match: re.Match[str]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.chdir(REPOSITORY):
            code = run(match.group(2).split())
        if code:
            raise SystemExit(f"incumbent {match.group(2)} ended with {code}")
        quoted = "\n".join(f"> {line}".rstrip() for line in out.getvalue().rstrip().splitlines())
        return f"{match.group(1)}\n{quoted}\n\n{match.group(4)}"

    return EXAMPLE.sub(fill, text)


if __name__ == "__main__":
    readme = REPOSITORY / "README.md"
    readme.write_text(rendered(readme.read_text(encoding="utf-8")), encoding="utf-8")
