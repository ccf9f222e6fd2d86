"""Entries that lose their source in a pull request, because it removes their queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from bot.config import Limits
from bot.curator.store import RegressionSet
from bot.errors import InputError
from bot.git import CommitSnapshot
from bot.pipeline.matching import settle
from bot.pipeline.submission import (
    Package,
    agent_folder,
    read_package,
    refuse_shared_ids,
    submission_folders,
    with_agent_in_ids,
)


def departing_entries(
    known: RegressionSet,
    before: CommitSnapshot,
    after: CommitSnapshot,
    packages: Sequence[Package],
    folders: Collection[str],
    limits: Limits,
) -> dict[str, Literal["source-deleted", "customer-left"]]:
    """The entries whose query is in ``before`` and not in ``after``, in the ``folders`` that differ.

    ``packages`` are those of ``after``, without shared ids; folders that cannot be read are left out.
    """
    there = set(submission_folders(after))
    read = {package.submission.folder for package in packages}
    sources = {
        id: agent_folder(entry.source.customer, entry.source.agent)
        for id, entry in known.entries.items()
        if entry.source is not None
    }
    concerned = {folder for folder in sources.values() if folder in folders and (folder in read or folder not in there)}
    previous = []
    for folder in sorted(concerned.intersection(submission_folders(before))):
        customer, agent = folder.split("/")[1:]
        try:
            previous.append(read_package(before.within(folder), customer, agent, folder, limits))
        except InputError:
            continue
    if not previous:
        return {}
    gone = _present(refuse_shared_ids(previous, known), known) - _present(packages, known)
    customers = {folder.split("/")[1] for folder in there}
    return {
        id: "source-deleted" if source.split("/")[1] in customers else "customer-left"
        for id, source in sorted(sources.items())
        if id in gone
    }


def _present(packages: Sequence[Package], known: RegressionSet) -> set[str]:
    """The entries of the queries in ``packages``, and the entries that these edit."""
    found = settle([with_agent_in_ids(item).submission for item in packages], known)
    return {item.id for item in (*found.settled.values(), *found.edited.values())}
