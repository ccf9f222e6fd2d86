"""Clients that go, over standard input and output: an assistant that was killed takes both streams with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.factories import REPOSITORY
from tests.mcp_server.conftest import PATIENCE, command
from tests.mcp_server.slow_model import asks, slow_model
from tests.mcp_server.test_stdio import HELLO, READY, wait_for
from tests.variants import one_in

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
STATUS = b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}}'


@contextmanager
def greeted(platform: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command(platform),
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(platform.parent), "INCUMBENT_TEST_KEY": "k"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdin.write(json.dumps(READY).encode() + b"\n")
        process.stdin.flush()
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def leave(process: subprocess.Popen[bytes], *, both: bool) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    if both:
        process.stdin.close()


def ended_quietly(process: subprocess.Popen[bytes]) -> None:
    """It is gone, said nothing, and took it for no bug."""
    assert process.stderr is not None
    assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == b""


MANY = b"\n".join([PING, b"{", STATUS] * 30)


@pytest.mark.parametrize(
    ("said", "both"), one_in(4, [(MANY, True), (PING, True), (STATUS, False), (b"{", True), (MANY, False)])
)
def test_a_client_that_waits_for_no_answer_is_no_bug(said: bytes, both: bool, platform: Path) -> None:
    with greeted(platform) as process:
        assert process.stdin is not None
        process.stdin.write(said + b"\n")
        process.stdin.flush()
        leave(process, both=both)
        ended_quietly(process)
    assert not list(platform.parent.glob("incumbent-bug-*"))


@pytest.mark.parametrize("both", one_in(2, [True, False]))
def test_nor_is_one_that_goes_in_the_middle_of_a_call(both: bool, platform: Path) -> None:
    with slow_model() as model:
        asks(platform, model)
        with greeted(platform) as process:
            assert process.stdin is not None
            arguments = {"queries": [{"turns": [f"Question {number}?"]} for number in range(3)]}
            parameters = {"name": "classify", "arguments": arguments, "_meta": {"progressToken": "p"}}
            line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters})
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            wait_for(lambda: len(model.asked) > 1)
            leave(process, both=both)
            ended_quietly(process)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Tests that run in a shell's background ignore interrupts, and so would what they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", one_in(2, [signal.SIGTERM, signal.SIGINT]))
def test_a_signal_ends_it_though_the_client_stays(number: signal.Signals, platform: Path) -> None:
    with greeted(platform) as process:
        time.sleep(0.5)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 128 + number
