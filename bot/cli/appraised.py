"""What to expect of capabilities that the working tree adds or changes, before anything is committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bot.classifier.exemplars import MeasuredBackend
from bot.cli.options import progress_bar
from bot.files.snapshot import WorkingTree
from bot.pipeline.impact.appraisal import appraise
from bot.pipeline.impact.measure import held_out_of, judged_texts
from bot.pipeline.impact.model import Appraisal
from bot.pipeline.reclassify import all_tasks, renew
from bot.pipeline.review import Platform, classify_package
from bot.pipeline.submission import Package, called_by_agent, find_specification, refuse_shared_ids
from bot.pipeline.workspace import open_backend
from bot.taxonomy.model import Taxonomy


def appraised(old: Taxonomy, platform: Platform, packages: Sequence[Package], repo: Path) -> tuple[Appraisal, ...]:
    """What to expect of the capabilities that ``platform``, the working tree at ``repo``, adds to ``old`` or changes.

    A model that costs is not asked.
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
    known = [called_by_agent(item) for item in refuse_shared_ids(packages, platform.regression_set)]
    classified = [classify_package(platform, item, backend, progress) for item in known]
    before = open_backend(replace(platform, taxonomy=old), progress_bar)
    texts = judged_texts(entries, renewal, classified)
    was, now = (held_out_of(asked, platform.config) for asked in (before, backend))
    return appraise(old, new, settings, was, now, texts)
