"""A pull request from a person's clone with their own token: once, and never on outdated files."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bot.config import REVIEWED_FILES
from bot.errors import UsageError
from bot.files.snapshot import Snapshot, WorkingTree
from bot.git import ObjectStore
from bot.github.client import GitHubClient
from bot.github.git_state import branch_at, pull_request_state
from bot.github.managed_pull_request import DesiredPullRequest, PlannedPullRequest, plan_pull_request
from bot.github.models import PushBranch


def offer_from_clone(
    desired: DesiredPullRequest,
    here: WorkingTree,
    rests_on: Mapping[str, str],
    github: GitHubClient,
    address: str,
    token: str,
) -> PlannedPullRequest:
    """Open ``desired``, unless it is open or was refused; returns which.

    ``rests_on`` maps the files and folders of ``here`` that it depends on to their names in messages.  Raises
    :class:`UsageError` if one of them differs from the default branch at ``address``, or if the branch has other
    contents.
    """
    base = github.default_branch()
    with (
        tempfile.TemporaryDirectory(prefix="incumbent-") as folder,
        ObjectStore.create(Path(folder) / "objects.git") as store,
    ):
        refs = {"base": f"refs/heads/{base}", "tip": f"refs/heads/{desired.branch}"}
        commits = store.fetch(address, refs, token, optional=("tip",))
        called = differing(here, store.snapshot(commits["base"]), rests_on)
        if called is not None:
            fix = "bring the clone up to date first, or merge what is missing there"
            raise UsageError(f"{called} is not that of {base} on GitHub: {fix}")
        pulls = github.pull_requests_of(desired.branch, base)
        state = pull_request_state(github, base, commits["base"], pulls)
        if "tip" in commits:
            state = replace(state, branches={desired.branch: branch_at(store, commits["base"], commits["tip"])})
        planned = plan_pull_request(desired, state)
        if planned.action == "wait":
            raise UsageError(f"the branch {desired.branch} contains something else: delete it, and run this again")
        for number, operation in planned.writes:
            tree = store.tree(commits["base"]) if isinstance(operation, PushBranch) else None
            github.apply(number, operation, tree)
    if planned.number is None:
        opened = [pull.number for pull in github.pull_requests_of(desired.branch, base) if not pull.closed]
        return replace(planned, number=max(opened, default=None))
    return planned


def differing(here: WorkingTree, there: Snapshot, places: Mapping[str, str]) -> str | None:
    """The name of the first of ``places``, files or folders, that differs between ``here`` and ``there``."""
    return next((called for place, called in places.items() if _differs(here, there, place)), None)


def _differs(here: WorkingTree, there: Snapshot, place: str) -> bool:
    paths = {place, *here.paths(place), *there.paths(place)}
    return any(_content(here, path) != _content(there, path) for path in sorted(paths))


def _content(snapshot: Snapshot, path: str) -> bytes | None:
    # A clone may have other line endings than the repository.
    return snapshot.read(path, REVIEWED_FILES).replace(b"\r\n", b"\n") if snapshot.exists(path) else None
