"""Entries whose query stands elsewhere by now: a rename changes their source and nothing else (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.curator.entry import Entry
from bot.curator.store import RegressionSet
from bot.github.analysis import classified_of
from bot.pipeline import Platform
from bot.reconcile.inventory import Inventory
from bot.settling import settle


def follow_renames(inventory: Inventory, platform: Platform) -> dict[str, Entry]:
    """The entries whose query stands elsewhere by now, with their source as it is: a rename changes nothing else."""
    found = {}
    for facts in inventory.submissions:
        submission = classified_of(facts).submission
        files = {query.id: query.file for query in submission.queries}
        for name, entry in settle([submission], platform.regression_set).settled.items():
            if not isinstance(entry, Entry) or entry.source is None:
                continue
            customer, agent, item = submission.source(name)
            # What was imported is its customer's from the moment when an eval set of theirs holds it.
            place = {"customer": customer, "agent": agent, "item": item, "eval_set": files[name], "imported": None}
            moved = entry.source.model_copy(update=place)
            if moved == entry.source:
                continue
            # An entry that came from a commit says in which its eval set is where it says.
            commit = entry.source.commit and inventory.base
            found[entry.id] = entry.model_copy(update={"source": moved.model_copy(update={"commit": commit})})
    return found


def with_entries(platform: Platform, changed: Mapping[str, Entry]) -> Platform:
    """``platform`` with the entries ``changed`` in the place of those of the same id."""
    known = platform.regression_set
    return replace(
        platform,
        regression_set=RegressionSet(
            {id: changed.get(id, entry) for id, entry in known.entries.items()},
            {id: changed.get(id, entry) for id, entry in known.waiting.items()},
            known.tombstones,
        ),
    )
