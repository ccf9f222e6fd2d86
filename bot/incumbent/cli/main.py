"""``incumbent``: finds the command, and is the only place that turns errors into messages and exit codes."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module, metadata
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

import click

from incumbent.errors import IncumbentError, InputError, OutsideError
from incumbent.files.process import collect_seldom, is_stop, orderly_stops

# By name: one line for --help.
COMMANDS = {
    "init": "Make a repository a platform repository.",
    "import": "Import a team's present regression set, and show what the rules would decide.",
    "review": "Judge an eval set against the regression set; writes nothing.",
    "triage": "Find the few queries of production traffic that would have merit; writes a folder.",
    "explain": "Explain a verdict, and what would change it; writes nothing.",
    "classify": "Show which capabilities each query exercises.",
    "candidates": "Find requests that no capability of the taxonomy covers; writes nothing.",
    "evaluate": "Measure the classifier against labels, or compare two.",
    "agreement": "Measure how far people agree with the verdicts that they were shown.",
    "calibrate": "Propose per-capability knobs from curators' answers to verdicts.",
    "correct": "Correct the classifier's tags of a query.",
    "consolidate": "Judge queries that come with scores against the regression set.",
    "admit": "Stage admissions into the regression set of the working tree.",
    "accept": "Accept suggested swaps of waiting entries for others.",
    "list": "List the entries of the regression set.",
    "show": "Show one entry: what it tests, why it is in, and which entries cover the same.",
    "pin": "Protect an entry from eviction.",
    "unpin": "Remove the pin of an entry.",
    "quarantine": "Keep an entry from blocking releases, or end that.",
    "prune": "Suggest evictions; writes nothing.",
    "repack": "Find excluded queries that do the work of several entries by now.",
    "evict": "Remove one entry and leave its tombstone.",
    "restore": "Bring an evicted entry back.",
    "fit": "Fit the classifier on the taxonomy's exemplars, into the user's cache folder.",
    "reclassify": "Classify the regression set again after a change of classifier or taxonomy.",
    "migrate": "Carry declared renames and splits of capabilities through set, config and labels.",
    "impact": "Show what a change of taxonomy or config would do, before it is merged.",
    "export": "Write the regression set in the format of another tool's runner.",
    "results": "Show what release runs said of the entries; `results add` counts a run.",
    "scan": "Find personal data and secrets in the regression set or in eval sets.",
    "site": "Write the regression set as a static site, to look at and to publish.",
    "status": "Show size, coverage, pins and waiting entries of the regression set.",
    "mcp": "Serve the pipeline to chat assistants, over the Model Context Protocol.",
    "config": "Show the config in effect, and where each value comes from.",
    "validate": "Check taxonomy, config, regression set and eval sets; all errors at once.",
    "ci": "Review the pull request that a GitHub event is about: what the Action runs.",
    "doctor": "Check settings, permissions and token of a repository on GitHub.",
    "formats": "List the formats of eval sets and agent specifications that are read.",
    "schema": "Print the JSON schemas of files and outputs.",
}

# Modules of `incumbent.cli`, each with its commands (`name_command`).  A module is loaded when one of them is called,
# so that `incumbent --help` stays as quick as click itself.
_MODULES = {
    "setup": ("init", "doctor"),
    "import_set": ("import",),
    "verdicts": ("review", "explain", "consolidate"),
    "classification": ("classify", "correct", "fit", "reclassify"),
    "triage": ("triage",),
    "taxonomy": ("candidates", "impact", "migrate"),
    "evaluation": ("evaluate",),
    "agreement": ("agreement", "calibrate"),
    "admission": ("admit", "accept", "repack"),
    "entries": ("list", "show", "prune", "status"),
    "eviction": ("pin", "unpin", "quarantine", "evict", "restore"),
    "runners": ("export", "results"),
    "site": ("site",),
    "checks": ("validate", "config", "scan"),
    "integration": ("mcp", "formats", "schema"),
    "ci": ("ci",),
}

# Errors of writing to a full disk, or to a closed or broken output.
_NO_OUTPUT = frozenset({errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT, errno.EFBIG})


class _LazyGroup(click.Group):
    """A group whose commands are imported only when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = next(module for module, names in _MODULES.items() if cmd_name in names)
        command: click.Command = getattr(import_module(f"incumbent.cli.{module}"), f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from incumbent.text.did_you_mean import did_you_mean

            raise click.UsageError(f"no such command {args[0]!r}{did_you_mean(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        formatter.write_text(f"The glossary explains each term: {_glossary()}")


def _glossary() -> str:
    """The glossary's address, if the release has one (``dev/project_urls.py``)."""
    try:
        addresses = metadata.metadata("incumbent").get_all("Project-URL") or ()
    except metadata.PackageNotFoundError:
        addresses = ()
    pages = next(
        (value for label, _, value in (item.partition(", ") for item in addresses) if label == "Documentation"), None
    )
    return f"{pages}/glossary.md" if pages else "docs/glossary.md in Incumbent's repository"


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"incumbent {metadata.version('incumbent')}")
        ctx.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
def incumbent() -> None:
    """Keep a regression eval set small and wide.

    Exit codes: 0 done; 1 the input is at fault; 2 usage; 3 incomplete; 4 an external service or program failed;
    70 internal error.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and end the process with its exit code."""
    collect_seldom()
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    _write_what_can_be_written()
    with orderly_stops() as stopped:
        return _run(arguments, stopped)


def _run(arguments: Sequence[str] | None, stopped: Callable[[], int]) -> int:
    try:
        # Not click's own `main`, which treats a closed output as a fault.
        with incumbent.make_context("incumbent", list(sys.argv[1:] if arguments is None else arguments)) as context:
            code = incumbent.invoke(context)
        _flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as wanted:
        return _finish(wanted.exit_code)
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt) as stop:
        _interrupted(str(stop))
        return stopped()
    except InputError as error:
        _show_problems(error)
        return error.exit_code
    except IncumbentError as error:
        _complain(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        return _reader_gone()
    except OSError as error:
        if error.filename is not None or error.errno not in _NO_OUTPUT:
            return _report_bug(arguments)
        _discard_output()
        with suppress(OSError):
            click.echo(f"error: the output could not be written: {error.strerror}", err=True)
        return OutsideError.exit_code
    except Exception as error:  # noqa: BLE001 - the last catch of all: an internal error becomes a report
        if not is_stop(error):
            return _report_bug(arguments)
        _interrupted("")
        return stopped()


def _interrupted(state: str) -> None:
    # Writing to a closed terminal fails.
    with suppress(OSError):
        _complain(f"interrupted: {state}" if state else "interrupted")


def _write_what_can_be_written() -> None:
    """Escape signs that a terminal's encoding lacks, and ignore a closed output."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _null())
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(text: str) -> None:
    """Write ``text`` to standard error, escaped so that it moves no cursor and is no command to a job's runner."""
    from incumbent.report.escaping import printable, unlogged

    click.echo(unlogged(text) if os.environ.get("GITHUB_ACTIONS") else printable(text), err=True)


def _flush() -> None:
    sys.stdout.flush()


def _finish(code: int) -> int:
    try:
        _flush()
    except BrokenPipeError:
        return _reader_gone()
    except OSError:
        _discard_output()
        return OutsideError.exit_code
    return code


def _reader_gone() -> int:
    """The exit code if the reader of the output went away, for example ``| head``; that is no error."""
    _discard_output()
    return 0


def _null() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _discard_output() -> None:
    # The interpreter flushes once more at its end, and would report an error.
    sys.stdout = _null()


def _show_problems(error: InputError) -> None:
    count = len(error.problems)
    _complain(f"error: {count} {'fault' if count == 1 else 'faults'} in the input")
    for problem in error.problems:
        _complain(str(problem))


def _report_bug(arguments: Sequence[str] | None) -> int:
    from incumbent.text.masking import masked

    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", prefix="incumbent-bug-", suffix=".txt", delete=False
    ) as report:
        report.write(f"incumbent {metadata.version('incumbent')}, Python {sys.version}, {sys.platform}\n")
        report.write(masked(f"arguments: {list(sys.argv[1:] if arguments is None else arguments)}\n\n"))
        report.write(masked(traceback.format_exc()))
    click.echo(
        f"error: this is an internal error, not a fault of your input; please open an issue and attach {report.name}",
        err=True,
    )
    return 70
