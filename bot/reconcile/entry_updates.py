"""Entries follow curators' pins and their eval sets' renames, in all that no verdict rests on (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.curator.entry import Entry
from bot.github.facts import classified_of
from bot.github.judgement import ReviewJudgement
from bot.intake.query import Query, Setup
from bot.ledger.model import DecisionRecord
from bot.pipeline.matching import settle
from bot.pipeline.review import Platform
from bot.reconcile.inventory import Inventory


def pinned(judgement: ReviewJudgement, platform: Platform) -> dict[str, Entry]:
    """The entries in R or in line whose pin is to be another, as they are then."""
    found = {}
    for item in judgement.decisions:
        entry = _entry_of(item, judgement, platform)
        if entry is not None and entry.pin != _wanted(item):
            found[entry.id] = entry.model_copy(update={"pin": _wanted(item)})
    return found


def is_done(item: DecisionRecord, judgement: ReviewJudgement, platform: Platform) -> bool:
    """Whether ``item`` is about a pin and has taken effect: later changes of that pin are other people's."""
    entry = _entry_of(item, judgement, platform)
    return entry is not None and entry.pin == _wanted(item)


def _wanted(item: DecisionRecord) -> str | None:
    return item.reason if item.action == "pin" else None


def _entry_of(item: DecisionRecord, judgement: ReviewJudgement, platform: Platform) -> Entry | None:
    """The entry that a decision on a pin is about, where there is one."""
    review = judgement.review
    if item.action not in ("pin", "unpin") or review is None:
        return None
    known: Mapping[str, Entry] = {**platform.regression_set.waiting, **platform.regression_set.entries}
    names = [name for name, entry in judgement.entries.items() if entry == item.entry]
    ids = [review.settled[name].id if name in review.settled else review.targets.get(name, "") for name in names]
    return next((known[id] for id in ids if id in known), None)


def follow_renames(inventory: Inventory, platform: Platform) -> dict[str, Entry]:
    """The entries whose query stands elsewhere by now, or says something else beside its text, as they are to be.

    A rename changes the source.  What is expected and the set-up are those of the eval set; where it says nothing of
    the set-up, what people wrote into the entry stays.
    """
    found = {}
    for facts in inventory.submissions:
        submission = classified_of(facts).submission
        queries = {query.id: query for query in submission.queries}
        for name, entry in settle([submission], platform.regression_set).settled.items():
            if not isinstance(entry, Entry) or entry.source is None:
                continue
            customer, agent, item = submission.source(name)
            query = queries[name]
            # What was imported is its customer's from the moment when an eval set of theirs holds it.
            place = {"customer": customer, "agent": agent, "item": item, "eval_set": query.file, "imported": None}
            moved = entry.source.model_copy(update=place)
            changes = _changes(entry, query)
            if moved == entry.source and not changes:
                continue
            # An entry that came from a commit says in which its eval set is where it says.
            commit = entry.source.commit and inventory.base
            changes["source"] = moved.model_copy(update={"commit": commit})
            found[entry.id] = entry.model_copy(update=changes)
    return found


def _changes(entry: Entry, query: Query) -> dict[str, object]:
    """What the eval set says of the query beside its text, as far as the entry says something else."""
    setup = query.setup
    changes: dict[str, object] = {}
    if query.expected != entry.expected:
        changes["expected"] = query.expected
    if setup != entry.setup and (setup != Setup() or not entry.setup.ready):
        changes["setup"] = setup if setup != Setup() else replace(entry.setup, ready=True)
    return changes


def with_entries(platform: Platform, changed: Mapping[str, Entry]) -> Platform:
    """``platform`` with the entries ``changed`` in the place of those of the same id."""
    known = platform.regression_set
    return replace(
        platform,
        regression_set=replace(
            known,
            entries={id: changed.get(id, entry) for id, entry in known.entries.items()},
            waiting={id: changed.get(id, entry) for id, entry in known.waiting.items()},
        ),
    )
