"""Pull requests: live ids, files, commits, ``refs/pull/N/head``, what may be opened, and merges by git itself.

The emulator freezes a pull request's ids at its creation, lists no files, opens pull requests for branches that are not
there, and merges by taking the head's tree, which drops what the base has gained.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hosted, Hub, Unchanged, page
from tests.e2e.harness.merging import MergeMethod, Pull, mergeable, merged_commit
from tests.e2e.harness.messages import Request, Response, error, json_response

ONE = re.compile(r"^/pulls/(?P<number>\d+)(?P<part>/files|/commits|/merge|/update-branch)?$")
OF_COMMIT = re.compile(r"^/commits/(?P<commit>[0-9a-f]{40})/pulls$")


class Pulls(Unchanged):
    """All pull requests of all repositories."""

    def __init__(self, hub: Hub, base_url: str) -> None:
        self._hub = hub
        self._base_url = base_url
        self._pulls: dict[tuple[str, int], Pull] = {}

    def find(self, full_name: str, number: int) -> Pull | None:
        """A pull request by its base repository and number."""
        return self._pulls.get((full_name, number))

    def of(self, full_name: str) -> list[Pull]:
        """The pull requests of a repository, newest first."""
        return [pull for (name, _), pull in sorted(self._pulls.items(), reverse=True) if name == full_name]

    # --- requests ------------------------------------------------------------------------------------------------

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Refuse what GitHub refuses; answer what the emulator cannot."""
        place = REPOSITORY_PATH.match(request.path)
        if place is None or place["name"] not in self._hub.repositories:
            return None
        if request.method == "POST" and place["rest"] == "/pulls":
            return self._refusal(self._hub.repositories[place["name"]], request.json or {})
        commit = OF_COMMIT.match(place["rest"] or "")
        if commit and request.method == "GET":
            return page(request, self._introducing(place["name"], commit["commit"]), self._base_url)
        found = ONE.match(place["rest"] or "")
        pull = self.find(place["name"], int(found["number"])) if found else None
        if found is None or pull is None:
            return None
        match request.method, found["part"]:
            case "GET", "/files" | "/commits" as part:
                compared = self._compare(pull)
                return page(request, compared[part[1:]], self._base_url)
            case "GET", "/merge":
                return Response(204) if pull.merge_commit else error(404, "Not Found")
            case "PUT", "/merge":
                return self._merge_requested(pull, request.json or {}, actor)
            case "PUT", "/update-branch":
                return error(501, "The harness does not update branches")
        return None

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Keep count of pull requests, and show each as it is now."""
        place = REPOSITORY_PATH.match(request.path)
        if place is None or not response.ok or place["name"] not in self._hub.repositories:
            return response
        rest = place["rest"] or ""
        if rest == "/pulls" and request.method == "GET":
            return response.with_json([self._shown(place["name"], data) for data in response.json])
        if rest == "/pulls":
            self._opened(self._hub.repositories[place["name"]], response.json)
        elif not re.fullmatch(r"/pulls/\d+", rest):
            return response
        if request.method == "PATCH" and (pull := self.find(place["name"], response.json["number"])):
            pull.open = response.json["state"] == "open"
            pull.closed_by = None if pull.open or actor is None else self._hub.ask("GET", f"/users/{actor.login}").json
            pull.base_ref = response.json["base"]["ref"]
            pull.title = response.json["title"]
            if pull.open:
                self._refresh(pull)
        return response.with_json(self._shown(place["name"], response.json, whole=True))

    # --- what happens to branches --------------------------------------------------------------------------------

    def branch_moved(self, full_name: str, reference: str) -> None:
        """Carry a changed branch on to the open pull requests from it and to it."""
        branch = reference.removeprefix("refs/heads/")
        for pull in list(self._pulls.values()):
            from_here = pull.head.full_name == full_name and pull.head_ref == branch
            to_here = pull.base.full_name == full_name and pull.base_ref == branch
            if pull.open and (from_here or to_here):
                self._refresh(pull)

    def merge(self, pull: Pull, login: str, method: MergeMethod = "merge") -> str:
        """Merge as GitHub's button does, and carry the result on; the new commit's id.

        Raises:
            HarnessError: the pull request is not open, or conflicts.

        """
        if not pull.open or not mergeable(pull, method):
            raise HarnessError(f"pull request {pull.number} cannot be merged")
        commit = merged_commit(pull, method)
        reference = f"refs/heads/{pull.base_ref}"
        self._close(pull)
        self._merged(pull, commit, login)
        pull.base.bare.set_reference(reference, commit)
        pull.base.twin.import_reference(reference)
        self.branch_moved(pull.base.full_name, reference)
        return commit

    # --- inside --------------------------------------------------------------------------------------------------

    def _refusal(self, base: Hosted, data: dict[str, Any]) -> Response | None:
        owner, _, branch = str(data.get("head")).rpartition(":")
        head = self._head(base, owner)
        head_sha = head.bare.resolve(f"refs/heads/{branch}") if head else None
        base_sha = base.bare.resolve(f"refs/heads/{data.get('base')}")
        problem: dict[str, str] | None = None
        if head is None or head_sha is None:
            problem = {"field": "head", "code": "invalid"}
        elif base_sha is None:
            problem = {"field": "base", "code": "invalid"}
        elif head_sha in base.bare.history(base_sha):
            problem = {"code": "custom", "message": f"No commits between {data['base']} and {data['head']}"}
        elif any(
            pull.open and (pull.head, pull.head_ref, pull.base_ref) == (head, branch, data["base"])
            for pull in self.of(base.full_name)
        ):
            label = f"{head.full_name.split('/')[0]}:{branch}"
            problem = {"code": "custom", "message": f"A pull request already exists for {label}."}
        if problem is None:
            return None
        return error(422, "Validation Failed", errors=[{"resource": "PullRequest"} | problem])

    def _head(self, base: Hosted, owner: str) -> Hosted | None:
        if owner in {"", base.full_name.split("/")[0]}:
            return base
        forks = (each for each in self._hub.repositories.values() if each.network == base.full_name)
        return next((fork for fork in forks if fork.full_name.split("/")[0] == owner), None)

    def _opened(self, base: Hosted, data: dict[str, Any]) -> None:
        head = self._hub.repositories[data["head"]["repo"]["full_name"]]
        pull = Pull(
            data["number"], base, data["base"]["ref"], head, data["head"]["ref"], data["title"], data["user"]["login"]
        )
        self._pulls[base.full_name, pull.number] = pull
        self._refresh(pull)

    def _refresh(self, pull: Pull) -> None:
        head = pull.head.bare.resolve(f"refs/heads/{pull.head_ref}")
        if head is None:
            self._close(pull)  # as GitHub does when the branch goes
            return
        reference = f"refs/pull/{pull.number}/head"
        if pull.head is not pull.base:
            source = f"+refs/heads/{pull.head_ref}:{reference}"
            pull.base.bare.git("fetch", "--quiet", "--no-tags", str(pull.head.bare.folder), source)
            pull.base.twin.import_history(head)
        pull.base.bare.set_reference(reference, head)
        pull.head_sha = head
        pull.base_sha = pull.base.bare.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
        if pull.head_sha in pull.base.bare.history(pull.base_sha):
            self._close(pull)  # pushed to the base by hand, which GitHub takes for a merge
            self._merged(pull, pull.base_sha, None)

    def _close(self, pull: Pull) -> None:
        pull.open = False
        self._hub.ask("PATCH", f"/repos/{pull.base.full_name}/pulls/{pull.number}", {"state": "closed"})

    def _merged(self, pull: Pull, commit: str, login: str | None) -> None:
        pull.merge_commit = commit
        pull.merged_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        pull.merged_by = pull.closed_by = self._hub.ask("GET", f"/users/{login}").json if login else None

    def _introducing(self, name: str, commit: str) -> list[dict[str, Any]]:
        """The merged pull requests that brought ``commit``."""
        found = []
        for pull in self.of(name):
            if pull.merge_commit is not None:
                bare = pull.base.bare
                if commit in bare.history(pull.merge_commit, bare.history(pull.base_sha)):
                    data = self._hub.ask("GET", f"/repos/{name}/pulls/{pull.number}").json
                    for label in data["labels"]:
                        label["description"] = label["description"] or ""
                    found.append(self._shown(name, data))
        return found

    def _compare(self, pull: Pull) -> dict[str, Any]:
        compared: dict[str, Any] = pull.base.twin.call("GET", f"/compare/{pull.base_sha}...{pull.head_sha}")
        compared["files"].sort(key=lambda file: file["filename"].encode())
        return compared

    def _merge_requested(self, pull: Pull, data: dict[str, Any], actor: Actor | None) -> Response:
        if actor is None or not self._hub.may_push(pull.base.full_name, actor):
            return error(403, "Forbidden")
        method: MergeMethod = data.get("merge_method", "merge")
        if not pull.open or not mergeable(pull):
            return error(405, "Pull Request is not mergeable")
        if not mergeable(pull, method):
            return error(405, "This branch can't be rebased")
        if data.get("sha", pull.head_sha) != pull.head_sha:
            return error(409, "Head branch was modified. Review and try the merge again.")
        commit = self.merge(pull, actor.login, method)
        return json_response(200, {"sha": commit, "merged": True, "message": "Pull Request successfully merged"})

    def _shown(self, full_name: str, data: dict[str, Any], whole: bool = False) -> dict[str, Any]:
        pull = self.find(full_name, data["number"])
        if pull is None:
            return data
        data["head"]["sha"] = pull.head_sha
        data["base"]["sha"] = pull.base_sha
        data["statuses_url"] = f"{self._base_url}/repos/{full_name}/statuses/{pull.head_sha}"
        data["_links"]["statuses"]["href"] = data["statuses_url"]
        data |= {"merge_commit_sha": pull.merge_commit, "merged_at": pull.merged_at}
        if data["author_association"] == "NONE":
            merged = any(each.author == pull.author and each.merge_commit for each in self.of(full_name))
            data["author_association"] = "CONTRIBUTOR" if merged else "FIRST_TIME_CONTRIBUTOR"
        if not whole:
            return data
        compared = {"files": [], "commits": []} if pull.merge_commit else self._compare(pull)
        data |= {"merged": pull.merge_commit is not None, "merged_by": pull.merged_by}
        data |= {"commits": len(compared["commits"]), "changed_files": len(compared["files"])}
        data |= {side: sum(file[side] for file in compared["files"]) for side in ("additions", "deletions")}
        fits = mergeable(pull) if pull.open else None
        states = {True: "clean", False: "dirty", None: "unknown"}
        return data | {"mergeable": fits, "mergeable_state": states[fits], "rebaseable": fits}
