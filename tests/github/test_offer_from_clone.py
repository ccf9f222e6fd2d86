"""A pull request that a person's clone opens: what the clone must share with GitHub, and what is opened when."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from incumbent.errors import UsageError
from incumbent.files.snapshot import WorkingTree
from incumbent.github.client import GitHubClient
from incumbent.github.git_state import offer_from_clone
from incumbent.github.managed_pull_request import DesiredPullRequest
from incumbent.github.models import OpenPullRequest, Operation, PullRequest, PushBranch
from tests.origin import Origin

FILES = {"config/curation.yaml": b"a: 1\nb: 2\n", "taxonomy/taxonomy.yaml": b"x\n", "README.md": b"hi\n"}
DESIRED = DesiredPullRequest(
    branch="incumbent-chat/x", title="Change a", body="why", files=(("config/curation.yaml", "a: 2\nb: 2\n"),)
)
CHANGED = {**FILES, "config/curation.yaml": b"a: 2\nb: 2\n"}
RESTS_ON = {"config/curation.yaml": "the config", "taxonomy": "the taxonomy"}
PULL = PullRequest(
    number=5, head="", base="trunk", author="mara", association="MEMBER", labels=(), branch=DESIRED.branch
)


class Asked(GitHubClient):
    """What GitHub lists, and what was written; opening a pull request lists it."""

    def __init__(self, *pulls: PullRequest) -> None:
        self.login = "mara"
        self.pulls = list(pulls)
        self.written: list[tuple[Operation, str | None]] = []

    def default_branch(self) -> str:
        return "trunk"

    def pull_requests_of(self, branch: str, base: str) -> tuple[PullRequest, ...]:
        assert (branch, base) == (DESIRED.branch, "trunk")
        return tuple(self.pulls)

    def closed_by(self, number: int) -> tuple[str, str]:
        return "cora", "2026-01-01T00:00:00Z"

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> None:
        self.written.append((operation, tree))
        if isinstance(operation, OpenPullRequest):
            self.pulls += [replace(PULL, number=4, closed=True), replace(PULL, number=9)]


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    made = Origin.make(tmp_path / "origin.git")
    made.commit(FILES, ref="refs/heads/trunk")
    return made


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A working tree as a clone has it, with the line endings of another system."""
    for path, content in FILES.items():
        (tmp_path / "clone" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "clone" / path).write_bytes(content.replace(b"\n", b"\r\n"))
    return tmp_path / "clone"


def offered(clone: Path, origin: Origin, hub: Asked) -> Any:
    address = origin.folder.as_uri()
    return offer_from_clone(DESIRED, WorkingTree(clone), RESTS_ON, hub, address, "secret")


def test_it_is_opened_from_the_default_branch_and_its_number_is_told(clone: Path, origin: Origin) -> None:
    hub = Asked(replace(PULL, number=3, closed=True, merge="1" * 40))
    planned = offered(clone, origin, hub)
    assert (planned.action, planned.number, planned.branch) == ("open", 9, DESIRED.branch)
    (push, tree), (opened, none) = hub.written
    assert isinstance(push, PushBranch)
    base = origin.git("rev-parse", "trunk")
    assert (push.base, push.tip, push.parents, push.files) == (base, None, (base,), DESIRED.files)
    assert (tree, none) == (origin.git("rev-parse", "trunk^{tree}"), None)
    assert opened == OpenPullRequest(branch=DESIRED.branch, base="trunk", title="Change a", body="why")


def test_one_that_is_open_or_was_refused_is_named(clone: Path, origin: Origin) -> None:
    for pull, action in ((PULL, "keep"), (replace(PULL, closed=True), "refused")):
        hub = Asked(pull)
        planned = offered(clone, origin, hub)
        assert (planned.action, planned.number, hub.written) == (action, 5, [])


def test_a_branch_that_is_there_is_opened_or_left_to_its_people(clone: Path, origin: Origin) -> None:
    base = origin.git("rev-parse", "trunk")
    origin.commit(CHANGED, base, ref=f"refs/heads/{DESIRED.branch}")
    hub = Asked()
    assert offered(clone, origin, hub).number == 9
    assert [type(operation) for operation, _ in hub.written] == [OpenPullRequest]
    origin.commit({**CHANGED, "more.txt": b"x"}, base, ref=f"refs/heads/{DESIRED.branch}")
    with pytest.raises(UsageError, match=r"the branch incumbent-chat/x contains something else: delete it"):
        offered(clone, origin, Asked())


@pytest.mark.parametrize(
    ("path", "content", "called"),
    [
        ("config/curation.yaml", "a: 1\n", "the config"),
        ("config/curation.yaml", None, "the config"),
        ("taxonomy/taxonomy.yaml", None, "the taxonomy"),
        ("taxonomy/more.yaml", "x", "the taxonomy"),
        ("README.md", "another", None),
        ("config/other.yaml", "x", None),
    ],
)
def test_what_it_rests_on_must_be_that_of_the_default_branch(
    path: str, content: str | None, called: str | None, clone: Path, origin: Origin
) -> None:
    if content is None:
        (clone / path).unlink()
    else:
        (clone / path).write_text(content)
    if called is None:
        assert offered(clone, origin, Asked()).action == "open"
        return
    with pytest.raises(UsageError, match=rf"^{called} is not that of trunk on GitHub: bring the clone up to date"):
        offered(clone, origin, Asked())
