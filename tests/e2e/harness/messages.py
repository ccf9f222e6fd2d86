"""Requests and responses as values, and one client call; nothing here knows of GitHub."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOP_BY_HOP = frozenset(
    ("connection", "content-encoding", "content-length", "date", "keep-alive", "server", "transfer-encoding")
)
"""Headers that belong to one connection, not to the message."""
KEPT_SECONDS = 2.0
"""A server closes a connection of which it hears nothing; Node after five seconds."""


@dataclass(frozen=True)
class Request:
    """One request; header names in lower case, ``path`` as it was sent (still percent-encoded)."""

    method: str
    path: str
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @cached_property
    def json(self) -> Any:
        """The body, or None where it is empty or no JSON."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            return None

    @cached_property
    def parameters(self) -> dict[str, str]:
        """The query, the last of each name."""
        return {name: values[-1] for name, values in parse_qs(self.query, keep_blank_values=True).items()}


@dataclass(frozen=True)
class Response:
    """One response."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        """The body; None where it is empty or no JSON."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            return None

    @property
    def ok(self) -> bool:
        """Whether it took effect."""
        return 200 <= self.status < 300

    def with_json(self, data: Any) -> Response:
        """The same with another body."""
        return Response(self.status, json.dumps(data).encode(), self.headers)


def json_response(status: int, data: Any = None, **headers: str) -> Response:
    """A response that carries JSON, or nothing."""
    body = b"" if data is None else json.dumps(data).encode()
    kind = {} if data is None else {"content-type": "application/json; charset=utf-8"}
    return Response(status, body, kind | {name.replace("_", "-"): value for name, value in headers.items()})


def error(status: int, message: str, **more: Any) -> Response:
    """A refusal, as GitHub words one."""
    return json_response(
        status, {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)} | more
    )


def send(base: str, request: Request, patience: float = 30) -> Response:
    """Send one request over a connection of its own; it keeps its Host, which answers make addresses from.

    Raises:
        OSError: no connection, or it broke.
        http.client.HTTPException: what came back is no HTTP.

    """
    connection = _connection(base, patience)
    try:
        return _exchange(connection, request)
    finally:
        connection.close()


class Connections:
    """Sends requests over connections that are kept for the next: opening one takes as long as an answer."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._kept: list[tuple[float, http.client.HTTPConnection]] = []

    def send(self, request: Request) -> Response:
        """Send one request; errors are those of :func:`send`."""
        connection = self._taken()
        try:
            response = _exchange(connection, request)
        except BaseException:
            connection.close()
            raise
        self._kept.append((time.monotonic(), connection))
        return response

    def close(self) -> None:
        """Close those that are kept."""
        while self._kept:
            self._kept.pop()[1].close()

    def _taken(self) -> http.client.HTTPConnection:
        while self._kept:
            since, connection = self._kept.pop()
            if time.monotonic() - since < KEPT_SECONDS:
                return connection
            connection.close()
        return _connection(self._base, 30)


def _connection(base: str, patience: float) -> http.client.HTTPConnection:
    address = urlsplit(base)
    return http.client.HTTPConnection(address.hostname or "", address.port, timeout=patience)


def _exchange(connection: http.client.HTTPConnection, request: Request) -> Response:
    target = request.path + (f"?{request.query}" if request.query else "")
    headers = {name: value for name, value in request.headers.items() if name not in HOP_BY_HOP}
    if request.body or request.method in {"POST", "PUT", "PATCH"}:
        headers["content-length"] = str(len(request.body))
    connection.request(request.method, target, body=request.body or None, headers=headers)
    answer = connection.getresponse()
    kept = {name.lower(): value for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP}
    return Response(answer.status, answer.read(), kept)
