"""Endpoints that keep a request waiting, send without end, or send the query on, as real servers on loopback."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from incumbent.classifier.language_model.bounded_client import BoundedClient
from incumbent.classifier.language_model.endpoint import Endpoint, QueryFailedError
from incumbent.classifier.usage import Meter
from incumbent.errors import OutsideError
from tests.classifier.factories import openai_settings
from tests.classifier.model_server import ModelServer, completion

KEY = "test-key-7f3a"
SECONDS = 1.0
BYTES = 200_000
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
PARAMETERS: dict[str, Any] = {"messages": [{"role": "user", "content": "SECRET QUERY"}]}

Misbehaviour = Callable[[socket.socket], object]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers are on this machine, whatever proxy the machine uses."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def serving(misbehave: Misbehaviour) -> Iterator[str]:
    """The address of a server that reads each request and then does what it likes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            received = b""
            while b"SECRET QUERY" not in received:
                received += connection.recv(65_536)
            misbehave(connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def ask(address: str, parameters: dict[str, Any] = PARAMETERS, **overrides: Any) -> Any:
    settings = openai_settings(
        endpoint=address, **{"timeout_seconds": SECONDS, "response_bytes": BYTES, "retries": 0} | overrides
    )
    with Endpoint(settings, {"TEST_KEY": KEY}, Meter(settings.budget, None)) as endpoint:
        return endpoint.complete(parameters)


def drip(head: bytes, unit: bytes) -> Misbehaviour:
    """Send ``head``, and then ``unit`` again and again, each well within the time of one read."""

    def misbehave(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(unit)
            time.sleep(SECONDS / 10)

    return misbehave


def pour(head: bytes, unit: bytes) -> Misbehaviour:
    """Send ``head``, and then ``unit`` without end, as fast as it is taken."""

    def misbehave(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(unit)

    return misbehave


@pytest.mark.parametrize(
    "misbehave",
    [
        drip(OK + b"Content-Length: 100000\r\n\r\n", b" "),
        drip(OK + b"\r\n", b" "),
        drip(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        drip(OK, b"X-More: a\r\n"),
        drip(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
        drip(b"", b"H"),
        lambda connection: time.sleep(20),
    ],
    ids=["body", "body to the end", "chunks", "headers", "continues", "status", "nothing"],
)
def test_a_request_ends_in_time_however_its_answer_trickles_in(misbehave: Misbehaviour) -> None:
    began = time.monotonic()
    with serving(misbehave) as address, pytest.raises(QueryFailedError, match="did not answer within 1 s"):
        ask(address)
    assert time.monotonic() - began < 3 * SECONDS


def test_each_try_has_its_own_time_and_no_thread_is_left() -> None:
    before = threading.active_count()
    tries: list[socket.socket] = []

    def misbehave(connection: socket.socket) -> None:
        tries.append(connection)
        drip(OK + b"\r\n", b" ")(connection)

    with serving(misbehave) as address, pytest.raises(QueryFailedError, match="also after 1 retries"):
        ask(address, retries=1, timeout_seconds=0.5)
    assert len(tries) == 2
    time.sleep(0.5)
    assert threading.active_count() <= before


@pytest.mark.parametrize(
    ("misbehave", "why"),
    [
        (pour(OK + b"\r\n", b" " * 65_536), "more than 200,000 bytes"),
        (pour(OK + b"Content-Length: 1000000000\r\n\r\n", b" " * 65_536), "more than 200,000 bytes"),
        (pour(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b" " * 65_536 + b"\r\n"), "more than 200,000"),
        (pour(b"HTTP/1.1 500 No\r\n\r\n", b" " * 65_536), "more than 200,000 bytes"),
        (pour(b"HTTP/1.1 307 No\r\nLocation: /v1/x\r\n\r\n", b" " * 65_536), "more than 200,000 bytes"),
        (pour(OK, b"X-More: " + b"a" * 65_536 + b"\r\n"), "cannot be reached"),
        *(
            (
                pour(OK + b"Content-Encoding: " + how + b"\r\n\r\n", gzip.compress(b" " * 100_000_000, mtime=0)),
                "is compressed",
            )
            for how in (b"gzip", b"GZIP", b"identity, gzip")
        ),
    ],
    ids=["endless", "1 GB", "chunks", "500", "307", "headers", "gzip", "GZIP", "a list"],
)
def test_of_a_body_no_more_is_taken_than_the_config_says(misbehave: Misbehaviour, why: str) -> None:
    ask_nothing()
    began = time.monotonic()
    tracemalloc.start()
    try:
        with serving(misbehave) as address, pytest.raises(QueryFailedError, match=why) as caught:
            ask(address, timeout_seconds=10.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.monotonic() - began < 5
    assert peak < 40 * BYTES
    assert KEY not in str(caught.value)


def ask_nothing() -> None:
    """Load the client's library, which is large itself."""
    with BoundedClient(1.0, 1, lambda: None):
        pass


@pytest.mark.parametrize(("asked", "taken"), [({}, 1), ({"n": 5}, 5)])
def test_no_more_answers_are_taken_than_were_asked_for(asked: dict[str, Any], taken: int) -> None:
    with ModelServer(lambda body, number: completion(*["{}"] * 20_000)) as server:
        began = time.process_time()
        assert len(ask(server.endpoint, PARAMETERS | asked, response_bytes=16_000_000, timeout_seconds=20.0)) == taken
    assert time.process_time() - began < 5


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_query_is_not_sent_on_to_another_host(status: int) -> None:
    body = json.dumps({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}).encode()
    arrived: list[socket.socket] = []

    def answer(connection: socket.socket) -> None:
        arrived.append(connection)
        connection.sendall(OK + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    with serving(answer) as other:
        assert [found.text for found in ask(other)] == ["yes"]
        arrived.clear()
        head = f"HTTP/1.1 {status} Elsewhere\r\nLocation: {other}/chat/completions\r\nContent-Length: 0\r\n\r\n"
        with (
            serving(lambda connection: connection.sendall(head.encode())) as address,
            pytest.raises(OutsideError, match=rf"another address \(HTTP {status}\)"),
        ):
            ask(address, retries=2)
    assert arrived == []


def test_proxies_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(lambda body, number: completion("yes")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.endpoint.removesuffix("/v1"))
        assert [found.text for found in ask("http://model.example/v1")] == ["yes"]
        assert proxy.requests[0]["path"] == "http://model.example/v1/chat/completions"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert [found.text for found in ask(proxy.endpoint)] == ["yes"]
        assert proxy.requests[1]["path"] == "/v1/chat/completions"
