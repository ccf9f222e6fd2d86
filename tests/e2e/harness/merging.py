"""A pull request as the harness keeps it, and what git makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.hub import Hosted

MergeMethod = Literal["merge", "squash"]


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


def mergeable(pull: Pull) -> bool:
    """Whether both sides go together without a conflict."""
    try:
        pull.base.bare.git("merge-tree", "--write-tree", pull.base_sha, pull.head_sha)
    except HarnessError:
        return False
    return True


def merged_commit(pull: Pull, method: MergeMethod) -> str:
    """The commit that GitHub's button makes, on no branch yet.

    Raises:
        HarnessError: the sides conflict.

    """
    bare = pull.base.bare
    tree = bare.git("merge-tree", "--write-tree", pull.base_sha, pull.head_sha).split()[0]
    if method == "squash":
        return bare.git("commit-tree", tree, "-p", pull.base_sha, "-m", f"{pull.title} (#{pull.number})")
    source = f"{pull.head.full_name.split('/')[0]}/{pull.head_ref}"
    message = f"Merge pull request #{pull.number} from {source}\n\n{pull.title}"
    return bare.git("commit-tree", tree, "-p", pull.base_sha, "-p", pull.head_sha, "-m", message)
