"""Options that several commands share, and the first steps of all of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from incumbent.cli.output import say
from incumbent.curator.journal import sole_curator, was_changed
from incumbent.errors import IncumbentError, InputError, OutsideError, Problem, UsageError
from incumbent.files.git.working_copy import read_commit, read_conflicts, read_remote, read_top, refuse_bare
from incumbent.files.process import is_stop
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import CONFIG_FILE, Curation
from incumbent.text.compare import utc
from incumbent.text.masking import masked

if TYPE_CHECKING:
    from incumbent.classifier.model import Backend, Stages
    from incumbent.curator.entry import Entry
    from incumbent.curator.staging import AuditStamp
    from incumbent.pipeline.review import Platform

Command = TypeVar("Command", bound=Callable[..., Any])

FOLDER: Final = click.Path(exists=True, file_okay=False, path_type=Path)
FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
"""Arguments that name a folder or a file that is there."""
LABELS: Final = "labels"
"""The folder of a platform repository with the files that label queries."""
_OWNER_AND_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_DECIDING: Final = frozenset({"config", "regression_set", "taxonomy"})
"""The folders whose files affect a change of the set; a merge conflict elsewhere does not matter."""


def repo_option(help: str, callback: Callable[..., Path] | None = None) -> Callable[[Command], Command]:
    """``--repo``, a folder."""
    return click.option("--repo", callback=callback, type=FOLDER, default=Path(), metavar="DIR", help=help)


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
    return repo_option("The platform repository (default: this folder).", _with_files)(function)


def tree_of(repo: Path) -> WorkingTree:
    """The files of the platform repository in ``repo``, named as people name them."""
    return WorkingTree(repo, "" if repo == Path() else repo.as_posix())


def repository_option(what: str) -> Callable[[Command], Command]:
    """``--repository``: ``what`` is at that place on GitHub."""
    return click.option(
        "--repository",
        envvar="GITHUB_REPOSITORY",
        metavar="OWNER/NAME",
        help=f"{what} [env: GITHUB_REPOSITORY; default: where the remote `origin` leads].",
    )


def repository_on_github(given: str | None, folder: Path) -> str:
    """``OWNER/NAME`` as ``given``, or else that of the remote ``origin`` of ``folder``."""
    if given is not None and not _OWNER_AND_NAME.fullmatch(given):
        raise UsageError("--repository must be OWNER/NAME, as in the repository's address on GitHub")
    found = given or read_remote(folder)
    if found is None:
        raise UsageError("say which repository: --repository OWNER/NAME (there is no remote `origin` here)")
    return found


def github_token(environment: Mapping[str, str]) -> str:
    """A person's token, for commands that people call; raises :class:`UsageError` without one."""
    token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN")
    if not token:
        raise UsageError("there is no token: set GITHUB_TOKEN or GH_TOKEN (`gh auth token` prints yours)")
    return token


def two_commits(commits: str, repo: Path) -> tuple[str, str]:
    """The commits that ``BASE..HEAD`` names in ``repo``, the top of a git repository; without a HEAD it is ``HEAD``."""
    base, dots, head = commits.partition("..")
    if not (base and dots) or head.startswith("."):
        raise UsageError(f"{commits!r} names no two commits: write BASE..HEAD, as in main..HEAD")
    top = read_top(repo)
    if top is None or top.resolve() != repo.resolve():
        raise UsageError(f"{repo} is not the top folder of a git repository: name that with --repo DIR")
    return read_commit(repo, base), read_commit(repo, head or "HEAD")


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
    return eval_set_argument(agent_options(function))


eval_set_argument = click.argument("eval_set_dir", type=FOLDER, metavar="EVAL_SET_DIR")
eval_set_or_none = click.argument("eval_set_dir", type=FOLDER, metavar="[EVAL_SET_DIR]", required=False)


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
    from incumbent.pipeline.workspace import occasion as at_hand

    try:
        return at_hand(repo, at, by)
    except (UsageError, OutsideError) as error:
        raise type(error)(f"{error}, or give --at TIME") from None


def open_backend(platform: Platform, stages: Stages, *, batch: bool = False, preview: bool = False) -> Backend:
    """The classifier of the config, for a command that judges; what the config should say otherwise is noted once."""
    from incumbent.classifier.backends import verify_weights
    from incumbent.pipeline.workspace import open_backend as opened

    note_platform(platform)
    # Before anything is judged: what is known from earlier runs would hide that the file is cut or altered.
    verify_weights(platform.config.classifier)
    return opened(platform, stages, batch=batch, preview=preview)


def note_platform(platform: Platform) -> None:
    """Show what has no effect in the config and the set of ``platform``, on standard error and once in a command."""
    note_config(platform.config, platform.regression_set.notes)


def note_config(config: Curation, more: Iterable[Problem] = ()) -> None:
    """Show the notes of ``config``, and ``more``, on standard error, unless this command has shown them."""
    context = click.get_current_context()
    shown = context.meta.setdefault(f"{__name__}.notes", set())
    for note in (*config.notes, *more):
        if note not in shown:
            shown.add(note)
            say(f"note: {note}", err=True)


def whole_text(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse text that no file can contain: bytes of the command line that are not in the locale's encoding."""
    if value is not None and value != value.encode("utf-8", "replace").decode("utf-8"):
        raise click.BadParameter("is not in the encoding of this terminal; write it in UTF-8")
    return value


by_option = click.option(
    "--by", metavar="NAME", callback=whole_text, help="Who decides this (default: git's user.name)."
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


def admit_line(folder: Path, customer: str | None, agent: str | None, repo: Path, config_path: str) -> str:
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


def one_of(id: str, known: tuple[str, ...], what: str, fix: str = "see `incumbent list` for the ids") -> None:
    """Raise :class:`InputError` unless ``id`` is among ``known``."""
    if id not in known:
        from incumbent.text.did_you_mean import did_you_mean

        raise InputError([Problem(id, None, f"there is no such {what}{did_you_mean(id, known)}", fix)])


def customers_of(entries: Iterable[Entry]) -> tuple[str, ...]:
    """The customers that ``entries`` came from, sorted."""
    return tuple(sorted({entry.source.customer for entry in entries if entry.source is not None}))


def is_of(customer: str | None, entry: Entry) -> bool:
    """Whether ``entry`` came from ``customer`` (``None``: any)."""
    return customer is None or (entry.source is not None and entry.source.customer == customer)


def reason_given(value: str) -> str:
    """A ``--reason`` as it is stored, without keys and what the open platform calls personal data.

    Raises :class:`UsageError` for a blank one.
    """
    if not value.strip():
        raise UsageError("--reason must say something")
    return masked(value.strip())


def labels_in(repo: Path) -> tuple[Path, ...]:
    """The label files in the folder ``labels/`` of ``repo``."""
    from incumbent.classifier.evaluation.labels import DOCUMENTS

    found = sorted((repo / LABELS).glob("*"))
    return tuple(path for path in found if path.name.lower().endswith((".tsv", *DOCUMENTS)))


def read_named(path: Path, most: int | None = None) -> bytes:
    """The content of the file at ``path``, which people named: a link or a pipe is allowed, an endless one is not.

    Raises :class:`InputError` if it cannot be read, or has more than ``most`` bytes (``None``: what reads it says so).
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(-1 if most is None else most + 1)
    except OSError as error:
        fault = Problem(path.as_posix(), None, f"the file cannot be read: {error.strerror}", "check its name")
        raise InputError([fault]) from None
    if most is not None and len(content) > most:
        raise InputError([Problem(path.as_posix(), None, f"the file has more than {most:,} bytes", "split the file")])
    return content


def read_all_named(paths: Iterable[Path], most: int | None = None) -> dict[str, bytes]:
    """Name → the content of each file, as :func:`read_named`; raises :class:`InputError` with the faults of all."""
    contents: dict[str, bytes] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            contents[str(path)] = read_named(path, most)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return contents
