"""Whose corrections decide tags of which queries, in words."""

from __future__ import annotations

from bot.pipeline.review import Review
from bot.report.wording import Voice, agreeing, listed

SHOWN = 5
"""Queries that one sentence names, and sentences that are shown; the rest is counted."""


def corrected_lines(review: Review, voice: Voice) -> list[str]:
    """A sentence for each curator and what they corrected."""
    said: dict[tuple[str, str], list[str]] = {}
    for name, tags in review.corrected.items():
        by: dict[str, list[str]] = {}
        for id, item in tags.items():
            words = voice.capability(id) if item.value else f"not {voice.capability(id)}"
            by.setdefault("a curator" if item.by is None else voice.name(item.by), []).append(words)
        for person, tagged in by.items():
            said.setdefault((person, listed(tagged, len(tagged))), []).append(name)
    lines = [
        f"Corrected by {person}: {listed(list(map(voice.name, names)), SHOWN)} "
        f"{agreeing(names, 'exercises', 'exercise')} {words}."
        for (person, words), names in said.items()
    ]
    rest = [f"{len(lines) - SHOWN} more corrections hold."] if len(lines) > SHOWN else []
    return [*lines[:SHOWN], *rest]
