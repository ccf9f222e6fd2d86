"""Standard input that can be left: the SDK waits for a line of it in a thread that nothing else can end."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Final

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
