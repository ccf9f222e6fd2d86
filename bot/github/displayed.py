"""What our comment has displayed, and since when: what people may have seen when they wrote a command (pure)."""

from __future__ import annotations

from bot.ledger.model import Displayed, PullRequestRecord

NOTHING = "0" * 24
"""The digest of a comment of ours that displays no verdict."""


def displayed_now(record: PullRequestRecord, marker: str | None, updated_at: str) -> dict[str, Displayed]:
    """What the comment displays, and since when: what the record was about to show, if the comment bears its digest.

    ``marker`` is the digest in the comment as found (``None``: there is no comment) and ``updated_at`` its time.
    """
    if marker in (None, NOTHING):
        return {}
    showing = record.showing
    if showing is None or showing.digest != marker:
        return dict(record.displayed)
    found = {}
    for entry, shown in showing.verdicts.items():
        before = record.displayed.get(entry)
        same = before is not None and before.verdict == shown.verdict
        new = Displayed(verdict=shown.verdict, codes=shown.codes, since=updated_at)
        found[entry] = before if same and before is not None else new
    return found
