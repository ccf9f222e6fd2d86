"""The standard streams of the server: lines that are not messages, and an input that can be stopped."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import AsyncIterable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Final, Protocol, TypeAlias

from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification
from pydantic import ValidationError

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
