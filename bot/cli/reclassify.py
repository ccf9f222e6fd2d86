"""``incumbent reclassify``: the regression set follows a change of classifier or taxonomy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from bot.classifier.classify import ClassifierResult, classify
from bot.classifier.model import Identity
from bot.cli.options import (
    dry_run_option,
    entry_text,
    json_option,
    one_at_a_time,
    open_backend,
    open_platform,
    print_json,
    progress_bar,
    refuse_incomplete,
    repository_options,
    say,
    show_usage,
)
from bot.curator.changes import admit, apply, let_wait
from bot.curator.entry import Entry
from bot.curator.staging import classified_by, stored
from bot.errors import IncumbentError, InputError
from bot.intake.agents import read_specification
from bot.intake.query import Query
from bot.intake.specification import UNDECLARED, Specification
from bot.pipeline import Platform
from bot.rater.adapter import rate
from bot.report.output import ReclassifyOutput, UsageOutput
from bot.snapshot import WorkingTree
from bot.taxonomy.model import Taxonomy


@click.command("reclassify")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def command(dry_run: bool, repo: Path, config_path: str, as_json: bool) -> None:
    """Classify every entry again, those that wait for a slot too, and store the new scores; commit them by review.

    An entry whose agent specification is not in the repository keeps its scores, and is reported. An imported one
    for which nothing was declared is classified by its text alone again.

    \b
    Examples:
      incumbent reclassify --dry-run
    """
    platform = open_platform(repo, config_path)
    by_folder: dict[str | None, list[Entry]] = defaultdict(list)
    kept: dict[str, str] = {}
    known = platform.regression_set
    before = {**known.waiting, **known.entries}
    for entry in before.values():
        if entry.source is None:
            kept[entry.id] = "it names no source, so its agent is not known"
        elif entry.source.imported is None:
            by_folder[entry.source.eval_set.rpartition("/")[0]].append(entry)
        elif entry.source.imported.declared and entry.source.imported.folder is None:
            kept[entry.id] = "its agent's specification lies outside of the repository: import it again with one inside"
        else:
            by_folder[entry.source.imported.folder].append(entry)
    renewed: list[Entry] = []
    shortfalls: dict[str, str] = {}
    stopped: IncumbentError | None = None
    backend = open_backend(platform)
    for folder, entries in sorted(by_folder.items(), key=lambda item: item[0] or ""):
        specification = UNDECLARED if folder is None else _specification(repo, folder, platform)
        if specification is None:
            kept.update({entry.id: f"the agent specification in {folder} cannot be read" for entry in entries})
            continue
        result = classify(_queries(entries), specification, platform.taxonomy, backend, progress_bar("classifying"))
        renewed.extend(_renewed(entries, result, backend.identity, platform.taxonomy))
        shortfalls |= result.shortfalls
        if result.stopped is not None:
            stopped = result.stopped
            break
    changed = [entry for entry in renewed if entry != before[entry.id]]
    plan = tuple(
        admit(entry, entry_text(repo, entry.id)) if entry.id in known.entries else let_wait(entry) for entry in changed
    )
    if not dry_run:
        apply(plan, repo)
    output = ReclassifyOutput(
        changed={entry.id: dict(entry.scores) for entry in changed},
        kept=kept,
        dry_run=dry_run,
        usage=UsageOutput.of(backend.usage),
    )
    if as_json:
        print_json(output)
    else:
        for entry in changed:
            say(f"{'would be ' if dry_run else ''}classified again: {entry.id}")
        for id, why in sorted(kept.items()):
            say(f"kept as it is: {id}: {why}")
        say(f"{len(changed)} changed, {len(renewed) - len(changed)} unchanged, {len(kept)} kept")
    show_usage(backend)
    refuse_incomplete(shortfalls, stopped)


def _specification(repo: Path, folder: str, platform: Platform) -> Specification | None:
    if not (repo / folder).is_dir():
        return None
    try:
        return read_specification(WorkingTree(repo / folder, folder), platform.config.limits)
    except InputError:
        return None


def _queries(entries: Sequence[Entry]) -> list[Query]:
    return [Query(id=entry.id, turns=entry.turns, setup=entry.setup.setup, file="", line=None) for entry in entries]


def _renewed(
    entries: Sequence[Entry], result: ClassifierResult, identity: Identity, taxonomy: Taxonomy
) -> Iterator[Entry]:
    by_id = {entry.id: entry for entry in entries}
    for item in result.classifications:
        entry = by_id[item.query_id]
        scores = stored(rate(item, entry.turns).scores)
        classified = classified_by(identity, taxonomy, tuple(scores))
        yield entry.model_copy(update={"scores": scores, "classified": classified})
