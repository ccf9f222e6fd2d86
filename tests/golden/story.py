"""A story on a GitHub made of values: what people do, and all that the bot writes in answer, as one text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from incumbent.github.client import ProtectedBranchError
from incumbent.github.events import Event, Flow
from incumbent.github.models import (
    AddLabels,
    CloseIssue,
    ClosePullRequest,
    CreateComment,
    CreateIssue,
    DeleteBranch,
    DeleteComment,
    EditComment,
    EditDescription,
    EditIssue,
    OpenPullRequest,
    Operation,
    PostCheck,
    PushBranch,
    PushCommits,
    React,
    RemoveLabel,
    WriteLedger,
)
from incumbent.github.publication import CiOutput, Publication
from incumbent.github.run import publish_event
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.run import reconcile_event, survey_event
from incumbent.text.masking import masked_json
from tests.github.test_impact_flow import Desk
from tests.reconcile.hub import MAIN, Hub, Pull
from tests.reconcile.runs import agent_files

_OF_THE_CODE = re.compile(r'("conditions": )"[0-9a-f]+"')


class Watched(Hub):
    """A hub that tells what is written to it; where it is ``protected``, its default branch takes no commits."""

    def __init__(self, files: Mapping[str, str]) -> None:
        super().__init__(files)
        self.lines: list[str] = []
        self.protected = False
        self._said = ""

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> None:
        """Write, and tell of it."""
        if self.protected and isinstance(operation, PushCommits) and operation.branch == MAIN:
            raise ProtectedBranchError("changes must be made through a pull request")
        super().apply(number, operation, tree)
        self.add(written(number, operation))
        if isinstance(operation, CreateComment | EditComment):
            self._said = operation.body

    def add(self, text: str) -> None:
        """Add ``text``; what a check and a summary repeat of the last comment is shown once.

        A digest of the product's own code is left out.
        """
        said = self._said.partition("\n")[2].strip()
        text = _OF_THE_CODE.sub(r'\1"(digest)"', text)
        self.lines.append(text.replace(said, "(as in the last comment)") if said else text)


def written(number: int | None, operation: Operation) -> str:
    """What GitHub is asked to keep, word for word; the names of the product's own classes are no part of it."""
    on = "" if number is None else f" on #{number}"
    match operation:
        case CreateComment(body=body):
            return f"--- comment{on}\n{body}"
        case EditComment(id=id, body=body):
            return f"--- comment {id} edited{on}\n{body}"
        case DeleteComment(id=id):
            return f"--- comment {id} deleted{on}"
        case React(comment=comment, reaction=reaction):
            return f"--- {reaction} to comment {comment}"
        case AddLabels(names=names):
            return f"--- labels added{on}: {', '.join(names)}"
        case RemoveLabel(name=name):
            return f"--- label removed{on}: {name}"
        case PostCheck():
            notes = [f"{a.level} {a.path}:{a.line}: {a.title}: {a.message}" for a in operation.annotations]
            title = f"--- check {operation.conclusion} on {operation.commit}: {operation.title}"
            return "\n".join([title, f"digest {operation.external_id}", operation.summary, *notes])
        case WriteLedger(files=files, message=message):
            return f"--- ledger: {message}\n{_files(files)}"
        case PushCommits(branch=branch, commits=commits):
            parts = [f"--- commit to {branch}: {commit.message}\n{_files(commit.files)}" for commit in commits]
            return "\n".join(parts)
        case PushBranch(branch=branch, files=files, message=message):
            parts = [f"--- branch {branch}: {message}\n{_files(files)}"]
            parts += [f"--- branch {branch}: {commit.message}\n{_files(commit.files)}" for commit in operation.then]
            return "\n".join(parts)
        case OpenPullRequest():
            kind = "draft pull request" if operation.draft else "pull request"
            return f"--- {kind} from {operation.branch} to {operation.base}: {operation.title}\n{operation.body}"
        case EditDescription(body=body):
            return f"--- description edited{on}\n{body}"
        case ClosePullRequest(body=body):
            return f"--- closed{on}\n{body}"
        case DeleteBranch(branch=branch):
            return f"--- branch {branch} deleted"
        case CreateIssue(title=title, body=body):
            return f"--- issue: {title}\n{body}"
        case EditIssue(number=issue, body=body):
            return f"--- issue #{issue} edited\n{body}"
        case CloseIssue(number=issue):
            return f"--- issue #{issue} closed"


def _files(files: Sequence[tuple[str, str | None]]) -> str:
    return "\n".join(f"- {path}" if text is None else f"+ {path}\n{text.rstrip()}" for path, text in files)


@dataclass
class Story:
    """People and the bot in turn; the bot's runs are those of the shipped workflow's two jobs."""

    hub: Watched
    desk: Desk = field(init=False)

    def __post_init__(self) -> None:
        self.desk = Desk(self.hub)

    @property
    def text(self) -> str:
        """The whole story."""
        return "\n\n".join(self.hub.lines)

    def add(self, line: str) -> None:
        """Say what people do."""
        self.hub.add(f"=== {line}")

    def offer(self, title: str, files: Mapping[str, str | None], author: str = "mara", like: int | None = None) -> int:
        """Somebody opens a pull request, or pushes to the one that it is ``like``; its number."""
        self.add(f"{author}: {title}")
        if like is not None:
            self.hub.push(self.hub.pulls[like].branch, files, author=author)
            return like
        return self.desk.offer(files, f"work-{len(self.hub.repository.commits)}", author)

    def bring(self, title: str, agent: tuple[str, str], queries: Mapping[str, str], like: int | None = None) -> int:
        """A customer's pull request with these queries."""
        return self.offer(title, dict(agent_files(agent, queries)), like=like)

    def say(self, number: int, author: str, *lines: str) -> None:
        """Somebody comments."""
        self.add(f"{author} on #{number}: {' / '.join(lines)}")
        self.hub.say(number, author, "\n".join(lines))

    def push(self, title: str, files: Mapping[str, str | None]) -> None:
        """A commit to the default branch."""
        self.add(f"cora pushes: {title}")
        self.hub.push(MAIN, files)

    def merge(self, number: int) -> None:
        """A curator merges."""
        self.add(f"cora merges #{number}")
        self.desk.merge(number)

    def close(self, pull: Pull) -> None:
        """A curator closes a pull request of the bot's."""
        self.add(f"cora closes #{pull.number}")
        self.hub.close_pull(pull)

    def ours(self) -> list[Pull]:
        """The bot's open pull requests."""
        return [pull for pull in self.hub.pulls.values() if pull.open and pull.author == self.hub.login]

    def review(self, number: int, report: bool = False, permission: str = "write", **more: Any) -> None:
        """Both jobs on a pull request; ``report`` tells the document between them, and what the job prints."""
        self.add(f"review of #{number}")
        event = self.desk.event(number, **more)
        analysis = None
        if event.flow is Flow.REVIEW:
            analysis = self.desk.analyse(number, permission, **more)
        if report and analysis is not None:
            self.hub.add(f"--- document between the jobs\n{analysis.model_dump_json(indent=1)}")
        self.ended(publish_event(event, analysis, self.desk.world, self.hub, no_race, dry_run=False), report)

    def fail(self, number: int, quiet: bool = False) -> None:
        """The second job, where the first one handed nothing over."""
        self.add(f"review of #{number}, whose first job {'found nothing to curate' if quiet else 'died'}")
        event = self.desk.event(number)
        self.ended(
            publish_event(event, None, self.desk.world, self.hub, no_race, False, "quiet" if quiet else "unfinished")
        )

    def group(self, title: str, files: Mapping[str, str | None]) -> None:
        """Both jobs on a merge group."""
        self.add(f"merge group: {title}")
        base = self.hub.repository.branches[MAIN]
        head = self.hub.push(f"group-{len(self.hub.repository.commits)}", files, start=base)
        more: dict[str, Any] = {"flow": Flow.GROUP, "head": head, "group_base": base}
        analysis = self.desk.analyse(None, **more)
        event = self.desk.event(None, **more)
        self.ended(publish_event(event, analysis, self.desk.world, self.hub, no_race, dry_run=False))

    def ended(self, publication: Publication, report: bool = False) -> None:
        """Tell how a review ended, and what the summary of its job adds to the check."""
        result = publication.result
        code = "no check" if result is None else f"exit code {result.exit_code}"
        self.hub.add(f"--- ended: {code}; {publication.why}".rstrip("; "))
        if report:
            self.hub.add(f"--- summary of the job\n{publication.summary}")
            self.hub.add(f"--- ci --json\n{masked_json(CiOutput.of(publication, False).model_dump(mode='json'))}")

    def reconcile(self, report: bool = False, seeks: bool = False) -> None:
        """Both jobs on the default branch."""
        self.add("reconcile")
        event = replace(Event(flow=Flow.RECONCILE, repository="o/r", default_branch=MAIN), seeks=seeks)
        inventory = survey_event(event, self.desk.world, self.desk.backend, lambda done, total: None)
        if isinstance(inventory, str):
            self.hub.add(f"--- ended: {inventory}")
            return
        assert isinstance(inventory, Inventory)
        if report:
            self.hub.add(f"--- document between the jobs\n{inventory.model_dump_json(indent=1)}")
        done = reconcile_event(event, inventory, self.desk.world, self.hub, no_race, dry_run=False)
        self.hub.add(f"--- ended: {done.why or 'done'}")


def no_race(attempt: int) -> None:
    """Only the story writes, so nothing is tried again."""
    raise AssertionError(f"attempt {attempt}")
