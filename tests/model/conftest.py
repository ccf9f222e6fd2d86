"""One server of each kind for the whole session; what it said is shown with a test that fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.model.serving import KINDS, Server

SLOTS = 2
# A small model may write white space until the context is full, and this server has no other limit of its own.
OPTIONS: dict[str, dict[str, str | None]] = {
    "llama.cpp": {"--slots": str(SLOTS)},
    "llama-cpp-python": {"--logits-all": None, "--context": "1536"},
}


@pytest.fixture(scope="session", params=KINDS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of each kind in turn."""
    log = tmp_path_factory.mktemp("model") / f"{request.param}.log"
    with Server(request.param, log, OPTIONS[request.param]) as running:
        yield running


@pytest.fixture(autouse=True)
def _log_of_a_failure(request: pytest.FixtureRequest) -> Iterator[None]:
    running = request.getfixturevalue("server") if "server" in request.fixturenames else None
    begun = running.log.stat().st_size if running else 0
    yield
    if running:
        request.node.add_report_section("teardown", "log of the server", running.said(begun))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is on this machine, whatever proxy the machine uses."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
