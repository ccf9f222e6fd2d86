"""``incumbent import``: a team's present regression set becomes R."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import click

from incumbent.classifier.caching_backend import through_batches
from incumbent.classifier.classify import ClassifierResult, classify
from incumbent.classifier.corrections import corrected, overlaid, values_of
from incumbent.classifier.model import Backend, Classification, Progress
from incumbent.cli.options import (
    FOLDER,
    agent_options,
    all_option,
    at_option,
    batch_options,
    by_option,
    dry_run_option,
    json_option,
    occasion,
    one_at_a_time,
    open_backend,
    repository_options,
)
from incumbent.cli.output import print_json, progress_bar, report_batches, show_usage
from incumbent.curator.file_changes import FileChange, apply
from incumbent.errors import IncumbentError, Problem, UsageError
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.columns import Columns, DeclaredFile
from incumbent.intake.eval_sets.folder import Named
from incumbent.intake.eval_sets.reader import readers
from incumbent.ledger.clone import refused_in
from incumbent.pipeline.admit import refuse_incomplete, refuse_stale
from incumbent.pipeline.import_files import ArchiveFolder, Part, distilled, plan_archive, read_agent, read_bundles
from incumbent.pipeline.import_plan import ImportedAgent, ImportItem, ImportPlan, appraise, compare, gone, plan_import
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import agent_folder
from incumbent.pipeline.workspace import entry_text, open_platform
from incumbent.report.imports import import_overview
from incumbent.taxonomy.config import Limits
from incumbent.text.compare import text_key
from incumbent.text.did_you_mean import did_you_mean


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="FILE...")
@agent_options
@click.option(
    "--agent-folder",
    type=FOLDER,
    metavar="DIR",
    help="The folder of the agent's specification (default: the file's, if it has one).",
)
@click.option("--format", "form", metavar="NAME", help="The format of every FILE that is not a folder.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="WHAT=NAME",
    help="The column that holds the query, id, conversation, answer or tools; may be repeated.",
)
@click.option(
    "--distil",
    is_flag=True,
    help="Keep what the rules would keep, and write the rest to an archived eval set.",
)
@by_option
@at_option
@dry_run_option
@batch_options
@repository_options
@all_option
@json_option
@one_at_a_time
def import_command(
    files: tuple[Path, ...],
    customer: str | None,
    agent: str | None,
    agent_folder: Path | None,
    form: str | None,
    columns: tuple[str, ...],
    distil: bool,
    by: str | None,
    at: str | None,
    dry_run: bool,
    batch: bool,
    wait: bool,
    repo: Path,
    config_path: str,
    everything: bool,
    as_json: bool,
) -> None:
    """Take a team's present regression set, in any of the formats, as the regression set, or as a part of it.

    Every query of FILE (an eval set, or a folder of them) becomes an entry, also a clone, and also past the
    ceiling. The report says which ones the rules would have left out, which capabilities are short, and what could go.
    A second run changes nothing, unless the file has changed. Nothing is committed: look at the change, then commit it.

    With --distil only what the set needs becomes an entry: no new entry is left that `incumbent prune` would suggest.
    The rest goes to eval_sets/CUSTOMER/AGENT/archived.yaml. Look at --dry-run first.

    \b
    Examples:
      incumbent import old/regression.csv --customer contoso --agent repairs
      incumbent import old/ --agent-folder eval_sets/contoso/repairs --dry-run
      incumbent import old/regression.csv --distil --dry-run
      incumbent import old/regression.csv --batch
      incumbent import old/prompts.jsonl --column query=utterance --column id=case
    """
    declared = _declaration(form, columns)
    platform = open_platform(repo, config_path)
    known, limits = platform.regression_set, platform.config.limits
    parts, notes = _parts(repo, files, customer, agent, agent_folder, declared, limits)
    bundles = read_bundles(parts, limits, known)
    items = compare(bundles, known)
    backend = open_backend(platform, progress_bar, batch=batch)
    refuse_stale(known.present(platform.taxonomy, backend.identity)[1])
    now = occasion(repo, at, by)
    corrections = {item.id: _corrections(item, platform) for item in items if item.classify}
    found = {
        id: corrected(each, platform.taxonomy, corrections[id])
        for id, each in _classify(items, platform, backend, wait).items()
    }
    by_id = {item.id: item for item in items}
    scored = {
        id: platform.rate(each, replace(by_id[id].query, id=id), by_id[id].submission.customer)
        for id, each in found.items()
    }
    texts = {item.id: entry_text(repo, item.id) for item in items if item.before is not None}

    def planned(items: Sequence[ImportItem]) -> ImportPlan:
        return plan_import(items, scored, known, texts, platform.taxonomy, backend.identity, now, corrections)

    plan = planned(items)
    if distil:
        items = distilled(items, plan, platform, backend.identity)
        kept = planned(items)
        plan = replace(kept, file_changes=(*kept.file_changes, *_archive(items, repo, limits)))
    if not dry_run:
        apply(plan.file_changes, repo)
    output = import_overview(
        bundles,
        items,
        gone(bundles, items, known),
        plan,
        appraise(items, scored, platform, backend.identity),
        found,
        [*notes, *(note for bundle in bundles for note in bundle.submission.notes)],
        dry_run,
        backend.usage,
        refused_in(repo),
    )
    if as_json:
        print_json(output)
    else:
        from incumbent.report.console import Printer
        from incumbent.report.imports import print_import

        print_import(output, platform.taxonomy, Printer(everything))


def _archive(items: Sequence[ImportItem], repo: Path, limits: Limits) -> list[FileChange]:
    """The file changes of the archived eval sets, one for each agent."""
    found: list[FileChange] = []
    for place in dict.fromkeys((item.submission.customer, item.submission.agent) for item in items):
        path = agent_folder(*place)
        folder = ArchiveFolder(customer=place[0], agent=place[1], snapshot=WorkingTree(repo / path, path))
        own = [item for item in items if (item.submission.customer, item.submission.agent) == place]
        found += plan_archive(own, folder, limits)
    return found


def _corrections(item: ImportItem, platform: Platform) -> dict[str, bool]:
    """The curators' corrections of the text of ``item``; if the text is unchanged, those in its entry, too."""
    before, turns = item.before, item.query.turns
    own = {} if before is None or text_key(before.turns) != text_key(turns) else before.classified.corrected
    return overlaid(platform.taxonomy, own, values_of(platform.corrections_of(turns)))


def _classify(
    items: Sequence[ImportItem], platform: Platform, backend: Backend, wait: bool
) -> Mapping[str, Classification]:
    """The classifications of items that have none yet, by entry; raises rather than leave some out of the set.

    ``wait``: wait for answers of batches, if they are asked in batches.
    """
    try:
        result, pending = through_batches(backend, lambda: _asked(items, platform, backend), wait, report_batches)
    finally:
        show_usage(backend)
    refuse_incomplete(result.shortfalls, result.stopped or pending)
    return result.classifications


def _asked(items: Sequence[ImportItem], platform: Platform, backend: Backend) -> ClassifierResult:
    """The classifier's result for the items, agent by agent, until something stops it."""
    waiting = [item for item in items if item.classify]
    show = progress_bar("classifying")
    found: dict[str, Classification] = {}
    shortfalls: dict[str, str] = {}
    stopped: IncumbentError | None = None

    def progress(before: int) -> Progress:
        return lambda done, _: show(before + done, len(waiting))

    for spoken in dict.fromkeys(item.origin.spoken.shown for item in waiting):
        own = [item for item in waiting if item.origin.spoken.shown == spoken]
        result = classify(
            [replace(item.query, id=item.id) for item in own],
            own[0].origin.spoken.specification,
            platform.taxonomy,
            backend,
            progress(len(found) + len(shortfalls)),
        )
        found |= result.classifications
        shortfalls |= result.shortfalls
        stopped = result.stopped
        if stopped is not None:
            break
    return ClassifierResult(classifications=found, shortfalls=shortfalls, stopped=stopped)


def _declaration(form: str | None, columns: Sequence[str]) -> tuple[str | None, Columns | None]:
    """``--format`` and ``--column`` in the form of ``formats.yaml``; raises :class:`UsageError`."""
    names = [reader.name for reader in readers()]
    if form is not None and form not in names:
        raise UsageError(
            f"--format {form}: there is no such format{did_you_mean(form, names)}; use one of {', '.join(names)}"
        )
    of_its_own = [reader.name for reader in readers() if reader.name == form and not reader.names_columns]
    if columns and of_its_own:
        raise UsageError(f"--column: {form} has columns of its own; leave --column out, or name another --format")
    named: dict[str, str] = {}
    for column in columns:
        what, _, name = column.partition("=")
        if what not in Columns.model_fields or not name.strip():
            raise UsageError(f"--column {column}: write WHAT=NAME, with WHAT one of {', '.join(Columns.model_fields)}")
        if named.setdefault(what, name) != name:
            raise UsageError(f"--column names two columns for {what}: {named[what]} and {name}")
    return form, Columns.model_validate(named) if named else None


def _declared(path: Path, said: tuple[str | None, Columns | None]) -> DeclaredFile | None:
    """The declaration of the command line for the file at ``path``; columns alone mean a plain file."""
    form, columns = said
    if form is None and columns is not None:
        plain = [reader.name for reader in readers() if reader.plain and path.name.lower().endswith(reader.endings)]
        if not plain:
            raise UsageError(f"--column: {path} is no table and no list of records; name its --format as well")
        form = plain[0]
    return None if form is None else DeclaredFile(format=form, columns=columns)


def _parts(
    repo: Path,
    files: Sequence[Path],
    customer: str | None,
    agent: str | None,
    agent_folder: Path | None,
    said: tuple[str | None, Columns | None],
    limits: Limits,
) -> tuple[list[Part], list[Problem]]:
    """The arguments as parts of an import, each once, and remarks where no agent was found."""
    notes: list[Problem] = []
    agents: dict[Path, ImportedAgent] = {}

    def spoken(folder: Path) -> ImportedAgent:
        if agent_folder is None and not _may_hold_agent(repo, folder, limits.package_files):
            return ImportedAgent()
        asked = agent_folder is not None
        label, inside = _label(repo, folder)
        found, note = read_agent(WorkingTree(folder, label), limits, (label or ".") if inside else None, asked=asked)
        notes.extend([] if note is None else [note])
        if found.shown is not None and not inside:
            notes.append(
                Problem(
                    found.shown,
                    None,
                    "the agent's specification is outside of the repository, where `reclassify` does not read it",
                    "keep it in the repository and name it with --agent-folder",
                )
            )
        return found

    parts: dict[Path, Part] = {}
    brought = {(file if file.is_dir() else file.parent).resolve() for file in files}
    folders = {file.resolve(): file for file in files if file.is_dir()}
    for file in files:
        is_folder = file.is_dir()
        within = next((folders[above] for above in file.resolve().parents if above in folders), None)
        if within is not None:
            raise UsageError(f"{file} lies in {within}, which is named as well: name one of them")
        if is_folder and said != (None, None):
            raise UsageError(f"--format and --column speak of files, and {file} is a folder")
        folder = file if is_folder else file.parent
        resolved = folder.resolve()
        source = agent_folder or folder
        if source.resolve() not in agents:
            agents[source.resolve()] = spoken(source)
        label, inside = _label(repo, folder)
        parts.setdefault(
            resolved if is_folder else resolved / file.name,
            Part(
                customer=customer or resolved.parent.name or "customer",
                agent=agent or resolved.name or "agent",
                named=Named(
                    snapshot=WorkingTree(folder, label),
                    path=None if is_folder else file.name,
                    declared=None if is_folder else _declared(file, said),
                ),
                recorded=label if inside else _end_of(resolved, brought),
                spoken=agents[source.resolve()],
            ),
        )
    return list(parts.values()), notes


def _end_of(folder: Path, others: Collection[Path]) -> str:
    """The end of the path of ``folder`` that none of the ``others`` has: entries record no machine's paths."""
    for size in range(1, len(folder.parts)):
        end = folder.parts[-size:]
        if all(other.parts[-size:] != end for other in others if other != folder):
            return "/".join(end)
    return "/".join(folder.parts[1:])


def _label(repo: Path, folder: Path) -> tuple[str, bool]:
    """The name of ``folder`` in messages, and whether it is in the repository; then the name begins at its top."""
    resolved, top = folder.resolve(), repo.resolve()
    inside = resolved.is_relative_to(top)
    label = (resolved.relative_to(top) if inside else folder).as_posix()
    return "" if label == "." else label, inside


def _may_hold_agent(repo: Path, folder: Path, most: int) -> bool:
    """Whether ``folder`` may be an agent's; a home folder or the repository itself contains too much."""
    if repo.resolve().is_relative_to(folder.resolve()):
        return False
    files = (name for _, _, names in os.walk(folder) for name in names)
    return sum(1 for _ in islice(files, most + 1)) <= most
