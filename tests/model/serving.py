"""Real OpenAI-compatible servers with a real small model, each in a process of its own.

``llama.cpp`` is its own server, from a prebuilt package of the development requirements.  ``llama-cpp-python`` is
another one over the same library, which has to be compiled (``make test-servers``).
"""

from __future__ import annotations

import importlib.util
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

import pytest

from dev.weights import WEIGHTS
from tests.factories import REPOSITORY

Kind = Literal["llama.cpp", "llama-cpp-python"]
KINDS: Final[tuple[Kind, ...]] = ("llama.cpp", "llama-cpp-python")
SWITCH: Final = "INCUMBENT_MODEL"
"""``required`` turns a skip for want of llama.cpp or of the model into a failure, ``all`` one of any server."""

_ENVIRONMENT: Final = dict(os.environ)
"""As it was before any test changed it: other tests have caches of their own."""
_COMPILED: Final = REPOSITORY / ".venv-model"
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 10.0


def missing(kind: Kind) -> str | None:
    """What is not there and how to get it; ``None`` when all is well."""
    if WEIGHTS["small"].present(_ENVIRONMENT) is None:
        return f"{WEIGHTS['small'].name} is missing: run `python -m dev.weights small`"
    if kind == "llama.cpp" and importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is missing: run `sh dev/setup.sh dev`"
    if kind == "llama-cpp-python" and not (_COMPILED / "incumbent-setup").is_file():
        return "llama-cpp-python is not compiled here: run `sh dev/model_server.sh`"
    return None


def demand(kind: Kind) -> None:
    """Skip the test when something is missing; fail it when it is required."""
    reason = missing(kind)
    if reason is None:
        return
    switch = _ENVIRONMENT.get(SWITCH)
    if switch == "all" or (switch == "required" and kind == "llama.cpp"):
        pytest.fail(f"{SWITCH}={switch}, but {reason}")
    pytest.skip(f"{reason} ({SWITCH}=all makes this a failure)")


@dataclass
class Server:
    """One server; ``log`` collects what it says.  A restarted server keeps its port."""

    kind: Kind
    log: Path
    options: Mapping[str, str | None] = field(default_factory=dict)
    """Further options of ``dev/serve_model.py``; ``None`` for one without a value."""
    endpoint: str = ""
    process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        demand(self.kind)
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start the process and wait until it answers."""
        python = sys.executable if self.kind == "llama.cpp" else str(_COMPILED / "bin" / "python")
        model = WEIGHTS["small"].path(_ENVIRONMENT)
        command = [python, "-P", str(REPOSITORY / "dev" / "serve_model.py"), self.kind, str(model)]
        for name, value in self.options.items():
            command += [name] if value is None else [name, value]
        if self.endpoint:
            command += ["--port", self.endpoint.removesuffix("/v1").rpartition(":")[2]]
        with self.log.open("a", encoding="utf-8") as log:
            # Its input stays open as long as this process lives, and it ends with its input.
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8"
            )
        line = self._first_line(self.process)
        if not line.startswith("ready "):
            self.kill()
            pytest.fail(f"{self.kind} did not start; it said:\n{self.said()}")
        self.endpoint = line.split()[1]

    def _first_line(self, process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        deadline = time.monotonic() + _START_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while time.monotonic() < deadline:
                if selector.select(timeout=1.0):
                    return process.stdout.readline()
        return ""

    def kill(self) -> None:
        """End the process at once, in the middle of whatever it does."""
        process, self.process = self.process, None
        if process is None:
            return
        process.kill()
        process.wait(_STOP_SECONDS)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()

    def said(self, since: int = 0) -> str:
        """The log from byte ``since`` on, its end only."""
        return self.log.read_bytes()[since:][-4000:].decode(errors="replace") if self.log.exists() else ""
