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

from bot.classifier.embedded.backend import EmbeddedBackend
from bot.classifier.model import Backend
from bot.pipeline.worker_pool import WorkerPool, worker_pool
from bot.pipeline.workspace import open_backend, with_masks
from bot.rater.contextualizer import LiveSet
from bot.rater.model import ScoredQuery
from bot.triage.classifying import (
    CLASSIFIED,
    ESTIMATED,
    MERIT,
    Ground,
    Judge,
    Representative,
    classify_shard,
    estimate_shard,
    known_items,
    known_texts,
    scored,
)
from bot.triage.cluster import RayCluster, judged_on
from bot.triage.tables import PART, connected, name, row_count, rows_of, shards, write_rows
from bot.triage.work_folder import WEIGHTS

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


def concerned(connection: DuckDBPyConnection, work: Path, ground: Ground) -> Iterator[Representative]:
    """Representatives with a text or an id that is on record for their agent."""
    for agent, package in sorted(ground.packages.items()):
        texts, items = known_texts(ground.platform, package), known_items(ground.platform, package)
        if texts:
            name(connection, "representatives", shards(work, REPRESENTATIVES))
            query = (
                "SELECT place AS position, place, id, agent, turns, exact + near AS weight FROM representatives "
                "WHERE agent = ? AND (list_contains(?::VARCHAR[][], turns) OR list_contains(?::VARCHAR[], id)) "
                "ORDER BY place"
            )
            for row in rows_of(connection, query, [agent, [list(text) for text in sorted(texts)], sorted(items)]):
                yield Representative(**row | {"turns": tuple(row["turns"])})


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


def promising(
    connection: DuckDBPyConnection, classified: Path, ordered: Path
) -> tuple[Iterator[tuple[int, ScoredQuery | None]], int]:
    """Of a shard those with merit against R, by position, ``None`` where a classification is missing; and the position
    after its last one.
    """
    name(connection, "shard_classified", [classified])
    name(connection, "shard_ordered", [ordered])
    (found,) = rows_of(connection, 'SELECT coalesce(max("position") + 1, 0) AS "end" FROM shard_ordered')
    query = (
        "SELECT c.*, o.turns FROM shard_classified c JOIN shard_ordered o USING (position) "
        f"WHERE {MERIT} OR shortfall IS NOT NULL ORDER BY position"
    )
    rows = rows_of(connection, query)
    queries = ((row["position"], None if row["shortfall"] else scored(row, row["turns"])) for row in rows)
    return queries, found["end"]


def name_looked_at(connection: DuckDBPyConnection, view: str, paths: Sequence[Path], looked: int | None) -> None:
    """Define ``view`` as the rows of classified shards that count: at positions before ``looked``, if that is set.

    What processes had begun beyond it may be there or not.
    """
    name(connection, view, paths, where="" if looked is None else f"position < {looked:d}")


def missing(connection: DuckDBPyConnection, work: Path, looked: int | None, most: int) -> dict[str, str]:
    """At most ``most`` representatives that could not be classified, and why."""
    name_looked_at(connection, "classified", shards(work, SECOND.target), looked)
    query = "SELECT id, shortfall FROM classified WHERE shortfall IS NOT NULL ORDER BY position LIMIT ?"
    return {row["id"]: row["shortfall"] for row in rows_of(connection, query, [most])}
