"""From the results of a file to counts of each entry: matched by the id that our exports carry, else by text (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.config import RESULT_FILES
from bot.curator.entry import Entry
from bot.curator.store import RegressionSet
from bot.errors import InputError, Problem
from bot.results.model import CaseResult, Outcome
from bot.results.reader import read_results
from bot.results.record import EntryResult, content_of
from bot.text.compare import text_key
from bot.text.digests import digest

_COUNTED = {Outcome.PASSED: "passed", Outcome.FAILED: "failed", Outcome.ERROR: "errors", Outcome.SKIPPED: "skipped"}


@dataclass(frozen=True, kw_only=True)
class MatchedResults:
    """What results say of entries by id, and the results that fit no entry."""

    entries: Mapping[str, EntryResult]
    unmatched: tuple[CaseResult, ...]


def match(results: Sequence[CaseResult], known: RegressionSet) -> MatchedResults:
    """``results`` by the entry that each is about: of R, or evicted since.

    A result with the id of an entry is of that entry, unless it states another text: then the entry was asked something
    else, or is another one.  A result without an id, or with one that is unknown, is matched by its text.  A text that
    several entries have fits none of them.
    """
    entries = {**known.evicted, **known.entries}
    by_text = _by_text(known)
    found: dict[str, EntryResult] = {}
    unmatched = []
    for result in results:
        entry = _entry_of(result, entries, by_text)
        if entry is None:
            unmatched.append(result)
            continue
        found[entry.id] = added(found.get(entry.id) or EntryResult(content=content_of(entry)), counted(result, entry))
    return MatchedResults(entries=dict(sorted(found.items())), unmatched=tuple(unmatched))


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


def counted(result: CaseResult, entry: Entry) -> EntryResult:
    """What one run says of ``entry``."""
    stated = {
        **({} if result.seconds is None else {"seconds": result.seconds, "timed": 1}),
        **({} if result.tokens is None else {"tokens": result.tokens, "metered": 1}),
        **({} if result.cost is None else {"cost": result.cost, "priced": 1}),
    }
    return EntryResult.model_validate({"content": content_of(entry), _COUNTED[result.outcome]: 1, **stated})


def added(one: EntryResult, other: EntryResult) -> EntryResult:
    """Both together; the content is that of the ``other``, which is the later one."""
    sums = {name: getattr(one, name) + getattr(other, name) for name in EntryResult.model_fields if name != "content"}
    return EntryResult.model_validate({"content": other.content, **sums})


def _by_text(known: RegressionSet) -> dict[str, Entry | None]:
    """Text → the entry that has it, those of R first; ``None`` where several have it."""
    found: dict[str, Entry | None] = {}
    for place in (known.entries, known.evicted):
        here: dict[str, Entry | None] = {}
        for entry in place.values():
            key = text_key(entry.turns)
            here[key] = None if key in here else entry
        found = {**here, **found}
    return found


def _entry_of(result: CaseResult, entries: Mapping[str, Entry], by_text: Mapping[str, Entry | None]) -> Entry | None:
    text = text_key(result.turns) if result.turns else None
    entry = None if result.entry is None else entries.get(result.entry)
    if entry is not None and text in (None, text_key(entry.turns)):
        return entry
    return None if text is None else by_text.get(text)
