"""What fuzzing runs: a file among the others of its folder is read, and what holds of any file is checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from incumbent.curator.entry import entry_id
from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import ReadingLimits, normal_path
from incumbent.intake.expectation import understand
from incumbent.pipeline.submission import Package, read_package
from tests.factories import SHIPPED
from tests.formats import EVAL_SETS
from tests.hostile.agents import AGENTS
from tests.hostile.templates import Template, folder_of

TARGETS: tuple[Template, ...] = (*EVAL_SETS, *AGENTS)

LONGEST_MESSAGE = 4_000
"""Characters of a message or a fix: whatever a file holds, what is said of it can be read."""

_LINE_ENDS = (b"\n", b"\r", "\x85".encode(), "\u2028".encode(), "\u2029".encode())
"""What YAML or an editor takes for the end of a line."""


@dataclass(frozen=True)
class HeldFiles:
    """A snapshot of files that are in memory; ``asked`` is what was read and is not there."""

    files: Mapping[str, bytes]
    asked: set[str] = field(default_factory=set)

    def paths(self, folder: str = "") -> tuple[str, ...]:
        return tuple(sorted(path for path in self.files if not folder or path.startswith(f"{folder}/")))

    def links(self, folder: str = "") -> tuple[str, ...]:
        return ()

    def exists(self, path: str) -> bool:
        return normal_path(path) in self.files

    def read(self, path: str, limits: ReadingLimits) -> bytes:
        clean = normal_path(path)
        if clean is None or clean not in self.files:
            raise InputError([Problem(self.name(path), None, "the file is not there", "commit it")])
        if len(self.files[clean]) > limits.file_bytes:
            raise limits.too_large(path, len(self.files[clean]))
        return self.files[clean]

    def name(self, path: str) -> str:
        return path.encode("utf-8", "replace").decode()


def read(files: Mapping[str, bytes]) -> tuple[Package | None, tuple[Problem, ...]]:
    """The package in ``files``, if it can be judged, and every problem and note; raises nothing."""
    try:
        package = read_package(HeldFiles(files), "harbour", "desk", "eval_sets/harbour/desk", SHIPPED.limits)
    except InputError as error:
        return None, error.problems
    return package, (*package.submission.problems, *package.submission.notes)


def last_lines(files: Mapping[str, bytes]) -> dict[str, int]:
    """Of each file the last line that a problem may name."""
    return {path: sum(map(content.count, _LINE_ENDS)) + 2 for path, content in files.items()}


def faults_of(problem: Problem, lines: Mapping[str, int]) -> list[str]:
    """What is wrong with a problem, as something that is shown to people; ``lines`` are those of the files."""
    found = [name for name in ("file", "message", "fix") if not getattr(problem, name).strip()]
    for text in (problem.message, problem.fix):
        text.encode()
        if len(text) > LONGEST_MESSAGE:
            found.append(f"{len(text)} characters")
    if problem.line is not None:
        last = lines.get(problem.file)
        if problem.line < 1 or (last is not None and problem.line > last):
            found.append(f"line {problem.line} of {last}")
    str(problem).encode()
    return found


def check(template: Template, content: bytes) -> Package | None:
    """Read ``content`` in the place of the template's file, and raise :class:`AssertionError` if something is amiss.

    Nothing but :class:`~incumbent.errors.InputError` may be raised, every problem must be fit to be shown, two readings
    must be equal, and what was read must be fit to be kept.
    """
    files = folder_of(template, content)
    package, problems = read(files)
    lines = last_lines(files)
    for problem in problems:
        faults = faults_of(problem, lines)
        assert not faults, (faults, problem)
    again = read(files)
    assert (package, problems) == again, "two readings differ"
    if package is None:
        assert problems
        return None
    assert len({query.id for query in package.submission.queries}) == len(package.submission.queries)
    for query in package.submission.queries:
        entry_id("harbour", "desk", query.id)
        understand(query.expected, len(query.turns))
        assert query.turns
        assert all(turn.strip() for turn in query.turns)
        json.dumps([query.turns, query.expected], allow_nan=False, ensure_ascii=False).encode()
    return package
