"""Classifies shards of representatives in processes or on a cluster; each shard is written when it is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from threadpoolctl import threadpool_limits

from bot.classifier.embedded.backend import EmbeddedBackend
from bot.classifier.model import Backend, Progress
from bot.pipeline.worker_pool import WorkerPool, worker_pool
from bot.pipeline.workspace import open_backend, with_masks
from bot.rater.contextualizer import LiveSet
from bot.triage.classifying import CLASSIFIED, Ground, Representative, classify_shard, known_items, known_texts
from bot.triage.cluster import RayCluster, classified_on
from bot.triage.tables import connected, name, row_count, rows_of, write_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

REPRESENTATIVES: Final = "representatives"
CLASSIFIED_FOLDER: Final = "classified"


def shards(work: Path, part: str) -> list[Path]:
    """The shards of this ``part`` of the folder ``work``, in order."""
    return sorted((work / part).glob("*.parquet"))


def concerned(connection: DuckDBPyConnection, work: Path, ground: Ground) -> Iterator[Representative]:
    """Representatives with a text or an id that is on record for their agent."""
    for agent, package in sorted(ground.packages.items()):
        texts, items = known_texts(ground.platform, package), known_items(ground.platform, package)
        if texts:
            name(connection, "representatives", shards(work, REPRESENTATIVES))
            query = (
                "SELECT place, id, agent, turns, exact + near AS weight FROM representatives WHERE agent = ? AND "
                "(list_contains(?::VARCHAR[][], turns) OR list_contains(?::VARCHAR[], id)) ORDER BY place"
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


def classify_shards(
    work: Path,
    ground: Ground,
    backend: Backend,
    processes: int,
    megabytes: int,
    progress: Progress,
    cluster: RayCluster | None = None,
) -> None:
    """Classify each shard of representatives in ``work`` that is not classified yet, or not completely.

    With a ``cluster`` its machines classify, else ``processes`` of this one.  A language model is asked from this
    process alone, whose budget and rate apply to all.  ``megabytes`` bound the memory of each database; ``progress``
    counts representatives.  Raises :class:`OutsideError` if a process dies, or the cluster is lost.
    """
    folder = work / CLASSIFIED_FOLDER
    folder.mkdir(exist_ok=True)
    every = shards(work, REPRESENTATIVES)
    with connected(work, megabytes) as connection:
        sizes = {path: row_count(connection, path) for path in every}
        left = [path for path in every if not _is_done(connection, folder / path.name)]
        total = sum(sizes.values())
        done = total - sum(sizes[path] for path in left)
        progress(done, total)
        if cluster is not None and left and isinstance(backend, EmbeddedBackend):
            asked = ((path.name, _read(connection, path)) for path in left)
            with closing(classified_on(cluster, ground, backend, asked, work / "ray.log")) as classified:
                for shard, rows in classified:
                    write_rows(connection, folder / shard, CLASSIFIED, rows)
                    done += sizes[work / REPRESENTATIVES / shard]
                    progress(done, total)
            return
        if processes < 2 or len(left) < 2 or not isinstance(backend, EmbeddedBackend):
            state = ProcessState(ground, ground.live(), backend, connection)
            for path in left:
                state.classify(path, folder / path.name)
                done += sizes[path]
                progress(done, total)
            return
    # Once, and not in every process: the processes read the cache that it writes.
    backend.fit()
    with pool_of(min(processes, len(left)), _open_state, work, ground, megabytes) as pool:
        running = {pool.submit(_work, path, folder / path.name): path for path in left}
        for each in as_completed(running):
            each.result()
            done += sizes[running[each]]
            progress(done, total)


@dataclass(frozen=True)
class ProcessState:
    """What a process needs to classify."""

    ground: Ground
    live: LiveSet
    backend: Backend
    connection: DuckDBPyConnection

    def classify(self, path: Path, target: Path) -> None:
        """Classify the representatives in ``path``, and write the result to ``target``."""
        rows = _read(self.connection, path)
        write_rows(self.connection, target, CLASSIFIED, classify_shard(rows, self.ground, self.live, self.backend))


_states: list[ProcessState] = []


def _open_state(work: Path, ground: Ground, megabytes: int) -> None:
    """Load the state that each process needs once."""
    with_masks(ground.platform)
    _states.append(ProcessState(ground, ground.live(), open_backend(ground.platform), connected(work, megabytes)))


def _work(path: Path, target: Path) -> None:
    _states[0].classify(path, target)


def _read(connection: DuckDBPyConnection, path: Path) -> list[Representative]:
    name(connection, "shard", [path])
    query = "SELECT place, id, agent, turns, exact + near AS weight FROM shard ORDER BY place"
    return [Representative(**row | {"turns": tuple(row["turns"])}) for row in rows_of(connection, query)]


def _is_done(connection: DuckDBPyConnection, path: Path) -> bool:
    if not path.exists():
        return False
    name(connection, "shard", [path])
    (found,) = rows_of(connection, "SELECT count(shortfall) AS missing FROM shard")
    return not found["missing"]


def missing(connection: DuckDBPyConnection, paths: Sequence[Path], most: int) -> dict[str, str]:
    """At most ``most`` representatives that could not be classified, and why."""
    name(connection, "classified", paths)
    query = "SELECT id, shortfall FROM classified WHERE shortfall IS NOT NULL ORDER BY place LIMIT ?"
    return {row["id"]: row["shortfall"] for row in rows_of(connection, query, [most])}
