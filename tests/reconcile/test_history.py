"""What a run costs after a merge of nothing: as much with many customers as with few."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dev.bench import history as bench
from incumbent.files.git import ObjectStore
from incumbent.files.git.process import GitProcess
from incumbent.github.git_state import World
from incumbent.ledger.events import events_path
from incumbent.ledger.model import BRANCH
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.run import reconcile_event, survey_event
from tests.factories import REPOSITORY

pytestmark = pytest.mark.untraced

FEW, TIMES = 3, 12


@dataclass
class Work:
    """What git was asked, how many rows of eval sets it said, and which contents were read of which sizes."""

    commands: list[str] = field(default_factory=list)
    eval_sets: int = 0
    contents: int = 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    done, run, content = Work(), GitProcess.run, GitProcess.content

    def heard(self: GitProcess, *arguments: str, **more: Any) -> tuple[int, bytes, str]:
        answer = run(self, *arguments, **more)
        done.commands.append(next(item for item in arguments if not item.startswith("-") and "=" not in item))
        done.eval_sets += answer[1].count(b"eval_sets/")
        return answer

    def read(self: GitProcess, object_id: str, *kind: Any) -> bytes:
        done.contents += 1
        return content(self, object_id, *kind)

    monkeypatch.setattr(GitProcess, "run", heard)
    monkeypatch.setattr(GitProcess, "content", read)
    return done


def both_jobs(bare: Path, folder: Path) -> tuple[Inventory, tuple[Any, ...]]:
    """The facts, and what was written."""
    with ObjectStore.create(folder / "first.git") as store:
        world = World(store=store, url=f"file://{bare}", token=None, run=None, configured=bench.named)
        inventory = survey_event(bench.EVENT, world, lambda *_: bench.Instant(), lambda done, total: None)
    assert isinstance(inventory, Inventory)
    with ObjectStore.create(folder / "second.git") as store:
        world = World(store=store, url=f"file://{bare}", token=None, run=None, configured=bench.named)
        done = reconcile_event(bench.EVENT, inventory, world, bench.Quiet(bare), lambda _: None, dry_run=False)
    return inventory, done.operations


@pytest.mark.integration
def test_a_run_with_nothing_merged_asks_as_much_of_git_with_many_customers_as_with_few(
    tmp_path: Path, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "ENTRIES", 80)
    bare, draw = tmp_path / "platform.git", random.Random(5)
    bench.make_repository(bare)
    brought = {path: text for number in range(FEW) for path, text in bench.eval_set(number, 3, draw).items()}
    bench.commit(bare, "main", brought)
    both_jobs(bare, tmp_path / "everything")
    found = []
    for closed in (FEW, FEW * TIMES):
        bench.commit(bare, BRANCH, {events_path(number): bench.events(number) for number in range(1, closed + 1)})
        both_jobs(bare, tmp_path / f"counted-{closed}")
        work.commands, work.eval_sets, work.contents = [], 0, 0
        inventory, written = both_jobs(bare, tmp_path / f"nothing-{closed}")
        assert (inventory.submissions, len(inventory.unchanged), written) == ((), closed, ())
        found.append((tuple(work.commands), work.contents))
        assert work.eval_sets == 0
        if closed == FEW:
            bench.multiply(bare, brought, FEW, TIMES)
    assert found[0] == found[1]


def test_what_reads_the_default_branch_loads_no_library_that_it_may_not_need() -> None:
    code = "import sys, incumbent.cli.ci, incumbent.reconcile.run\n"
    code += "print(sorted({'numpy', 'github', 'git', 'openai', 'incumbent.intake.agents'} & {*sys.modules}))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
