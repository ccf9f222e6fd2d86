"""The two passes over representatives, in processes or on a cluster; each shard is written when it is complete."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from threadpoolctl import threadpool_limits

from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.model import Backend
from incumbent.pipeline.worker_pool import WorkerPool, worker_pool
from incumbent.pipeline.workspace import open_backend, with_masks
from incumbent.rater.contextualizer import LiveSet
from incumbent.triage.classifying import (
    CLASSIFIED,
    ESTIMATED,
    Ground,
    Judge,
    Representative,
    classify_shard,
    estimate_shard,
)
from incumbent.triage.cluster import RayCluster, judged_on
from incumbent.triage.tables import PART, connected, name, row_count, rows_of, write_rows
from incumbent.triage.work_folder import WEIGHTS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

REPRESENTATIVES: Final = "representatives"
ORDERED: Final = "ordered"
_AHEAD: Final = 2
"""Shards that are handed out for each process: the next one is there when one is complete."""


@dataclass(frozen=True, kw_only=True)
class Pass:
    """One pass: it takes the shards of the folder ``source``, sorted by the column ``order``, and writes to ``target``
    the rows that ``judge`` makes of each.
    """

    source: str
    order: str
    target: str
    columns: Mapping[str, str]
    judge: Judge


@dataclass(frozen=True, kw_only=True)
class TriageWorkers:
    """What makes a pass: the machines of a ``cluster``, or else ``processes`` of this one.

    ``megabytes`` bound the memory of the database of each process.
    """

    processes: int
    megabytes: int
    cluster: RayCluster | None = None


FIRST: Final = Pass(source=REPRESENTATIVES, order="place", target="estimated", columns=ESTIMATED, judge=estimate_shard)
SECOND: Final = Pass(source=ORDERED, order="position", target="classified", columns=CLASSIFIED, judge=classify_shard)


@contextmanager
def pool_of(processes: int, begin: Callable[..., None], *arguments: Any) -> Iterator[WorkerPool]:
    """A pool of ``processes`` with one thread each; see :func:`worker_pool`."""
    fix = "run the command again, with fewer --processes if the memory was full: it goes on with what is left"
    with worker_pool(processes, fix, _begin, begin, arguments) as pool:
        yield pool


def _begin(begin: Callable[..., None], arguments: Sequence[Any]) -> None:
    threadpool_limits(1)
    begin(*arguments)


def make_pass(
    which: Pass,
    work: Path,
    every: Sequence[Path],
    ground: Ground,
    backend: Backend,
    workers: TriageWorkers,
    progress: Callable[[int], None],
    enough: Callable[[Path], bool] = lambda shard: False,
) -> None:
    """Make the pass ``which`` over ``every`` shard in ``work`` that is not complete yet, until ``enough`` says so.

    It is asked about each complete shard of ``target``, in their order.  A language model is asked from this process
    alone, whose budget and rate apply to all.  ``progress`` gets how many representatives are done.
    Raises :class:`OutsideError` if a process dies, or the cluster is lost.
    """
    target = work / which.target
    target.mkdir(exist_ok=True)
    with connected(work, workers.megabytes) as connection:
        done = 0
        complete = {path: None for path in every if _is_complete(connection, target / path.name, which)}
        left = [path for path in every if path not in complete]
        if left and isinstance(backend, EmbeddedBackend) and workers.cluster is not None:
            made = _made_on(workers.cluster, which, work, left, ground, backend, connection)
        elif isinstance(backend, EmbeddedBackend) and min(workers.processes, len(left)) > 1:
            made = _made_in_processes(workers, which, work, left, ground, backend)
        else:
            made = _made_here(which, work, left, ProcessState(which, ground, ground.live(), backend, connection))
        with closing(made):
            for path in _in_order(every, chain(complete, made)):
                done += row_count(connection, path)
                progress(done)
                if enough(target / path.name):
                    break


def _made_here(which: Pass, work: Path, left: Sequence[Path], state: ProcessState) -> Generator[Path, None, None]:
    for path in left:
        state.judge(path, work / which.target / path.name)
        yield path


def _made_on(
    cluster: RayCluster,
    which: Pass,
    work: Path,
    left: Sequence[Path],
    ground: Ground,
    backend: EmbeddedBackend,
    connection: DuckDBPyConnection,
) -> Generator[Path, None, None]:
    asked = ((path.name, _read(connection, path, which)) for path in left)
    with closing(judged_on(cluster, which.judge, ground, backend, asked, work / "ray.log")) as judged:
        for shard, rows in judged:
            write_rows(connection, work / which.target / shard, which.columns, rows)
            yield work / which.source / shard


def _made_in_processes(
    workers: TriageWorkers, which: Pass, work: Path, left: Sequence[Path], ground: Ground, backend: EmbeddedBackend
) -> Generator[Path, None, None]:
    # Once, and not in every process: the processes read the cache that it writes, and map the weights.
    backend.fit()
    if backend.weights is not None:
        backend.weights.save(work / WEIGHTS)
    ahead = iter(left)
    processes = min(workers.processes, len(left))
    try:
        with pool_of(processes, _open_state, which, work, ground, workers.megabytes) as pool:
            running: dict[Future[None], Path] = {}
            while True:
                # Few at a time, in their order: what is made beyond the last that counts is in vain.
                for path in islice(ahead, _AHEAD * processes - len(running)):
                    running[pool.submit(_work, path, work / which.target / path.name)] = path
                if not running:
                    return
                for each in wait(running, return_when=FIRST_COMPLETED).done:
                    each.result()
                    yield running.pop(each)
    finally:
        shutil.rmtree(work / WEIGHTS, ignore_errors=True)
        # Of processes that were ended in the middle of a shard.
        for path in (work / which.target).glob(f"*{PART}"):
            path.unlink()


def _in_order(every: Iterable[Path], complete: Iterable[Path]) -> Iterator[Path]:
    """``every`` path in its order, as soon as it and all before it are ``complete``."""
    waiting = iter(every)
    following = next(waiting, None)
    there: set[Path] = set()
    for path in complete:
        there.add(path)
        while following in there:
            yield following
            following = next(waiting, None)


@dataclass(frozen=True)
class ProcessState:
    """What a process needs to make a pass."""

    which: Pass
    ground: Ground
    live: LiveSet
    backend: Backend
    connection: DuckDBPyConnection

    def judge(self, path: Path, target: Path) -> None:
        """Judge the representatives in ``path``, and write the result to ``target``."""
        rows = self.which.judge(_read(self.connection, path, self.which), self.ground, self.live, self.backend)
        write_rows(self.connection, target, self.which.columns, rows)


_states: list[ProcessState] = []


def _open_state(which: Pass, work: Path, ground: Ground, megabytes: int) -> None:
    """Load the state that each process needs once."""
    with_masks(ground.platform)
    backend = open_backend(ground.platform)
    if isinstance(backend, EmbeddedBackend) and backend.weights is not None:
        backend.weights.use(work / WEIGHTS)
    _states.append(ProcessState(which, ground, ground.live(), backend, connected(work, megabytes)))


def _work(path: Path, target: Path) -> None:
    _states[0].judge(path, target)


def _read(connection: DuckDBPyConnection, path: Path, which: Pass) -> list[Representative]:
    name(connection, "shard", [path])
    query = f"SELECT {which.order} AS position, place, id, agent, turns, exact + near AS weight FROM shard ORDER BY 1"
    return [Representative(**row | {"turns": tuple(row["turns"])}) for row in rows_of(connection, query)]


def _is_complete(connection: DuckDBPyConnection, path: Path, which: Pass) -> bool:
    """Whether the shard at ``path`` is there, with a result for each row: a language model may lack some."""
    if not path.exists() or "shortfall" not in which.columns:
        return path.exists()
    name(connection, "shard", [path])
    (found,) = rows_of(connection, "SELECT count(shortfall) AS missing FROM shard")
    return not found["missing"]
