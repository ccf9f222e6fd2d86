"""Differences of form: addresses of references, times to the second, and fields that the emulator leaves out."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hub, Unchanged
from tests.e2e.harness.messages import Request, Response, error

FRACTION = re.compile(rb'("(?:[a-z_]+_at|date)":\s*"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z"')
REFERENCE_ADDRESS = re.compile(rb"(/repos/[^/\"\s]+/[^/\"\s]+/git)/ref([/{])")
BRANCH = re.compile(r"^/branches/(?P<name>.+)$")
ORGANISATION_ADDRESSES = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "organizations_url": "/orgs",
    "received_events_url": "/received_events",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
}


class Wording(Unchanged):
    """The last to see an answer."""

    def __init__(self, hub: Hub, base_url: str) -> None:
        self._hub = hub
        self._base_url = base_url

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Say it as GitHub does."""
        del actor
        if response.status == 404 and "/git/refs/" in request.path and request.method in {"PATCH", "DELETE"}:
            return error(422, "Reference does not exist")
        data = response.json
        if data is None:
            return response
        place = REPOSITORY_PATH.match(request.path)
        if place and response.ok and isinstance(data, dict | list):
            self._complete(place["name"], place["rest"] or "", data)
            _complete_owners(data)
        body = FRACTION.sub(rb'\1Z"', json.dumps(data).encode())
        return Response(response.status, REFERENCE_ADDRESS.sub(rb"\1/refs\2", body), response.headers)

    def _complete(self, full_name: str, rest: str, data: Any) -> None:
        """Add what the emulator's answer about one repository, one branch or the collaborators lacks."""
        branch = BRANCH.match(rest)
        if rest == "" and isinstance(data, dict):
            data |= {"network_count": data["forks_count"], "subscribers_count": data["watchers_count"]}
            data["pushed_at"] = data["pushed_at"] or data["created_at"]
        elif rest == "/collaborators":
            for person in data:
                permission = self._hub.ask("GET", f"/repos/{full_name}/collaborators/{person['login']}/permission")
                person["role_name"] = permission.json["role_name"]
        elif rest == "/pulls" and isinstance(data, list):
            for label in (label for pull in data for label in pull["labels"]):
                label["description"] = label["description"] or ""
        elif branch and "/protection" not in rest and isinstance(data, dict):
            url = f"{self._base_url}/repos/{full_name}/branches/{branch['name']}"
            data["commit"] = self._hub.ask("GET", f"/repos/{full_name}/commits/{data['commit']['sha']}").json
            data["_links"] = {"self": url, "html": f"{self._base_url}/{full_name}/tree/{branch['name']}"}
            data |= {"protection": {"enabled": data["protected"]}, "protection_url": f"{url}/protection"}


def _complete_owners(data: Any) -> None:
    """Add the addresses that an organisation shares with people."""
    if isinstance(data, list):
        for each in data:
            _complete_owners(each)
    elif isinstance(data, dict):
        if data.get("type") == "Organization" and "login" in data and "followers_url" not in data:
            data["gravatar_id"] = ""
            data |= {name: f"{data['url']}{path}" for name, path in ORGANISATION_ADDRESSES.items()}
        for each in data.values():
            _complete_owners(each)
