"""The server's transports: this process's standard streams, or HTTP from this machine alone."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import sys
from collections.abc import AsyncIterable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, Final, Protocol, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification
from pydantic import ValidationError

from incumbent.errors import OutsideError, UsageError

PATH: Final = "/mcp"


def serve_stdio(server: MCPServer[None]) -> None:
    """Serve one client over standard input and output, until it closes either."""
    try:
        anyio.run(server.run_stdio_async)
    except* (ConnectionError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        # An assistant that was killed reads no answers: a normal end, without anyone to report it to.
        pass


def loopback(host: str) -> str:
    """``host`` as a loopback address; raises :class:`UsageError` for one that other machines can reach."""
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        if ipaddress.ip_address(address).is_loopback:
            return address
    except ValueError:
        pass
    raise UsageError(
        f"--host {host}: only this machine may be served, since there is no password: use 127.0.0.1 or ::1"
    )


def security(address: str, port: int) -> TransportSecuritySettings:
    """Which requests are allowed: those to one of the server's own names, and from no web page but its own.

    A web page whose name resolves to this machine sends another host; one that posts here sends its origin.
    """
    names = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]", _written(address))]
    return TransportSecuritySettings(
        allowed_hosts=sorted(set(names)), allowed_origins=sorted({f"http://{name}" for name in names})
    )


def serve_http(server: MCPServer[None], host: str, port: int, announce: Any) -> None:
    """Serve clients on ``host`` and ``port`` (0: any free one) until interrupted; ``announce`` gets the address.

    Raises :class:`UsageError` for a host that other machines can reach, :class:`OutsideError` if the port is taken.
    """
    import uvicorn

    from incumbent.mcp import bounded_http

    address = loopback(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
            listener.listen()  # clients that get the address may call at once
        except OSError as error:
            raise OutsideError(f"port {port} of {host}: {error.strerror}; choose another --port") from None
        port = int(listener.getsockname()[1])
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            # A session that is being opened has a connection, and the bound on these is lower.
            max_sessions=bounded_http.MOST_SESSIONS + bounded_http.MOST_CONNECTIONS,
            session_idle_timeout=bounded_http.IDLE,
            transport_security=security(address, port),
        )
        app.add_middleware(bounded_http.BoundedSessions)
        announce(f"http://{_written(address)}:{port}{PATH}")
        config = uvicorn.Config(
            app,
            http=bounded_http.PromptProtocol,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=2,
        )
        anyio.run(lambda: uvicorn.Server(config).serve(sockets=[listener]))
    finally:
        listener.close()


def _written(address: str) -> str:
    return f"[{address}]" if ":" in address else address


_STDIN: Final = 0
_PIECE: Final = 64 * 1024


@contextmanager
def leavable_stdin() -> Iterator[Callable[[], None]]:
    """Within, standard input can be read as before; it ends when the given function is called."""
    if sys.platform == "win32":
        # On Windows a socket is no file descriptor: a reader waits until the client closes the stream.
        yield lambda: None
        return
    wire = os.dup(_STDIN)
    os.set_blocking(wire, True)
    feeding, fed = socket.socketpair()
    with fed:
        os.dup2(fed.fileno(), _STDIN)
    # A daemon that only waits in a system call: the process need not wait for it.
    Thread(target=_feed, args=(wire, feeding), name="standard input", daemon=True).start()

    def leave() -> None:
        # A closed stream needs no end.
        with suppress(OSError):
            feeding.shutdown(socket.SHUT_RDWR)

    try:
        yield leave
    finally:
        leave()
        os.dup2(wire, _STDIN)


def _feed(wire: int, feeding: socket.socket) -> None:
    # The server has stopped reading; a terminal that hangs up ends like a stream.
    with feeding, suppress(OSError):
        while piece := os.read(wire, _PIECE):
            feeding.sendall(piece)


Lines: TypeAlias = AsyncIterable[SessionMessage | Exception]
Messages: TypeAlias = MemoryObjectSendStream[SessionMessage | Exception]


class Answers(Protocol):
    """Where messages to the client go."""

    async def send(self, item: SessionMessage, /) -> None:
        """Send one."""
        ...


_NOTIFICATIONS: Final = "notifications/"
"""How the protocol begins the name of a notification."""

_NO_JSON: Final = (
    "the line cannot be read as JSON: send each message as one line of UTF-8, with whole characters (no half of a "
    "surrogate pair), and not nested deeply"
)
_NO_MESSAGE: Final = (
    'the line is no message of JSON-RPC: a request has "jsonrpc": "2.0", a whole number or a text as "id", a "method", '
    'and an object as "params"'
)


async def answer_unreadable(lines: Lines, messages: Messages, answers: Answers) -> None:
    """Pass the messages among ``lines`` to ``messages``, until they end; answer other lines through ``answers``."""
    async with messages:
        async for item in lines:
            if isinstance(item, Exception):
                answer = answer_to(item)
            elif _lacks_an_id(item):
                answer = _refusal(INVALID_REQUEST, _NO_MESSAGE, None)
            else:
                await messages.send(item)
                continue
            if answer is not None:
                await answers.send(SessionMessage(answer))


def answer_to(fault: Exception) -> JSONRPCError | None:
    """The answer to a line that could not be read, with the id of the request if there is one.

    ``None`` for an empty line, and for an error that does not come from the line.
    """
    if not isinstance(fault, ValidationError):
        return None
    faults = fault.errors(include_url=False, include_context=False)
    first = faults[0]
    if first["type"] == "json_invalid":
        line = str(first["input"])
        return _refusal(PARSE_ERROR, _NO_JSON, _parsed(line)) if line.strip() else None
    # The error lists every kind of message that the line is not, each with the whole line.
    whole = next((each["input"] for each in faults if each["type"] == "missing" and len(each["loc"]) == 2), None)
    return _refusal(INVALID_REQUEST, _NO_MESSAGE, whole)


def _lacks_an_id(item: SessionMessage) -> bool:
    """Whether it is a request without an id, or with a null one: the SDK takes it for a notification, silently."""
    message = item.message
    return isinstance(message, JSONRPCNotification) and not message.method.startswith(_NOTIFICATIONS)


def _refusal(code: int, message: str, request: object) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=_id_of(request), error=ErrorData(code=code, message=message))


def _parsed(line: str) -> object:
    """``line`` as Python parses it, which accepts slightly more than the SDK."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _id_of(request: object) -> int | str | None:
    """The id of a request, under which its client waits; ``None`` for an answer, whose id is the server's."""
    if not isinstance(request, Mapping) or not isinstance(request.get("method"), str):
        return None
    id = request.get("id")
    if isinstance(id, str):
        return id if id.isprintable() else None
    return id if isinstance(id, int) and not isinstance(id, bool) else None
