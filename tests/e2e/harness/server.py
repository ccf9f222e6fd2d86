"""An HTTP server on loopback that hands whole requests to one function."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from tests.e2e.harness.messages import HOP_BY_HOP, Request, Response

Handle = Callable[[Request], Response | None]
"""None means: close the connection without an answer."""


class Server:
    """Listens from construction on (so that its address is known), answers between entry and exit."""

    def __init__(self, handle: Handle) -> None:
        class Handler(_Handler):
            answer = staticmethod(handle)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    answer: Handle

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""

    def _handle(self) -> None:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = self.answer(Request(self.command, path, query, headers, self._body()))
        if response is None:
            self.close_connection = True
            return
        self.send_response(response.status)
        for name, value in response.headers.items():
            if name not in HOP_BY_HOP:
                self.send_header(name, value)
        bodiless = response.status in {204, 304}
        if not bodiless:
            self.send_header("content-length", str(len(response.body)))
        self.end_headers()
        if not bodiless:
            self.wfile.write(response.body)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts: list[bytes] = []
        while size := int(self.rfile.readline().strip(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = _handle  # noqa: N815 - the names http.server looks for
