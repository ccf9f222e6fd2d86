"""Over HTTP on this machine: who may ask, how much, how many at once, and what becomes of those who leave."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final
from unittest.mock import patch
from urllib.parse import urlsplit

import anyio
import pytest
from mcp import Client
from starlette.types import Message, Receive, Scope, Send

from incumbent.cli.main import run
from incumbent.errors import UsageError
from incumbent.mcp import bounded_http
from incumbent.mcp.bounded_http import ARRIVAL, IDLE, MOST_SESSIONS
from incumbent.mcp.serving import loopback
from tests.classifier.model_server import ModelServer
from tests.mcp_server.conftest import (
    BRANCH_LINE,
    CARD_LINE,
    answer_of,
    ask,
    drive,
    example_platform,
    http_server,
    in_process,
)
from tests.mcp_server.slow_model import PAUSE, asks, slow_model
from tests.mcp_server.test_stdio import HELLO, wait_for

CLIENTS = 20
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def one_platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example_platform(tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def one_address(one_platform: Path) -> Iterator[str]:
    """A server for all who change nothing: nothing of them stays, as the next one finds."""
    with http_server(one_platform) as found:
        yield found


def post(address: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """Status and body of one request, its headers as they are given."""
    place = urlsplit(address)
    assert place.hostname is not None
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    try:
        connection.putrequest("POST", place.path, skip_host="Host" in headers)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(body)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def greet(address: str, **headers: str) -> int:
    return post(address, json.dumps(HELLO).encode(), JSON | headers)[0]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_it_answers_as_the_library_does(mode: str, one_address: str, one_platform: Path) -> None:
    arguments = {"folder": CARD_LINE, "only": "all", "limit": 200}
    here = ask(in_process(one_platform), "classify_to_verdict", **arguments)
    assert ask(Client(one_address, mode=mode), "classify_to_verdict", **arguments) == here


def test_twenty_clients_at_once_get_their_own_answers(one_address: str, one_platform: Path) -> None:
    expected = {folder: ask(in_process(one_platform), "classify", folder=folder) for folder in (CARD_LINE, BRANCH_LINE)}
    answered: list[str] = []

    async def one(number: int) -> None:
        folder = (CARD_LINE, BRANCH_LINE)[number % 2]
        async with Client(one_address, mode=("auto", "legacy")[number // 2 % 2]) as client:
            assert answer_of(await client.call_tool("classify", {"folder": folder})) == expected[folder]
            found = answer_of(await client.call_tool("find_entries", {"limit": 1, "offset": number % 5}))
            assert found["total"] == 5
            answered.append(folder)

    async def work() -> None:
        async with anyio.create_task_group() as group:
            for number in range(CLIENTS):
                group.start_soon(one, number)

    drive(work)
    assert len(answered) == CLIENTS


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example:1", ""])
def test_another_host_is_refused(host: str, one_address: str) -> None:
    """A page of the web whose name leads here says that name (DNS rebinding)."""
    assert greet(one_address, Host=host) in (400, 421)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://evil.example", "null", "http://127.0.0.1:1"])
def test_another_origin_is_refused(origin: str, one_address: str) -> None:
    assert greet(one_address, Origin=origin) == 403


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "LocalHost", "[::1]"])
def test_its_own_names_are_welcome(name: str, one_address: str) -> None:
    port = urlsplit(one_address).port
    assert greet(one_address, Host=f"{name}:{port}", Origin=f"http://{name}:{port}") == 200


def test_a_body_beyond_the_limit_is_refused_before_it_is_read(one_address: str) -> None:
    assert post(one_address, b" " * (4 * 1024 * 1024 + 1), JSON)[0] == 413
    assert greet(one_address) == 200


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[]", b'{"jsonrpc": "1.0"}', b"[" * 200_000, b'{"jsonrpc":"2.0","id":1}']
)
def test_a_malformed_body_is_refused(body: bytes, one_address: str) -> None:
    status, text = post(one_address, body, JSON)
    assert 400 <= status < 500
    assert b"Traceback" not in text
    assert greet(one_address) == 200


def test_a_form_of_a_web_page_is_refused(one_address: str) -> None:
    assert greet(one_address, **{"Content-Type": "text/plain"}) == 400


BOUNDED = """
from incumbent.cli.main import main
from incumbent.mcp import bounded_http

bounded_http.MOST_SESSIONS = 2
bounded_http.MOST_CONNECTIONS = 5
bounded_http.ARRIVAL = 2
bounded_http.IDLE = 3
main()
"""


def open_session(address: str) -> str:
    """The id of a session that was greeted and left."""
    return exchange(address, HELLO)[2]


def exchange(address: str, message: object, session: str | None = None) -> tuple[int, bytes, str]:
    """Status, body and session of one message."""
    place = urlsplit(address)
    assert place.hostname is not None
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    named = {} if session is None else {"Mcp-Session-Id": session}
    try:
        connection.request("POST", place.path, json.dumps(message).encode(), {**JSON, **named})
        response = connection.getresponse()
        return response.status, response.read(), response.getheader("Mcp-Session-Id") or ""
    finally:
        connection.close()


def is_open(address: str, session: str) -> bool:
    """Whether the session answers; a notification is no question."""
    status = exchange(address, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session)[0]
    assert status in (202, 404)
    return status == 202


def end_sessions(address: str, *sessions: str) -> None:
    """As a client does that leaves."""
    place = urlsplit(address)
    assert place.hostname is not None
    for session in sessions:
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        connection.request("DELETE", place.path, headers={**JSON, "Mcp-Session-Id": session})
        assert connection.getresponse().status == 200
        connection.close()


def ping(address: str, session: str) -> int:
    return exchange(address, {"jsonrpc": "2.0", "id": 2, "method": "ping"}, session)[0]


def test_a_newcomer_is_served_however_many_sessions_were_left(one_address: str) -> None:
    first = open_session(one_address)
    assert ping(one_address, first) == 200
    left = [open_session(one_address) for _ in range(MOST_SESSIONS + 20)]
    assert all(left)
    assert is_open(one_address, first), "it asked something, and the others did not"
    assert not any(is_open(one_address, session) for session in left[:20])
    assert is_open(one_address, left[-1])
    assert ask(Client(one_address, mode="legacy"), "status", limit=1)["size"] == 5


@pytest.fixture(scope="module")
def slowly() -> Iterator[ModelServer]:
    """The model that the server of few sessions asks."""
    with slow_model() as model:
        yield model


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory, slowly: ModelServer) -> Iterator[str]:
    """A server of few sessions, for all who end theirs."""
    platform = example_platform(tmp_path_factory.mktemp("bounded"))
    asks(platform, slowly)
    with (
        patch.dict(os.environ, {"INCUMBENT_TEST_KEY": "k"}),
        http_server(platform, start=("-c", BOUNDED)) as address,
    ):
        yield address


def test_the_session_yields_that_asked_nothing_then_the_one_that_is_longest_silent(bounded: str) -> None:
    first, second = open_session(bounded), open_session(bounded)
    assert ping(bounded, first) == 200
    third = open_session(bounded)
    assert [is_open(bounded, session) for session in (first, second, third)] == [True, False, True]
    assert ping(bounded, third) == 200
    fourth = open_session(bounded)
    assert [is_open(bounded, session) for session in (first, third, fourth)] == [False, True, True]
    end_sessions(bounded, third, fourth)


def test_a_session_with_a_call_under_way_yields_to_nobody(bounded: str, slowly: ModelServer) -> None:
    session = open_session(bounded)
    call = {"name": "classify", "arguments": {"queries": [{"turns": ["Where is it?"]}]}}
    message = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(exchange, bounded, message, session)
        wait_for(lambda: len(slowly.asked) > 0)
        newcomers = [open_session(bounded) for _ in range(5)]
        assert all(newcomers)
        assert answer.result()[0] == 200
    assert ping(bounded, session) == 200
    end_sessions(bounded, session, newcomers[-1])


def test_a_session_may_end_by_itself_while_room_is_made_for_a_newcomer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_http, "MOST_SESSIONS", 3)
    opened: list[str] = []
    all_open, second_left = anyio.Event(), anyio.Event()
    answered: list[int] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        """Opens sessions, the first five at the same time; ending the first takes until the second has left."""
        headers: list[tuple[bytes, bytes]] = []
        if scope["method"] == "POST":
            opened.append(f"s{len(opened) + 1}")
            headers = [(b"mcp-session-id", opened[-1].encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["method"] == "POST" and len(opened) <= 5:
            await all_open.wait()
        if scope["method"] == "DELETE" and (b"mcp-session-id", b"s1") in scope["headers"]:
            await second_left.wait()

    sessions = bounded_http.BoundedSessions(application)

    async def request(method: str, *headers: tuple[bytes, bytes]) -> None:
        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            answered.append(message["status"])

        await sessions({"type": "http", "method": method, "headers": [*headers]}, receive, send)

    async def leave() -> None:
        await request("DELETE", (b"mcp-session-id", b"s2"))
        second_left.set()

    async def work() -> None:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as busy:
                for _ in range(5):
                    busy.start_soon(request, "POST")
                await anyio.wait_all_tasks_blocked()
                all_open.set()
            async with anyio.create_task_group() as group:
                group.start_soon(request, "POST")
                await anyio.wait_all_tasks_blocked()
                group.start_soon(leave)

    drive(work)
    assert answered == [200] * 7


def test_sessions_of_which_nothing_is_heard_end(bounded: str) -> None:
    assert 60 < IDLE <= 10 * 60
    first, second = open_session(bounded), open_session(bounded)
    assert ping(bounded, first) == 200
    time.sleep(4)
    assert not is_open(bounded, first)
    third, fourth = open_session(bounded), open_session(bounded)
    assert [is_open(bounded, session) for session in (second, third, fourth)] == [False, True, True]
    end_sessions(bounded, third, fourth)


HALF_A_HEADER: Final = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
HALF_A_BODY: Final = (
    b"POST /mcp HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
)


def half_open(address: str, said: bytes) -> socket.socket:
    place = urlsplit(address)
    connection = socket.create_connection((str(place.hostname), place.port), timeout=60)
    connection.sendall(said.replace(b"HOST", place.netloc.encode()))
    return connection


def was_closed(connection: socket.socket) -> bool:
    """Whether the server ended it; waits for no answer."""
    connection.settimeout(0.05)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.exhaustive
def test_a_newcomer_is_served_beside_connections_that_never_ask(one_address: str) -> None:
    held = [half_open(one_address, half) for half in (b"", HALF_A_HEADER, HALF_A_BODY) for _ in range(100)]
    try:
        before = time.monotonic()
        assert greet(one_address) == 200
        assert time.monotonic() - before < ARRIVAL / 2
        time.sleep(max(0.0, ARRIVAL + 1 - (time.monotonic() - before)))
        assert all(map(was_closed, held))
        assert greet(one_address) == 200
    finally:
        for connection in held:
            connection.close()


def test_the_oldest_connection_that_never_asked_yields(platform: Path) -> None:
    with http_server(platform, start=("-c", BOUNDED.replace("ARRIVAL = 2", "ARRIVAL = 60"))) as address:
        for half in (b"", HALF_A_HEADER, HALF_A_BODY):
            held = [half_open(address, half) for _ in range(5)]
            wait_for(lambda: greet(address) == 200)
            assert was_closed(held[0])
            assert not was_closed(held[-1])
            for connection in held:
                connection.close()


def test_a_request_that_follows_another_has_its_time_too(bounded: str) -> None:
    body = json.dumps(HELLO).encode()
    lines = [f"{name}: {value}" for name, value in {**JSON, "Host": urlsplit(bounded).netloc}.items()]
    head = "\r\n".join(["POST /mcp HTTP/1.1", *lines, f"Content-Length: {len(body)}"]).encode()
    with half_open(bounded, head + b"\r\n\r\n" + body) as connection:
        answer = b""
        while not answer.endswith(b"0\r\n\r\n"):
            answer += connection.recv(4096)
        assert answer.startswith(b"HTTP/1.1 200")
        connection.sendall(head[:60])
        before = time.monotonic()
        wait_for(lambda: was_closed(connection))
        assert 1 < time.monotonic() - before < 4
    session = re.search(rb"(?i)mcp-session-id: (\w+)", answer)
    assert session is not None
    end_sessions(bounded, session[1].decode())


def test_a_client_that_vanishes_mid_call_costs_nothing_more(platform: Path) -> None:
    with slow_model() as model, patch.dict(os.environ, {"INCUMBENT_TEST_KEY": "k"}):
        asks(platform, model)
        with http_server(platform) as address:

            async def leave() -> None:
                async with Client(address) as client:
                    with anyio.move_on_after(PATIENCE_UNTIL_ASKED):
                        queries = [{"turns": [f"Question {number}?"]} for number in range(100)]
                        await client.call_tool("classify", {"queries": queries})

            drive(leave)
            wait_for(lambda: len(model.asked) > 0)
            time.sleep(4 * PAUSE)
            asked = len(model.requests)
            time.sleep(4 * PAUSE)
            assert len(model.requests) == asked < 60
            assert ask(Client(address), "status", limit=1)["size"] == 5


PATIENCE_UNTIL_ASKED = 6.0
"""Seconds after which the client leaves: by then the server is at work."""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.com", "127.0.0.1.example", ""])
def test_no_address_that_others_can_reach_is_served(host: str) -> None:
    with pytest.raises(UsageError, match="only this machine may be served"):
        loopback(host)


@pytest.mark.parametrize(
    ("host", "address"), [("localhost", "127.0.0.1"), ("127.0.0.2", "127.0.0.2"), ("[::1]", "::1"), ("::1", "::1")]
)
def test_addresses_of_this_machine_are(host: str, address: str) -> None:
    assert loopback(host) == address


def test_a_port_that_is_taken_is_told(one_platform: Path, one_address: str, capsys: pytest.CaptureFixture[str]) -> None:
    port = str(urlsplit(one_address).port)
    assert run(["mcp", "--repo", str(one_platform), "--http", "--port", port]) == 4
    told = capsys.readouterr().err
    assert f"port {port}" in told
    assert "choose another --port" in told


def test_where_it_listens_nobody_else_hears(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "--http", "--host", "0.0.0.0"]) == 2
    assert capsys.readouterr().out == ""
