"""Long classifications: progress as they go on, and an end when the client wants it, or is gone."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client

from incumbent.classifier.model import Consensus, Finding, Identity, InferenceRequest
from incumbent.classifier.usage import Usage
from incumbent.errors import OutsideError
from incumbent.mcp.tool_runner import WAITING, WORKERS
from incumbent.mcp.workspace import PATIENCE as PATIENCE_TO_FIT
from incumbent.mcp.workspace import SingleFlight, Workspace
from incumbent.taxonomy.config import CONFIG_FILE
from tests.mcp_server.conftest import BRANCH_LINE, PATIENCE, answer_of, ask, drive, refusal_of, workspace_client

PAUSE = 0.05
"""Seconds that the slow backend takes for a query."""


@dataclass
class SlowBackend:
    """A backend that takes its time, and remembers how many queries it was asked about, and how often at once."""

    asked: int = 0
    at_once: int = 0
    most_at_once: int = 0
    pause: float = PAUSE
    begun: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def identity(self) -> Identity:
        return Identity(backend="slow", model="m", prompt="p", samples=1)

    @property
    def usage(self) -> Usage | None:
        return None

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            for place, request in enumerate(requests):
                self.asked += 1
                self.begun.set()
                threading.Event().wait(self.pause)
                yield place, Finding(consensus={name: Consensus(False, 0.1) for name in request.capabilities})
        finally:
            with self._lock:
                self.at_once -= 1
            self.ended.set()


def many(count: int) -> list[dict[str, object]]:
    return [{"id": f"q{number}", "turns": [f"Question number {number}?"]} for number in range(count)]


@pytest.fixture
def slow() -> SlowBackend:
    return SlowBackend()


@pytest.fixture
def workspace(platform: Path, slow: SlowBackend) -> Workspace:
    return Workspace(platform, CONFIG_FILE, environment={}, make_backend=lambda _: slow)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_progress_is_told_and_ends_at_the_total(mode: str, workspace: Workspace) -> None:
    counted: list[float] = []
    said: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert total == 20
        counted.append(progress)
        said.append(message)

    async def work() -> None:
        async with workspace_client(workspace, mode) as client:
            answer_of(await client.call_tool("classify", {"queries": many(20)}, progress_callback=note))

    drive(work)
    assert said[-1] == "20 of 20 queries classified"
    assert counted == sorted(set(counted))
    assert counted[-1] == 20
    assert 2 <= len(counted) <= 12  # some, and not one for every query


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_call_that_is_given_up_ends_within_a_query(mode: str, workspace: Workspace, slow: SlowBackend) -> None:
    async def work() -> None:
        async with workspace_client(workspace, mode) as client:
            with anyio.move_on_after(10 * PAUSE):
                await client.call_tool("classify", {"queries": many(400)})
            with anyio.fail_after(20 * PAUSE):
                while not slow.ended.is_set():
                    await anyio.sleep(PAUSE / 5)
            asked = slow.asked
            await anyio.sleep(4 * PAUSE)
            assert slow.asked == asked < 40
            # What was given up holds up nobody.
            answer_of(await client.call_tool("status", {}))

    drive(work)


def test_all_share_a_few_threads_and_all_are_served(workspace: Workspace, slow: SlowBackend) -> None:
    async def one(client: Client) -> None:
        answer = answer_of(await client.call_tool("classify", {"queries": many(4)}))
        assert answer["total"] == 4

    async def work() -> None:
        async with workspace_client(workspace) as client, anyio.create_task_group() as group:
            for _ in range(3 * WORKERS):
                group.start_soon(one, client)

    drive(work)
    assert slow.asked == 3 * WORKERS * 4
    assert 1 <= slow.most_at_once <= WORKERS


class Fitting:
    """A classifier that is fitted for as long as the test says."""

    def __init__(self) -> None:
        self.count = 0
        self.begun = threading.Event()
        self.may_end = threading.Event()
        self.fails = False

    def __call__(self, _: object) -> SlowBackend:
        self.count += 1
        self.begun.set()
        assert self.may_end.wait(PATIENCE)
        if self.fails:
            raise OutsideError("the disk is full")
        return SlowBackend(pause=0)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_who_waits_for_the_fitting_is_told_and_may_leave(mode: str, platform: Path) -> None:
    fitting = Fitting()
    said: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        said.append((progress, total, message))

    async def work() -> None:
        async with workspace_client(
            Workspace(platform, CONFIG_FILE, environment={}, make_backend=fitting), mode
        ) as client:
            for _ in range(2 * WORKERS):
                with anyio.move_on_after(6 * PATIENCE_TO_FIT):
                    await client.call_tool("classify", {"queries": many(2)}, progress_callback=note)
            assert said[0][2] == WAITING
            # More calls than there are threads were given up: each has left its own.
            answer_of(await client.call_tool("status", {}))
            said.clear()
            async with anyio.create_task_group() as group:
                group.start_soon(end_soon)
                answer_of(await client.call_tool("classify", {"queries": many(2)}, progress_callback=note))

    async def end_soon() -> None:
        await anyio.sleep(3 * PATIENCE_TO_FIT)
        fitting.may_end.set()

    drive(work)
    assert fitting.count == 1
    assert (said[0][0], said[0][2]) == (0, WAITING)
    assert (said[-1][0], said[-1][2]) == (2, "2 of 2 queries classified")
    assert [progress for progress, _, _ in said] == sorted({progress for progress, _, _ in said})


def test_a_fitting_that_fails_is_told_and_tried_again(platform: Path) -> None:
    fitting = Fitting()
    fitting.may_end.set()
    fitting.fails = True
    workspace = Workspace(platform, CONFIG_FILE, environment={}, make_backend=fitting)
    assert "the disk is full" in refusal_of(workspace_client(workspace), "classify", queries=many(1))
    fitting.fails = False
    assert ask(workspace_client(workspace), "classify", queries=many(1))["total"] == 1
    assert fitting.count == 2


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_who_waits_for_the_fitting_holds_up_nobody(mode: str, platform: Path) -> None:
    fitting = Fitting()
    workspace = Workspace(platform, CONFIG_FILE, writes=True, environment={}, make_backend=fitting)
    finished: list[str] = []

    async def classify(client: Client) -> None:
        answer_of(await client.call_tool("classify", {"queries": many(1)}))
        finished.append("classify")

    async def work() -> None:
        async with workspace_client(workspace, mode) as client, anyio.create_task_group() as group:
            for _ in range(3 * WORKERS):
                group.start_soon(classify, client)
            await anyio.to_thread.run_sync(fitting.begun.wait)
            answer_of(await client.call_tool("status", {}))
            await client.read_resource("incumbent://report")
            await client.get_prompt("triage_eval_set", {"folder": BRANCH_LINE})
            assert finished == []
            fitting.may_end.set()

    drive(work)
    assert len(finished) == 3 * WORKERS
    assert fitting.count == 1


def never(_: object) -> None:
    pytest.fail("it is there at once")


def test_what_ends_the_making_ends_nobody_who_waits() -> None:
    def leave() -> str:
        raise SystemExit(3)

    kept = SingleFlight[str](2)
    with pytest.raises(RuntimeError, match=r"SystemExit\(3\)"):
        kept.get("a", leave, never)
    assert kept.get("a", lambda: "made", never) == "made"


def test_where_no_thread_starts_nobody_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    kept = SingleFlight[str](2)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            kept.get("a", lambda: "made", never)
    assert kept.get("a", lambda: "made", never) == "made"


def test_of_what_is_made_the_latest_are_kept() -> None:
    made: list[str] = []

    def make(key: str) -> str:
        made.append(key)
        return key

    kept = SingleFlight[str](2)
    for key in ("a", "b", "a", "c", "b", "a"):
        assert kept.get(key, partial(make, key), never) == key
    assert made == ["a", "b", "c", "a"]


def test_a_classifier_is_made_once_and_anew_after_a_change_of_taxonomy(platform: Path) -> None:
    made: list[SlowBackend] = []

    def make(_: object) -> SlowBackend:
        made.append(SlowBackend(pause=0))
        return made[-1]

    workspace = Workspace(platform, CONFIG_FILE, environment={}, make_backend=make)
    for _ in range(3):
        ask(workspace_client(workspace), "classify", folder=BRANCH_LINE)
    assert len(made) == 1
    taxonomy = platform / "taxonomy" / "taxonomy.yaml"
    taxonomy.write_text(taxonomy.read_text(encoding="utf-8").replace("description: ", "description: Now ", 1))
    ask(workspace_client(workspace), "classify", folder=BRANCH_LINE)
    assert len(made) == 2
