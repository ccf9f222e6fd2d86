"""The taxonomy of a commit, with which that of the working tree is compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bot.errors import InputError, UsageError
from bot.git import ObjectStore
from bot.git.working_copy import read_commit, read_top
from bot.taxonomy.loading import load_taxonomy
from bot.taxonomy.model import Taxonomy


def taxonomy_at(repo: Path, name: str) -> tuple[str, Taxonomy]:
    """The commit that ``name`` means, and the taxonomy of the platform repository in ``repo`` as it has it."""
    top = read_top(repo)
    if top is None:
        raise UsageError(f"{repo} is not inside a git repository, so there is no taxonomy to compare with")
    commit = read_commit(repo, name)
    with ObjectStore.open(top) as store:
        folder = repo.resolve().relative_to(top.resolve()).as_posix()
        try:
            return commit, load_taxonomy(store.snapshot(commit, folder), is_past=True)
        except InputError as error:
            # The working tree has a file of the same name.
            raise InputError(
                replace(problem, file=f"{commit[:12]}:{problem.file}") for problem in error.problems
            ) from None
