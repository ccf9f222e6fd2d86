"""Event payloads: real ones (npm ``@octokit/webhooks-examples``), overwritten with what is true of the test's world."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.needs import MODULES

if TYPE_CHECKING:
    from tests.e2e.harness.world import World

EXAMPLES = MODULES / "@octokit" / "webhooks-examples" / "api.github.com" / "index.json"
NO_COMMIT = "0" * 40


@cache
def _examples() -> dict[str, list[dict[str, Any]]]:
    events = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return {event["name"]: event["examples"] for event in events}


def example(name: str, action: str | None = None) -> dict[str, Any]:
    """A real payload of an event, of this action where there is one."""
    known = _examples()[name]
    chosen = next((each for each in known if each.get("action") == action and "installation" not in each), known[0])
    return deepcopy(chosen)


class Events:
    """Makes payloads about one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def make(self, name: str, **about: Any) -> dict[str, Any]:
        """The payload of event ``name``; what it is about goes by keyword, see the method of that name."""
        makers: dict[str, Callable[..., dict[str, Any]]] = {
            "pull_request": self.pull_request,
            "pull_request_target": self.pull_request,
            "issue_comment": self.issue_comment,
            "issues": self.issues,
            "pull_request_review": self.pull_request_review,
            "merge_group": self.merge_group,
            "push": self.push,
            "workflow_dispatch": self.workflow_dispatch,
            "schedule": self.schedule,
        }
        if name not in makers:
            raise HarnessError(f"no payloads of {name} here; there are {', '.join(sorted(makers))}")
        return makers[name](**about)

    def pull_request(
        self,
        number: int,
        action: str = "opened",
        sender: str | None = None,
        before: str | None = None,
        former_base: str | None = None,
        former_body: str | None = None,
    ) -> dict[str, Any]:
        """About a pull request; ``before`` is the head that a ``synchronize`` replaced, ``former_base`` the branch
        that an ``edited`` turned it away from, ``former_body`` the description that it changed.
        """
        pull = self._world.pull(number)
        payload = example("pull_request", action)
        more: dict[str, Any] = {}
        if action == "synchronize":
            more = {"before": before or NO_COMMIT, "after": pull["head"]["sha"]}
        if former_base is not None:
            tip = self._world.hosted.bare.resolve(f"refs/heads/{former_base}")
            more = {"changes": {"base": {"ref": {"from": former_base}, "sha": {"from": tip}}}}
        if former_body is not None:
            more = {"changes": {"body": {"from": former_body}}}
        return self._finished(
            payload, sender or pull["user"]["login"], action=action, number=number, pull_request=pull, **more
        )

    def issues(self, number: int, sender: str, former_body: str, action: str = "edited") -> dict[str, Any]:
        """About an issue whose text ``sender`` edited; it was ``former_body`` before."""
        issue = self._world.get(f"/issues/{number}")
        changes = {"body": {"from": former_body}}
        return self._finished(example("issues", action), sender, action=action, issue=issue, changes=changes)

    def issue_comment(self, number: int, comment: dict[str, Any], action: str = "created") -> dict[str, Any]:
        """About a comment (as ``World.comment`` returns it) on an issue or pull request."""
        issue = self._world.get(f"/issues/{number}")
        payload = example("issue_comment", action)
        if "pull_request" not in issue:
            payload["issue"].pop("pull_request", None)
        return self._finished(payload, comment["user"]["login"], action=action, issue=issue, comment=comment)

    def pull_request_review(self, number: int, review: dict[str, Any], action: str = "submitted") -> dict[str, Any]:
        """About a review (as ``World.review`` returns it)."""
        payload = example("pull_request_review", action)
        pull = self._world.pull(number)
        return self._finished(payload, review["user"]["login"], action=action, pull_request=pull, review=review)

    def merge_group(self, head: str, head_ref: str, base: str = "main", sender: str = "olive") -> dict[str, Any]:
        """About a merge group (as ``World.queue`` makes it)."""
        bare = self._world.hosted.bare
        lines = bare.git("show", "-s", "--format=%T%n%an%n%ae%n%cn%n%ce%n%cI%n%B", head).split("\n")
        tree, author, author_mail, committer, committer_mail, when = lines[:6]
        group = {
            "head_sha": head,
            "head_ref": head_ref,
            "base_ref": f"refs/heads/{base}",
            "base_sha": self._world.head(base),
            "head_commit": {
                "id": head,
                "tree_id": tree,
                "message": "\n".join(lines[6:]).strip(),
                "timestamp": when,
                "author": {"name": author, "email": author_mail},
                "committer": {"name": committer, "email": committer_mail},
            },
        }
        payload = example("merge_group", "checks_requested")
        return self._finished(payload, sender, action="checks_requested", merge_group=group)

    def push(self, before: str, after: str, branch: str = "main", sender: str = "olive") -> dict[str, Any]:
        """About a push to a branch."""
        bare = self._world.hosted.bare
        new = bare.git("rev-list", "--reverse", after, *([f"^{before}"] if before != NO_COMMIT else [])).split()
        commits = [self._commit(commit) for commit in new]
        url = f"{self._world.url}/{self._world.full_name}/compare/{before[:12]}...{after[:12]}"
        return self._finished(
            example("push"),
            sender,
            ref=f"refs/heads/{branch}",
            before=before,
            after=after,
            created=before == NO_COMMIT,
            deleted=after == NO_COMMIT,
            forced=False,
            base_ref=None,
            compare=url,
            commits=commits,
            head_commit=commits[-1] if commits else None,
            pusher={"name": sender, "email": f"{sender}@example.com"},
        )

    def workflow_dispatch(
        self,
        inputs: dict[str, str] | None = None,
        workflow: str = ".github/workflows/incumbent.yml",
        sender: str = "olive",
    ) -> dict[str, Any]:
        """About somebody who started a workflow by hand."""
        payload = example("workflow_dispatch")
        return self._finished(payload, sender, inputs=inputs or {}, ref="refs/heads/main", workflow=workflow)

    def schedule(self, schedule: str = "0 3 * * *") -> dict[str, Any]:
        """About the clock: all that such a payload tells is the line that was due; not even the repository."""
        return {"schedule": schedule, "workflow": ".github/workflows/incumbent.yml"}

    def _commit(self, commit: str) -> dict[str, Any]:
        bare = self._world.hosted.bare
        tree, when, name, email, *message = bare.git("show", "-s", "--format=%T%n%cI%n%an%n%ae%n%B", commit).split("\n")
        changes = bare.changes(commit, next(iter(bare.parents(commit)), None))
        person = {"name": name, "email": email, "username": name.lower()}
        return {
            "id": commit,
            "tree_id": tree,
            "distinct": True,
            "message": "\n".join(message).strip(),
            "timestamp": when,
            "url": f"{self._world.url}/{self._world.full_name}/commit/{commit}",
            "author": person,
            "committer": person,
            "added": [],
            "removed": [change.path for change in changes if change.mode == "000000"],
            "modified": [change.path for change in changes if change.mode != "000000"],
        }

    def _finished(self, payload: dict[str, Any], sender: str, **about: Any) -> dict[str, Any]:
        """The example, with what is about this world in its place; parts that are of another world are left out."""
        about["repository"] = self._world.get("")
        about["sender"] = self._world.gateway.hub.ask("GET", f"/users/{sender}").json
        organisation = self._world.gateway.hub.ask("GET", f"/orgs/{self._world.full_name.split('/')[0]}").json
        about["organization"] = organisation
        payload.pop("installation", None)
        for name, value in about.items():
            known = payload.get(name)
            payload[name] = known | value if isinstance(known, dict) and isinstance(value, dict) else value
        return payload
