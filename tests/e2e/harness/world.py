"""The people, repositories and events of a test."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.e2e.harness.clone import Clone, Files
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.events import Events
from tests.e2e.harness.gateway import Gateway
from tests.e2e.harness.hub import Actor, Hosted
from tests.e2e.harness.merging import MergeMethod, Pull
from tests.e2e.harness.messages import Response
from tests.e2e.harness.people import (
    APPS,
    CURATOR,
    CUSTOMER,
    JOB,
    LEVELS,
    ORGANISATION,
    OUTSIDER,
    OWNER,
    PERMISSIONS,
    token_of,
)


@dataclass(frozen=True)
class PullRequest:
    """A pull request as it was opened; ``head`` is the commit it had then."""

    number: int
    head: str
    branch: str
    author: str


class World:
    """One fresh repository of the organisation, and what people do with it."""

    def __init__(self, gateway: Gateway, folder: Path, name: str, private: bool = False) -> None:
        self.gateway = gateway
        self.folder = folder
        self.full_name = f"{ORGANISATION}/{name}"
        self._forks: dict[str, Hosted] = {}
        data = {"name": name, "private": private, "auto_init": False}
        self._must(gateway.ask(token_of(OWNER), "POST", f"/orgs/{ORGANISATION}/repos", data))
        self.hosted = gateway.hub.host(self.full_name, private=private)
        for login, level in LEVELS.items():
            self.set_permission(login, level)
        self._start = gateway.mark()
        self.events = Events(self)

    # --- reading -------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The address for both GITHUB_API_URL and GITHUB_SERVER_URL."""
        return self.gateway.url

    def get(self, path: str) -> Any:
        """Read ``/repos/{this}{path}`` as the owner; None where it is not there."""
        answer = self.gateway.ask(token_of(OWNER), "GET", f"/repos/{self.full_name}{path}")
        return None if answer.status == 404 else self._must(answer).json

    def pages(self, path: str) -> list[Any]:
        """All pages of a list."""
        items: list[Any] = []
        number = 1
        joint = "&" if "?" in path else "?"
        while batch := self.get(f"{path}{joint}per_page=100&page={number}"):
            items += batch
            number += 1
        return items

    def comments(self, number: int) -> list[Any]:
        """The comments of an issue or pull request, oldest first."""
        return self.pages(f"/issues/{number}/comments")

    def labels(self, number: int) -> list[str]:
        """The labels' names, sorted."""
        return sorted(label["name"] for label in self.get(f"/issues/{number}/labels"))

    def checks(self, commit: str) -> list[Any]:
        """The check runs of a commit, each with its ``annotations``."""
        runs: list[Any] = self.get(f"/commits/{commit}/check-runs?filter=all")["check_runs"]
        return [run | {"annotations": self.pages(f"/check-runs/{run['id']}/annotations")} for run in runs]

    def pull(self, number: int) -> Any:
        """A pull request as the API shows it."""
        return self.get(f"/pulls/{number}")

    def head(self, branch: str) -> str | None:
        """The commit of a branch."""
        return self.hosted.bare.resolve(f"refs/heads/{branch}")

    def read(self, revision: str, path: str) -> str | None:
        """A file at a branch or commit, or None."""
        try:
            return self.hosted.bare.run("cat-file", "blob", f"{revision}:{path}").decode()
        except HarnessError:
            return None

    # --- acting --------------------------------------------------------------------------------------------------

    def push(
        self,
        branch: str,
        files: Files,
        *,
        user: str = OWNER,
        base: str = "main",
        message: str = "Change files",
        force: bool = False,
        over_http: bool = False,
    ) -> str:
        """Commit files on a branch and push it; a new branch starts at ``base``.  The new commit's id.

        Who has a fork pushes to it; the outside contributor's is made at the first push.  What nothing refuses is
        written straight into the hosted repository, unless ``over_http`` is said: git's processes take long.
        """
        hosted = self._forks.get(user) or (self.fork(user) if user == OUTSIDER else self.hosted)
        reference = f"refs/heads/{branch}"
        start = hosted.bare.resolve(reference) or hosted.bare.resolve(f"refs/heads/{base}")
        actor = self.gateway.hub.actors[token_of(user)]
        if over_http or hosted.protected or not self.gateway.hub.may_push(hosted.full_name, actor):
            return Clone(self.folder, user, self.url, hosted.full_name).push(branch, start, files, message, force)
        plain = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        return self.gateway.commit(
            hosted.full_name, reference, lambda: hosted.bare.commit(reference, start, plain, message, user)
        )

    def fork(self, user: str) -> Hosted:
        """A person's fork with all branches, made at the first call."""
        if user not in self._forks:
            made = self._must(self.gateway.ask(token_of(user), "POST", f"/repos/{self.full_name}/forks", {})).json
            fork = self.gateway.hub.host(made["full_name"], network=self.full_name, token=token_of(user))
            fork.bare.git("fetch", "--quiet", str(self.hosted.bare.folder), "+refs/heads/*:refs/heads/*")
            self.gateway.pushed(made["full_name"], {})
            self._forks[user] = fork
        return self._forks[user]

    def open_pull_request(
        self,
        branch: str,
        files: Files | None = None,
        *,
        user: str = CUSTOMER,
        base: str = "main",
        title: str = "Add queries",
        body: str = "",
    ) -> PullRequest:
        """Push ``files`` to a branch where given, and open a pull request from it; who may not write uses a fork."""
        if not self._may_push(user):
            self.fork(user)
        if files is not None:
            # Branches of one second with the same files must not have the same commit.
            self.push(branch, files, user=user, base=base, message=f"Change files on {branch}")
        head = f"{user}:{branch}" if user in self._forks else branch
        data = {"title": title, "body": body, "head": head, "base": base}
        made = self._must(self.act(user, "POST", "/pulls", data)).json
        return PullRequest(made["number"], made["head"]["sha"], branch, user)

    def comment(self, user: str, number: int, body: str) -> Any:
        """Comment on an issue or pull request, after a second in which nobody did: a person has to read first."""
        self._wait(number)
        return self._must(self.act(user, "POST", f"/issues/{number}/comments", {"body": body})).json

    def review(self, user: str, number: int, body: str, *, event: str = "APPROVE", beside: str | None = None) -> Any:
        """Submit a review, after a second in which nobody commented; ``beside`` is said of its first changed line."""
        self._wait(number)
        data: dict[str, Any] = {"body": body, "event": event}
        if beside is not None:
            path = self.pages(f"/pulls/{number}/files")[0]["filename"]
            data["comments"] = [{"path": path, "position": 1, "body": beside}]
        return self._must(self.act(user, "POST", f"/pulls/{number}/reviews", data)).json

    def merge(self, number: int, *, user: str = CURATOR, method: MergeMethod = "merge") -> str:
        """Merge as GitHub's button does; the new commit's id."""
        return self.gateway.mends.pulls.merge(self._pull(number), user, method)

    def queue(self, *numbers: int, base: str = "main") -> tuple[str, str]:
        """A merge group of pull requests, one merge commit each: the group's commit and its branch's reference."""
        bare = self.hosted.bare
        start = tip = self.head(base) or ""
        for number in numbers:
            head = self._pull(number).head_sha
            tree = bare.git("merge-tree", "--write-tree", tip, head).split()[0]
            tip = bare.git("commit-tree", tree, "-p", tip, "-p", head, "-m", f"Merge pull request #{number}")
        reference = f"refs/heads/gh-readonly-queue/{base}/pr-{numbers[-1]}-{start}"
        before = bare.references()
        bare.set_reference(reference, tip)
        self.gateway.pushed(self.full_name, before)
        return tip, reference

    def close(self, number: int, *, user: str = CURATOR) -> None:
        """Close unmerged."""
        self._must(self.act(user, "PATCH", f"/pulls/{number}", {"state": "closed"}))

    def act(self, user: str, method: str, path: str, data: Any = None) -> Response:
        """Do something to ``/repos/{this}{path}`` as a person."""
        return self.gateway.ask(token_of(user), method, f"/repos/{self.full_name}{path}", data)

    def set_permission(self, login: str, level: str | None) -> None:
        """Make somebody a collaborator (pull, triage, push, maintain, admin), or none any more."""
        path = f"/repos/{self.full_name}/collaborators/{login}"
        if level is None:
            self.gateway.hub.ask("DELETE", path)
        else:
            self.gateway.hub.ask("PUT", path, {"permission": level})

    def protect(self, branch: str, on: bool = True, *, past: Collection[str] = ()) -> None:
        """Let a ruleset refuse every change of a branch but merges of pull requests, or lift it again.

        Who is let ``past`` it writes as ever; nobody else does, administrators and jobs among them.
        """
        rules = self.hosted.protected
        rules.pop(branch, None)
        if on:
            rules[branch] = frozenset(past)
        self.hosted.bare.protect({f"refs/heads/{name}": who for name, who in rules.items()})

    def job_token(self, permissions: Mapping[str, str]) -> str:
        """A token as a job gets it: of github-actions[bot], with these permissions of a workflow and no others."""
        return self.app_token(JOB, permissions)

    def app_token(self, login: str, permissions: Mapping[str, str]) -> str:
        """A token of an app's installation, by the account that it acts as, with these permissions and no others."""
        granted = {name.replace("-", "_"): level for name, level in permissions.items() if level != "none"}
        token = self._mint(login, granted)
        label_token = (
            self._mint(login, granted | {"issues": "write"}) if granted.get("pull_requests") == "write" else None
        )
        self.gateway.hub.actors[token] = Actor(login, token, granted, label_token)
        return token

    def _mint(self, login: str, permissions: dict[str, str]) -> str:
        app, installation = APPS[login]
        emulator = self.gateway.emulator
        known = {name: level for name, level in permissions.items() if name in PERMISSIONS}
        data = {"permissions": known, "repositories": [self.full_name.split("/")[1]]}
        path = f"/app/installations/{installation}/access_tokens"
        return str(self._must(emulator.call("POST", path, emulator.address.apps[app], data)).json["token"])

    def event(self, name: str, **about: Any) -> dict[str, Any]:
        """The payload of an event, shaped as GitHub sends it; see ``Events``."""
        return self.events.make(name, **about)

    def state(self, login: str, association: str) -> None:
        """Let GitHub state this of somebody, as CONTRIBUTOR of a member whose membership is private."""
        self.gateway.hub.associations.setdefault(self.full_name, {})[login] = association

    def _may_push(self, user: str) -> bool:
        return self.gateway.hub.permission(self.full_name, user) in {"admin", "write"}

    def _wait(self, number: int) -> None:
        """Until nobody has commented in this second."""
        written = max((str(item["updated_at"]) for item in self.comments(number)), default="")
        while datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") <= written:
            time.sleep(0.02)

    def _pull(self, number: int) -> Pull:
        pull = self.gateway.mends.pulls.find(self.full_name, number)
        if pull is None:
            raise HarnessError(f"no pull request {number}")
        return pull

    @staticmethod
    def _must(answer: Response) -> Response:
        if not answer.ok:
            raise HarnessError(f"refused: {answer.status} {answer.body[:500].decode(errors='replace')}")
        return answer
