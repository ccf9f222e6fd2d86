"""Who may do what: permissions in GitHub's words, and refusals that the emulator forgets on public repositories."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hub, Unchanged
from tests.e2e.harness.mends.pulls import Pulls
from tests.e2e.harness.messages import Request, Response, error, json_response

PERMISSION = re.compile(r"^/collaborators/(?P<login>[^/]+)/permission$")
LABELS = re.compile(r"^(?:/issues/(?P<number>\d+))?/labels(?:/.+)?$")
EDITS = re.compile(r"^/(?:pulls|issues)/(?P<number>\d+)$")


class Access(Unchanged):
    """Permissions of people and jobs."""

    def __init__(self, hub: Hub, pulls: Pulls) -> None:
        self._hub = hub
        self._pulls = pulls

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Answer for permissions; refuse what the emulator would let through."""
        if request.path == "/user" and actor is not None and actor.is_app:
            return error(403, "Resource not accessible by integration")
        place = REPOSITORY_PATH.match(request.path)
        if place is None or place["name"] not in self._hub.repositories:
            return None
        name, rest = place["name"], place["rest"] or ""
        asked = PERMISSION.match(rest)
        if asked and request.method == "GET":
            return self._permission(name, asked["login"])
        if request.method == "GET" or actor is None:
            return None
        labels = LABELS.match(rest)
        if labels and actor.is_app:
            return self._label_as_app(request, actor, name, labels["number"])
        edited = EDITS.match(rest)
        if actor.is_app or not (labels or edited) or self._hub.may_push(name, actor):
            return None
        if edited and self._author(name, edited["number"]) == actor.login:
            return None
        return error(403, "Must have admin rights to Repository.")

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Say a refusal as GitHub does."""
        del request
        if response.status == 403 and actor is not None and actor.is_app and response.json["message"] == "Forbidden":
            return error(403, "Resource not accessible by integration")
        return response

    def _permission(self, name: str, login: str) -> Response:
        permission = self._hub.permission(name, login)
        if permission is None:
            return error(404, f"{login} is not a user")
        exact = self._hub.ask("GET", f"/repos/{name}/collaborators/{login}/permission")
        role = exact.json["role_name"] if exact.ok else permission
        user = self._hub.ask("GET", f"/users/{login}").json
        levels = {"pull": ("read", "write", "admin"), "push": ("write", "admin"), "admin": ("admin",)}
        flags = {level: permission in words for level, words in levels.items()}
        flags |= {"triage": flags["push"] or role == "triage", "maintain": flags["admin"] or role == "maintain"}
        data = {
            "permission": permission,
            "role_name": role,
            "user": user | {"role_name": role, "permissions": flags},
        }
        return json_response(200, data)

    def _label_as_app(self, request: Request, actor: Actor, name: str, number: str | None) -> Response | None:
        of_pull = number is None or self._pulls.find(name, int(number)) is not None
        if not of_pull or not actor.may_write("pull_requests") or actor.label_token is None:
            return None
        headers = request.headers | {"authorization": f"token {actor.label_token}"}
        return self._hub.emulator.send(replace(request, headers=headers))

    def _author(self, name: str, number: str) -> str | None:
        for kind in ("pulls", "issues"):
            answer = self._hub.ask("GET", f"/repos/{name}/{kind}/{number}")
            if answer.ok:
                return str(answer.json["user"]["login"])
        return None
