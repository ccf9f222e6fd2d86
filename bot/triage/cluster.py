"""Classifies shards of representatives on the machines of a Ray cluster: the side that reads and writes the files.

Ray's client ends its whole process when the cluster is lost, so it runs in a process of its own (:mod:`ray_data`).
"""

from __future__ import annotations

import socket
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, TypeAlias

from bot.classifier.embedded.backend import EmbeddedBackend
from bot.classifier.embedded.cache import Arrays
from bot.errors import OutsideError, UsageError
from bot.triage.classifying import Ground, Representative

AUTO: Final = "auto"
_CLOSING: Final = 10
_FIX: Final = "the same command goes on with what is left, with or without --ray"

Shard: TypeAlias = tuple[str, Sequence[Representative]]
"""A shard's name, and its content."""
Classified: TypeAlias = tuple[str, list[dict[str, Any]]]
"""A shard's name, and its rows from :func:`bot.triage.classifying.classify_shard`."""


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
    CLASSIFIED = auto()
    FAILED = auto()
    ENDED = auto()


@dataclass(frozen=True, kw_only=True)
class Order:
    """The input of the process that connects to the cluster; ``model`` is a fitted model, unless the shipped one is
    used.
    """

    cluster: RayCluster
    ground: Ground
    model: Arrays | None
    log: Path


def classified_on(
    cluster: RayCluster, ground: Ground, backend: EmbeddedBackend, shards: Iterable[Shard], log: Path
) -> Generator[Classified, None, None]:
    """The ``shards``, each classified once, in the order of completion; Ray writes its ``log``.

    Raises :class:`OutsideError` if the cluster cannot be used or is lost, and re-raises errors of workers.
    """
    from bot.triage.ray_data import drive

    reach(cluster)
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    order = Order(cluster=cluster, ground=ground, model=backend.handed_over(), log=log)
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
            if what is MessageKind.CLASSIFIED:
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
