"""The workspace of all tools: one platform repository, opened anew for each call, and nothing outside of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from threading import Lock, Thread
from typing import Final, Generic, TypeVar

from incumbent.classifier.backends import verify_weights
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.model import Backend
from incumbent.curator.journal import refuse_half_written
from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import WorkingTree
from incumbent.files.user_cache import RememberedFiles, user_cache_folder
from incumbent.mcp.inputs import LONGEST_FOLDER, AgentInput, QueryInput, inline_package, one_of_both
from incumbent.mcp.untrusted import shown, unmarked
from incumbent.pipeline.review import Platform, Review
from incumbent.pipeline.submission import Package, submission_folders
from incumbent.pipeline.workspace import load_whole_platform, open_backend, open_package, with_local_results
from incumbent.report.verdict_text import listed
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.text.did_you_mean import did_you_mean

Made = TypeVar("Made")

PATIENCE: Final = 0.2
"""Seconds to wait for a value that may be there soon."""


class SingleFlight(Generic[Made]):
    """The latest ``most`` values by key, each computed in its own thread, one at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: dict[str, Future[Made]] = {}
        self._look = Lock()
        self._making = Lock()

    def get(self, key: str, make: Callable[[], Made], late: Callable[[Future[Made]], None]) -> Made:
        """What ``make`` returns, or raises; a failure is not kept.

        If it takes long, ``late`` is called with the future.  What ``late`` raises ends this call, not the computation.
        """
        with self._look:
            found = self._made.get(key)
            if found is None:
                found = Future()
                # A daemon: the process need not wait for it when its client is gone.
                Thread(target=self._make, args=(key, make, found), name="made once", daemon=True).start()
                # Not before the thread runs: no one may wait for a value that no thread computes.
                self._made[key] = found
                for old in list(self._made)[: -self._most]:
                    del self._made[old]
        if not wait([found], PATIENCE).done:
            late(found)
        return found.result()

    def _make(self, key: str, make: Callable[[], Made], future: Future[Made]) -> None:
        with self._making:
            try:
                future.set_result(make())
            except BaseException as error:  # noqa: BLE001 - whoever waits raises it
                with self._look:
                    if self._made.get(key) is future:
                        del self._made[key]
                # What ends this thread must not end those who wait.
                future.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))


_MOST_FOLDERS = 10
_MOST_BACKENDS = 4
"""The most fitted models that are kept; those of the oldest taxonomies are dropped first."""


def _open_fitted(platform: Platform) -> Backend:
    """The backend that the config names, fitted if it needs fitting."""
    verify_weights(platform.config.classifier)
    backend = open_backend(platform)
    if isinstance(backend, EmbeddedBackend):
        backend.fit()
    return backend


class Workspace:
    """The platform repository at ``root`` under the config ``config_path``.

    ``writes`` says whether tools may change it; ``environment`` holds tokens; ``make_backend`` builds the classifier
    that the config names.  ``latest`` is the last review of this server.
    """

    def __init__(
        self,
        root: Path,
        config_path: str,
        *,
        writes: bool = False,
        environment: Mapping[str, str] = os.environ,
        make_backend: Callable[[Platform], Backend] = _open_fitted,
    ) -> None:
        self.root = root.resolve()
        self.config_path = config_path
        self.writes = writes
        self.environment = environment
        self.latest: Review | None = None
        self._make_backend = make_backend
        self._fitted = SingleFlight[Backend](_MOST_BACKENDS)

    @property
    def files(self) -> WorkingTree:
        """The repository's files, named relative to it."""
        return WorkingTree(self.root, "")

    def platform(self) -> Platform:
        """The platform as in the files of now; raises :class:`InputError` with all faults."""
        if not self.files.exists(TAXONOMY_FILE):
            message = "there is no such file, so the server was not started on a platform repository"
            fix = "ask the person to start it with --repo DIR; DIR holds taxonomy/, config/ and regression_set/"
            raise InputError([Problem(TAXONOMY_FILE, None, message, fix)])
        refuse_half_written(self.root)
        remembered = RememberedFiles(user_cache_folder(self.environment), self.root)
        platform = load_whole_platform(self.files, self.config_path, remembered)
        return with_local_results(platform, self.root)

    def backend(self, platform: Platform, late: Callable[[Future[Backend]], None]) -> Backend:
        """The classifier of ``platform``; one that needs fitting is fitted once, at the first call.

        If that takes long, ``late`` is called in the thread of the call with the future.  What ``late`` raises ends the
        wait; the fitting goes on.  A classifier with costs is made for each call, so that each call has its own usage.
        """
        if platform.config.classifier.backend != "embedded":
            return self._make_backend(platform)
        taxonomy = platform.taxonomy
        settings = platform.config.classifier.model_dump_json()
        key = f"{settings} {taxonomy.model_dump_json()} {hash(taxonomy.exemplars)}"
        return self._fitted.get(key, lambda: self._make_backend(platform), late)

    def package(
        self,
        platform: Platform,
        folder: str | None,
        queries: list[QueryInput] | None = None,
        agent: AgentInput | None = None,
        customer: str | None = None,
        agent_name: str | None = None,
    ) -> Package:
        """The package of a call: that in ``folder``, or that of ``queries`` and ``agent``.

        Raises :class:`UsageError` for both or neither, and :class:`InputError` if it cannot be read.
        """
        one_of_both(folder, queries, agent)
        if queries is not None:
            return inline_package(platform, queries, agent)
        assert folder is not None
        return open_package(platform, self.root, self.folder(folder), customer, agent_name)

    def folder(self, named: str) -> Path:
        """The folder of the repository that ``named`` means after following links.

        Raises :class:`InputError` for any other place.
        """
        named = unmarked(named.rstrip("/") or "/")
        fix = (
            "name a folder of the platform repository, relative to it, such as eval_sets/CUSTOMER/AGENT; "
            "incumbent://eval-sets has them"
        )
        try:
            place = (self.root / named).resolve()
            inside = place.is_relative_to(self.root)
            there = inside and place.is_dir()
        except (OSError, ValueError, RuntimeError):
            inside, there = True, False
        if not inside:
            raise InputError([Problem(named, None, "the path leads out of the platform repository", fix)])
        folders = submission_folders(self.files)
        meant = [folder for folder in folders if shown(folder, LONGEST_FOLDER) == named]
        if len({named, *meant} if there else meant) > 1:
            raise InputError([Problem(named, None, "several folders look like this one", "rename one of them")])
        if not there and meant:
            return self.root / meant[0]
        if not there:
            near = did_you_mean(named, folders)
            there_are = f"; eval sets are in {listed(folders, _MOST_FOLDERS)}" if folders else ""
            message = f"there is no such folder in the platform repository{near}{there_are}"
            raise InputError([Problem(named, None, message, fix)])
        return place
