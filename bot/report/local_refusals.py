"""What people refused on GitHub, as the ledger of a clone tells it: commands that follow suggestions leave it out."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bot.curator.suggestions import Suggestions, suggest
from bot.errors import InputError
from bot.ledger.model import BRANCH, REQUESTS, SUGGESTIONS, RequestRecord, SuggestionRecord
from bot.ledger.refusals import standing_refusals
from bot.ledger.store import load, open_ledger
from bot.pipeline.review import Platform
from bot.report.verdict_text import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRefusals:
    """The digests of ``grounds`` that people refused or keep, or why these are ``unknown``, in words."""

    grounds: frozenset[str] = frozenset()
    unknown: str | None = None

    def suggestions(self, platform: Platform, within: Collection[str] | None = None) -> Suggestions:
        """What could go from the platform's regression set, and swaps, without what people refused.

        ``within``: swaps admit only these, as if no others waited.
        """
        known, taxonomy = platform.regression_set, platform.taxonomy
        return suggest(known, taxonomy, platform.config, refused=self.grounds, within=within)

    def left_out(self, found: Suggestions) -> int | None:
        """How many suggestions ``found`` leaves out since people refused them; ``None``: that is not known."""
        return None if self.unknown is not None else len(found.refused & self.grounds)

    def remarks(self, found: Suggestions) -> tuple[str, ...]:
        """What to say below ``found``: how many suggestions it leaves out, or that nothing is known of refusals."""
        if self.unknown is not None:
            return (f"what people refused on GitHub is unknown: {self.unknown}",)
        held = self.left_out(found)
        return (left_out_words(held),) if held else ()


def left_out_words(held: int) -> str:
    """What is said where ``held`` suggestions are left out."""
    return f"{counted(held, 'suggestion', 'suggestions')} left out: people refused"


def refused_in(repo: Path) -> LocalRefusals:
    """What people refused or keep, by the ledger of the clone that contains ``repo``.

    GitHub is not asked whether the refusals still stand: `git fetch` brings what the last run knew.
    """
    with ExitStack() as stack:
        ledger = open_ledger(repo, stack)
        if isinstance(ledger, str):
            return LocalRefusals(unknown=ledger)
        try:
            record = load(ledger.snapshot, SUGGESTIONS, SuggestionRecord) or SuggestionRecord()
            requests = load(ledger.snapshot, REQUESTS, RequestRecord)
        except InputError:
            return LocalRefusals(unknown=f"the branch {BRANCH} has files that cannot be read")
    return LocalRefusals(grounds=frozenset(standing_refusals(record, requests)))
