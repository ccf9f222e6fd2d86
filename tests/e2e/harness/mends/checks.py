"""Check runs: annotations that add up, the app that made them, and what GitHub refuses."""

from __future__ import annotations

import re
from typing import Any

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hub, Unchanged, page
from tests.e2e.harness.messages import Request, Response, error
from tests.e2e.harness.people import APPS, app_name

MOST_ANNOTATIONS = 50
"""Annotations of one request."""

LONGEST = 65_535
"""Characters of a summary or text."""

ONE = re.compile(r"^/check-runs/(?P<id>\d+)(?P<annotations>/annotations)?$")
ANNOTATION = ("start_column", "end_column", "title", "raw_details")


class Checks(Unchanged):
    """Check runs of all repositories."""

    def __init__(self, hub: Hub, base_url: str) -> None:
        self._hub = hub
        self._base_url = base_url
        self._annotations: dict[int, list[dict[str, Any]]] = {}
        self._makers: dict[int, Actor] = {}

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Refuse what GitHub refuses; answer for annotations."""
        place = REPOSITORY_PATH.match(request.path)
        rest = place["rest"] or "" if place else ""
        if place is None or place["name"] not in self._hub.repositories or not rest.startswith("/check-runs"):
            return None
        found = ONE.match(rest)
        if found and found["annotations"] and request.method == "GET":
            return page(request, self._annotations.get(int(found["id"]), []), self._base_url)
        if request.method not in {"POST", "PATCH"}:
            return None
        if actor is None or not actor.is_app:
            return error(403, "You must authenticate via a GitHub App.")
        data = request.json or {}
        output = data.get("output") or {}
        if len(output.get("annotations") or []) > MOST_ANNOTATIONS:
            return error(422, f"Invalid request.\n\nNo more than {MOST_ANNOTATIONS} items are allowed.")
        if any(len(output.get(part) or "") > LONGEST for part in ("summary", "text")):
            return error(422, f"Invalid request.\n\nOnly {LONGEST} characters are allowed.")
        commit = data.get("head_sha")
        if request.method == "POST" and not self._hub.repositories[place["name"]].bare.resolve(str(commit)):
            return error(422, f"No commit found for SHA: {commit}")
        return None

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Keep annotations, and show them and the app."""
        place = REPOSITORY_PATH.match(request.path)
        rest = place["rest"] or "" if place else ""
        if place is None or not response.ok or "/check-runs" not in rest or rest.endswith("/annotations"):
            return response
        data = response.json
        if request.method in {"POST", "PATCH"} and isinstance(data, dict) and actor is not None:
            self._makers.setdefault(data["id"], actor)
            kept = self._annotations.setdefault(data["id"], [])
            for annotation in ((request.json or {}).get("output") or {}).get("annotations") or []:
                about = f"{self._base_url}/{place['name']}/blob/{data['head_sha']}/{annotation['path']}"
                kept.append(dict.fromkeys(ANNOTATION) | annotation | {"blob_href": about})
        for run in data.get("check_runs", [data]) if isinstance(data, dict) else []:
            self._show(run)
        return response if data is None else response.with_json(data)

    def _show(self, run: dict[str, Any]) -> None:
        if "output" not in run:
            return
        run["output"]["annotations_count"] = len(self._annotations.get(run["id"], []))
        run["output"]["annotations_url"] = f"{run['url']}/annotations"
        maker = self._makers.get(run["id"])
        if maker is not None:
            run["app"] = _app(maker)


def _app(actor: Actor) -> dict[str, Any]:
    slug = actor.login.removesuffix("[bot]")
    return {
        "id": APPS[actor.login][0],
        "slug": slug,
        "node_id": "MDM6QXBwMTUzNjg=",
        "name": app_name(actor.login),
        "description": None,
        "external_url": "https://help.github.com/en/actions",
        "html_url": f"https://github.com/apps/{slug}",
        "created_at": "2018-07-30T09:30:17Z",
        "updated_at": "2019-12-10T19:04:12Z",
        "permissions": actor.permissions or {},
        "events": [],
        "owner": {
            "login": "github",
            "id": 9919,
            "node_id": "MDEyOk9yZ2FuaXphdGlvbjk5MTk=",
            "avatar_url": "https://avatars.githubusercontent.com/u/9919?v=4",
            "gravatar_id": "",
            "url": "https://api.github.com/users/github",
            "html_url": "https://github.com/github",
            "followers_url": "https://api.github.com/users/github/followers",
            "following_url": "https://api.github.com/users/github/following{/other_user}",
            "gists_url": "https://api.github.com/users/github/gists{/gist_id}",
            "starred_url": "https://api.github.com/users/github/starred{/owner}{/repo}",
            "subscriptions_url": "https://api.github.com/users/github/subscriptions",
            "organizations_url": "https://api.github.com/users/github/orgs",
            "repos_url": "https://api.github.com/users/github/repos",
            "events_url": "https://api.github.com/users/github/events{/privacy}",
            "received_events_url": "https://api.github.com/users/github/received_events",
            "type": "Organization",
            "site_admin": False,
        },
    }
