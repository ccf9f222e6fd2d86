"""Print what tests take, from the files that ``pytest --junitxml=FILE`` has written.

``python -m dev.times FILE...`` prints the seconds of each folder, of its longest files, and of the longest tests.  The
first number is processor time, which is the same on a busy machine: of the test's process and of those that ended in
the test.  So the last test of a file with a browser has all that the browser took.  The second is what the clock said.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.parsers import expat

PROCESSOR_SECONDS: Final = "processor_seconds"
"""The property of each test in those files (``tests/conftest.py``)."""
LONGEST: Final = 25
LEAST: Final = 5.0
"""A file that takes less has no line of its own."""


@dataclass(frozen=True)
class Taken:
    """What one test took."""

    file: str
    name: str
    processor: float
    clock: float

    @property
    def folder(self) -> str:
        """Where its file is."""
        return self.file.rpartition("/")[0]


def read_times(path: Path) -> Iterator[Taken]:
    """What each test of the file at ``path`` took."""
    cases: list[tuple[dict[str, str], dict[str, str]]] = []

    def begin(name: str, values: dict[str, str]) -> None:
        if name == "testcase":
            cases.append((values, {}))
        elif name == "property" and cases:
            cases[-1][1][values["name"]] = values["value"]

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    parser.Parse(path.read_bytes(), True)
    for case, said in cases:
        processor, clock = float(said.get(PROCESSOR_SECONDS, 0)), float(case.get("time", 0))
        yield Taken(case["file"], case["name"], processor, clock)


def table(tests: Iterable[Taken]) -> str:
    """The lines about ``tests``, what took most of the processor first."""
    all_tests = list(tests)
    lines = ["processor   clock", _line("all", all_tests)]
    for folder, inside in _by(all_tests, "folder"):
        lines.append(_line(f"  {folder}", inside))
        lines += [_line(f"    {file}", each) for file, each in _by(inside, "file") if _sum(each) >= LEAST]
    lines.append(f"the {LONGEST} longest:")
    longest = sorted(all_tests, key=lambda each: (-each.processor, -each.clock, each.file, each.name))[:LONGEST]
    lines += [f"{each.processor:9.1f} {each.clock:7.1f}  {each.file}::{each.name}" for each in longest]
    return "\n".join(lines)


def _by(tests: Iterable[Taken], what: str) -> list[tuple[str, list[Taken]]]:
    parts: defaultdict[str, list[Taken]] = defaultdict(list)
    for each in tests:
        parts[getattr(each, what)].append(each)
    return sorted(parts.items(), key=lambda part: (-_sum(part[1]), part[0]))


def _sum(tests: Iterable[Taken]) -> float:
    return sum(each.processor for each in tests)


def _line(name: str, tests: list[Taken]) -> str:
    return f"{_sum(tests):9.1f} {sum(each.clock for each in tests):7.1f}  {name} ({len(tests)})"


if __name__ == "__main__":
    print(table(each for name in sys.argv[1:] for each in read_times(Path(name))))
