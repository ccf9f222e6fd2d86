"""The emulator of GitHub's API (npm ``emulate``), as a process of its own that ends with its owner."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.messages import Connections, Request, Response
from tests.e2e.harness.needs import FOLDER, node_binary

SCRIPT = FOLDER / "harness" / "serve.mjs"
START_SECONDS = 30.0
CALLS_OF_A_TOKEN = 4000
"""The emulator lets a token make 5,000 calls an hour; a whole suite of tests makes more."""
ALIASES = 50
"""So many tokens stand for each of the seed's, one after the other."""


@dataclass(frozen=True)
class Address:
    """Where the emulator listens, and each app's token by its id."""

    url: str
    apps: dict[int, str]


class Emulator:
    """Starts on entry, stops on exit.  ``seed`` is the emulator's own format; ``base_url`` is what its answers say."""

    def __init__(self, seed: dict[str, Any], base_url: str) -> None:
        self.seed = seed | {
            "tokens": {_alias(token, n): who for token, who in seed["tokens"].items() for n in range(ALIASES)}
        }
        self._calls = dict.fromkeys(seed["tokens"], 0)
        self.base_url = base_url
        self.address = Address("", {})
        self._connections = Connections("")

    def __enter__(self) -> Self:
        node = node_binary()
        if node is None:
            raise HarnessError("node is not on PATH")
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [node, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, cwd=FOLDER, text=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"seed": self.seed, "baseUrl": self.base_url}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            reason = self._errors.read().decode(errors="replace")
            self.__exit__(None, None, None)
            raise HarnessError(f"the emulator did not start:\n{reason}")
        said = json.loads(line)
        tokens = {int(identity): token for identity, token in said["apps"].items()}
        self.address = Address(f"http://127.0.0.1:{said['port']}", tokens)
        self._connections = Connections(self.address.url)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._connections.close()
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def send(self, request: Request) -> Response:
        """Pass a request on as it is, but for a token of the seed that has made too many calls by now."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if token in self._calls:
            alias = _alias(token, self._calls[token] // CALLS_OF_A_TOKEN)
            self._calls[token] += 1
            headers = {**request.headers, "authorization": f"{kind} {alias}"}
            request = Request(request.method, request.path, request.query, headers, request.body)
        return self._connections.send(request)

    def call(self, method: str, path: str, token: str, data: Any = None) -> Response:
        """Ask the emulator directly, past the gateway: nothing of it is recorded or mended."""
        headers = {"authorization": f"token {token}", "accept": "application/vnd.github+json"}
        body = b"" if data is None else json.dumps(data).encode()
        path, _, query = path.partition("?")
        return self.send(Request(method, path, query, headers | {"content-type": "application/json"}, body))


def _alias(token: str, number: int) -> str:
    return f"{token}-{number}" if number else token
