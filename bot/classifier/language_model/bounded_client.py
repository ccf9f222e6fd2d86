"""The HTTP client of the endpoint: each request ends in time, its body is bounded, and it goes to one host alone.

The time-outs of HTTP libraries are for each read, so that a server which sends a byte now and then keeps a request for
ever.  Import this only where something is asked: the library takes a while to load.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

import httpx2
import openai

from bot.classifier.language_model.failures import AnswerRefusedError


class BoundedClient(openai.DefaultHttpxClient):
    """Gives a request ``seconds`` from its first byte to the last of its answer, which has ``most`` bytes at most.

    No redirect is followed: a query goes where the config says, and to no other host.  ``sending`` is called before
    each request, those that are tried again included.  Proxies are those of the environment.
    """

    def __init__(self, seconds: float, most: int, sending: Callable[[], None]) -> None:
        super().__init__(follow_redirects=False)
        self._seconds = seconds
        self._most = most
        self._sending = sending

    def send(self, request: httpx2.Request, **settings: Any) -> httpx2.Response:
        """The answer to ``request``, read whole.

        Raises :class:`httpx2.ReadTimeout` after the time, and :class:`AnswerRefusedError` for a body that is not taken.
        """
        self._sending()
        # A connection of its own, which can be ended alone; no body that is small on the line and large in memory.
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
                # What it ended with is only what the end of the connection looked like.
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


class _Deadline:
    """Ends the connection that a request makes, whatever it waits for, once its time is over."""

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
        """Hear from the library what it does; of the connection a duplicate is kept, since TLS takes over the other."""
        if event.endswith("connect_tcp.complete"):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket").dup()
            self.check()

    def _end(self) -> None:
        with self._lock, suppress(OSError):
            self._passed = True
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)
