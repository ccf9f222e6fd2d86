"""``incumbent export``: the regression set in the format of another tool's runner."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from bot.cli.options import (
    dry_run_option,
    json_option,
    one_of,
    print_json,
    repository_options,
    say,
)
from bot.curator.entry import Entry
from bot.curator.store import FOLDER, entry_path
from bot.errors import IncompleteError, InputError, OutsideError, Problem, UsageError
from bot.export.plan import Export, plan_export, writers
from bot.pipeline.review import Platform
from bot.pipeline.workspace import open_platform
from bot.report.output import ExportOutput


@click.command("export")
@click.option("--to", "target", required=True, type=click.Choice(list(writers())), help="The target.")
@click.option(
    "--output",
    type=click.Path(),
    metavar="PATH",
    help="The file to write, or the folder: with a slash at the end, or where there are several files (default: "
    "standard output, for one file).",
)
@click.option(
    "--capability", "capabilities", multiple=True, metavar="ID", help="Only entries with it; repeat for any of several."
)
@click.option("--customer", "customers", multiple=True, metavar="NAME", help="Only entries of this customer; repeat.")
@click.option("--keep-placeholders", is_flag=True, help="Texts such as {{name}} are meant as they stand.")
@click.option("--strict", is_flag=True, help="End with exit code 3 if an entry was left out.")
@dry_run_option
@repository_options
@json_option
def command(
    target: str,
    output: str | None,
    capabilities: tuple[str, ...],
    customers: tuple[str, ...],
    keep_placeholders: bool,
    strict: bool,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Write the regression set for a release pipeline's runner.

    Entries that are not ready to run there are left out, and named with the reason.

    \b
    Examples:
      incumbent export --to jsonl > regression_set.jsonl
      incumbent export --to promptfoo --output promptfooconfig.yaml
      incumbent export --to copilot-studio --output test-sets/
      incumbent export --to inspect --capability execution.tools.read --output samples.jsonl
    """
    platform = open_platform(repo, config_path)
    export = plan_export(
        _chosen(platform, capabilities, customers),
        writers()[target],
        platform.fixtures,
        keep_placeholders=keep_placeholders,
    )
    if not export.ids:
        raise InputError(
            Problem(entry_path(remark.id), None, remark.message, "make it ready, or export to another target")
            for remark in export.left_out
        )
    output = None if output == "-" else output
    files = _places(export.written.files, output, wanted=not (dry_run or as_json))
    if as_json and output is None and not dry_run:
        raise UsageError("--json prints a summary: say with --output where the export goes, or --dry-run")
    if not dry_run and output is not None:
        _write(files)
        if output.endswith("/") or Path(output).is_dir():
            _name_others(files)
    _print_remarks(export, target)
    if as_json:
        print_json(ExportOutput.of(export, target, [place.as_posix() for place in files], dry_run=dry_run))
    elif output is None and not dry_run:
        # Bytes: a file's encoding must not depend on the terminal's.
        click.echo("".join(files.values()).encode(), nl=False)
    if strict and export.left_out:
        raise IncompleteError(f"not ready to run there and left out: {len(export.left_out)}")


def _chosen(platform: Platform, capabilities: tuple[str, ...], customers: tuple[str, ...]) -> list[Entry]:
    """The entries that the options select; raises :class:`InputError` if there are none."""
    entries = platform.regression_set.entries.values()
    known = tuple(sorted({entry.source.customer for entry in entries if entry.source is not None}))
    for name in capabilities:
        one_of(name, tuple(platform.taxonomy.by_id), "capability")
    for name in customers:
        one_of(name, known, "customer in the regression set")
    chosen = [
        entry
        for entry in entries
        if (not capabilities or not entry.scores.keys().isdisjoint(capabilities))
        and (not customers or (entry.source is not None and entry.source.customer in customers))
    ]
    if not chosen:
        message = "no entry is there to be exported" + (", of what was asked for" if capabilities or customers else "")
        raise InputError([Problem(FOLDER, None, message, "see `incumbent status` for what the set holds")])
    return chosen


def _places(files: Mapping[str, str], output: str | None, *, wanted: bool) -> dict[Path, str]:
    """The path of each file: a single one is written to ``output`` itself, unless that is a folder or ends like one."""
    if output is None:
        if wanted and len(files) > 1:
            raise UsageError(f"there are several files ({', '.join(files)}): say with --output which folder they go to")
        return {Path(name): text for name, text in files.items()}
    place = Path(output)
    is_file = len(files) == 1 and not output.endswith("/") and not place.is_dir()
    return {place if is_file else place / name: text for name, text in files.items()}


def _write(files: Mapping[Path, str]) -> None:
    for place, text in files.items():
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        except OSError as error:
            raise OutsideError(f"{place.as_posix()} could not be written: {error.strerror}") from None


def _name_others(files: Mapping[Path, str]) -> None:
    for place in _others(files):
        say(f"warning: {place.as_posix()} was not written now; it may be left from an earlier export", err=True)


def _others(files: Mapping[Path, str]) -> list[Path]:
    """Files beside the written ones that look like parts of the same export, such as those of an earlier,
    larger one.
    """
    stems = {(place.stem.partition("-")[0], place.suffix) for place in files}
    return [
        place
        for folder in sorted({place.parent for place in files})
        for place in sorted(folder.iterdir())
        if place not in files
        and any(place.suffix == suffix and place.stem.partition("-")[0].endswith(stem) for stem, suffix in stems)
    ]


def _print_remarks(export: Export, target: str) -> None:
    """Report on standard error what was exported and what was not: standard output may be the export."""
    for remark in export.left_out:
        say(f"left out: {remark.id}: {remark.message}", err=True)
    for remark in export.written.remarks:
        say(f"note: {remark.id}: {remark.message}", err=True)
    say(f"{len(export.ids)} entries for {target}, {len(export.left_out)} left out", err=True)
