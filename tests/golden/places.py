"""Where commands run: this repository, and copies of the other platform that may be changed; and what they print."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from difflib import unified_diff
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import git

from incumbent.classifier.embedded.weights import SHIPPED_DIGEST
from incumbent.cli.main import run
from tests.cli.conftest import make_platform
from tests.factories import REPOSITORY

CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
BRANCH_LINE = "eval_sets/quillow-savings/branch-line"
CONFIG = "config/curation.yaml"
_STILL = SimpleNamespace(monotonic=lambda: 0.0)
_DAY = "2026-01-{:02d}T03:04:05Z"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def incumbent(*arguments: str, terminal: bool = False) -> str:
    """The command, its exit code and all that it prints, as the current folder's files are."""
    out, err = (_Terminal if terminal else io.StringIO)(), io.StringIO()
    # No time passes: how often a step says how far it is, and how fast, would depend on the machine.
    with patch("incumbent.cli.output.time", _STILL), redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    parts = [f"$ incumbent {shlex.join(arguments)}{'  # on a terminal' if terminal else ''}", f"exit code {code}"]
    parts += [f"--- {name}\n{text}" for name, text in (("output", out.getvalue()), ("errors", err.getvalue())) if text]
    text = "\n".join(part.rstrip("\n") for part in parts)
    return text.replace(str(Path.cwd()), "FOLDER").replace("\x1b", "␛") + "\n\n"


def texts_of(folder: Path) -> dict[str, str]:
    """The text files below ``folder``, but for git's own."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What became of files, as a diff."""
    lines: list[str] = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old != new:
            names = ("(none)" if old is None else path, "(none)" if new is None else path)
            lines += unified_diff((old or "").splitlines(), (new or "").splitlines(), *names, lineterm="")
    return "\n".join(["--- files", *lines]) + "\n\n" if lines else ""


def transcript(*calls: Sequence[str]) -> str:
    """What ``calls`` print one after the other, each with the files that it changes in the current folder."""
    parts = []
    for call in calls:
        before = texts_of(Path())
        parts += [incumbent(*call), changes(before, texts_of(Path()))]
    return "".join(parts)


@contextmanager
def standing_in(folder: Path) -> Iterator[Path]:
    """``folder`` as the current folder."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(here)


def commit(folder: Path, day: int, message: str = "Change") -> None:
    """Commit all files of ``folder`` on a day of January."""
    dates = {f"GIT_{name}_DATE": _DAY.format(day) for name in ("AUTHOR", "COMMITTER")}
    with git.Repo(folder) as repository, repository.git.custom_environment(**dates):
        repository.git.add(all=True)
        repository.git.commit(message=message)


@contextmanager
def other_platform(work: Path) -> Iterator[Path]:
    """A copy of the other platform below ``work``, in which the card line was admitted; it is the current folder.

    It is classified without an embedding, so that no two processors differ.
    """
    place = Path(tempfile.mkdtemp(dir=work)) / "platform"
    shutil.copytree(_model(work), place)
    with standing_in(place):
        yield place


@cache
def _model(work: Path) -> Path:
    """The platform that :func:`other_platform` copies; made once."""
    folder = make_platform(work / "model")
    replace_in(folder / CONFIG, SHIPPED_DIGEST, "none")
    commit(folder, 3, "Classify without an embedding")
    with git.Repo(folder) as repository:
        repository.git.branch("-M", "main")
    with standing_in(folder):
        incumbent("admit", CARD_LINE)
    commit(folder, 4, "Grow")
    return folder


@cache
def this_repository(work: Path) -> Path:
    """A copy of this repository's platform and examples, classified by the model that ships; made once."""
    folder = work / "here"
    for name in ("config", "eval_sets", "examples", "regression_set", "taxonomy"):
        shutil.copytree(REPOSITORY / name, folder / name)
    return folder


def replace_in(path: Path, *pairs: str) -> None:
    """Replace texts in a file, each of which is there: old, new, old, new."""
    text = path.read_text(encoding="utf-8")
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8", newline="\n")
