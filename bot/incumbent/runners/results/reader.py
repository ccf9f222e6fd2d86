"""Reads what runners wrote: finds the format of a file, reports all its faults at once, and matches entries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from incumbent.curator.store import RegressionSet
from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import ReadingLimits
from incumbent.ledger.releases.record import CaseResult, MatchedResults, match
from incumbent.runners.results import json_documents, junit, lines
from incumbent.runners.results.result_file import ResultFile, ResultReader
from incumbent.taxonomy.config import RESULT_FILES
from incumbent.text.digests import digest

_LINES: Final = re.compile(r"\s*\{[^\n]*\}[ \t\r]*\n\s*\{")


def result_readers() -> tuple[ResultReader, ...]:
    """All readers; of those that fit a file the first one reads it."""
    return (*json_documents.READERS, lines.COPILOT_STUDIO, junit.READER, lines.JSON_LINES)


def read_results(
    content: bytes, file: str, form: str | None, limits: ReadingLimits
) -> tuple[tuple[CaseResult, ...], tuple[Problem, ...]]:
    """The results in a file with this ``content``, and its faults; ``form`` names its format (default: what fits).

    Never raises for what is in the file: a file that cannot be read at all has faults alone.
    """
    source = ResultFile(content, file, limits)
    known = {reader.name: reader for reader in result_readers()}
    if form is not None and form not in known:
        fix = f"write one of {', '.join(known)}"
        return (), (Problem(file, None, f"there is no format of results {form!r}", fix),)
    nothing = Problem(file, None, "it has no results", "run the export, and add what that run wrote")
    reader = known[form] if form is not None else next((item for item in known.values() if item.fits(source)), None)
    if reader is None:
        formats = "; ".join(f"`{item.name}`: {item.title}" for item in known.values())
        faults = _faults(source)
        if faults or not source.begins:
            return (), faults or (nothing,)
        message = "no format of results fits this file"
        return (), (Problem(file, None, message, f"name its format with --format, or convert it. {formats}"),)
    try:
        found = list(reader.read(source))
    except InputError as error:
        return (), tuple(error.problems)
    results = tuple(item for item in found if isinstance(item, CaseResult))
    problems = tuple(item for item in found if isinstance(item, Problem))
    if not found:
        problems = (nothing,)
    return results, problems


def _faults(source: ResultFile) -> tuple[Problem, ...]:
    """Why nothing can recognise the file: it is too large, not a text, or broken JSON."""
    try:
        if source.text.lstrip().startswith(("{", "[")) and not _LINES.match(source.text):
            _ = source.document
    except InputError as error:
        return tuple(error.problems)
    return ()


def match_files(contents: Mapping[str, bytes], form: str | None, known: RegressionSet) -> dict[str, MatchedResults]:
    """Digest of a file → its results by entry, of files by the name that a fault of theirs gives.

    ``form`` names their format (``None``: what they look like).  Raises :class:`InputError` with the faults of all
    files if one has any: then none counts.
    """
    matched: dict[str, MatchedResults] = {}
    problems: list[Problem] = []
    for name, content in contents.items():
        results, faults = read_results(content, name, form, RESULT_FILES)
        problems += faults
        matched[digest(content.hex())] = match(results, known)
    if problems:
        raise InputError(problems)
    return matched
