"""Over standard input and output, as hosts start it: a real process, and a client that may do anything."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from mcp.server.context import ServerRequestContext
from mcp_types import ErrorData
from pydantic import ValidationError

from incumbent.mcp.server import explain_misfits
from incumbent.mcp.serving import answer_to
from incumbent.mcp.tool_runner import WORKERS
from tests.factories import REPOSITORY
from tests.mcp_server.conftest import (
    BRANCH_LINE,
    CARD_LINE,
    PATIENCE,
    answer_of,
    ask,
    bare,
    command,
    drive,
    example_platform,
    in_process,
    over_stdio,
)
from tests.mcp_server.slow_model import PAUSE, asks, slow_model
from tests.variants import one_in

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Wire:
    """The streams of a server, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, message: object) -> None:
        self.write(json.dumps(message).encode())

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        """The next message; that each line is one is what keeps the protocol whole."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def answer(self, id: int) -> Any:
        """The answer to request ``id``, past whatever else is said before it."""
        while (message := self.receive()).get("id") != id:
            pass
        return message

    def call(self, id: int, tool: str, **arguments: Any) -> None:
        parameters = {"name": tool, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": parameters})


@contextmanager
def wire(platform: Path) -> Iterator[Wire]:
    """A server that was greeted in the way of most clients in the field."""
    process = subprocess.Popen(
        command(platform),
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"INCUMBENT_TEST_KEY": "k"},
    )
    try:
        talk = Wire(process)
        talk.send(HELLO)
        assert talk.answer(0)["result"]["serverInfo"]["name"] == "incumbent"
        talk.send(READY)
        yield talk
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


@pytest.fixture(scope="module")
def one_platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example_platform(tmp_path_factory.mktemp("stdio"))


@pytest.fixture(scope="module")
def talk(one_platform: Path) -> Iterator[Wire]:
    """A server for all who leave nothing behind: each finds it as well as the first."""
    with wire(one_platform) as found:
        yield found


@pytest.mark.parametrize("mode", one_in(2, ["auto", "legacy"]))
def test_a_triage_with_the_sdks_own_client_is_answered_as_by_the_library(mode: str, platform: Path) -> None:
    arguments = {"folder": CARD_LINE, "only": "all", "facts": True, "limit": 200}
    here = ask(in_process(platform), "classify_to_verdict", **arguments)

    async def work() -> None:
        client = over_stdio(platform)
        client.mode = mode
        async with client as connected:
            assert "<untrusted>" in (connected.instructions or "")
            assert answer_of(await connected.call_tool("classify_to_verdict", arguments)) == here
            judged = answer_of(await connected.call_tool("classify_to_verdict", {"folder": BRANCH_LINE, "only": "all"}))
            query = judged["verdicts"][0]["id"]
            answer = answer_of(await connected.call_tool("explain", {"folder": BRANCH_LINE, "query": query}))
            assert answer["id"] == query
            report = (await connected.read_resource("incumbent://report")).contents[0]
            assert judged["headline"] in report.model_dump()["text"]
            prompt = await connected.get_prompt("triage_eval_set", {"folder": BRANCH_LINE})
            assert BRANCH_LINE in prompt.messages[0].model_dump()["content"]["text"]

    drive(work)


def test_lines_that_are_no_requests_harm_nobody(talk: Wire) -> None:
    deep = b"[" * 100_000
    for line in (
        b"",
        b"{",
        b"\xff\xfe",
        b"null",
        b"[]",
        b'{"jsonrpc": "2.0"}',
        b'{"id": 1}',
        deep,
        b'"' + b"x" * 10**6,
    ):
        talk.write(line)
    talk.call(1, "status")
    assert talk.answer(1)["result"]["structuredContent"]["size"] == 5


UNREADABLE: list[tuple[bytes, int, int | str | None]] = [
    (b"{", -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"[" * 100_000, -32700, None),
    (b"null", -32600, None),
    (b"[]", -32600, None),
    (b'{"id": 7}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 7, "result": 3}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 7, "method": 3}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": []}', -32600, 7),
    (b'{"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": 3}', -32600, "a"),
    (b'{"jsonrpc": "1.0", "id": 7, "method": "tools/list"}', -32600, 7),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "x", "params": {"a": "\\ud800"}}', -32700, 7),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/delete"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "x"}', -32700, None),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "x", "params": ' + b"[" * 300 + b"]" * 300 + b"}", -32700, 7),
]


def test_a_line_that_is_no_message_is_answered_with_what_to_send(talk: Wire) -> None:
    for line, code, id in UNREADABLE:
        talk.write(line)
        answer = talk.receive()
        assert (answer["id"], answer["error"]["code"]) == (id, code), line[:100]
        assert "JSON" in answer["error"]["message"]
    # Nothing was said, so nobody waits.
    talk.write(b"")
    talk.write(b"  ")
    talk.send({"jsonrpc": "2.0", "method": "notifications/nobody/knows"})
    talk.call(8, "status", limit=1)
    assert talk.receive()["id"] == 8


def test_before_the_greeting_it_is_answered_too(platform: Path) -> None:
    greeted = [b"{", json.dumps(HELLO).encode(), json.dumps(READY).encode()]
    ended = subprocess.run(
        command(platform), cwd=REPOSITORY, input=b"\n".join(greeted) + b"\n", capture_output=True, check=False
    )
    first, second = map(json.loads, ended.stdout.splitlines())
    assert (first["id"], first["error"]["code"]) == (None, -32700)
    assert second["result"]["serverInfo"]["name"] == "incumbent"
    assert ended.returncode == 0


def test_a_fault_that_tells_nothing_of_its_line_is_not_answered() -> None:
    assert answer_to(OSError("gone")) is None


def test_oversized_arguments_are_refused_and_the_next_call_is_answered(talk: Wire) -> None:
    talk.call(1, "classify", folder="x" * 5_000_000)
    assert talk.answer(1)["result"]["isError"]
    talk.call(2, "consolidate", queries=[{"id": "q", "turns": ["x" * 5_000_000], "scores": {}}])
    refused = talk.answer(2)["result"]
    assert refused["isError"]
    assert len(refused["content"][0]["text"]) < 10_000
    talk.call(3, "classify", queries=[{"turns": ["x"]}] * 501)
    assert talk.answer(3)["result"]["isError"]
    talk.call(4, "status", limit=1)
    assert talk.answer(4)["result"]["structuredContent"]["total"] > 0


def test_an_unknown_tool_and_an_unknown_method_are_errors(talk: Wire) -> None:
    talk.call(1, "stage_admission", folder=CARD_LINE)
    text = talk.answer(1)["result"]
    assert text["isError"]
    assert "there is no tool <untrusted>stage_admission</untrusted>" in text["content"][0]["text"]
    assert "--allow-writes" in text["content"][0]["text"]
    talk.send({"jsonrpc": "2.0", "id": 2, "method": "tools/delete"})
    assert talk.answer(2)["error"]["code"] == -32601


MISFITS: list[tuple[str, dict[str, Any], str]] = [
    ("tools/call", {"name": "status", "arguments": []}, "params.arguments: Input should be a valid dictionary"),
    ("tools/call", {"name": 5}, "params.name: Input should be a valid string"),
    ("tools/list", {"cursor": 5}, "params.cursor: Input should be a valid string"),
    ("resources/read", {}, "params.uri: Field required"),
    (
        "prompts/get",
        {"name": "triage_eval_set", "arguments": {"<b>": 5}},
        "params.arguments.<untrusted>&lt;b&gt;</untrusted>: Input should be a valid string",
    ),
    ("prompts/get", {"name": "p", "arguments": dict.fromkeys(map(str, range(25)), 5)}, "; and 5 more; correct"),
]


def test_a_request_that_does_not_fit_is_told_where(talk: Wire) -> None:
    for method, parameters, said in MISFITS:
        talk.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
        error = talk.answer(1)["error"]
        assert error["code"] == -32602
        assert said in error["message"]
        assert error["message"].endswith("correct that, then send it again")


def test_an_answer_that_does_not_fit_is_not_told_as_the_requests_fault() -> None:
    async def answer(_: object) -> None:
        ErrorData.model_validate({})

    context = cast("ServerRequestContext[Any, Any]", None)
    with pytest.raises(ValidationError, match="2 validation errors for ErrorData"):
        drive(lambda: explain_misfits(context, answer))


def test_a_call_that_is_cancelled_or_left_stops_asking_and_no_process_stays(platform: Path) -> None:
    with slow_model() as model:
        asks(platform, model)
        with wire(platform) as talk:
            talk.call(1, "classify", queries=[{"turns": [f"Question {number}?"]} for number in range(100)])
            wait_for(lambda: len(model.asked) > 1)
            talk.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            talk.call(2, "status", limit=1)
            assert talk.answer(2)["result"]["structuredContent"]["size"] == 5
            time.sleep(4 * PAUSE)
            asked = len(model.requests)
            time.sleep(4 * PAUSE)
            assert len(model.requests) == asked < 50
            talk.call(3, "classify", queries=[{"turns": [f"Another {number}?"]} for number in range(100)])
            wait_for(lambda: len(model.requests) > asked + 1)
            assert talk.process.stdin is not None
            talk.process.stdin.close()
            talk.process.wait(timeout=PATIENCE)
        left = len(model.requests)
        time.sleep(4 * PAUSE)
        assert len(model.requests) == left < asked + 50


def wait_for(so: Any) -> None:
    patience = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < patience
        time.sleep(0.02)


def test_while_the_classifier_is_fitted_the_rest_is_answered(
    platform: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INCUMBENT_CACHE", str(tmp_path / "empty"))
    with wire(platform) as talk:
        late = range(10, 10 + 2 * WORKERS)
        for id in late:
            talk.call(id, "classify", queries=[{"turns": ["What is my balance?"]}])
        talk.call(1, "status")
        talk.send({"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": "incumbent://config"}})
        gap = {"name": "write_queries_for_gap", "arguments": {"capability": "request.auth.none"}}
        talk.send({"jsonrpc": "2.0", "id": 3, "method": "prompts/get", "params": gap})
        first = [talk.receive()["id"] for _ in range(3)]
        assert sorted(first) == [1, 2, 3]
        assert "result" in talk.answer(late[-1])


def test_a_file_that_changes_is_read_anew(talk: Wire, one_platform: Path) -> None:
    talk.call(1, "status")
    before = talk.answer(1)["result"]["structuredContent"]
    config = one_platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("ceiling: 40", "ceiling: 41"), encoding="utf-8")
    talk.call(2, "status")
    after = talk.answer(2)["result"]["structuredContent"]
    assert (before["ceiling"], after["ceiling"]) == (40, 41)
    assert bare(before)["size"] == bare(after)["size"]
