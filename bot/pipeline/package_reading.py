"""Reads the packages of many customers, in several processes if that saves time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.config import Curation
from bot.errors import Problem
from bot.files.snapshot import WorkingTree
from bot.pipeline.submission import Package, collect, read_package
from bot.pipeline.worker_pool import worker_pool
from bot.text.masking import mask_by

_WORTH_A_PROCESS: Final = 100
"""The number of packages whose reading takes about as long as the start of a process."""
_AT_A_TIME: Final = 20
"""The number of packages that a process reads before it returns them, or stops."""


@dataclass(frozen=True, slots=True)
class PackageReading:
    """The package of one folder, or ``None`` where it cannot be judged, and the problems of the folder."""

    package: Package | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class PackageReader:
    """Reads packages of the platform ``repository``, with the limits of ``config``."""

    repository: WorkingTree
    config: Curation

    def read(self, folder: str) -> PackageReading:
        """The package in ``folder``, which is ``eval_sets/<customer>/<agent>``."""
        _, customer, agent = folder.split("/")
        tree = WorkingTree(self.repository.root / folder, self.repository.name(folder))
        problems: list[Problem] = []
        package = collect(lambda: read_package(tree, customer, agent, folder, self.config.limits), problems)
        if package is not None:
            problems.extend(package.submission.problems)
        return PackageReading(package, tuple(problems))

    def read_all(self, folders: Sequence[str], processes: int) -> list[PackageReading]:
        """The packages in ``folders``, in this order.

        It takes at most this number of ``processes``, and this process alone where there are few folders.  Raises
        :class:`OutsideError` where a process dies.
        """
        processes = min(processes, len(folders) // _WORTH_A_PROCESS)
        if processes < 2:
            return [self.read(folder) for folder in folders]
        parts = [folders[start : start + _AT_A_TIME] for start in range(0, len(folders), _AT_A_TIME)]
        fix = "run the command again, with --processes 1 if the memory was full"
        with worker_pool(processes, fix, _begin, self) as pool:
            running = [pool.submit(_read, part) for part in parts]
            return [reading for each in running for reading in each.result()]


_readers: list[PackageReader] = []


def _begin(reader: PackageReader) -> None:
    mask_by(reader.config.personal_data.shown)
    _readers.append(reader)


def _read(folders: Sequence[str]) -> list[PackageReading]:
    return [_readers[0].read(folder) for folder in folders]
