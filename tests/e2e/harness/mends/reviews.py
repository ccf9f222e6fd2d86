"""Reviews: edits of those that were submitted, comments of theirs in full, and when something was edited (GraphQL).

The emulator lets only drafts be edited, and has no GraphQL.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hub, Unchanged
from tests.e2e.harness.messages import Request, Response, error, json_response

GRAPHQL = "/graphql"
REVIEW = re.compile(r"^/pulls/\d+/reviews/(?P<id>\d+)$")
OF_REVIEWS = re.compile(r"^/pulls/(?:\d+/reviews(?:/\d+)?(?:/dismissals|/events)?|\d+/comments|comments(?:/\d+)?)$")


class Reviews(Unchanged):
    """Reviews and their comments."""

    def __init__(self, hub: Hub, base_url: str) -> None:
        self._hub = hub
        self._base_url = base_url
        self._published: dict[str, str] = {}
        self._edited: dict[str, tuple[str, str]] = {}
        """By node: the text since then, and when that was."""

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Answer for edits."""
        if request.path == GRAPHQL:
            return error(401, "Bad credentials") if actor is None else self._nodes(request.json["variables"]["ids"])
        place = REPOSITORY_PATH.match(request.path)
        if request.method != "PUT" or place is None or not REVIEW.match(place["rest"] or "") or actor is None:
            return None
        found = self._hub.ask("GET", request.path)
        if not found.ok or found.json["state"] == "PENDING":
            return None
        if found.json["user"]["login"] != actor.login and not self._hub.may_push(place["name"], actor):
            return error(403, "Must have admin rights to Repository.")
        self._edited[found.json["node_id"]] = (request.json["body"], _now())
        return json_response(200, self._shown(found.json))

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Show each as it is now."""
        del actor
        place = REPOSITORY_PATH.match(request.path)
        if place is None or not response.ok or not OF_REVIEWS.match(place["rest"] or "") or response.json is None:
            return response
        data = response.json
        shown = [self._shown(item) for item in data] if isinstance(data, list) else self._shown(data)
        if request.method == "PATCH" and isinstance(shown, dict):
            self._edited[shown["node_id"]] = (shown["body"], _now())
        return response.with_json(shown)

    def _shown(self, item: dict[str, Any]) -> dict[str, Any]:
        if "state" not in item:
            html, pull = {"href": item["html_url"]}, {"href": item["pull_request_url"]}
            item["_links"] = {"self": {"href": item["url"]}, "html": html, "pull_request": pull}
            # What the emulator leaves empty is left out by GitHub.
            for name in [name for name in ("in_reply_to_id", "line") if item.get(name, 0) is None]:
                del item[name]
        else:
            # GitHub says neither of a review.
            item = {name: value for name, value in item.items() if name not in ("created_at", "updated_at")}
        node = item["node_id"]
        published = item.get("submitted_at") or item.get("created_at")
        if published:
            self._published[node] = published
        return item | ({"body": self._edited[node][0]} if node in self._edited else {})

    def _nodes(self, ids: list[str]) -> Response:
        nodes = [
            {"id": id, "publishedAt": self._published[id], "lastEditedAt": self._edited.get(id, (None, None))[1]}
            if id in self._published
            else None
            for id in ids
        ]
        return json_response(200, {"data": {"nodes": nodes}})


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
