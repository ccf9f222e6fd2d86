"""The HTTP client of the endpoint: each request has a total time limit, a maximum body size, and a single host.

The time-outs of HTTP libraries apply to each read, so that a server that sends a byte now and then keeps a request open
forever.  Import this only where something is asked: the library is slow to load.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Self

import httpx2
import openai

from incumbent.classifier.language_model.completions import AnswerRefusedError


class BoundedClient(openai.DefaultHttpxClient):
    """Gives a request ``seconds`` from its first byte to the last of its answer, which has ``most`` bytes at most.

    No redirect is followed: a query goes to the config's host, and to no other.  ``sending`` is called before each
    request, including retries.  Proxies are those of the environment.
    """

    def __init__(self, seconds: float, most: int, sending: Callable[[], None]) -> None:
        super().__init__(follow_redirects=False, verify=_trusted())
        self._seconds = seconds
        self._most = most
        self._sending = sending

    def send(self, request: httpx2.Request, **settings: Any) -> httpx2.Response:
        """The complete answer to ``request``.

        Raises :class:`httpx2.ReadTimeout` after the time, and :class:`AnswerRefusedError` for a body that is not
        accepted.
        """
        self._sending()
        # A connection of its own, which can be closed alone; no compressed body, small on the wire and large in memory.
        request.headers.update({"Connection": "close", "Accept-Encoding": "identity"})
        with _Deadline(self._seconds) as deadline:
            request.extensions = {**request.extensions, "trace": deadline.trace}
            try:
                response = super().send(request, **settings | {"stream": True, "follow_redirects": False})
                try:
                    body = self._read(response)
                finally:
                    response.close()
            except Exception:
                # The error is only a symptom of the closed connection.
                deadline.check()
                raise
            deadline.check()
        return httpx2.Response(response.status_code, headers=response.headers, content=body, request=request)

    def _read(self, response: httpx2.Response) -> bytes:
        if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            raise AnswerRefusedError("its answer is compressed, which was not asked for")
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > self._most:
                message = f"its answer has more than {self._most:,} bytes; raise classifier.openai.response_bytes"
                raise AnswerRefusedError(message)
        return bytes(body)


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates that are trusted: reading them takes longer than a request, so all clients share them."""
    return httpx2.create_ssl_context()


class _Deadline:
    """Closes the connection of a request when its time is over, whatever it waits for."""

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._passed = False
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    def check(self) -> None:
        """Raise :class:`httpx2.ReadTimeout` if the time is over."""
        if self._passed:
            raise httpx2.ReadTimeout("the time of the request is over") from None

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Receive the library's events; a duplicate of the connection is kept, since TLS takes over the original."""
        if event.endswith("connect_tcp.complete"):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket").dup()
            self.check()

    def _end(self) -> None:
        with self._lock, suppress(OSError):
            self._passed = True
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)
