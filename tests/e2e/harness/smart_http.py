"""Git's smart HTTP protocol, spoken by git's own ``http-backend``."""

from __future__ import annotations

import re
import subprocess

from tests.e2e.harness.bare import ENVIRONMENT, BareRepository
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.messages import Request, Response

ADDRESS = re.compile(r"^/(?P<name>[^/]+/[^/]+?)(?:\.git)?/(?P<service>info/refs|git-upload-pack|git-receive-pack)$")


def is_push(request: Request) -> bool:
    """Whether a git request is part of a push."""
    return request.path.endswith("/git-receive-pack") or request.parameters.get("service") == "git-receive-pack"


def serve_git(repository: BareRepository, service: str, request: Request, user: str | None) -> Response:
    """Answer one git request on a repository."""
    folder = repository.folder
    environment = ENVIRONMENT | {
        "GIT_PROJECT_ROOT": str(folder.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{folder.name}/{service}",
        "QUERY_STRING": request.query,
        "REQUEST_METHOD": request.method,
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    if user is not None:
        environment["REMOTE_USER"] = user
    done = subprocess.run(
        ["git", "http-backend"], input=request.body, capture_output=True, env=environment, check=False
    )
    head, separator, body = done.stdout.partition(b"\r\n\r\n")
    if not separator:
        raise HarnessError(f"git http-backend: {done.stderr.decode(errors='replace')}")
    headers = {
        name.lower(): value for name, value in (line.split(": ", 1) for line in head.decode().split("\r\n") if line)
    }
    status = int(headers.pop("status", "200").split()[0])
    return Response(status, body, headers)
