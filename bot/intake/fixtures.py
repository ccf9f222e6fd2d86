"""The folder of a platform repository that holds fixtures, and which named fixtures are not in it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from bot.errors import Problem, untrusted_list
from bot.files.snapshot import Snapshot, normal_path
from bot.intake.query import Query, Setup


@dataclass(frozen=True, slots=True)
class FixtureFolder:
    """The ``names`` of all files and folders below ``path``.

    What a customer names is compared with these and is never opened, so that no name leads out of the folder.
    """

    path: str
    names: frozenset[str]

    @staticmethod
    def of(snapshot: Snapshot, path: str) -> FixtureFolder:
        """The folder at ``path`` of ``snapshot``; without names if it is not there."""
        names: set[str] = set()
        for file in snapshot.paths(path):
            name = file.removeprefix(f"{path}/")
            while name and name not in names:
                names.add(name)
                name = posixpath.dirname(name)
        return FixtureFolder(path, frozenset(names))

    def missing(self, setup: Setup) -> tuple[str, ...]:
        """The fixtures that ``setup`` names and that are not here, each once."""
        return tuple(name for name in dict.fromkeys(setup.fixtures) if normal_path(name) not in self.names)


def missing_fixtures(queries: Iterable[Query], folder: FixtureFolder) -> list[Problem]:
    """A problem for each of ``queries`` that names fixtures that are not in ``folder``."""
    return [
        Problem(
            query.file,
            query.line,
            f"{query.id}: not in {folder.path}/: {', '.join(missing)}",
            f"commit below {folder.path}/: {untrusted_list(missing)}; or correct `setup.fixtures`",
        )
        for query in queries
        if (missing := folder.missing(query.setup))
    ]
