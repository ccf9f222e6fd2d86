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
    """Within, standard input says what it said before, and ends at once when what is given is called."""
    if sys.platform == "win32":
        # A socket is no descriptor there: who waits for a line waits until the client closes the stream.
        yield lambda: None
        return
    wire = os.dup(_STDIN)
    os.set_blocking(wire, True)
    feeding, fed = socket.socketpair()
    with fed:
        os.dup2(fed.fileno(), _STDIN)
    # A daemon, which waits in the system alone: the process does not stay for it.
    Thread(target=_feed, args=(wire, feeding), name="standard input", daemon=True).start()

    def leave() -> None:
        # What is closed has been left already.
        with suppress(OSError):
            feeding.shutdown(socket.SHUT_RDWR)

    try:
        yield leave
    finally:
        leave()
        os.dup2(wire, _STDIN)


def _feed(wire: int, feeding: socket.socket) -> None:
    # Who left does not read what still comes; a terminal that hangs up ends as a stream does.
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
"""So the protocol begins the name of each."""

_NO_JSON: Final = (
    "the line cannot be read as JSON: send each message as one line of UTF-8, with whole characters (no half of a "
    "surrogate pair), and not nested deeply"
)
_NO_MESSAGE: Final = (
    'the line is no message of JSON-RPC: a request has "jsonrpc": "2.0", a whole number or a text as "id", a "method", '
    'and an object as "params"'
)


async def answer_unreadable(lines: Lines, messages: Messages, answers: Answers) -> None:
    """Pass on to ``messages`` what of ``lines`` is a message, until they end; answer the rest through ``answers``."""
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
    """The answer to a line that could not be read, with the id of the request if it shows one.

    ``None`` for an empty line, and for a fault that tells nothing of its line.
    """
    if not isinstance(fault, ValidationError):
        return None
    faults = fault.errors(include_url=False, include_context=False)
    first = faults[0]
    if first["type"] == "json_invalid":
        line = str(first["input"])
        return _refusal(PARSE_ERROR, _NO_JSON, _parsed(line)) if line.strip() else None
    # Each kind of message that the line is not lacks a field, and is told with the whole of it.
    whole = next((each["input"] for each in faults if each["type"] == "missing" and len(each["loc"]) == 2), None)
    return _refusal(INVALID_REQUEST, _NO_MESSAGE, whole)


def _lacks_an_id(item: SessionMessage) -> bool:
    """Whether it is a request whose id is missing or none: the SDK takes it for a notification, without a word."""
    message = item.message
    return isinstance(message, JSONRPCNotification) and not message.method.startswith(_NOTIFICATIONS)


def _refusal(code: int, message: str, request: object) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=_id_of(request), error=ErrorData(code=code, message=message))


def _parsed(line: str) -> object:
    """What Python makes of ``line``, which reads a little more than the SDK does."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _id_of(request: object) -> int | str | None:
    """The id that the answer is waited for under; only of a request: an answer's id is one of ours."""
    if not isinstance(request, Mapping) or not isinstance(request.get("method"), str):
        return None
    id = request.get("id")
    if isinstance(id, str):
        return id if id.isprintable() else None
    return id if isinstance(id, int) and not isinstance(id, bool) else None
