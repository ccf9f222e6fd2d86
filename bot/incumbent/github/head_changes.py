"""What a head changes, from names and ids of git alone: no content of a file is looked at (pure).

Both jobs derive it, the one that reads the head and the one that only believes what it can know.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

from incumbent.curator.store import EVICTED, RegressionSet, is_part
from incumbent.errors import Problem
from incumbent.files.git import ChangedFile
from incumbent.github.facts import ChangedEntryFile, EvictionFacts, Touched, whole
from incumbent.pipeline.matching import settle
from incumbent.pipeline.submission import EVAL_SETS, Submission, agent_folder

PLACES: Final[tuple[Touched, ...]] = ("eval_sets", "regression_set", "taxonomy", "config")
"""The folders of a platform repository, in the order in which they are named."""
Departures: TypeAlias = Mapping[str, Literal["source-deleted", "customer-left"]]


@dataclass(frozen=True, kw_only=True)
class HeadFacts:
    """What git says of a ``head`` beside the newest reviewed commit ``base``, without any content of the head.

    ``at`` is the committer's time of the head, ``changes`` are those since both have a common ancestor, and ``paths``
    the files of the head below the folders of ours.  ``faults`` are the links and ill names that it brings.
    """

    base: str
    head: str
    at: str
    changes: tuple[ChangedFile, ...]
    paths: frozenset[str]
    faults: tuple[Problem, ...] = ()

    @property
    def touches(self) -> tuple[Touched, ...]:
        """The folders of ours with a change."""
        return touches(self.changes)

    @cached_property
    def shown(self) -> frozenset[str]:
        """``paths`` as documents can hold them."""
        return frozenset(map(whole, self.paths))

    @property
    def agents(self) -> frozenset[str]:
        """The agents' folders in the head."""
        return frozenset(folder for path in self.paths if (folder := agent_folder_of(path)) is not None)


def touches(changes: Sequence[ChangedFile]) -> tuple[Touched, ...]:
    """The folders of ours in which ``changes`` are, or from which files are moved away."""
    paths = [path for change in changes for path in (change.path, change.before or "")]
    return tuple(place for place in PLACES if any(path.startswith(f"{place}/") for path in paths))


def agent_folder_of(path: str) -> str | None:
    """The agent's folder that ``path`` lies in, ``eval_sets/<customer>/<agent>``; ``None`` if it lies in none."""
    parts = path.split("/")
    return "/".join(parts[:3]) if len(parts) > 3 and parts[0] == EVAL_SETS else None


def touched_agents(changes: Sequence[ChangedFile]) -> set[str]:
    """The agents' folders with a change, or from which files are moved away."""
    found = {agent_folder_of(path) for change in changes for path in (change.path, change.before or "")}
    return {folder for folder in found if folder is not None}


def moved_from(folder: str, present: Collection[str], changes: Sequence[ChangedFile]) -> tuple[str, str] | None:
    """The customer and agent whose folder became ``folder``: it is gone, and all renames came from it."""
    previous = {
        agent_folder_of(change.before)
        for change in changes
        if change.before is not None and agent_folder_of(change.path) == folder
    }
    gone = sorted(place for place in previous if place is not None and place != folder and place not in present)
    if len(gone) != 1:
        return None
    customer, agent = gone[0].split("/")[1:]
    return customer, agent


def set_changes(
    changes: Sequence[ChangedFile], paths: Collection[str], evictions: Mapping[str, EvictionFacts]
) -> tuple[ChangedEntryFile, ...]:
    """The ``changes`` of the regression set; ``paths`` are the head's files.

    ``evictions`` are what tombstones of the head say, by path: each is only a claim, which counts where it gives the
    very file (:func:`incumbent.github.judgement.without_derived`).
    """
    found = []
    for change in changes:
        if not any(is_part(path) for path in (change.path, change.before or "")):
            continue
        lost = change.path if change.kind == "deleted" else change.before or ""
        found.append(
            ChangedEntryFile(
                file=replace(
                    change,
                    path=whole(change.path),
                    before=None if change.before is None else whole(change.before),
                    object_before=None,
                ),
                buried=f"{EVICTED}/{lost.rpartition('/')[2]}" in paths,
                eviction=evictions.get(change.path),
            )
        )
    return tuple(found)


def departing(
    known: RegressionSet, submissions: Sequence[Submission], changes: Sequence[ChangedFile], agents: Collection[str]
) -> Departures:
    """The entries whose query leaves the eval sets by ``changes`` of the file that it was in.

    ``submissions`` are what was read of the head, and ``agents`` its agents' folders: one that is there and was not
    read, or was read with faults, tells nothing.  Imported entries had no query here.
    """
    changed = {path for change in changes for path in (change.path, change.before)}
    faulty = [submission for submission in submissions if submission.problems]
    unread = set(agents).difference(submission.folder for submission in submissions if not submission.problems)
    unread |= {agent_folder(*each.moved_from) for each in faulty if each.moved_from is not None}
    found = settle(submissions, known)
    present = {item.id for item in (*found.settled.values(), *found.edited.values())}
    customers = {folder.split("/")[1] for folder in agents}
    return {
        id: "source-deleted" if entry.source.customer in customers else "customer-left"
        for id, entry in sorted(known.entries.items())
        if entry.source is not None
        and entry.source.imported is None
        and entry.source.eval_set in changed
        and id not in present
        and agent_folder(entry.source.customer, entry.source.agent) not in unread
    }
