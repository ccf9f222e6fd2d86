"""What people refused on GitHub, as the ledger of a clone tells it: commands that follow suggestions leave it out."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from bot.errors import InputError
from bot.ledger.model import REQUESTS, SUGGESTIONS, RequestRecord, SuggestionRecord
from bot.ledger.store import load, open_ledger
from bot.reconcile.desired_suggestions import still_refused
from bot.reconcile.requests import in_effect


def refused_in(repo: Path) -> frozenset[str]:
    """The digests of grounds that people refused or keep, by the ledger of the clone that contains ``repo``.

    None without a ledger.  GitHub is not asked whether the refusals still stand: `git fetch` brings what the last run
    knew.
    """
    with ExitStack() as stack:
        ledger = open_ledger(repo, stack)
        if isinstance(ledger, str):
            return frozenset()
        try:
            record = load(ledger.snapshot, SUGGESTIONS, SuggestionRecord) or SuggestionRecord()
            requests = load(ledger.snapshot, REQUESTS, RequestRecord)
        except InputError:
            return frozenset()
    return refused_by(record, requests)


def refused_by(record: SuggestionRecord, requests: RequestRecord | None) -> frozenset[str]:
    """The digests of grounds that ``record`` refuses, or that ``requests`` keep, unless asked for again since."""
    standing = in_effect(() if requests is None else requests.requests)
    asked = [item for item in standing if item.action == "suggest"]
    kept = {item.grounds for item in standing if item.action == "keep" and item.grounds is not None}
    return frozenset(kept).union(*(still_refused(item, asked, {}) for item in record.refusals))
