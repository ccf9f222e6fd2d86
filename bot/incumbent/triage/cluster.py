"""Judges shards of representatives on the machines of a Ray cluster.

Ray's client ends its whole process when the cluster is lost, so what talks to Ray (from :func:`drive` on) runs in a
process of its own.  There nothing reads or writes the work folder.  Ray Data distributes the shards, starts workers
where there are processors, and gives the shards of a lost machine to another one.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import Enum, auto
from importlib.metadata import version
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

import incumbent
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import Arrays
from incumbent.classifier.embedded.weights import WeightsError
from incumbent.classifier.model import Backend, Identity
from incumbent.errors import IncumbentError, OutsideError, UsageError
from incumbent.files.process import set_loaded_aside
from incumbent.pipeline.workspace import open_backend, with_masks
from incumbent.rater.contextualizer import LiveSet
from incumbent.text.digests import digest
from incumbent.triage.classifying import Ground, Judge, Representative

if TYPE_CHECKING:
    from ray import ObjectRef

AUTO: Final = "auto"
_CLOSING: Final = 10
_FIX: Final = "the same command goes on with what is left, with or without --ray"
_AT_ONCE: Final = 10_000
"""Shards in Ray's object store at a time; what exceeds its memory it keeps on disk."""
_BEAT: Final = 2.0
_INSTALL: Final = "install the same on every machine of the cluster, for the Python that runs Ray (docs/triage.md)"

Shard: TypeAlias = tuple[str, Sequence[Representative]]
"""A shard's name, and its content."""
JudgedShard: TypeAlias = tuple[str, list[dict[str, Any]]]
"""A shard's name, and its rows."""


@dataclass(frozen=True, kw_only=True)
class RayCluster:
    """A Ray cluster: HOST:PORT of its head, or ``auto`` for the one that this machine is part of.

    It counts as lost after this many ``seconds`` without an answer or without a processor.
    """

    address: str
    seconds: int

    def __post_init__(self) -> None:
        host, _, port = self.address.rpartition(":")
        if self.address != AUTO and not (host and "/" not in host and port.isdecimal()):
            fix = "give HOST:PORT of its head as `ray start --head` prints it, or auto"
            raise UsageError(f"--ray: {self.address!r} is no address of a Ray cluster; {fix}")


class MessageKind(Enum):
    """The kinds of messages from the process that connects to the cluster."""

    ALIVE = auto()
    WANTED = auto()
    JUDGED = auto()
    FAILED = auto()
    ENDED = auto()


@dataclass(frozen=True, kw_only=True)
class Order:
    """The input of the process that connects to the cluster.

    ``identity`` is that of the classifier there; ``model`` is a fitted model, unless the shipped one is used.
    """

    cluster: RayCluster
    judge: Judge
    ground: Ground
    identity: Identity
    model: Arrays | None
    log: Path


def judged_on(
    cluster: RayCluster, judge: Judge, ground: Ground, backend: EmbeddedBackend, shards: Iterable[Shard], log: Path
) -> Generator[JudgedShard, None, None]:
    """The ``shards``, each judged once, in the order of completion; Ray writes its ``log``.

    Raises :class:`OutsideError` if the cluster cannot be used or is lost, and re-raises errors of workers.
    """
    reach(cluster)
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    order = Order(
        cluster=cluster, judge=judge, ground=ground, identity=backend.identity, model=backend.handed_over(), log=log
    )
    process = context.Process(target=drive, args=(theirs, order), daemon=True)
    process.start()
    theirs.close()
    left = iter(shards)
    what = MessageKind.ALIVE
    try:
        while True:
            if not ours.poll(cluster.seconds):
                said = f"the Ray cluster at {cluster.address} had no answer or no processor for {cluster.seconds} s"
                raise OutsideError(f"{said}; see `ray status`, and {log}; {_FIX}")
            try:
                what, value = ours.recv()
                if what is MessageKind.WANTED:
                    ours.send(next(left, None))
            except (EOFError, ConnectionError):
                said = f"the connection to the Ray cluster at {cluster.address} was lost"
                raise OutsideError(f"{said}; see {log}; {_FIX}") from None
            if what is MessageKind.JUDGED:
                yield value
            elif what is MessageKind.FAILED:
                raise value
            elif what is MessageKind.ENDED:
                return
    finally:
        ours.close()
        process.join(_CLOSING if what in (MessageKind.FAILED, MessageKind.ENDED) else 0)
        # Only Ray can end the process; the cluster stops the work of a driver that is gone.
        process.kill()
        process.join()


def reach(cluster: RayCluster) -> None:
    """Raise :class:`OutsideError` if nothing listens there: Ray itself takes long to report that."""
    if cluster.address == AUTO:
        return
    host, _, port = cluster.address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), cluster.seconds).close()
    except (OSError, OverflowError) as error:
        fix = "check the address, and that `ray start --head` runs there and a firewall lets this machine through"
        raise OutsideError(f"nothing answers at {cluster.address} ({error}); {fix}") from None


def drive(pipe: Connection, order: Order) -> None:
    """Judge the shards from ``pipe`` on the cluster of ``order``; runs in a process of its own.

    The last message says how it ended: normally, or with an error.
    """
    # The parent process says when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with order.log.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    messages = _Messages(pipe)
    try:
        with suppress(BrokenPipeError, EOFError):
            _judge(messages, order)
            messages.send(MessageKind.ENDED)
    except IncumbentError as error:
        messages.send(MessageKind.FAILED, error)
    except BaseException as error:
        messages.send(MessageKind.FAILED, RuntimeError(f"{type(error).__name__}: {error}"))
        raise


class _Messages:
    """The connection to the parent process, which several threads may use."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()

    def send(self, what: MessageKind, value: Any = None) -> None:
        """Send a message; raises :class:`BrokenPipeError` when the other side is gone."""
        with self._lock:
            self._pipe.send((what, value))

    def shards(self) -> Iterator[Shard]:
        """The remaining shards, requested one by one."""
        while True:
            self.send(MessageKind.WANTED)
            shard = self._pipe.recv()
            if shard is None:
                return
            yield shard


def _judge(messages: _Messages, order: Order) -> None:
    # No usage reports to Ray's makers, and no new local cluster if the given one is gone.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_AUTO_CONNECT": "0"}
    import pyarrow
    import ray
    from ray.data import ActorPoolStrategy, DataContext, from_arrow_refs

    _connect(order)
    threading.Thread(target=_show_life, args=(messages,), daemon=True).start()
    _refuse_others(order)
    DataContext.get_current().enable_progress_bars = False
    arguments = (installed(), order.identity, order.judge, ray.put(order.ground), ray.put(order.model))
    shards = messages.shards()
    while given := [ray.put(pyarrow.table(_row(*shard))) for shard in islice(shards, _AT_ONCE)]:
        # At least one: an idle worker makes room for one that a lost machine had.
        workers = ActorPoolStrategy(min_size=1, max_size=max(1, int(ray.cluster_resources().get("CPU", 1))))
        found = from_arrow_refs(given).map_batches(
            ShardJudge, fn_constructor_args=arguments, batch_size=1, compute=workers
        )
        try:
            for row in found.iter_rows():
                if row["failure"] is not None:
                    raise row["failure"]
                messages.send(MessageKind.JUDGED, (row["shard"], json.loads(row["rows"])))
        except ray.exceptions.UserCodeException:
            raise
        except ray.exceptions.RayError as error:
            raise OutsideError(f"the Ray cluster failed ({_first_line(error)}); see {order.log}") from error


def _row(name: str, rows: Sequence[Representative]) -> dict[str, list[str]]:
    return {"shard": [name], "rows": [json.dumps([asdict(row) for row in rows])]}


def _connect(order: Order) -> None:
    import ray

    address = order.cluster.address
    try:
        ray.init(address, configure_logging=False, log_to_driver=False)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        fix = (
            "run the command on a machine of the cluster (`ray start --address` makes it one), with its Ray and Python"
        )
        said = " ".join(str(error).split())
        raise OutsideError(f"the Ray cluster at {address} cannot be used: {said}; {fix}") from error


def _show_life(messages: _Messages) -> None:
    import ray

    while True:
        try:
            if ray.cluster_resources().get("CPU"):
                messages.send(MessageKind.ALIVE)
        except BrokenPipeError:
            # The command is gone, and Ray would go on with the shards that it has.
            os._exit(1)
        time.sleep(_BEAT)


def _refuse_others(order: Order) -> None:
    """Raise :class:`OutsideError` if a machine lacks Incumbent, or has another version: a worker there could not report
    it.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    asked = {}
    for node in ray.nodes():
        if node["Alive"] and node["Resources"].get("CPU"):
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ask = ray.remote(version).options(num_cpus=0, scheduling_strategy=there)
            asked[f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"] = ask.remote("incumbent")
    for machine, answer in asked.items():
        try:
            found = ray.get(answer, timeout=order.cluster.seconds)
        except ModuleNotFoundError:
            raise OutsideError(f"{machine} lacks Incumbent; {_INSTALL}") from None
        except ray.exceptions.RayError as error:
            said = f"{machine}, a machine of the Ray cluster, did not answer ({_first_line(error)})"
            raise OutsideError(f"{said}; see `ray status`, and {order.log}") from error
        if found != version("incumbent"):
            raise OutsideError(f"{machine} has Incumbent {found}, this one {version('incumbent')}; {_INSTALL}")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def installed() -> dict[str, str]:
    """Names and versions of what judges queries on this machine: they must be the same everywhere."""
    folder = Path(incumbent.__file__).parent
    code = digest({path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.py")})
    return {"code": code, "numpy": version("numpy")}


class ShardJudge:
    """``judge`` with the classifier of a worker, which is loaded when the first shard comes.

    ``required`` is the value of :func:`installed` at the driver, and ``identity`` that of its classifier.  ``ground``
    and ``model`` are in Ray's object store.
    """

    def __init__(
        self,
        required: Mapping[str, str],
        identity: Identity,
        judge: Judge,
        ground: ObjectRef[Ground],
        model: ObjectRef[Any],
    ) -> None:
        self._required = required
        self._identity = identity
        self._judge = judge
        self._references = (ground, model)
        self._loaded: tuple[Ground, LiveSet, Backend] | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The one shard of ``batch``, judged; or its failure, as a value, because a raised one would lose its
        class.
        """
        failure = np.full(1, None, dtype=object)
        found: list[dict[str, Any]] = []
        try:
            self._loaded = self._loaded or self._load()
            rows = [Representative(**row | {"turns": tuple(row["turns"])}) for row in json.loads(batch["rows"][0])]
            found = self._judge(rows, *self._loaded)
        except IncumbentError as error:
            failure[0] = error
        return {"shard": batch["shard"], "rows": [json.dumps(found)], "failure": failure}

    def _load(self) -> tuple[Ground, LiveSet, Backend]:
        import ray

        machine = ray.util.get_node_ip_address()
        different = [name for name, found in installed().items() if found != self._required[name]]
        if different:
            raise OutsideError(f"{machine} has other versions than the driver ({', '.join(different)}); {_INSTALL}")
        ground, model = ray.get(list(self._references))
        threadpool_limits(1)
        with_masks(ground.platform)
        try:
            backend = open_backend(ground.platform)
        except WeightsError as error:
            raise WeightsError(f"{machine}: {error.brief}") from None
        if backend.identity != self._identity:
            raise OutsideError(f"{machine} has the classifier {backend.identity}, not {self._identity}; {_INSTALL}")
        if model is not None and isinstance(backend, EmbeddedBackend):
            backend.hand_over(model)
        live = ground.live()
        set_loaded_aside()
        return ground, live, backend
