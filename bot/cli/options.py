"""Options that several commands share, and the first steps of all of them."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click
from pydantic import BaseModel

from bot.classifier.model import Backend, Progress, silent
from bot.classifier.usage import Usage, total
from bot.cli.pace import Pace
from bot.config import CONFIG_FILE
from bot.curator.entry import StaleEntry
from bot.curator.journal import sole_curator, was_changed
from bot.errors import IncumbentError, InputError, OutsideError, Problem, UsageError
from bot.files.interrupts import is_stop
from bot.git.working_copy import read_conflicts, refuse_bare
from bot.report.escaping import printable, visible
from bot.text.masking import masked, masked_json
from bot.text.moments import utc

if TYPE_CHECKING:
    from bot.curator.staging import AuditStamp

Command = TypeVar("Command", bound=Callable[..., Any])

_REDRAWN: Final = 0.1
_LINES: Final = 10.0
"""Seconds between two progress updates: on a terminal, and as lines."""
_DECIDING: Final = frozenset({"config", "regression_set", "taxonomy"})
"""The folders whose files affect a change of the set; a merge conflict elsewhere does not matter."""


def _with_files(_: click.Context, __: click.Parameter, value: Path) -> Path:
    """A folder with a working tree; a bare repository has none, and its own file `config` where a folder is
    expected.
    """
    refuse_bare(value)
    return value


def repository_options(function: Command) -> Command:
    """``--repo`` and ``--config``: the platform repository, and its config file."""
    function = click.option(
        "--config",
        "config_path",
        default=CONFIG_FILE,
        show_default=True,
        metavar="FILE",
        help="Config file of the platform repository, for example config/paper.yaml.",
    )(function)
    return click.option(
        "--repo",
        callback=_with_files,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=Path(),
        metavar="DIR",
        help="The platform repository (default: this folder).",
    )(function)


def folder_name(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """The name of a customer or an agent, if it is valid as a folder of ``eval_sets/``."""
    if value is None or (value.strip() and value.isprintable() and "/" not in value and value not in (".", "..")):
        return value
    raise UsageError(f"{parameter.opts[0]}: {value!r} could name no folder of eval_sets/; write a name without slashes")


def agent_options(function: Command) -> Command:
    """``--customer`` and ``--agent``."""
    function = click.option(
        "--agent", metavar="NAME", callback=folder_name, help="The agent's name (default: the name of the folder)."
    )(function)
    return click.option(
        "--customer",
        metavar="NAME",
        callback=folder_name,
        help="The customer's name (default: the name of the folder above).",
    )(function)


def submission_options(function: Command) -> Command:
    """``EVAL_SET_DIR``, ``--customer`` and ``--agent``."""
    function = agent_options(function)
    return click.argument(
        "eval_set_dir", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="EVAL_SET_DIR"
    )(function)


def moment(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """A time in UTC to the second, from any form of ISO 8601."""
    try:
        return None if value is None else utc(value)
    except ValueError as error:
        raise click.BadParameter(f"must be {error}") from None


at_option = click.option(
    "--at", metavar="TIME", callback=moment, help="Time to record (default: that of the current commit)."
)


def occasion(repo: Path, at: str | None, by: str | None) -> AuditStamp:
    """When and by whom a command acts; ``--at`` gives the time if git does not."""
    # Few commands change the set, and the pipeline is slow to load.
    from bot.pipeline.workspace import occasion as at_hand

    try:
        return at_hand(repo, at, by)
    except (UsageError, OutsideError) as error:
        raise type(error)(f"{error}, or give --at TIME") from None


def whole_text(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse text that no file can contain: bytes of the command line that are not in the locale's encoding."""
    if value is not None and value != value.encode("utf-8", "replace").decode("utf-8"):
        raise click.BadParameter("is not in the encoding of this terminal; write it in UTF-8")
    return value


by_option = click.option(
    "--by", metavar="NAME", callback=whole_text, help="Whose decision this is (default: git's user.name)."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show the plan and write nothing.")
all_option = click.option("--all", "everything", is_flag=True, help="Show all rows of every list on a terminal.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON (schema: `incumbent schema COMMAND-output`)."
)


def batch_options(function: Command) -> Command:
    """``--batch`` and ``--wait``."""

    @wraps(function)
    def checked(*, batch: bool, wait: bool, **rest: Any) -> Any:
        if wait and not batch:
            raise UsageError("--wait waits for batches; give --batch as well")
        return function(batch=batch, wait=wait, **rest)

    waiting = click.option("--wait", is_flag=True, help="With --batch: wait until all answers are there.")(checked)
    return click.option(
        "--batch",
        is_flag=True,
        help="Ask the language model in batches: submit, end with code 3, and take the answers when run again.",
    )(cast(Command, waiting))


def report_batches(text: str) -> None:
    """Report the state of batches on standard error."""
    say(f"note: {text}", err=True)


def admit_command(folder: Path, customer: str | None, agent: str | None, repo: Path, config_path: str) -> str:
    """The shell command that admits from the eval set in ``folder``, with the same options as this one."""
    words = ["incumbent", "admit", str(folder)]
    options = (("--customer", customer), ("--agent", agent), ("--repo", str(repo)), ("--config", config_path))
    for name, value in options:
        if value not in (None, ".", CONFIG_FILE):
            words += [name, str(value)]
    return shlex.join(words)


@contextmanager
def curating(*roots: Path) -> Iterator[None]:
    """Lock each of ``roots`` (:func:`sole_curator`); an interrupt reports whether files were changed."""
    try:
        with ExitStack() as held:
            for root in roots:
                held.enter_context(sole_curator(root, lambda said: say(f"note: {said}", err=True)))
            yield
    except IncumbentError:
        raise
    except BaseException as error:
        if not is_stop(error):
            raise
        # A failed change reports the resulting state itself.
        failure = error.args[0] if isinstance(error, KeyboardInterrupt) and error.args else None
        raise KeyboardInterrupt(failure or _what_holds(roots)) from None


def _what_holds(roots: Sequence[Path]) -> str:
    if not any(map(was_changed, roots)):
        return "nothing was changed"
    return "the change is complete" if len(roots) == 1 else "some of the folders are changed: run this again to finish"


def one_at_a_time(function: Command) -> Command:
    """For commands that change the regression set: no other one may run between their reading and their writing."""

    @wraps(function)
    def alone(*, repo: Path, dry_run: bool, **rest: Any) -> Any:
        _refuse_conflicts(repo)
        if dry_run:
            return function(repo=repo, dry_run=dry_run, **rest)
        with curating(repo):
            return function(repo=repo, dry_run=dry_run, **rest)

    return cast(Command, alone)


def _refuse_conflicts(repo: Path) -> None:
    """Raise :class:`InputError` if an unfinished merge left conflicts in the files of the set."""
    problems = [
        Problem(
            path,
            None,
            "the merge under way left a conflict in this file",
            "resolve it and `git add` it, or abort the merge; then run this again",
        )
        for path in read_conflicts(repo)
        if path.split("/")[0] in _DECIDING
    ]
    if problems:
        raise InputError(problems)


def show_usage(*backends: Backend, besides: Usage | None = None) -> None:
    """Report the total cost of asking models on standard error; nothing if there is none."""
    from bot.report.verdict_text import usage_line

    usage = total([*(backend.usage for backend in backends), besides])
    if usage is not None:
        click.echo(usage_line(usage), err=True)


def warn_of_lag(lags: Sequence[StaleEntry]) -> None:
    """Warn of stale entries on standard error, for commands that go on nevertheless."""
    for lag in lags:
        say(f"warning: {lag.id} is stale ({visible(lag.reason)}): run `incumbent reclassify`", err=True)


def progress_bar(label: str) -> Progress:
    """Progress on a terminal's standard error, with rate and time left; silent anywhere else."""
    return progress_lines(label) if sys.stderr.isatty() else silent(label)


def progress_lines(label: str) -> Progress:
    """The same for long work: if standard error is no terminal, a line now and then."""
    is_terminal = sys.stderr.isatty()
    pace = Pace(label, _REDRAWN if is_terminal else _LINES, time.monotonic)
    width = 0

    def show(done: int, total: int) -> None:
        nonlocal width
        line = pace.line(done, total)
        if line is None:
            return
        ends = not is_terminal or 0 < total == done
        # A failure to show progress is no reason to end the work.
        with suppress(OSError):
            click.echo(f"\r{line.ljust(width)}" if is_terminal else line, nl=ends, err=True)
        width = 0 if ends else len(line)

    return show


def print_json(model: BaseModel) -> None:
    """One JSON document on standard output, masked, keys in the order of the schema."""
    click.echo(masked_json(model.model_dump(mode="json")))


def say(text: str, err: bool = False) -> None:
    """Print ``text``, escaped so that text from files moves no cursor."""
    click.echo(printable(text), err=err)


def show_problems(problems: tuple[Problem, ...]) -> None:
    """Report faults of the input on standard error, for commands that went on with the rest."""
    if problems:
        count = len(problems)
        say(f"error: {count} {'fault' if count == 1 else 'faults'} in the input; the rest was read", err=True)
    for problem in sorted(problems, key=lambda item: item.order):
        say(str(problem), err=True)


def one_of(id: str, known: tuple[str, ...], what: str, fix: str = "see `incumbent list` for the ids") -> None:
    """Raise :class:`InputError` unless ``id`` is among ``known``."""
    if id not in known:
        from bot.text.did_you_mean import did_you_mean

        raise InputError([Problem(id, None, f"there is no such {what}{did_you_mean(id, known)}", fix)])


def reason_given(value: str) -> str:
    """A ``--reason`` as it is stored, without keys and what the open platform calls personal data.

    Raises :class:`UsageError` for a blank one.
    """
    if not value.strip():
        raise UsageError("--reason must say something")
    return masked(value.strip())
