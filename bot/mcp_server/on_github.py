"""The thin client of GitHub: comments and opens pull requests with a person's own token."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.config import REVIEWED_FILES, Curation
from bot.curator.file_changes import FileChange
from bot.errors import UsageError
from bot.files.snapshot import Snapshot, WorkingTree
from bot.git import ObjectStore
from bot.git.working_copy import read_remote
from bot.github.addresses import server_of
from bot.github.authority import Person, refusal
from bot.github.client import GitHubClient
from bot.github.commands import Command, Verb, parse
from bot.github.models import CreateComment, OpenPullRequest, PushBranch
from bot.text.digests import digest

BRANCHES: Final = "incumbent-chat/"


@dataclass(frozen=True)
class Account:
    """A repository on GitHub, seen with a person's token."""

    client: GitHubClient
    login: str
    address: str
    token: str


@dataclass(frozen=True)
class Opened:
    """A pull request that asks for admissions; ``anew`` is false where it had been asked before."""

    number: int
    branch: str
    base: str
    anew: bool


def open_account(root: Path, environment: Mapping[str, str]) -> Account:
    """The account of the token in ``environment``, on the repository that ``origin`` of ``root`` leads to.

    Raises :class:`UsageError` without a token or a repository.
    """
    token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN")
    if not token:
        raise UsageError(
            "there is no token: start the server with GITHUB_TOKEN or GH_TOKEN (`gh auth token` prints yours)"
        )
    repository = environment.get("GITHUB_REPOSITORY") or read_remote(root)
    if repository is None:
        raise UsageError("there is no remote `origin` that leads to GitHub: set GITHUB_REPOSITORY to OWNER/NAME")
    client = GitHubClient(repository, token, environment.get("GITHUB_API_URL", "https://api.github.com"), "")
    client.login = client.account()
    return Account(client=client, login=client.login, address=f"{server_of(environment)}/{repository}", token=token)


def command_line(verb: Verb, names: Sequence[str], reason: str | None) -> str:
    """The comment that says ``verb`` of the queries ``names``; :class:`UsageError` where it would be read otherwise."""
    words = " ".join((reason or "").split())
    line = " ".join(["/incumbent", verb.value, *names, *([words] if words else [])])
    match parse(line, names):
        case (Command() as read,) if (read.verb, set(read.names), read.every) == (verb, set(names), False) and (
            (read.reason or "") == words
        ):
            return line
    raise UsageError(
        "the comment would not be read as meant: name queries as the review on GitHub shows them, and give a reason "
        "in plain words; reject and pin need one"
    )


def comment(account: Account, config: Curation, number: int, verb: Verb, line: str) -> None:
    """Write ``line`` on pull request ``number``; :class:`UsageError` where it would not count, with the reason."""
    pull = account.client.find_pull_request(number)
    if pull is None or pull.closed:
        raise UsageError(f"#{number} is no open pull request of this repository")
    person = Person(login=account.login, is_bot=False)
    refused = refusal(verb, person, pull.author, config.curators, account.client.permission)
    if refused is not None:
        raise UsageError(f"it would not count, so nothing was written: {refused}")
    account.client.apply(number, CreateComment(body=line))


def open_pull_request(
    account: Account,
    tree: WorkingTree,
    rests_on: Mapping[str, str],
    changes: Sequence[FileChange],
    title: str,
    body: str,
) -> Opened:
    """Offer ``changes`` in a pull request to the default branch, once for the same changes.

    ``rests_on`` maps the files and folders that they rest on to what these are called; raises :class:`UsageError` where
    one is not that of the default branch.
    """
    files = tuple((change.path, change.content) for change in changes)
    branch = f"{BRANCHES}admissions-{digest([list(item) for item in files])[:12]}"
    base = account.client.default_branch()
    with _fetched(account, base, branch) as (store, commits):
        called = differing(tree, store.snapshot(commits["base"]), rests_on)
        if called is not None:
            fix = "bring the clone up to date first, or merge what is missing there"
            raise UsageError(f"{called} is not that of {base} on GitHub: {fix}")
        known = account.client.pull_requests_of(branch, base)
        if known and all(pull.closed for pull in known):
            number = max(pull.number for pull in known)
            raise UsageError(f"#{number} offered the same and was closed: a person may reopen it")
        if not known:
            if "tip" not in commits:
                push = PushBranch(
                    branch=branch,
                    tip=None,
                    base=commits["base"],
                    parents=(commits["base"],),
                    files=files,
                    message=title,
                )
                account.client.apply(None, push, store.tree(commits["base"]))
            account.client.apply(None, OpenPullRequest(branch=branch, base=base, title=title, body=body))
    pulls = known or account.client.pull_requests_of(branch, base)
    number = max(pull.number for pull in pulls if not pull.closed)
    return Opened(number=number, branch=branch, base=base, anew=not known)


@contextmanager
def _fetched(account: Account, base: str, branch: str) -> Iterator[tuple[ObjectStore, Mapping[str, str]]]:
    refs = {"base": f"refs/heads/{base}", "tip": f"refs/heads/{branch}"}
    with (
        tempfile.TemporaryDirectory(prefix="incumbent-") as folder,
        ObjectStore.create(Path(folder) / "objects.git") as store,
    ):
        yield store, store.fetch(account.address, refs, account.token, optional=("tip",))


def differing(here: WorkingTree, there: Snapshot, places: Mapping[str, str]) -> str | None:
    """What the first of ``places`` is called, files or folders, that is another ``here`` than ``there``."""
    return next((called for place, called in places.items() if _differs(here, there, place)), None)


def _differs(here: WorkingTree, there: Snapshot, place: str) -> bool:
    paths = {place, *here.paths(place), *there.paths(place)}
    return any(_content(here, path) != _content(there, path) for path in sorted(paths))


def _content(snapshot: Snapshot, path: str) -> bytes | None:
    return snapshot.read(path, REVIEWED_FILES) if snapshot.exists(path) else None
