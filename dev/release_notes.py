"""The notes of a release: ``python -m dev.release_notes v1.2.3`` prints the section of ``CHANGELOG.md``.

The tag must be the version in ``pyproject.toml``, and the section must have a date and some text; otherwise the exit
code is 1 and standard error names the fix. Needs the standard library alone.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

_SECTION = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?$", re.MULTILINE)


def notes(tag: str, version: str, changelog: str) -> str:
    """The text below the heading of ``version``; raises :class:`ValueError` with the fix."""
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag}, but pyproject.toml has version {version}: change one of them")
    headings = list(_SECTION.finditer(changelog))
    for place, heading in enumerate(headings):
        if heading["version"] == version:
            end = headings[place + 1].start() if place + 1 < len(headings) else len(changelog)
            text = changelog[heading.end() : end].strip()
            if heading["date"] and text:
                return f"{text}\n"
            raise ValueError(f"CHANGELOG.md: give the section [{version}] a date and some text")
    raise ValueError(f"CHANGELOG.md has no section for {version}: rename [Unreleased] to [{version}] - YYYY-MM-DD")


def main(arguments: list[str]) -> int:
    """Print the notes of the tag that is the only argument."""
    if len(arguments) != 1:
        print("usage: python -m dev.release_notes TAG", file=sys.stderr)
        return 2
    root = Path(__file__).parents[1]
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    try:
        print(notes(arguments[0], version, (root / "CHANGELOG.md").read_text(encoding="utf-8")), end="")
    except ValueError as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
