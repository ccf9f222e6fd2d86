"""``incumbent triage --ray`` on a cluster of three nodes: the bytes of one machine, whatever is killed meanwhile."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TypeVar

import pytest

from incumbent.errors import UsageError
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.triage.cluster import RayCluster
from tests.classifier.factories import openai_settings
from tests.factories import REPOSITORY
from tests.triage.quick_platform import quick_platform

SWITCH = "INCUMBENT_RAY"
AGENT = "examples/customers/northwind-tracker/tracker"
T = TypeVar("T")

ROWS = 1_000
SHARD = 10
PATIENCE = 300


@dataclass(frozen=True)
class Nodes:
    """A running cluster: the processes of its head's store and of its nodes; the first node is the head's."""

    address: str
    gcs: int
    raylets: tuple[int, ...]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Three nodes, of which nothing is left afterwards."""
    if find_spec("ray") is None:
        if os.environ.get(SWITCH) == "required":
            pytest.fail(f"{SWITCH}=required, but ray is missing: run `make test-cluster`")
        pytest.skip(f"ray is missing: `make test-cluster` installs it ({SWITCH}=required makes this a failure)")
    command = [sys.executable, str(Path(__file__).with_name("ray_nodes.py"))]
    log = tmp_path_factory.mktemp("nodes") / "stderr"
    with log.open("w") as errors, _started(command, errors) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, log.read_text()
            said = json.loads(line)
            yield Nodes(said["address"], said["gcs"], tuple(said["raylets"]))
            process.stdin.close()
            process.wait(30)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _started(command: list[str], errors: IO[str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True, start_new_session=True)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A platform that classifies without an embedding, some rows at a time, and traffic of its agent."""
    quick_platform(tmp_path, settings(seconds=120))
    (tmp_path / "t.jsonl").write_text(traffic(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@cache
def traffic() -> str:
    texts = [row.turns[0] for row in load_taxonomy(WorkingTree(REPOSITORY)).exemplars if len(row.turns) == 1]
    pairs = zip(random.Random(7).sample(texts, ROWS), random.Random(8).sample(texts, ROWS), strict=True)
    chosen = [f"{one} {other}" for one, other in pairs]
    return "\n".join(json.dumps({"id": f"t{place}", "query": text}) for place, text in enumerate(chosen))


def settings(*, seconds: int) -> str:
    return f"{{shard_rows: {SHARD}, cluster_seconds: {seconds}}}"


def command(out: str, *arguments: str) -> list[str]:
    base = [sys.executable, "-m", "incumbent", "triage", "t.jsonl", "--agent", AGENT, "--processes", "1"]
    return [*base, "--out", out, *arguments]


def run(out: str, *arguments: str, modules: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(modules)}
    return subprocess.run(
        command(out, *arguments), env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


@contextmanager
def started(out: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(
        command(out, *arguments), env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def wait_until(condition: Callable[[], T], what: str) -> T:
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what} did not happen within {PATIENCE} s"
        time.sleep(0.005)
    return found


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def classified(out: str) -> dict[Path, int]:
    """The shards that are written, with when."""
    return {path: path.stat().st_mtime_ns for path in Path(f"{out}.work/classified").glob("*.parquet")}


def later(before: Mapping[Path, int]) -> list[int]:
    """Not empty once several shards are written besides ``before``."""
    return [0] if len(classified("out")) - len(before) >= 5 else []


def children() -> Mapping[int, list[tuple[int, str]]]:
    """The processes that run here and their titles, by parent."""
    found: dict[int, list[tuple[int, str]]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            title = (folder / "cmdline").read_bytes().decode(errors="replace")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append((int(folder.name), title))
    return found


def at_work(raylet: int) -> bool:
    """Whether a worker of this node holds a shard at this moment."""
    return any(re.search(r"ShardJudge.*\.submit", title) for _, title in children().get(raylet, []))


def kill_node(raylet: int) -> None:
    for pid in [raylet, *(pid for pid, _ in children().get(raylet, []))]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("root")
def test_a_killed_command_and_then_a_killed_node_change_no_byte_of_what_one_machine_writes(nodes: Nodes) -> None:
    assert run("whole").returncode == 0
    arguments = ["--ray", nodes.address]
    with started("out", *arguments) as process:
        wait_until(lambda: classified("out"), "a first shard")
        os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: not any(map(at_work, nodes.raylets)), "the end of what the killed command had asked for")
    before = classified("out")
    assert 0 < len(before) < ROWS / SHARD
    assert not Path("out").exists()
    with started("out", *arguments) as process:
        victims = nodes.raylets[1:]
        # A node that holds a shard, or one that held some: on a machine with much else to do, work is hardly seen.
        found = wait_until(lambda: [*filter(at_work, victims)] or later(before), "work after what was left")
        assert process.poll() is None
        kill_node(found[0] if found[0] in victims else victims[0])
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    after = classified("out")
    assert {path: after[path] for path in before} == before
    assert content(Path("out.work/classified")) == content(Path("whole.work/classified"))
    assert content(Path("out")) == content(Path("whole"))


@pytest.mark.exhaustive
def test_the_cluster_estimates_and_ends_where_one_machine_does(nodes: Nodes, root: Path) -> None:
    quick_platform(root, "{shard_rows: 10, round: 20, stop_after: 15, cluster_seconds: 120}", embeds=True)
    (root / "t.jsonl").write_text("\n".join(traffic().splitlines()[:80]), encoding="utf-8")
    for out, more in (("here", []), ("there", ["--ray", nodes.address])):
        ended = run(out, *more)
        assert ended.returncode == 0, ended.stderr
    assert content(Path("there")) == content(Path("here"))
    assert "were not looked at" in Path("there/report.md").read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_a_worker_with_other_code_is_refused_in_its_own_words(nodes: Nodes, root: Path) -> None:
    shutil.copytree(
        REPOSITORY / "bot" / "incumbent", root / "changed/incumbent", ignore=shutil.ignore_patterns("__pycache__")
    )
    with (root / "changed/incumbent/rounding.py").open("a", encoding="utf-8") as file:
        file.write("# Another version of Incumbent.\n")
    ended = run("out", "--ray", nodes.address, modules=root / "changed")
    assert ended.returncode == 4, ended.stderr
    assert "has other versions than the driver (code); install the same on every machine" in ended.stderr
    assert not classified("out")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("nodes")
def test_what_is_no_cluster_is_refused_within_the_time_that_is_configured(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        place = f"127.0.0.1:{deaf.getsockname()[1]}"
        quick_platform(root, settings(seconds=3))
        begun = time.monotonic()
        ended = run("out", "--ray", place)
        assert ended.returncode == 4, ended.stderr
        assert f"the Ray cluster at {place} " in ended.stderr
        assert time.monotonic() - begun < 45
    ended = run("out", "--ray", place)
    assert ended.returncode == 4, ended.stderr
    assert f"nothing answers at {place}" in ended.stderr
    assert "ray start --head" in ended.stderr


@pytest.mark.parametrize("address", ["", "10.0.0.5", "ray://10.0.0.5:10001", "10.0.0.5:", ":6379", "local"])
def test_an_address_is_that_of_a_head_or_auto(address: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        RayCluster(address=address, seconds=1)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("nodes")
def test_a_language_model_is_not_asked_from_a_cluster(root: Path) -> None:
    config = root / "config/curation.yaml"
    settings = openai_settings(endpoint="https://llm.invalid/v1").model_dump_json()
    text = config.read_text(encoding="utf-8").replace("openai: null", f"openai: {settings}")
    config.write_text(text.replace("backend: embedded", "backend: openai"), encoding="utf-8")
    ended = run("out", "--ray", "auto")
    assert ended.returncode == 2
    assert "leave --ray out" in ended.stderr


@pytest.mark.exhaustive
def test_a_cluster_whose_head_dies_is_lost_within_the_time_that_is_configured(nodes: Nodes, root: Path) -> None:
    """The last of the module: nothing works afterwards."""
    quick_platform(root, settings(seconds=20))
    with started("out", "--ray", nodes.address) as process:
        wait_until(lambda: classified("out"), "a first shard")
        os.kill(nodes.gcs, signal.SIGKILL)
        kill_node(nodes.raylets[0])
        begun = time.monotonic()
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 4, said
    assert "the same command goes on with what is left" in said
    assert time.monotonic() - begun < 45
