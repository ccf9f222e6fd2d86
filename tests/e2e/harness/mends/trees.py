"""A tree from which files are removed has no empty folders, though the emulator leaves them."""

from __future__ import annotations

from tests.e2e.harness.hub import REPOSITORY_PATH, Actor, Hub, Unchanged
from tests.e2e.harness.messages import Request, Response


class Trees(Unchanged):
    """Trees made by the API."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def after(self, request: Request, actor: Actor | None, response: Response) -> Response:
        """Put the tree without empty folders in the place of the one with."""
        del actor
        place = REPOSITORY_PATH.match(request.path)
        if place is None or place["rest"] != "/git/trees" or not response.ok or request.method != "POST":
            return response
        hosted = self._hub.repositories.get(place["name"])
        if hosted is None:
            return response
        made = response.json["sha"]
        tree = hosted.twin.pruned(made)
        return response if tree == made else response.with_json(hosted.twin.call("GET", f"/git/trees/{tree}"))
