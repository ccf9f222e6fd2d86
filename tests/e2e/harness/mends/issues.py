"""A pull request is an issue too: the emulator hides it from the issues API, and leaves ``since`` out of account."""

from __future__ import annotations

import re
from typing import Any

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hub, Unchanged, page
from tests.e2e.harness.mends.pulls import Pulls
from tests.e2e.harness.messages import Request, Response, json_response

ONE = re.compile(r"^/issues/(?P<number>\d+)$")
COPIED = (
    *("id", "node_id", "number", "title", "user", "state", "locked", "assignee", "assignees", "milestone", "body"),
    *("labels", "created_at", "updated_at", "closed_at", "author_association"),
)


class Issues(Unchanged):
    """Issues, pull requests among them."""

    def __init__(self, hub: Hub, pulls: Pulls, base_url: str) -> None:
        self._hub = hub
        self._pulls = pulls
        self._base_url = base_url

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Answer for pull requests."""
        place = REPOSITORY_PATH.match(request.path)
        rest = place["rest"] or "" if place else ""
        if place is None or place["name"] not in self._hub.repositories:
            return None
        if rest == "/issues" and request.method == "GET":
            return self._list(request, place["name"])
        found = ONE.match(rest)
        if found is None or self._pulls.find(place["name"], int(found["number"])) is None:
            return None
        path = f"/repos/{place['name']}/pulls/{found['number']}"
        if request.method == "PATCH" and actor is not None:
            token = actor.token
            known = {key: value for key, value in (request.json or {}).items() if key in {"title", "body", "state"}}
            answer = self._hub.emulator.call("PATCH", path, token, known)
            if not answer.ok:
                return answer
            self._pulls.after(Request("PATCH", path), actor, answer)
        return json_response(200, self._as_issue(place["name"], self._hub.ask("GET", path)))

    def _list(self, request: Request, full_name: str) -> Response:
        wanted = request.parameters
        filters = {name: wanted[name] for name in ("state", "labels", "creator", "since", "sort") if name in wanted}
        query = "&".join(f"{name}={value}" for name, value in filters.items())
        shown = self._hub.ask("GET", f"/repos/{full_name}/issues?per_page=100&{query}").json
        labels = {name for name in wanted.get("labels", "").split(",") if name}
        for pull in self._pulls.of(full_name):
            issue = self._as_issue(full_name, self._hub.ask("GET", f"/repos/{full_name}/pulls/{pull.number}"))
            if wanted.get("state", "open") not in {"all", issue["state"]}:
                continue
            if wanted.get("creator", issue["user"]["login"]) != issue["user"]["login"]:
                continue
            if issue["updated_at"] < wanted.get("since", ""):
                continue
            if labels <= {label["name"] for label in issue["labels"]}:
                shown.append(issue)
        return page(request, sorted(shown, key=lambda issue: -issue["number"]), self._base_url)

    def _as_issue(self, full_name: str, answer: Response) -> dict[str, Any]:
        data = answer.json
        pull = self._pulls.find(full_name, data["number"])
        repository = f"{self._base_url}/repos/{full_name}"
        url = f"{repository}/issues/{data['number']}"
        comments = self._hub.ask("GET", f"/repos/{full_name}/issues/{data['number']}/comments?per_page=100").json
        return {name: data[name] for name in COPIED} | {
            "url": url,
            "repository_url": repository,
            "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "timeline_url": f"{url}/timeline",
            "html_url": data["html_url"],
            "comments": len(comments),
            "active_lock_reason": None,
            "draft": data["draft"],
            "state_reason": None,
            "closed_by": pull.closed_by if pull else None,
            "performed_via_github_app": None,
            "pull_request": {
                "url": data["url"],
                "html_url": data["html_url"],
                "diff_url": data["diff_url"],
                "patch_url": data["patch_url"],
                "merged_at": pull.merged_at if pull else None,
            },
        }
