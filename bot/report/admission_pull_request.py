"""What the pull request says by which admissions enter where the default branch takes no commits of the bot's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.curator.entry import Entry
from bot.report.escaping import code
from bot.report.eviction_pull_request import SHOWN, marked
from bot.report.verdict_text import quoted


class EntryChange(StrEnum):
    """What becomes of an entry, in words."""

    ENTERS = "enters"
    WAITS = "waits for a slot"
    LEAVES = "earns no slot any more, and leaves the line"
    MOVES = "is found elsewhere in the eval sets"
    PINNED = "has its pin as a curator said"
    RETURNS = "returns, as a curator asked"
    RESCORED = "is scored anew, by the taxonomy and the classifier of now"


@dataclass(frozen=True, kw_only=True)
class Offered:
    """What becomes of ``entry``, and the pull request that brought it, or the comment in which it was ``asked`` for.

    ``under`` digests the taxonomy and the classifier by which it was scored anew.
    """

    entry: Entry
    change: EntryChange
    pull_request: int | None = None
    asked: int | None = None
    under: str | None = None


def render_offer(items: Sequence[Offered]) -> str:
    """The description of the pull request that does all of ``items``."""
    rows = ["| entry | what becomes of it | verdict | brought by | text |", "|---|---|---|---|---|"]
    for item in items[:SHOWN]:
        admitted = item.entry.admitted
        verdict = " ".join([admitted.decision, *admitted.reasons])
        by = f", accepted by {code(admitted.by)}" if admitted.by is not None else ""
        brought = "–" if item.pull_request is None else f"#{item.pull_request}"
        text = quoted(item.entry.turns[0])
        rows.append(f"| {code(item.entry.id)} | {item.change} | {code(verdict)}{by} | {brought} | {text} |")
    if len(items) > SHOWN:
        rows.append(f"| and {len(items) - SHOWN} more | | | | |")
    blocks = [
        "What was merged enters the regression set by this pull request, on verdicts derived from the present R.",
        "\n".join(rows),
        "- **To confirm**, merge this pull request. Incumbent never does.",
        "- **To refuse**, close it: none of this is offered again unchanged. Reopen it to take that back.",
    ]
    return marked(blocks)
