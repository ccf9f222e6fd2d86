"""The pull request that asks people to confirm several evictions: its words, and what it remembers of its entries.

The end of its description lists the entries and their grounds for the bot itself: what people keep is known by it once
the pull request is closed or merged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from bot.curator.prune import Suggestion
from bot.report.escaping import code, shortened, visible
from bot.report.eviction_pull_request import SuggestionContext, marked, warned, why_evicted
from bot.report.task_list import Task
from bot.report.verdict_text import MarkdownStyle, figure, listed, quoted
from bot.text.masking import masked_together

GROUNDS: Final = "the kind, whom it yields to, its own content, or the taxonomy's major version"
TABLE_BYTES: Final = 40_000
"""The most bytes of the table and its boxes; the commits of the pull request name every entry."""

_TEXT_CHARACTERS: Final = 80
_MEMBERS = re.compile(r"^<!-- incumbent:group\n((?:[A-Za-z0-9][A-Za-z0-9._-]* [0-9a-f]{16}(?: kept)?\n)*)-->$", re.M)


@dataclass(frozen=True, kw_only=True)
class GroupMembers:
    """Entry → digest of its grounds, of those that a pull request ``suggests``; and of those that commits ``kept``."""

    suggests: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The members as a description lists them, hidden."""
        lines = [f"{id} {digest}" for id, digest in sorted(self.suggests.items())]
        lines += [f"{id} {digest} kept" for id, digest in sorted(self.kept.items())]
        return "\n".join(["<!-- incumbent:group", *lines, "-->"])


@dataclass(frozen=True, kw_only=True)
class KeptEntry:
    """An entry that people keep: ``by`` said so in a comment, or (``None``) commits took its eviction back."""

    id: str
    by: str | None


def members_in(body: str) -> GroupMembers:
    """The members that the description ``body`` lists; none where it lists none."""
    found = _MEMBERS.search(body.replace("\r\n", "\n"))
    lines = [line.split() for line in found[1].splitlines()] if found else []
    return GroupMembers(
        suggests={id: digest for id, digest, *rest in lines if not rest},
        kept={id: digest for id, digest, *rest in lines if rest},
    )


def with_members(body: str, members: GroupMembers) -> str:
    """The description ``body`` with ``members`` in the place of those that it lists."""
    return _MEMBERS.sub(members.text, body.replace("\r\n", "\n"))


def render_group(
    members: Sequence[Suggestion],
    shared: str,
    kept: Sequence[KeptEntry],
    listing: GroupMembers,
    moment: SuggestionContext,
) -> str:
    """The description of the pull request that evicts ``members``, which ``shared`` says what they have in common."""
    blocks = [
        f"Incumbent suggests to evict several entries{shared}: {len(members)} in this pull request.",
        "Each has a commit of its own. Any of them may stay: the others may go all the same.",
        *warned([item.id for item in members], moment),
        *_table(members, moment),
        *([_kept(kept)] if kept else []),
        _how(members),
        listing.text,
    ]
    return marked(blocks)


def _table(members: Sequence[Suggestion], moment: SuggestionContext) -> tuple[str, ...]:
    """A row for each of ``members``, and a box to keep it."""
    rows = [_row(item, moment) for item in members]
    boxes = [Task("keep", item.id, item.grounds.digest).line for item in members]
    sizes = accumulate(len(f"{row}{box}".encode()) + 2 for row, box in zip(rows, boxes, strict=True))
    shown = sum(1 for size in sizes if size <= TABLE_BYTES)
    head = [
        "| entry | customer | text | why it could go | scarcest cover left | cost freed |",
        "|---|---|---|---|---|--:|",
    ]
    more = f"\n\nand {len(rows) - shown} more: see the commits." if shown < len(rows) else ""
    counts = "The cover that is left is counted as if every open suggestion were merged."
    return "\n".join([*head, *rows[:shown]]) + f"{more}\n\n{counts}", "Tick what is to stay:", "\n".join(boxes[:shown])


def _row(item: Suggestion, moment: SuggestionContext) -> str:
    known = moment.platform.regression_set
    entry = known.entries[item.id]
    customer = "–" if entry.source is None else quoted(entry.source.customer)
    turns = masked_together(entry.turns[:1])
    text = code(shortened(visible(turns[0]), _TEXT_CHARACTERS))
    freed = figure(known.cost_of(entry.turns, entry.setup))
    return f"| {code(item.id)} | {customer} | {text} | {why_evicted(item)} | {_scarcest(item, moment)} | {freed} |"


def _scarcest(item: Suggestion, moment: SuggestionContext) -> str:
    """The capability of the entry with the fewest coverers above its floor, and how many these are."""
    if not item.remaining:
        return "covers nothing competently"
    floor = moment.platform.config.redundancy_floor
    name = min(item.remaining, key=lambda name: (item.remaining[name] - floor(name), name))
    count = item.remaining[name]
    short = " **short**" if count < floor(name) else ""
    return f"{MarkdownStyle(moment.platform.taxonomy).capability(name)}: {count}{short}, floor {floor(name)}"


def _kept(kept: Sequence[KeptEntry]) -> str:
    said = [f"{code(item.id)} ({'a commit' if item.by is None else f'by {code(item.by)}'})" for item in kept]
    return f"People keep {listed(said, len(said))}: not suggested again until the grounds change."


def _how(members: Sequence[Suggestion]) -> str:
    first = members[0].id
    return "\n".join(
        [
            "- **To confirm**, merge this pull request: what is left in it is evicted. Incumbent never merges.",
            f"- **To keep an entry**, tick it, comment `/incumbent keep {first}`, or revert its commit on this branch.",
            "- **To refuse all**, close it.",
            f"- What is kept or refused is not suggested again until its grounds change ({GROUNDS}).",
            "- **To keep an entry for good**, write a reason at `pin:` in its file.",
            "- **To bring it back later**: comment `/incumbent restore ENTRY…` here, or run `incumbent restore ID`.",
        ]
    )
