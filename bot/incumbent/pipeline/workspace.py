"""The common start of all interfaces: platform, package, backend and audit stamp, from folders of a working tree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from incumbent.classifier.model import Backend, Stages, silent
from incumbent.curator.journal import refuse_half_written
from incumbent.curator.staging import AuditStamp
from incumbent.curator.store import FOLDER, entry_path
from incumbent.errors import InputError, Problem, UsageError
from incumbent.files.snapshot import Snapshot, WorkingTree
from incumbent.files.user_cache import Remembered, RememberedFiles, user_cache_folder
from incumbent.pipeline.review import Platform, load_platform
from incumbent.pipeline.submission import (
    Package,
    agent_name,
    collect,
    read_package,
    refuse_shared_ids,
    submission_folders,
)
from incumbent.text.masking import mask_by

if TYPE_CHECKING:
    from incumbent.classifier.embedded.recorded import RecordedModels
    from incumbent.files.git.file_history import Change, FileHistory
    from incumbent.ledger.releases.record import ReleaseRecord


def open_platform(repo: Path, config_path: str) -> Platform:
    """The platform repository in the working tree at ``repo``; raises :class:`InputError` for its faults."""
    refuse_half_written(repo)
    tree = WorkingTree(repo, "" if repo == Path() else repo.as_posix())
    platform = load_whole_platform(tree, config_path, RememberedFiles(user_cache_folder(os.environ), repo))
    return with_local_results(platform, repo)


def load_whole_platform(tree: WorkingTree, config_path: str, remembered: Remembered) -> Platform:
    """The platform in ``tree``, its masks set up; a link among its files is a fault, which can be removed here."""
    platform = with_masks(load_platform(tree, config_path, remembered))
    if platform.left_out:
        raise InputError(platform.left_out)
    return platform


def with_masks(platform: Platform) -> Platform:
    """``platform``, after setting up the masking of personal data by its config."""
    mask_by(platform.config.personal_data.shown)
    return platform


def with_local_results(platform: Platform, repo: Path) -> Platform:
    """``platform`` with what the ledger of the clone that contains ``repo`` says, as :func:`with_results` takes it."""
    from incumbent.ledger.clone import recorded_releases

    return _knowing(platform, recorded_releases(repo, platform.config.results.window).output)


def with_results(platform: Platform, ledger: Snapshot | None) -> Platform:
    """``platform`` whose set knows what release runs showed of its entries, by the ``ledger``."""
    from incumbent.ledger.releases.ledger_records import load_releases

    return _knowing(platform, load_releases(ledger, platform.config.results.window)[0])


def _knowing(platform: Platform, records: Sequence[ReleaseRecord]) -> Platform:
    from incumbent.ledger.releases.history import in_order, results_in

    config, known = platform.config, platform.regression_set
    if not records:
        return platform
    results = results_in(known, in_order(records), config.results)
    return replace(platform, regression_set=replace(known, results=results))


def open_package(platform: Platform, repo: Path, folder: Path, customer: str | None, agent: str | None) -> Package:
    """The package and its eval sets in ``folder``; its names are those given, or those of the folders."""
    resolved = folder.resolve()
    inside = resolved.is_relative_to(repo.resolve())
    shown = resolved.relative_to(repo.resolve()).as_posix() if inside else folder.as_posix()
    package = read_package(
        WorkingTree(folder, shown),
        customer or resolved.parent.name or "customer",
        agent or resolved.name or "agent",
        shown,
        platform.config.limits,
    )
    return refuse_shared_ids([package], platform.regression_set)[0]


def read_packages(platform: Platform, repo: Path, problems: list[Problem]) -> Iterator[Package]:
    """The packages with the eval sets in ``repo``, by folder; ``problems`` gets what could not be read of them."""
    tree = WorkingTree(repo)
    for folder in submission_folders(tree):
        customer, _, agent = agent_name(folder).partition("/")
        snapshot = WorkingTree(repo / folder, tree.name(folder))
        read = partial(read_package, snapshot, customer, agent, folder, platform.config.limits)
        package = collect(read, problems)
        if package is not None:
            yield package


def set_history(repo: Path, kinds: Iterable[Change]) -> FileHistory | None:
    """The changes of these ``kinds`` of the files of R up to the commit that is checked out, by path in ``repo``.

    ``None`` without a repository or a commit.  Raises :class:`OutsideError` if git fails.
    """
    from incumbent.files.git.file_history import file_history
    from incumbent.files.git.working_copy import read_commit, read_top

    top = read_top(repo)
    if top is None:
        return None
    try:
        commit = read_commit(repo, "HEAD")
    except UsageError:
        return None
    inside = repo.resolve().relative_to(top.resolve())
    found = file_history(top, (inside / FOLDER).as_posix(), commit, kinds)
    return found.within("" if inside == Path() else inside.as_posix())


def open_backend(
    platform: Platform,
    stages: Stages = silent,
    *,
    batch: bool = False,
    preview: bool = False,
    recorded: RecordedModels | None = None,
    kept: bool = True,
) -> Backend:
    """The inference backend of the config, with batch requests if ``batch``; ``stages`` shows the progress
    of fitting.  ``preview``: nothing is written or counted, so that a quick model will do.

    ``recorded``: of the platform's own fitted models only these count.  Unless it is ``kept``, a model that is fitted
    leaves nothing behind.

    Raises :class:`incumbent.classifier.embedded.weights.WeightsError` if this machine lacks the weights that it needs,
    and :class:`InputError` if the taxonomy has more exemplars than may be fitted.
    """
    from incumbent.classifier.backends import make_backend
    from incumbent.classifier.embedded.cache import ModelCache
    from incumbent.classifier.embedded.fitting_cost import too_many_exemplars

    config = platform.config
    refused = too_many_exemplars(platform.taxonomy, config)
    if refused is not None:
        raise InputError([refused])
    names = config.personal_data.names
    cache = None if kept or config.classifier.backend != "embedded" else ModelCache(None)
    return make_backend(
        config.classifier,
        platform.taxonomy,
        cache,
        stages=stages,
        names=names,
        batch=batch,
        preview=preview,
        recorded=recorded,
    )


def open_backend_or_halt(
    platform: Platform, stages: Stages, *, recorded: RecordedModels | None = None, kept: bool = True
) -> Backend:
    """The inference backend of the config; where the weights that it needs are missing or not whole, one that
    says so when it is asked.

    For a job that has to report it: the readers of the report cannot see this machine.
    """
    from incumbent.classifier.backends import halted_backend, verify_weights
    from incumbent.classifier.embedded.weights import WeightsError

    settings = platform.config.classifier
    try:
        verify_weights(settings)
    except WeightsError as error:
        return halted_backend(settings, error)
    return open_backend(platform, stages, recorded=recorded, kept=kept)


def occasion(repo: Path, at: str | None, by: str | None) -> AuditStamp:
    """When and by whom the curator acts: as given, or from git's last commit and git's user."""
    if at is not None:
        return AuditStamp(at=at, commit=None, by=by)
    from incumbent.files.git.working_copy import read_head

    head = read_head(repo)
    return AuditStamp(at=head.at, commit=head.commit, by=by or head.user)


def entry_text(repo: Path, id: str) -> str:
    """The present file of the entry ``id``, to be edited rather than written anew."""
    return (repo / entry_path(id)).read_text(encoding="utf-8")
