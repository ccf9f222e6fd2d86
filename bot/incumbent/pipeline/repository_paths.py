"""The paths of a platform repository: links and names that are faults, whatever the files hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from incumbent.curator.store import FOLDER
from incumbent.errors import InputError, Problem
from incumbent.files.portable_names import fault_on_the_way, name_faults, with_folders
from incumbent.files.snapshot import Snapshot
from incumbent.pipeline.submission import EVAL_SETS
from incumbent.taxonomy.config import REVIEWED_FILES

REVIEWED: Final = (FOLDER, "taxonomy", "config")
"""The folders of what only reviewed commits change."""


def path_problems(snapshot: Snapshot, changed: Collection[str] | None = None) -> list[Problem]:
    """Links, submodules, and names that are not portable, in all folders of a platform repository.

    With ``changed`` paths, only those of these paths and of the folders that they are in.
    """
    found: list[Problem] = []
    concerned = None if changed is None else {place for path in changed for place in with_folders(path)}
    for folder in (EVAL_SETS, *REVIEWED):
        links, files = snapshot.links(folder), snapshot.paths(folder)
        found += _links(snapshot, links, concerned)
        found += [
            Problem(snapshot.name(place), None, *fault)
            for place, fault in name_faults((*files, *links), only=concerned).items()
        ]
    return found


def link_problems(snapshot: Snapshot) -> tuple[Problem, ...]:
    """The links and submodules among the reviewed files, which are left out when these are read."""
    return tuple(problem for folder in REVIEWED for problem in _links(snapshot, snapshot.links(folder), None))


def _links(snapshot: Snapshot, links: Sequence[str], concerned: Collection[str] | None) -> list[Problem]:
    found: list[Problem] = []
    for path in links:
        if concerned is not None and path not in concerned:
            continue
        try:
            snapshot.read(path, REVIEWED_FILES)
        except InputError as error:
            # It says what is there: a link, or a submodule.
            found.extend(error.problems)
    return found


def refused_folders(folders: Collection[str], among: Collection[str]) -> dict[str, Problem]:
    """Which of the agents' ``folders`` of a platform repository count as unread for their names, and why.

    ``among`` are all agents' folders: two of them may have names that some system takes for one.
    """
    faults = name_faults(among, only={place for folder in folders for place in with_folders(folder)})
    found = {}
    for folder in folders:
        place = fault_on_the_way(folder, faults)
        if place is not None:
            shown = place.encode("utf-8", "replace").decode("utf-8")
            found[folder] = Problem(shown, None, *faults[place])
    return found
