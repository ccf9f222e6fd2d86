"""A real HTTP server on loopback that speaks the chat completions protocol, and misbehaves on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """What the server sends back."""

    status: int = 200
    body: bytes = b"{}"
    content_type: str = "application/json"
    cut_short: bool = False
    """Close the connection in the middle of the body."""


def completion(content: str | None, **message: Any) -> Reply:
    """A well-formed chat completion whose message has ``content``."""
    body = {
        "id": "completion-1",
        "object": "chat.completion",
        "created": 0,
        "model": "test-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
    }
    return Reply(body=json.dumps(body).encode())


def failure(status: int, message: str = "no") -> Reply:
    """An error as the protocol words it."""
    return Reply(status, json.dumps({"error": {"message": message, "type": "t", "code": None}}).encode())


@dataclass
class ModelServer:
    """Answers each request with what ``reply`` makes of its body and its number, from 0; remembers all requests."""

    reply: Callable[[dict[str, Any], int], Reply]
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                number = len(server.requests)
                server.requests.append(body | {"path": self.path})
                server.authorizations.append(self.headers["Authorization"])
                reply = server.reply(body, number)
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.content_type)
                self.send_header("Content-Length", str(len(reply.body) + (10 if reply.cut_short else 0)))
                self.end_headers()
                self.wfile.write(reply.body)
                self.close_connection = reply.cut_short

            def log_message(self, format: str, *arguments: Any) -> None:
                """Tests read `requests` instead."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def endpoint(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"
