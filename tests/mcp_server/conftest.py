"""A platform repository of its own for every test, and servers over it: in this process, and as people start them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
import git
import pytest
import yaml
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

from incumbent.cli.main import run
from incumbent.mcp.server import make_server
from incumbent.mcp.untrusted import CLOSING, OPENING, unmarked
from incumbent.mcp.workspace import Workspace
from incumbent.taxonomy.config import CONFIG_FILE
from tests.copies import copy_of
from tests.factories import BY_HAND, REPOSITORY, config_with

EXAMPLE = REPOSITORY / "tests" / "service_desk"
CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
BRANCH_LINE = "eval_sets/quillow-savings/branch-line"
AGENT: dict[str, Any] = {
    "name": "card line",
    "auth_modes": ["none", "oauth"],
    "tools": [
        {"name": "freeze_card", "description": "Freeze a card", "effect": "write", "auth": "oauth"},
        {"name": "list_branches", "description": "List branches", "effect": "read"},
    ],
    "starters": ["Freeze my card", "Find a branch"],
}
"""An agent that comes with a call.  Several of its modes fit an `exactly-one` group, which its tools decide."""
PATIENCE = 120
"""Seconds until a test that waits gives up: the first call of all fits a model."""


@pytest.fixture(scope="session", autouse=True)
def _cache(shared_cache: Path) -> Any:
    patch = pytest.MonkeyPatch()
    patch.setenv("INCUMBENT_CACHE", str(shared_cache))
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_REPOSITORY"):
        patch.delenv(name, raising=False)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def _each_schema_is_checked_once() -> Iterator[None]:
    """A client of the SDK checks the schema of each tool that it calls, once in its session, and tests have many."""
    check = Draft202012Validator.check_schema
    valid: set[str] = set()

    def check_once(schema: dict[str, Any]) -> None:
        text = json.dumps(schema)
        if text not in valid:
            check(schema)
            valid.add(text)

    with patch.object(Draft202012Validator, "check_schema", check_once):
        yield


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    """A committed copy of the example platform repository; its knobs are ``BY_HAND``."""
    return example_platform(tmp_path)


def example_platform(parent: Path) -> Path:
    """Such a copy below ``parent``, in a folder whose name has a space and an accent."""
    return copy_of(_commit_example, parent / "platform é")


def _commit_example(folder: Path) -> None:
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    config = folder / CONFIG_FILE
    config.write_text(config_with(config.read_text(encoding="utf-8"), **BY_HAND), encoding="utf-8")
    with git.Repo.init(folder, initial_branch="main") as repository:
        with repository.config_writer() as settings:
            settings.set_value("user", "name", "Robin Example")
            settings.set_value("user", "email", "robin@platform.example")
        repository.git.add(all=True)
        repository.git.commit(message="Begin", date="2026-01-02T03:04:05Z")


@pytest.fixture
def json_of(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a command prints with ``--json``."""

    def call(*arguments: str | Path) -> Any:
        capsys.readouterr()
        code = run([str(argument) for argument in (*arguments, "--json")])
        captured = capsys.readouterr()
        assert code == 0, captured.err
        return json.loads(captured.out)

    return call


def workspace_client(workspace: Workspace, mode: str = "auto") -> Client:
    """The SDK's own client, on a server over ``workspace`` in this process."""
    return Client(make_server(workspace), mode=mode)


def in_process(platform: Path, *, writes: bool = False) -> Client:
    """The same over ``platform``."""
    return workspace_client(Workspace(platform, CONFIG_FILE, writes=writes, environment={}))


def command(platform: Path, *options: str) -> list[str]:
    """How a host starts the server."""
    return [sys.executable, "-m", "incumbent", "mcp", "--repo", str(platform), *options]


def over_stdio(platform: Path, *options: str) -> Client:
    """The SDK's own client, on a server that it starts as a host does."""
    first, *rest = command(platform, *options)
    return Client(StdioServerParameters(command=first, args=rest, env=dict(os.environ), cwd=REPOSITORY))


def surest(platform: Path) -> tuple[Path, Any]:
    """The entry of one turn whose least score is the greatest, and its file: its verdict hangs on no threshold."""
    known = {path: yaml.safe_load(path.read_text("utf-8")) for path in (platform / "regression_set").glob("*.yaml")}
    of_one_turn = {path: entry for path, entry in known.items() if len(entry["turns"]) == 1 and entry["scores"]}
    assert of_one_turn, "the set of the example has an entry of one turn"
    return max(of_one_turn.items(), key=lambda item: (min(item[1]["scores"].values()), item[0]))


@contextmanager
def http_server(platform: Path, *options: str, start: Sequence[str] = ("-m", "incumbent")) -> Iterator[str]:
    """The address of a server over HTTP, on a port that was free; ``start`` is how Python starts the program."""
    process = subprocess.Popen(
        [sys.executable, *start, *command(platform, "--http", "--port", "0", *options)[3:]],
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stdout is not None
    try:
        line = process.stderr.readline()
        found = re.search(r"http://\S+/mcp", line)
        assert found is not None, line + process.stderr.read()
        yield found[0]
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=PATIENCE)
    assert out == ""


def drive(work: Callable[[], Any]) -> Any:
    """Run the coroutine function ``work`` to its end, or give up."""

    async def patiently() -> Any:
        with anyio.fail_after(PATIENCE):
            return await work()

    return anyio.run(patiently)


def ask(client: AbstractAsyncContextManager[Client], tool: str, **arguments: Any) -> Any:
    """The structured answer of one call over ``client``."""
    return answer_of(call(client, tool, **arguments))


def call(client: AbstractAsyncContextManager[Client], tool: str, **arguments: Any) -> CallToolResult:
    """The whole result of one call over ``client``."""

    async def work() -> CallToolResult:
        async with client as connected:
            return await connected.call_tool(tool, arguments)

    result = drive(work)
    assert isinstance(result, CallToolResult)
    return result


def answer_of(result: CallToolResult) -> Any:
    """Its structured content, which its text says too."""
    assert not result.is_error, text_of(result)
    assert json.loads(text_of(result)) == result.structured_content
    return result.structured_content


def text_of(result: CallToolResult) -> str:
    """The only text of a result."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def refusal_of(client: AbstractAsyncContextManager[Client], tool: str, **arguments: Any) -> str:
    """What an assistant is told that calls ``tool`` in a way that cannot be followed."""
    result = call(client, tool, **arguments)
    assert result.is_error
    return text_of(result)


def bare(value: Any) -> Any:
    """An answer with all marks taken off."""
    if isinstance(value, str):
        return unmarked(value)
    if isinstance(value, dict):
        return {name: bare(item) for name, item in value.items()}
    return [bare(item) for item in value] if isinstance(value, list) else value


def outside_marks(text: str) -> str:
    """What of ``text`` stands outside of marks; fails where a mark is not closed, or closed twice."""
    parts = re.split(f"({re.escape(OPENING)}|{re.escape(CLOSING)})", text)
    outside, inside = [parts[0]], False
    for tag, after in zip(parts[1::2], parts[2::2], strict=True):
        assert (tag == CLOSING) is inside, text
        inside = tag == OPENING
        if not inside:
            outside.append(after)
    assert not inside, text
    return "".join(outside)
