"""`incumbent validate --processes`: the same answer in any number of processes, and an orderly end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bot.config import load_config
from bot.errors import InputError, OutsideError
from bot.files.snapshot import WorkingTree
from bot.pipeline.submission import PackageReader
from tests.cli.conftest import Incumbent, Outcome
from tests.cli.test_validate_changed import write
from tests.factories import REPOSITORY

CUSTOMERS = 240
COMMAND = [sys.executable, "-m", "bot", "validate", "--repo", "."]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}


@pytest.fixture
def many(platform: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A platform of so many customers that processes pay."""
    for number in range(CUSTOMERS):
        write(platform, f"customer-{number:03}", f"Show order {number}")
    monkeypatch.chdir(platform)
    return platform


def break_some(root: Path) -> None:
    """Faults and notes of several kinds, in the first folder, the last, and between."""
    folders = [root / f"eval_sets/customer-{number:03}/desk" for number in range(CUSTOMERS)]
    folders[0].joinpath("evals.yaml").write_text("eval_set: 1\nqueries: [\n")
    folders[19].joinpath("agent.yaml").unlink()
    folders[20].joinpath("evals.yaml").write_text("eval_set: 1\nqueries: [{id: a, query: x}, {id: a, query: y}]\n")
    folders[120].joinpath("agent.yaml").write_text("agent: 1\nname: n\nplatform: any\nrobin@nordkontor.de: 1\n")
    folders[121].joinpath("spare.json").write_text('{"name": "spare"}')
    folders[-1].joinpath("evals.yaml").write_text("eval_set: 1\nqueries: [{id: a, query: 7, wuery: x}]\n")


def validate(*arguments: str) -> Outcome:
    """In a process of its own, and two more."""
    words = [*COMMAND, *arguments, "--processes", "2"]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def running(group: int) -> list[str]:
    """The processes of this group that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of = path.read_text().rpartition(") ")[2].split()[:3]
            if int(of) == group and state not in "ZX":
                found.append(path.parent.name)
    return found


def test_any_number_of_processes_says_the_same(many: Path, incumbent: Incumbent) -> None:
    def alone(*arguments: str) -> Outcome:
        return incumbent("validate", "--repo", ".", *arguments, "--processes", "1")

    for arguments in ((), ("--json",)):
        whole = alone(*arguments)
        assert whole.code == 0, whole
        assert validate(*arguments) == whole
    break_some(many)
    for arguments in ((), ("--json",)):
        broken = alone(*arguments)
        assert broken.code == InputError.exit_code
        said = broken.out + broken.err
        assert said.count("customer-") >= 5
        assert "agent.yaml" in said
        assert "robin@nordkontor.de" not in said
        assert validate(*arguments) == broken


def test_few_eval_sets_start_no_process(platform: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("a process was started")

    write(platform, "amber")
    monkeypatch.setattr("bot.pipeline.worker_pool.worker_pool", refused)
    assert incumbent("validate", "--repo", platform, "--processes", "8").code == 0


@pytest.mark.usefixtures("many")
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the children of a process are seen on Linux")
@pytest.mark.parametrize("seconds", [0.0, 0.3, 1.0])
def test_ctrl_c_ends_all_processes_without_a_traceback(seconds: float) -> None:
    with subprocess.Popen(
        [*COMMAND, "--processes", "2"],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while len(children.read_text().split()) < 2 and process.poll() is None:
            time.sleep(0.01)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert b"Traceback" not in err
    # What keeps the books of shared memory notices the end of the others a moment later.
    deadline = time.monotonic() + 30
    while running(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(process.pid)


class Deadly(WorkingTree):
    """The files of a platform, the reading of which ends a process."""

    def __setstate__(self, _: object) -> None:
        os._exit(1)


def test_a_process_that_dies_is_reported(platform: Path) -> None:
    config = load_config(WorkingTree(platform), None)
    with pytest.raises(OutsideError, match="--processes 1"):
        PackageReader(Deadly(platform), config).read_all(["eval_sets/amber/desk"] * CUSTOMERS, 2)
