"""Pins that curators spoke of: written into the entries, once (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from bot.curator.entry import Entry
from bot.github.judgement import Judgement
from bot.ledger.model import Decision
from bot.pipeline.review import Platform


def pinned(judgement: Judgement, platform: Platform) -> dict[str, Entry]:
    """The entries in R or in line whose pin is to be another, as they are then."""
    found = {}
    for item in judgement.decisions:
        entry = _entry_of(item, judgement, platform)
        if entry is not None and entry.pin != _wanted(item):
            found[entry.id] = entry.model_copy(update={"pin": _wanted(item)})
    return found


def is_done(item: Decision, judgement: Judgement, platform: Platform) -> bool:
    """Whether ``item`` is about a pin and has taken effect: later changes of that pin are other people's."""
    entry = _entry_of(item, judgement, platform)
    return entry is not None and entry.pin == _wanted(item)


def _wanted(item: Decision) -> str | None:
    return item.reason if item.action == "pin" else None


def _entry_of(item: Decision, judgement: Judgement, platform: Platform) -> Entry | None:
    """The entry that a decision on a pin is about, where there is one."""
    review = judgement.review
    if item.action not in ("pin", "unpin") or review is None:
        return None
    known: Mapping[str, Entry] = {**platform.regression_set.waiting, **platform.regression_set.entries}
    names = [name for name, entry in judgement.entries.items() if entry == item.entry]
    ids = [review.settled[name].id if name in review.settled else review.targets.get(name, "") for name in names]
    return next((known[id] for id in ids if id in known), None)
