"""What the agents in a working tree rule out, by their declared specifications.

A specification takes some 10 ms to read.  So what it rules out is kept in the user's cache, and read again once a file
changes that the reader looked at, or the list of files of its folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError

from incumbent.classifier.classify import ruled_out
from incumbent.errors import InputError
from incumbent.files.snapshot import ReadingLimits, WorkingTree
from incumbent.files.user_cache import RememberedFiles, digest_of_product, user_cache_folder
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import agent_name, find_specification, submission_folders
from incumbent.text.digests import digest


class _KnownAgent(BaseModel):
    """What an agent's specification ``rules_out`` (``None``: it cannot be read), while its ``files`` are as they were.

    ``read`` are the paths that its reader looked into, relative to its folder.
    """

    files: str
    read: tuple[str, ...]
    rules_out: tuple[str, ...] | None


class _KnownAgents(BaseModel):
    """The cache file; ``conditions`` is a digest of all else that it rests on: code, taxonomy and config."""

    conditions: str
    agents: dict[str, _KnownAgent]


class _WatchedTree(WorkingTree):
    """A folder on disk that notes which files were looked into."""

    def __init__(self, root: Path, label: str) -> None:
        super().__init__(root, label)
        self.looked_into: set[str] = set()

    def read(self, path: str, limits: ReadingLimits) -> bytes:
        self.looked_into.add(path)
        return super().read(path, limits)


def declared_agents(
    platform: Platform, repo: Path, environment: Mapping[str, str] = os.environ
) -> dict[str, tuple[str, ...]]:
    """Agent in the working tree at ``repo``, as ``customer/agent`` → the capabilities that its specification rules out.

    Agents whose specification cannot be read are left out.  ``environment`` says where the user's cache is.
    """
    folders = submission_folders(WorkingTree(repo))
    if not folders:
        return {}
    remembered = RememberedFiles(user_cache_folder(environment), repo, "agents")
    conditions = digest([digest_of_product(), platform.taxonomy.model_dump_json(), platform.config.model_dump_json()])
    known = _unpacked(remembered.pack(), conditions)
    found = {folder: _current(known.get(folder), platform, repo, folder) for folder in folders}
    if found != known:
        remembered.keep(_KnownAgents(conditions=conditions, agents=found).model_dump_json().encode())
    return {agent_name(folder): item.rules_out for folder, item in found.items() if item.rules_out is not None}


def _unpacked(content: bytes | None, conditions: str) -> dict[str, _KnownAgent]:
    try:
        pack = None if content is None else _KnownAgents.model_validate_json(content)
    except ValidationError:
        return {}
    return {} if pack is None or pack.conditions != conditions else pack.agents


def _current(known: _KnownAgent | None, platform: Platform, repo: Path, folder: str) -> _KnownAgent:
    """The agent in ``folder`` as it is now: the one that is ``known``, if its files are as they were."""
    limits, tree = platform.config.limits, _WatchedTree(repo / folder, folder)
    if known is not None and known.files == _digest(tree, known.read, limits.reading):
        return known
    tree.looked_into.clear()
    specification = find_specification(tree, limits)
    read = tuple(sorted(tree.looked_into))
    return _KnownAgent(
        files=_digest(tree, read, limits.reading),
        read=read,
        rules_out=None if specification is None else ruled_out(platform.taxonomy, specification),
    )


def _digest(tree: WorkingTree, read: Iterable[str], limits: ReadingLimits) -> str:
    """A digest of the paths in ``tree``, and of the contents of the files that were ``read``."""
    found = hashlib.sha256(repr((tree.paths(), tree.links())).encode("utf-8", "surrogatepass"))
    for path in read:
        try:
            content = tree.read(path, limits)
        except InputError as error:
            content = str(error).encode("utf-8", "surrogatepass")
        found.update(b"%d " % len(content) + content)
    return found.hexdigest()
