"""Compares the taxonomy of the working tree with that of a commit: what to expect of added and changed capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bot.classifier.exemplars import MeasuredBackend
from bot.cli.options import progress_bar
from bot.errors import InputError, UsageError
from bot.files.snapshot import WorkingTree
from bot.git import ObjectStore
from bot.git.working_copy import read_commit, read_top
from bot.pipeline.impact.appraisal import appraise
from bot.pipeline.impact.measure import held_out_of, judged_texts
from bot.pipeline.impact.model import CapabilityImpact
from bot.pipeline.reclassify import all_tasks, renew
from bot.pipeline.review import Platform, classify_package
from bot.pipeline.submission import Package, find_specification, refuse_shared_ids, with_agent_in_ids
from bot.pipeline.workspace import open_backend
from bot.taxonomy.loading import load_taxonomy
from bot.taxonomy.model import Taxonomy


def taxonomy_at(repo: Path, name: str) -> tuple[str, Taxonomy]:
    """The commit that ``name`` means, and its taxonomy of the platform repository in ``repo``."""
    top = read_top(repo)
    if top is None:
        raise UsageError(f"{repo} is not inside a git repository, so there is no taxonomy to compare with")
    commit = read_commit(repo, name)
    with ObjectStore.open(top) as store:
        folder = repo.resolve().relative_to(top.resolve()).as_posix()
        try:
            return commit, load_taxonomy(store.snapshot(commit, folder), is_past=True)
        except InputError as error:
            # The working tree has a file of the same name.
            raise InputError(
                replace(problem, file=f"{commit[:12]}:{problem.file}") for problem in error.problems
            ) from None


def appraised(
    old: Taxonomy, platform: Platform, packages: Sequence[Package], repo: Path
) -> tuple[CapabilityImpact, ...]:
    """What to expect of the capabilities that ``platform``, the working tree at ``repo``, adds to ``old`` or changes.

    A model that costs money is not asked.
    """
    new, settings = platform.taxonomy, platform.config.appraisal
    found = appraise(old, new, settings)
    backend = open_backend(platform, progress_bar)  # nothing is read or fitted before it is asked
    if not found or not isinstance(backend, MeasuredBackend):
        return found
    progress = progress_bar("classifying")
    entries = (*platform.regression_set.entries.values(), *platform.regression_set.waiting.values())
    limits = platform.config.limits
    renewal = renew(
        all_tasks(entries, new),
        new,
        backend,
        lambda folder: find_specification(WorkingTree(repo / folder, folder), limits),
        progress,
    )
    known = [with_agent_in_ids(item) for item in refuse_shared_ids(packages, platform.regression_set)]
    classified = [classify_package(platform, item, backend, progress) for item in known]
    before = open_backend(replace(platform, taxonomy=old), progress_bar)
    texts = judged_texts(entries, renewal, classified)
    was, now = (held_out_of(asked, platform.config) for asked in (before, backend))
    return appraise(old, new, settings, was, now, texts)
