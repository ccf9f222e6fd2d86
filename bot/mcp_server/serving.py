"""The server's transports: this process's standard streams, or HTTP from this machine alone."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any, Final

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from bot.errors import OutsideError, UsageError

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

    from bot.mcp_server import bounded_http

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
