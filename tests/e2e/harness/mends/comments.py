"""Comments: what is too long, who may edit them, ``since``, all of a repository, and reactions.

The emulator knows none of it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hub, Unchanged, page
from tests.e2e.harness.messages import Request, Response, error, json_response

LONGEST = 65_536
"""Characters of a body."""

BODY = re.compile(r"^/(?:issues|pulls)(?:/comments)?(?:/\d+)?(?:/comments)?$")
ONE = re.compile(r"^/issues/comments/(?P<id>\d+)$")
OF_ISSUE = re.compile(r"^/issues/(?P<number>\d+)/comments$")
OF_REPOSITORY = "/issues/comments"
REACTIONS = re.compile(
    r"^/(?:(?P<kind>issues|pulls)(?P<comment>/comments)|issues)/(?P<id>\d+)/reactions(?:/(?P<reaction>\d+))?$"
)
CONTENTS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")

Place = tuple[str, bool, int]
"""Repository, whether it is a comment, and its number."""


class Comments(Unchanged):
    """Comments and reactions on issues and pull requests."""

    def __init__(self, hub: Hub, base_url: str) -> None:
        self._hub = hub
        self._base_url = base_url
        self._written: dict[str, dict[int, dict[str, Any]]] = {}
        self._reactions: dict[Place, list[dict[str, Any]]] = {}
        self._last_reaction = 0

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Refuse what GitHub refuses; answer for reactions and ``since``."""
        place = REPOSITORY_PATH.match(request.path)
        rest = place["rest"] or "" if place else ""
        if place is None or place["name"] not in self._hub.repositories:
            return None
        body = request.json.get("body") if isinstance(request.json, dict) else None
        if BODY.match(rest) and isinstance(body, str) and len(body) > LONGEST:
            fault = {"resource": "IssueComment", "code": "unprocessable", "field": "data"}
            message = f"Body is too long (maximum is {LONGEST} characters)"
            return error(422, "Validation Failed", errors=[fault | {"message": message}])
        found = ONE.match(rest)
        if found and request.method in {"PATCH", "DELETE"} and actor is not None and not actor.is_app:
            return self._edit_refused(place["name"], request.path, actor)
        if OF_ISSUE.match(rest) and request.method == "GET" and "since" in request.parameters:
            return self._since(request)
        if rest == OF_REPOSITORY and request.method == "GET":
            since = request.parameters.get("since", "")
            written = [item for _, item in sorted(self._written.get(place["name"], {}).items())]
            return page(request, [item for item in written if _seconds(item["updated_at"]) >= since], self._base_url)
        reactions = REACTIONS.match(rest)
        if reactions:
            about = (place["name"], bool(reactions["comment"]), int(reactions["id"]))
            return self._react(request, actor, about, f"{reactions['kind']}/comments" if about[1] else "issues")
        return None

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Show the reactions of a comment, and keep what is written."""
        del actor
        place = REPOSITORY_PATH.match(request.path)
        if place is not None and response.ok:
            self._keep(place["name"], place["rest"] or "", request.method, response)
        if place is None or not response.ok or not re.search(r"^/(?:issues|pulls).*/comments", place["rest"] or ""):
            return response
        data = response.json
        for comment in data if isinstance(data, list) else [data]:
            if isinstance(comment, dict) and "reactions" in comment:
                comment["reactions"] |= self._count((place["name"], True, comment["id"]))
        return response if data is None else response.with_json(data)

    def _edit_refused(self, name: str, path: str, actor: Actor) -> Response | None:
        comment = self._hub.ask("GET", path)
        if comment.ok and comment.json["user"]["login"] != actor.login and not self._hub.may_push(name, actor):
            return error(403, "Must have admin rights to Repository.")
        return None

    def _keep(self, name: str, rest: str, method: str, response: Response) -> None:
        written = self._written.setdefault(name, {})
        one, thread = ONE.match(rest), OF_ISSUE.match(rest)
        if method == "POST" and thread:
            url = f"{self._base_url}/repos/{name}/issues/{thread['number']}"
            written[response.json["id"]] = {**response.json, "issue_url": url}
        elif method == "PATCH" and one:
            written[int(one["id"])] |= response.json
        elif method == "DELETE" and one:
            del written[int(one["id"])]

    def _since(self, request: Request) -> Response:
        found: list[dict[str, Any]] = []
        number = 1
        while True:
            answer = self._hub.ask("GET", f"{request.path}?per_page=100&page={number}")
            if not answer.ok:
                return answer
            found += [each for each in answer.json if _seconds(each["updated_at"]) >= request.parameters["since"]]
            if len(answer.json) < 100:
                return page(request, found, self._base_url)
            number += 1

    def _react(self, request: Request, actor: Actor | None, place: Place, kind: str) -> Response:
        name, is_comment, number = place
        if is_comment and not self._hub.ask("GET", f"/repos/{name}/{kind}/{number}").ok:
            return error(404, "Not Found")
        known = self._reactions.setdefault(place, [])
        if request.method == "GET":
            return page(request, known, self._base_url)
        if actor is None or (actor.is_app and not actor.may_write("issues", "pull_requests")):
            return error(403, "Resource not accessible by integration")
        if request.method == "DELETE":
            return self._withdraw(known, actor, int(request.path.rpartition("/")[2]))
        content = (request.json or {}).get("content")
        for reaction in known:
            if (reaction["user"]["login"], reaction["content"]) == (actor.login, content):
                return json_response(200, reaction)
        self._last_reaction += 1
        reaction = {
            "id": self._last_reaction,
            "node_id": f"REA_{self._last_reaction}",
            "user": self._hub.ask("GET", f"/users/{actor.login}").json,
            "content": content,
            "created_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        known.append(reaction)
        return json_response(201, reaction)

    def _withdraw(self, known: list[dict[str, Any]], actor: Actor, identity: int) -> Response:
        for reaction in known:
            if reaction["id"] == identity and reaction["user"]["login"] == actor.login:
                known.remove(reaction)
                return Response(204)
        return error(404, "Not Found")

    def _count(self, place: Place) -> dict[str, int]:
        contents = [reaction["content"] for reaction in self._reactions.get(place, [])]
        return {content: contents.count(content) for content in CONTENTS} | {"total_count": len(contents)}


def _seconds(stamp: str) -> str:
    return re.sub(r"\.\d+Z$", "Z", stamp)
