"""Speaks to the gateway over HTTP, as the product does."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.e2e.harness.messages import Request, Response, send
from tests.e2e.harness.people import token_of
from tests.e2e.harness.world import World


@dataclass(frozen=True)
class Client:
    """Asks about one world's repository with one token."""

    world: World
    token: str

    def __call__(self, method: str, path: str, data: Any = None) -> Response:
        body = b"" if data is None else json.dumps(data).encode()
        path, _, query = f"/repos/{self.world.full_name}{path}".partition("?")
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        return send(self.world.url, Request(method, path, query, headers, body), patience=10)


def person(world: World, login: str) -> Client:
    """A person's client."""
    return Client(world, token_of(login))
