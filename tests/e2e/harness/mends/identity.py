"""Who GitHub says somebody is: any association, whatever they may do; the emulator knows collaborators alone."""

from __future__ import annotations

from typing import Any

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hub, Unchanged
from tests.e2e.harness.messages import Request, Response


class Identity(Unchanged):
    """What a repository's answers state of people."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """State the association that a test gave somebody."""
        del actor
        place = REPOSITORY_PATH.match(request.path)
        stated = self._hub.associations.get(place["name"], {}) if place else {}
        if not stated or not response.ok or response.json is None:
            return response
        data = response.json
        _state(data, stated)
        return response.with_json(data)


def _state(data: Any, stated: dict[str, str]) -> None:
    if isinstance(data, list):
        for each in data:
            _state(each, stated)
    elif isinstance(data, dict):
        login = (data.get("user") or {}).get("login") if "author_association" in data else None
        if login in stated:
            data["author_association"] = stated[login]
        for each in data.values():
            _state(each, stated)
