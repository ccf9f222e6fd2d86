"""Comments and opens pull requests on GitHub with a person's own token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.config import Curation
from bot.curator.file_changes import FileChange
from bot.errors import UsageError
from bot.files.snapshot import WorkingTree
from bot.git.working_copy import read_remote
from bot.github.authority import Person, refusal
from bot.github.client import GitHubClient
from bot.github.commands import Command, Verb, parse
from bot.github.events import server_of
from bot.github.git_state import offer_from_clone
from bot.github.managed_pull_request import DesiredPullRequest, PlannedPullRequest
from bot.github.models import CreateComment
from bot.text.digests import digest

BRANCHES: Final = "incumbent-chat/"


@dataclass(frozen=True)
class Account:
    """A repository on GitHub, seen with a person's token."""

    client: GitHubClient
    login: str
    address: str
    token: str


def open_account(root: Path, environment: Mapping[str, str]) -> Account:
    """The account of the token in ``environment``, on the repository of ``origin`` in ``root``.

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
    """The comment with the command ``verb`` on the queries ``names``.

    Raises :class:`UsageError` if the bot would read it as something else.
    """
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
    """Write ``line`` on pull request ``number``; raises :class:`UsageError` with the reason if it would not count."""
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
) -> PlannedPullRequest:
    """Offer ``changes`` in a pull request to the default branch, once for the same changes.

    ``rests_on`` maps the files and folders that they depend on to what messages call them.  Raises :class:`UsageError`
    if one of them differs from the default branch, or if people closed a pull request with the same changes.
    """
    files = tuple((change.path, change.content) for change in changes)
    branch = f"{BRANCHES}admissions-{digest([list(item) for item in files])[:12]}"
    desired = DesiredPullRequest(branch=branch, title=title, body=body, files=files)
    planned = offer_from_clone(desired, tree, rests_on, account.client, account.address, account.token)
    if planned.action == "refused":
        raise UsageError(f"#{planned.number} offered the same and was closed: a person may reopen it")
    return planned
