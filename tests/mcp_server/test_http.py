"""Over HTTP on this machine: who may ask, how much, how many at once, and what becomes of those who leave."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import anyio
import pytest
from mcp import Client

from bot.errors import UsageError
from bot.mcp_server.serving import IDLE, loopback
from tests.factories import REPOSITORY
from tests.mcp_server.conftest import BRANCH_LINE, CARD_LINE, answer_of, ask, command, drive, http_server, in_process
from tests.mcp_server.slow_model import PAUSE, asks, slow_model
from tests.mcp_server.test_stdio import HELLO, wait_for

CLIENTS = 20
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture
def address(platform: Path) -> Iterator[str]:
    with http_server(platform) as found:
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
def test_it_answers_as_the_library_does(mode: str, address: str, platform: Path) -> None:
    arguments = {"folder": CARD_LINE, "only": "all", "limit": 200}
    here = ask(in_process(platform), "classify_to_verdict", **arguments)
    assert ask(Client(address, mode=mode), "classify_to_verdict", **arguments) == here


def test_twenty_clients_at_once_get_their_own_answers(address: str, platform: Path) -> None:
    expected = {folder: ask(in_process(platform), "classify", folder=folder) for folder in (CARD_LINE, BRANCH_LINE)}
    answered: list[str] = []

    async def one(number: int) -> None:
        folder = (CARD_LINE, BRANCH_LINE)[number % 2]
        async with Client(address, mode=("auto", "legacy")[number // 2 % 2]) as client:
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
def test_another_host_is_refused(host: str, address: str) -> None:
    """A page of the web whose name leads here says that name (DNS rebinding)."""
    assert greet(address, Host=host) in (400, 421)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://evil.example", "null", "http://127.0.0.1:1"])
def test_another_origin_is_refused(origin: str, address: str) -> None:
    assert greet(address, Origin=origin) == 403


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_its_own_names_are_welcome(name: str, address: str) -> None:
    port = urlsplit(address).port
    assert greet(address, Host=f"{name}:{port}", Origin=f"http://{name}:{port}") == 200


def test_a_body_beyond_the_limit_is_refused_before_it_is_read(address: str) -> None:
    assert post(address, b" " * (4 * 1024 * 1024 + 1), JSON)[0] == 413
    assert greet(address) == 200


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[]", b'{"jsonrpc": "1.0"}', b"[" * 200_000, b'{"jsonrpc":"2.0","id":1}']
)
def test_a_malformed_body_is_refused(body: bytes, address: str) -> None:
    status, told = post(address, body, JSON)
    assert 400 <= status < 500
    assert b"Traceback" not in told
    assert greet(address) == 200


def test_a_form_of_a_web_page_is_refused(address: str) -> None:
    assert greet(address, **{"Content-Type": "text/plain"}) == 400


FEW_AND_SHORT = """
from bot.cli.main import main
from bot.mcp_server import serving

serving.MOST_SESSIONS = 2
serving.IDLE = 2
main()
"""


def test_sessions_that_were_left_make_room_for_others(platform: Path) -> None:
    assert 60 < IDLE <= 10 * 60
    with http_server(platform, start=("-c", FEW_AND_SHORT)) as address:
        assert [greet(address) for _ in range(3)] == [200, 200, 503]
        wait_for(lambda: greet(address) == 200)


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


def test_a_port_that_is_taken_is_told(platform: Path, address: str) -> None:
    port = str(urlsplit(address).port)
    ended = subprocess.run(
        command(platform, "--http", "--port", port), cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 4
    assert f"port {port}" in ended.stderr
    assert "choose another --port" in ended.stderr


def test_where_it_listens_nobody_else_hears() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "bot", "mcp", "--http", "--host", "0.0.0.0"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
