"""The protocol's own inspector, by its command line: another client than the SDK's, in another language."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness.needs import SWITCH
from tests.factories import REPOSITORY
from tests.mcp_server.conftest import CARD_LINE, ask, command, example_platform, http_server, in_process
from tests.mcp_server.test_schemas import READING
from tests.variants import one_in

FOLDER = Path(__file__).with_name("inspector")
PACKAGE = "@modelcontextprotocol/inspector"
PATIENTLY = ("--connect-timeout", "120000")
"""On a machine that does much else, fifteen seconds are few for a server to start."""


def missing() -> str | None:
    """What is not there and how to get it; ``None`` when all is well."""
    if shutil.which("node") is None:
        return "node is not on PATH: install Node 20 or newer"
    wanted = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"][PACKAGE]
    manifest = FOLDER / "node_modules" / PACKAGE / "package.json"
    if not manifest.exists() or json.loads(manifest.read_text(encoding="utf-8"))["version"] != wanted:
        return f"{PACKAGE}@{wanted} is missing: run `sh dev/end_to_end.sh`"
    return None


@pytest.fixture(autouse=True)
def _inspector() -> None:
    reason = missing()
    if reason is not None and os.environ.get(SWITCH) == "required":
        pytest.fail(f"{SWITCH}=required, but {reason}")
    if reason is not None:
        pytest.skip(f"{reason} ({SWITCH}=required makes this a failure)")


@pytest.fixture(scope="module")
def one_platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example_platform(tmp_path_factory.mktemp("inspected"))


@pytest.fixture(scope="module", params=one_in(2, ["stdio", "http"]))
def target(request: pytest.FixtureRequest, one_platform: Path) -> Iterator[list[str]]:
    """How the inspector reaches a server, over either transport."""
    if request.param == "stdio":
        yield command(one_platform)
    else:
        with http_server(one_platform) as address:
            yield [address, "--transport", "http"]


def inspect(target: list[str], method: str, *more: str) -> Any:
    """What the inspector prints of one request."""
    script = FOLDER / "node_modules" / ".bin" / "mcp-inspector"
    ended = subprocess.run(
        ["node", str(script.resolve()), "--cli", *target, *PATIENTLY, "--method", method, *more],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_it_lists_the_tools_the_resources_and_the_prompts(target: list[str]) -> None:
    assert {tool["name"] for tool in inspect(target, "tools/list")["tools"]} == READING
    uris = {resource["uri"] for resource in inspect(target, "resources/list")["resources"]}
    assert uris == {f"incumbent://{name}" for name in ("taxonomy", "config", "eval-sets", "entries", "report")}
    prompts = {prompt["name"] for prompt in inspect(target, "prompts/list")["prompts"]}
    assert prompts == {"triage_eval_set", "write_queries_for_gap"}


def test_it_gets_the_answer_that_the_sdk_gets(target: list[str], one_platform: Path) -> None:
    arguments = ("--tool-arg", f"folder={CARD_LINE}", "--tool-arg", "only=all", "--tool-arg", "limit=3")
    answer = inspect(target, "tools/call", "--tool-name", "classify_to_verdict", *arguments)
    expected = ask(in_process(one_platform), "classify_to_verdict", folder=CARD_LINE, only="all", limit=3)
    assert answer["structuredContent"] == expected


def test_it_reads_a_resource(target: list[str]) -> None:
    answer = inspect(target, "resources/read", "--uri", "incumbent://entries")
    assert json.loads(answer["contents"][0]["text"])["total"] == 5
