"""A pull request as the harness keeps it, and what git makes of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from tests.e2e.harness.bare import BareRepository
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.hub import Hosted

MergeMethod = Literal["merge", "squash", "rebase"]


@dataclass
class Pull:
    """One pull request."""

    number: int
    base: Hosted
    base_ref: str
    head: Hosted
    head_ref: str
    title: str
    author: str
    base_sha: str = ""
    head_sha: str = ""
    open: bool = True
    merge_commit: str | None = None
    merged_at: str | None = None
    merged_by: Any = None
    closed_by: Any = None


def mergeable(pull: Pull, method: MergeMethod = "merge") -> bool:
    """Whether both sides go together without a conflict; by a rebase each commit has to."""
    bare = pull.base.bare
    try:
        _rebased(bare, pull) if method == "rebase" else _merged_tree(bare, pull.base_sha, pull.head_sha)
    except HarnessError:
        return False
    return True


def merged_commit(pull: Pull, method: MergeMethod) -> str:
    """The commit that GitHub's button makes last, on no branch yet.

    Raises:
        HarnessError: the sides conflict.

    """
    bare = pull.base.bare
    if method == "rebase":
        return _rebased(bare, pull)
    tree = _merged_tree(bare, pull.base_sha, pull.head_sha)
    if method == "squash":
        return bare.git("commit-tree", tree, "-p", pull.base_sha, "-m", f"{pull.title} (#{pull.number})")
    source = f"{pull.head.full_name.split('/')[0]}/{pull.head_ref}"
    message = f"Merge pull request #{pull.number} from {source}\n\n{pull.title}"
    return bare.git("commit-tree", tree, "-p", pull.base_sha, "-p", pull.head_sha, "-m", message)


@cache
def _merged_tree(bare: BareRepository, one: str, other: str) -> str:
    return bare.git("merge-tree", "--write-tree", one, other).split()[0]


def _rebased(bare: BareRepository, pull: Pull) -> str:
    """The last of the pull request's commits, each applied anew on top of the base: new ids, even where it was there.

    The author stays and the committer is GitHub; merges among the commits are left out, as the button does.
    """
    tip = pull.base_sha
    new = f"{pull.base_sha}..{pull.head_sha}"
    for commit in bare.git("rev-list", "--reverse", "--topo-order", "--no-merges", new).split():
        headers, _, message = bare.objects([commit])[0].partition(b"\n\n")
        author = next(line for line in headers.split(b"\n") if line.startswith(b"author "))
        parents = bare.git("rev-list", "--parents", "-n1", commit).split()[1:]
        # What the tip holds as if it were made from the commit's own parent: git finds that between the two then.
        aside = ("-p", parents[0]) if parents else ()
        stand_in = bare.git("commit-tree", f"{tip}^{{tree}}", *aside, "-m", "Stand in for the tip")
        tree = _merged_tree(bare, stand_in, commit)
        committer = f"committer GitHub <noreply@github.com> {int(time.time())} +0000"
        lines = (f"tree {tree}".encode(), f"parent {tip}".encode(), author, committer.encode())
        tip = bare.write("commit", b"\n".join(lines) + b"\n\n" + message)
    return tip
