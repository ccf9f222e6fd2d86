"""Limits on HTTP clients: even if clients leave many sessions or connections open, a new one is served."""

from __future__ import annotations

from asyncio import BaseTransport, TimerHandle, Transport
from dataclasses import dataclass
from time import monotonic
from typing import Final, cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_SESSIONS: Final = 200
"""The most sessions of older clients.  Beyond it, unused ones end first, then the least recently used."""

IDLE: Final = 5 * 60
"""Seconds without a request after which a session of an older client ends.

A client that only paused starts a new session.  It loses nothing, since sessions store nothing.
"""

MOST_CONNECTIONS: Final = 400
"""The most open connections; below the number of files that most systems let a process open."""

ARRIVAL: Final = 10.0
"""Seconds for a request to arrive in full, from its first byte or from the opening of its connection."""

_SESSION: Final = "mcp-session-id"
_NAMES: Final = (b"host", b"origin")


class PromptProtocol(H11Protocol):
    """One connection.  Its requests must arrive in time; while none is served, it may be closed for a new one."""

    _deadline: TimerHandle | None = None
    _opened: float = 0.0

    def connection_made(self, transport: BaseTransport) -> None:
        self._opened = monotonic()
        waiting = [other for other in self.connections if isinstance(other, PromptProtocol) and other._waits]
        full = len(self.connections) >= MOST_CONNECTIONS
        super().connection_made(cast(Transport, transport))
        self._set_deadline()
        if full:
            min(waiting, key=lambda other: other._opened, default=self)._give_up()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._waits:
            self._unset_deadline()
        elif self._deadline is None:
            self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unset_deadline()
        super().connection_lost(exc)

    @property
    def _waits(self) -> bool:
        """Whether a request, or its rest, has not arrived yet."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _set_deadline(self) -> None:
        self._deadline = self.loop.call_later(ARRIVAL, self._give_up)

    def _unset_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        # It stops counting now, not only when the system has closed it.
        self.connections.discard(self)
        self.transport.abort()


@dataclass(slots=True)
class _Session:
    last: float
    asked: bool = False
    """Whether it ever sent a request beyond the handshake."""
    calls: int = 0
    streams: int = 0


class BoundedSessions:
    """The inner application with a bound on its sessions; host names are compared without regard to case."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._sessions: dict[str, _Session] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = {**scope, "headers": [(name, _folded(name, value)) for name, value in scope["headers"]]}
        id = Headers(scope=scope).get(_SESSION)
        known = None if id is None else self._sessions.get(id)
        if id is None:
            await self._open(scope, receive, send)
        elif known is None:
            await self._app(scope, receive, send)
        else:
            await self._follow(id, known, scope, receive, send)

    async def _follow(self, id: str, session: _Session, scope: Scope, receive: Receive, send: Send) -> None:
        is_call = scope["method"] == "POST"

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                # The status of a notification is 202, that of an ended session 404.
                done = message["status"] == 200
                session.asked |= is_call and done
                if message["status"] == 404 or (scope["method"] == "DELETE" and done):
                    self._sessions.pop(id, None)
            await send(message)

        session.calls += is_call
        session.streams += not is_call
        try:
            await self._app(scope, receive, note)
        finally:
            session.calls -= is_call
            session.streams -= not is_call
            session.last = monotonic()

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        opened: list[_Session] = []

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                id = Headers(raw=message["headers"]).get(_SESSION)
                if id is not None:
                    opened.append(_Session(monotonic(), calls=1))
                    self._sessions[id] = opened[0]
                    await self._make_room(scope)
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            for session in opened:
                session.calls -= 1

    async def _make_room(self, scope: Scope) -> None:
        """End the sessions beyond the bound: unused ones first, then the least recently used."""
        begun = monotonic() - IDLE
        for id, session in list(self._sessions.items()):
            if session.last < begun and not session.calls and not session.streams:
                # It has ended by itself.
                del self._sessions[id]
        idle = [(session.asked, session.last, id) for id, session in self._sessions.items() if not session.calls]
        for _, _, id in sorted(idle)[: max(0, len(self._sessions) - MOST_SESSIONS)]:
            # Its client may have ended it while another session was ended here.
            if self._sessions.pop(id, None) is not None:
                await self._end(id, scope)

    async def _end(self, id: str, scope: Scope) -> None:
        """End the session ``id`` as its client would."""
        host = [(name, value) for name, value in scope["headers"] if name == b"host"]

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            pass

        headers = [*host, (_SESSION.encode(), id.encode())]
        await self._app({**scope, "method": "DELETE", "headers": headers}, receive, send)


def _folded(name: bytes, value: bytes) -> bytes:
    return value.lower() if name in _NAMES else value
