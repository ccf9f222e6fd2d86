"""A site's folder on this machine's loopback interface, for as long as the command runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from incumbent.errors import OutsideError
from incumbent.site.templating import POLICY

LOOPBACK: Final = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    """Serves files, quietly, under the policy of the pages.

    Only requests to this machine by name are answered, so that no page elsewhere can read the site through a name that
    leads here.
    """

    def send_head(self) -> BytesIO | BinaryIO | None:
        host = (self.headers.get("Host") or "").partition(":")[0]
        if host not in (LOOPBACK, "localhost"):
            self.send_error(403)
            return None
        return super().send_head()

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        del format, args


def serve(folder: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve ``folder`` until the process is stopped; ``ready`` gets the address.

    ``port`` 0 takes a free one.  Raises :class:`OutsideError` if the port cannot be had.
    """
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        raise OutsideError(f"port {port} cannot be had: {error.strerror}; name another with --port") from None
    with server:
        ready(f"http://{LOOPBACK}:{server.server_address[1]}/")
        server.serve_forever()
