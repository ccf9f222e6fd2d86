"""The tools that write, available only with ``--allow-writes``: to the working tree, or by a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from mcp_types import CallToolResult
from pydantic import Field, Strict

from incumbent.classifier.model import Progress
from incumbent.classifier.visible_text import clean
from incumbent.curator.file_changes import FileChange, admit, apply
from incumbent.curator.journal import sole_curator
from incumbent.curator.staging import Staging
from incumbent.curator.store import FOLDER
from incumbent.errors import UsageError
from incumbent.files.git.working_copy import read_remote
from incumbent.files.snapshot import WorkingTree
from incumbent.github.authority import Authority, Person
from incumbent.github.client import GitHubClient
from incumbent.github.commands import Command, Verb, parse
from incumbent.github.events import server_of
from incumbent.github.git_state import offer_from_clone
from incumbent.github.managed_pull_request import DesiredPullRequest, PlannedPullRequest
from incumbent.github.models import CreateComment
from incumbent.mcp.answers import DecisionAnswer, StageAnswer, StagedAdmission
from incumbent.mcp.inputs import (
    WHOLE,
    Flag,
    Folder,
    FolderName,
)
from incumbent.mcp.tool_runner import Call, Report, Workers
from incumbent.mcp.untrusted import Named, find_name, mark, mark_text
from incumbent.mcp.workspace import Workspace
from incumbent.pipeline.admit import Admission, CallerTerms, admit_package, admit_waiting
from incumbent.pipeline.review import Platform
from incumbent.pipeline.workspace import entry_text, occasion
from incumbent.report.verdict_text import counted
from incumbent.taxonomy.config import Curation
from incumbent.text.digests import digest
from incumbent.text.masking import masked

Reason: TypeAlias = Annotated[str, Field(min_length=1, max_length=500, description="in the person's own words")]
Decision: TypeAlias = Annotated[
    Literal["accept", "reject", "pin", "unpin"],
    Field(description="reject and pin need a reason; pin and unpin may speak of an entry"),
]

_WORDS = CallerTerms(accept="`accept`", reason="a `reason`", line="call `stage_admission` with `waiting`")


class Writing:
    """The tools on ``workspace``; ``workers`` run their calls."""

    def __init__(self, workspace: Workspace, workers: Workers) -> None:
        self._workspace = workspace
        self._workers = workers

    async def stage_admission(
        self,
        ctx: Call,
        folder: Folder | None = None,
        waiting: Annotated[Flag, Field(description="instead of `folder`: let in who waits for a slot")] = False,
        accept: Annotated[
            list[Named], Field(max_length=200, description="queries that wait for a review and that a person accepted")
        ]
        | None = None,
        reason: Annotated[Reason, Field(description="why `accept` names queries whose verdict is EXCLUDE")]
        | None = None,
        by: Annotated[Named, Field(description="who accepted them; default: git's user")] | None = None,
        customer: FolderName | None = None,
        agent_name: FolderName | None = None,
        dry_run: Annotated[Flag, Field(description="plan, and write nothing")] = False,
        pull_request: Annotated[
            Flag, Field(description="offer the files in a pull request, and leave the working tree unchanged")
        ] = False,
    ) -> Annotated[CallToolResult, StageAnswer]:
        """Stage the direct admissions of an eval set, and what a person accepted, into the regression set.

        Call it only if the person asked for it. It writes files to the working tree like `incumbent admit`, without a
        commit; or it opens a pull request.
        """

        def work(progress: Report) -> StagedAdmission:
            said: list[str] = []
            with nullcontext() if dry_run else sole_curator(self._workspace.root, said.append):
                platform, why = self._masked_reason(reason)
                if (folder is None) != waiting:
                    raise UsageError("give either `folder` or `waiting`")
                if waiting and (accept or reason):
                    raise UsageError("`accept` and `reason` go with `folder`: who waits was accepted before")
                if reason and not accept:
                    raise UsageError("`reason` goes with `accept`")
                if pull_request and dry_run:
                    raise UsageError("`dry_run` and `pull_request` exclude each other")
                if folder is None:
                    now = occasion(self._workspace.root, None, by)
                    admission = Admission(staging=admit_waiting(platform, now))
                else:
                    admission = self._admission(platform, folder, accept or [], why, by, customer, agent_name, progress)
                return self._staged(admission, said, dry_run=dry_run, offered=pull_request)

        return await self._workers.answer(ctx, work, StageAnswer)

    async def record_decision(
        self,
        ctx: Call,
        decision: Decision,
        pull_request: Annotated[
            int, Strict(), Field(ge=1, description="number of the pull request that brought the queries"), WHOLE
        ]
        | None = None,
        queries: Annotated[
            list[Named], Field(min_length=1, max_length=50, description="ids of its queries, as its review shows them")
        ]
        | None = None,
        entry: Annotated[Named, Field(description="to pin or unpin in the working tree: the id of an entry")]
        | None = None,
        reason: Reason | None = None,
    ) -> Annotated[CallToolResult, DecisionAnswer]:
        """Record what a person decided: accept, reject, pin or unpin.

        Call it only for what the person told you. On a pull request it writes a comment in the name of the token's
        account, since only curators' comments count. An entry is pinned or unpinned in its file in the working tree.
        """

        def work(_: Progress) -> DecisionAnswer:
            if entry is not None:
                if pull_request is not None or queries is not None:
                    raise UsageError("give `entry`, or `pull_request` and `queries`")
                return self._pin(decision, entry, reason)
            if pull_request is None or queries is None:
                raise UsageError("give `pull_request` and `queries`; or, to pin or unpin, `entry`")
            verb = Verb(decision)
            platform, why = self._masked_reason(reason)
            line = command_line(verb, queries, why)
            account = open_account(self._workspace.root, self._workspace.environment)
            comment(account, platform.config, pull_request, verb, line)
            return DecisionAnswer(
                recorded="comment",
                by=mark(account.login),
                said=mark_text(line),
                to_do=f"the check on #{pull_request} follows within minutes; look whether it took the comment",
            )

        return await self._workers.answer(ctx, work, DecisionAnswer)

    def _masked_reason(self, reason: str | None) -> tuple[Platform, str | None]:
        """The platform, and ``reason`` as it is kept: without secrets and personal data."""
        platform = self._workspace.platform()
        return platform, None if reason is None else masked(reason)

    def _admission(
        self,
        platform: Platform,
        folder: str,
        accept: list[str],
        reason: str | None,
        by: str | None,
        customer: str | None,
        agent_name: str | None,
        progress: Report,
    ) -> Admission:
        root = self._workspace.root
        package = self._workspace.package(platform, folder, customer=customer, agent_name=agent_name)
        known = {query.id for query in package.submission.queries}
        names = [find_name(id, known, "accept", "take ids that `classify_to_verdict` answers") for id in accept]
        return admit_package(
            platform,
            package,
            self._workspace.backend(platform, progress.waiting),
            progress,
            occasion(root, None, by),
            names,
            reason,
            lambda id: entry_text(root, id),
            _WORDS,
        )

    def _rests_on(self, staging: Staging) -> dict[str, str]:
        """The files and folders that ``staging`` depends on, by their names in messages, without untrusted ones."""
        config = self._workspace.config_path
        sources = [entry.source for entry in (*staging.admitted, *staging.waiting) if entry.source is not None]
        places = {config: config, FOLDER: "the regression set", "taxonomy": "the taxonomy"}
        return places | {source.eval_set: "the eval set" for source in sources}

    def _staged(self, admission: Admission, said: list[str], *, dry_run: bool, offered: bool) -> StagedAdmission:
        staging = admission.staging
        number: int | None = None
        written: Literal["nothing", "working tree", "pull request"] = "nothing"
        to_do = "nothing was written"
        if staging.file_changes and offered:
            account = open_account(self._workspace.root, self._workspace.environment)
            planned = open_pull_request(
                account,
                self._workspace.files,
                self._rests_on(staging),
                staging.file_changes,
                _title(staging),
                _description(staging),
            )
            number, written = planned.number, "pull request"
            word = "was opened" if planned.action == "open" else "offers the same already"
            name = f"#{number}" if number else f"the pull request from {planned.branch}"
            to_do = f"{name} {word}, to {account.client.default_branch()}: a person reviews and merges it"
        elif staging.file_changes and not dry_run:
            apply(staging.file_changes, self._workspace.root)
            written = "working tree"
            to_do = "a person looks at `git diff` and commits, on a branch of their own"
        said_to_do = "; ".join([*said, to_do])
        return StagedAdmission(admission=admission, written=written, pull_request=number, to_do=said_to_do)

    def _pin(self, decision: Decision, entry: str, reason: str | None) -> DecisionAnswer:
        if decision not in ("pin", "unpin"):
            raise UsageError("an entry is pinned or unpinned; queries of a pull request are accepted or rejected")
        if decision == "pin" and not (reason or "").strip():
            raise UsageError("to pin needs a `reason`")
        root = self._workspace.root
        said: list[str] = []
        with sole_curator(root, said.append):
            platform, why = self._masked_reason(reason)
            known = platform.regression_set.entries
            found = known[find_name(entry, known, "entry", "take an id that `find_entries` answers")]
            pin = " ".join(clean(why or "", 500).split()) if decision == "pin" else None
            if pin == "":
                raise UsageError("to pin needs a `reason` that can be seen")
            if pin is None and found.pin is None:
                raise UsageError("the entry is not pinned by a person: there is nothing to unpin")
            change = admit(found.model_copy(update={"pin": pin}), entry_text(root, found.id))
            user = occasion(root, None, None).by
            apply([change], root)
        return DecisionAnswer(
            recorded="working tree",
            by=mark(user or "a person"),
            said=mark_text(change.path),
            to_do="; ".join([*said, "a person looks at `git diff` and commits, on a branch of their own"]),
        )


def _title(staging: Staging) -> str:
    return f"Admit {counted(len(staging.admitted), 'entry', 'entries')} to the regression set"


def _description(staging: Staging) -> str:
    """Ids are slugs with a hash, so they are harmless in Markdown."""
    lines = ["Staged from a chat with `incumbent mcp`; the files say which verdict each rests on.", ""]
    lines += [f"- `{entry.id}` ({entry.admitted.decision})" for entry in staging.admitted]
    lines += [f"- `{entry.id}` waits for a slot" for entry in staging.waiting]
    return "\n".join(lines)


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
    authority = Authority(curators=config.curators, permission=account.client.permission)
    refused = authority.refusal(verb, person, pull.author, partial(account.client.commit_authors, number))
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
