"""What a release run said, as the ledger keeps it: counts of each entry, and never an answer or a text."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import Field

from bot.curator.entry import Entry, EntryId
from bot.files.validation import FileModel, Text, Timestamp, Tuple
from bot.ledger.events import Amount
from bot.ledger.model import CommitId, Digest
from bot.text.digests import digest
from bot.text.moments import utc

FOLDER: Final = "results"
"""The folder of the ledger with one file for each release."""
MOST_SUM: Final = 1e9
"""An upper bound that no sum of durations or costs reaches."""

Sum = Annotated[float, Field(ge=0, le=MOST_SUM, allow_inf_nan=False)]

_SLUG_LENGTH: Final = 60


class EntryResult(FileModel):
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


class ReleaseRecord(FileModel):
    """``results/RELEASE.json``: what the runs of one release said."""

    format: Literal[1] = 1
    release: Text
    commit: CommitId | None = Field(default=None, description="the commit that was released, if it was stated")
    at: Timestamp = Field(description="the time of the release: releases follow one another in this order")
    files: Tuple[Digest] = Field(default=(), description="digests of the files that were counted, each once")
    entries: dict[EntryId, EntryResult] = Field(default_factory=dict)
    unmatched: Amount = Field(default=0, description="results that fit no entry")


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
