"""What a run said of a case, matched to entries, and what the ledger keeps of a release.

The ledger keeps counts of each entry, and never an answer or a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from incumbent.curator.entry import Entry, EntryId
from incumbent.curator.store import RegressionSet
from incumbent.files.validation import Digest, LenientModel, Text, Timestamp, Tuple
from incumbent.ledger.events import MOST, Amount
from incumbent.ledger.model import CommitId, LedgerFile
from incumbent.text.compare import text_key, utc
from incumbent.text.digests import digest


class Outcome(StrEnum):
    """How a case ended: the agent passed or failed, the runner could not tell (``error``), or it did not run."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The result of one run of one case.  A case that ran several times has several.

    ``entry`` is the id of the entry as our exports carry it, and ``turns`` are what was asked; either may be unknown.
    ``seconds`` and ``cost`` (in the currency of the runner, never converted) are from 0.  ``line`` is where it is in
    the file, from 1, if the format has lines.
    """

    outcome: Outcome
    entry: str | None = None
    turns: tuple[str, ...] = ()
    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None
    line: int | None = None


FOLDER: Final = "results"
"""The folder of the ledger with one file for each release."""
MOST_SUM: Final = float(MOST)
"""An upper bound that no sum of durations or costs reaches."""

Sum = Annotated[float, Field(ge=0, le=MOST_SUM, allow_inf_nan=False)]

_SLUG_LENGTH: Final = 60


class EntryResult(LenientModel):
    """What one release said of one entry.

    A run that ended in an error says nothing of the agent, nor does one that was skipped.  ``timed``, ``metered`` and
    ``priced`` are the numbers of runs that stated seconds, tokens and a cost.
    """

    content: Digest = Field(description="digest of the entry's text and of what was expected of the answer")
    passed: Amount = 0
    failed: Amount = 0
    errors: Amount = 0
    skipped: Amount = 0
    seconds: Sum = 0.0
    timed: Amount = 0
    tokens: Amount = 0
    metered: Amount = 0
    cost: Sum = 0.0
    priced: Amount = 0

    @property
    def runs(self) -> int:
        """How many runs there were, however they ended."""
        return self.passed + self.failed + self.errors + self.skipped


class ReleaseRecord(LedgerFile):
    """``results/RELEASE.json``: what the runs of one release said."""

    release: Text
    commit: CommitId | None = Field(default=None, description="the commit that was released, if it was stated")
    at: Timestamp = Field(description="the time of the release: releases follow one another in this order")
    files: Tuple[Digest] = Field(default=(), description="digests of the files that were counted, each once")
    entries: dict[EntryId, EntryResult] = Field(default_factory=dict)
    unmatched: Amount = Field(default=0, description="results that fit no entry")

    @property
    def passed(self) -> int:
        """Runs that passed."""
        return sum(item.passed for item in self.entries.values())

    @property
    def failed(self) -> int:
        """Runs that failed."""
        return sum(item.failed for item in self.entries.values())

    @property
    def errors(self) -> int:
        """Runs that ended with an error."""
        return sum(item.errors for item in self.entries.values())

    @property
    def skipped(self) -> int:
        """Runs that were skipped."""
        return sum(item.skipped for item in self.entries.values())


def content_of(entry: Entry) -> str:
    """The digest of what a run of ``entry`` tests: its text, and what is expected of the answer."""
    return digest([entry.turns, entry.expected])


def release_path(release: str, at: str) -> str:
    """The path of the record of ``release`` at the time ``at``: in the order of names, releases follow one another."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", release).strip("-.")[:_SLUG_LENGTH].rstrip("-.")
    moment = re.sub(r"[^0-9TZ]", "", utc(at))
    return f"{FOLDER}/{moment}-{slug or 'release'}{path_end(release)}"


def path_end(release: str) -> str:
    """The end of the path of ``release``, which no other release has, whatever characters its name has."""
    return f"-{digest(release)}.json"


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


def counted(result: CaseResult, entry: Entry) -> EntryResult:
    """What one run says of ``entry``."""
    stated = {
        **({} if result.seconds is None else {"seconds": result.seconds, "timed": 1}),
        **({} if result.tokens is None else {"tokens": result.tokens, "metered": 1}),
        **({} if result.cost is None else {"cost": result.cost, "priced": 1}),
    }
    return EntryResult.model_validate({"content": content_of(entry), _COUNTED[result.outcome]: 1, **stated})


def added(one: EntryResult, other: EntryResult) -> EntryResult:
    """Both together; the content is that of the ``other``, which is the later one.

    A sum stops at its bound, which no real run reaches.
    """
    sums = {
        name: min(getattr(one, name) + getattr(other, name), MOST)
        for name in EntryResult.model_fields
        if name != "content"
    }
    return other.model_copy(update=sums)


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
