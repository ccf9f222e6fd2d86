"""Branches that git cannot hold together (`x` and `x/y`): the emulator takes both."""

from __future__ import annotations

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hub, Unchanged
from tests.e2e.harness.messages import Request, Response, error


class References(Unchanged):
    """References made by the API."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def before(self, request: Request, actor: Actor | None) -> Response | None:
        """Refuse, in GitHub's few words, a name that is a folder of another, or the other way round."""
        place = REPOSITORY_PATH.match(request.path)
        hosted = self._hub.repositories.get(place["name"]) if place else None
        if place is None or hosted is None or (request.method, place["rest"]) != ("POST", "/git/refs"):
            return None
        if actor is None or not self._hub.may_push(hosted.full_name, actor):
            return None
        wanted = str((request.json or {}).get("ref"))
        known = hosted.bare.references()
        clash = any(name.startswith(f"{wanted}/") or wanted.startswith(f"{name}/") for name in known)
        return error(422, "Reference update failed") if clash else None
