"""The tools that write, available only with ``--allow-writes``: to the working tree, or by a pull request."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Final, Literal, TypeAlias

from mcp_types import CallToolResult
from pydantic import BaseModel, Field, Strict

from bot.classifier.model import Progress
from bot.classifier.visible_text import clean
from bot.curator.file_changes import FileChange, admit, apply
from bot.curator.journal import sole_curator
from bot.curator.staging import Staging
from bot.curator.store import FOLDER
from bot.errors import UsageError
from bot.files.views import View
from bot.github.commands import Verb
from bot.mcp_server.answers import Counted, Ids, Unclassified, UnreadInput, ids_of, unclassified, unread_input
from bot.mcp_server.inputs import (
    WHOLE,
    Flag,
    Folder,
    FolderName,
)
from bot.mcp_server.on_github import command_line, comment, open_account, open_pull_request
from bot.mcp_server.tool_runner import Call, Report, Workers
from bot.mcp_server.untrusted import Marked, Name, Named, find_name, mark, mark_text
from bot.mcp_server.workspace import Workspace
from bot.pipeline.admit import Admission, CallerTerms, admit_package, admit_waiting
from bot.pipeline.review import Platform
from bot.pipeline.workspace import entry_text, occasion
from bot.report.output import Spent
from bot.report.verdict_text import counted
from bot.text.masking import masked

Reason: TypeAlias = Annotated[str, Field(min_length=1, max_length=500, description="in the person's own words")]
Decision: TypeAlias = Annotated[
    Literal["accept", "reject", "pin", "unpin"],
    Field(description="reject and pin need a reason; pin and unpin may speak of an entry"),
]

_WORDS = CallerTerms(accept="`accept`", reason="a `reason`", line="call `stage_admission` with `waiting`")

_SHOWN: Final = 20
"""The most entries and files of a staging that an answer names; people see all in `git diff` or on GitHub."""


FileRow: TypeAlias = Annotated[
    FileChange,
    View("path change", path=Annotated[Name, Field(description="relative to the platform repository")]),
    Field(description="A file that was changed, or would be."),
]


class StageAnswer(BaseModel):
    """What enters the regression set."""

    admitted: Ids = Field(description="entries, in order, the first 20; `classify_to_verdict` shows their queries")
    waiting: Ids = Field(description="entries that wait for a slot, the first 20")
    leaving: Ids = Field(description="entries that waited and no longer earn a slot, the first 20")
    files: Counted[FileRow] = Field(description="that were changed, or would be; the first 20")
    written: Literal["nothing", "working tree", "pull request"]
    pull_request: int | None = Field(description="its number; null: none was opened")
    to_do: str = Field(description="what is left for the person")
    unclassified: Unclassified = Field(description="queries without a verdict, which hold up no other")
    unread: UnreadInput
    usage: Spent


class DecisionAnswer(BaseModel):
    """The recorded decision."""

    recorded: Literal["comment", "working tree"]
    by: Marked = Field(description="whose decision it is")
    said: Marked = Field(description="the comment, or the file that was changed")
    to_do: str = Field(description="what is left for the person")


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

        def work(progress: Report) -> StageAnswer:
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

        return await self._workers.answer(ctx, work)

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

        return await self._workers.answer(ctx, work)

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

    def _staged(self, admission: Admission, said: list[str], *, dry_run: bool, offered: bool) -> StageAnswer:
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
        return StageAnswer(
            admitted=ids_of([entry.id for entry in staging.admitted], _SHOWN),
            waiting=ids_of([entry.id for entry in staging.waiting], _SHOWN),
            leaving=ids_of([entry.id for entry in staging.leaving], _SHOWN),
            files=Counted[FileRow].of(staging.file_changes, lambda change: change, _SHOWN),
            written=written,
            pull_request=number,
            to_do="; ".join([*said, to_do]),
            unclassified=unclassified(admission.shortfalls),
            unread=unread_input(admission.problems),
            usage=admission.usage,
        )

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
