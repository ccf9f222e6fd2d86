"""Branches that a ruleset lets change by merged pull requests alone: the emulator shows protection, and lets all write.

Pushes over git are refused by the repository itself; merges are made in git, past all this, as GitHub makes them.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hosted, Hub, Unchanged
from tests.e2e.harness.messages import Request, Response, error, json_response

REFERENCE = re.compile(r"^/git/refs/heads/(?P<branch>.+)$")
CLASSIC = re.compile(r"^/branches/(?P<branch>.+)/protection$")
RULES = re.compile(r"^/rules/branches/(?P<branch>.+)$")
VIOLATED = "Repository rule violations found\n\n{}\n\n"
BY_PULL_REQUEST = VIOLATED.format("Changes must be made through a pull request.")
NOT_DELETED = VIOLATED.format("Cannot delete this branch")
MERGED_ONLY = {
    "type": "pull_request",
    "parameters": {
        "allowed_merge_methods": ["merge", "squash", "rebase"],
        "dismiss_stale_reviews_on_push": False,
        "require_code_owner_review": False,
        "require_last_push_approval": False,
        "required_approving_review_count": 0,
        "required_review_thread_resolution": False,
    },
}


class Protection(Unchanged):
    """Rulesets that are in effect; after ``Wording``, which speaks of branch protection, another thing."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Refuse to write a protected branch, and say what protects it."""
        place = REPOSITORY_PATH.match(request.path)
        hosted = self._hub.repositories.get(place["name"]) if place else None
        if place is None or hosted is None or not hosted.protected:
            return None
        rest = unquote(place["rest"] or "")
        asked = RULES.match(rest)
        if asked and request.method == "GET":
            return json_response(200, _rules(hosted, asked["branch"]))
        branch, refusal = _written(request, rest, hosted)
        if refusal is None or branch not in hosted.protected or actor is None:
            return None
        past = actor.login in hosted.protected[branch]
        return refusal if not past and self._hub.may_push(hosted.full_name, actor) else None

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Show which branches are protected, and to administrators that it is by no branch protection."""
        place = REPOSITORY_PATH.match(request.path)
        hosted = self._hub.repositories.get(place["name"]) if place else None
        asked = CLASSIC.match(unquote(place["rest"] or "")) if place else None
        if hosted and asked and actor and asked["branch"] in hosted.protected and response.status == 404:
            administers = self._hub.permission(hosted.full_name, actor.login) == "admin"
            return error(404, "Branch not protected") if administers else response
        if place is None or hosted is None or not hosted.protected or not response.ok or request.method != "GET":
            return response
        if not re.fullmatch(r"/branches(?:/[^/]+)?", place["rest"] or ""):
            return response
        data = response.json
        for branch in data if isinstance(data, list) else [data]:
            branch["protected"] = branch["protected"] or branch["name"] in hosted.protected
        return response.with_json(data)


def _written(request: Request, rest: str, hosted: Hosted) -> tuple[str, Response | None]:
    """The branch that a request writes, and how GitHub refuses to write a protected one."""
    data: dict[str, Any] = request.json if isinstance(request.json, dict) else {}
    reference = REFERENCE.match(rest)
    if reference and request.method == "PATCH":
        return reference["branch"], error(422, BY_PULL_REQUEST)
    if reference and request.method == "DELETE":
        return reference["branch"], error(422, NOT_DELETED)
    if rest == "/git/refs" and request.method == "POST":
        branch = str(data.get("ref")).removeprefix("refs/heads/")
        there = hosted.bare.resolve(f"refs/heads/{branch}") is not None
        return branch, error(422, "Reference already exists" if there else "Reference update failed")
    if rest.startswith("/contents/") and request.method in {"PUT", "DELETE"}:
        return str(data.get("branch") or "main"), error(409, BY_PULL_REQUEST)
    return "", None


def _rules(hosted: Hosted, branch: str) -> list[dict[str, Any]]:
    source = {"ruleset_source_type": "Repository", "ruleset_source": hosted.full_name, "ruleset_id": 1}
    return [MERGED_ONLY | source] if branch in hosted.protected else []
