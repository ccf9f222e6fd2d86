"""Run the commands of docs/tutorial.md: what they print is compared by a test, and shown in pictures."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from incumbent.cli.main import run

REPOSITORY: Final = Path(__file__).resolve().parent.parent
PAGE: Final = REPOSITORY / "docs" / "tutorial.md"
LEFT_OUT: Final = "…"
"""A line that stands for any number of lines."""

_BLOCK: Final = re.compile(r"```console\n(.*?)```", re.DOTALL)
_DATE: Final = "2026-11-21T10:00:00Z"


@dataclass(frozen=True)
class Step:
    """A command of the tutorial, and the lines that the page shows of what it prints."""

    command: str
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """A step, its exit code, and the lines that it printed."""

    step: Step
    code: int
    printed: tuple[str, ...]


def steps(page: str) -> list[Step]:
    """The commands of ``page``, in their order."""
    found: list[Step] = []
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.rstrip("\n").split("\n")
            found.append(Step(command, tuple(shown)))
    return found


def play(folder: Path) -> list[Answer]:
    """Run the tutorial in the empty ``folder``, beside a link to this clone, as Kim, at a fixed time."""
    (folder / "incumbent").symlink_to(REPOSITORY, target_is_directory=True)
    settings = folder / "gitconfig"
    settings.write_text("[user]\n\tname = Kim Curator\n\temail = kim@platform.example\n", encoding="utf-8")
    git = {"GIT_CONFIG_GLOBAL": str(settings), "GIT_CONFIG_NOSYSTEM": "1"}
    with _environment(git | {"GIT_AUTHOR_DATE": _DATE, "GIT_COMMITTER_DATE": _DATE}), contextlib.chdir(folder):
        return [_answer(step) for step in steps(PAGE.read_text(encoding="utf-8"))]


def _answer(step: Step) -> Answer:
    words = shlex.split(step.command)
    if words[0] == "cd":
        os.chdir(words[1])
        return Answer(step, 0, ())
    if words[0] != "incumbent":
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        return Answer(step, ran.returncode, tuple((ran.stdout + ran.stderr).splitlines()))
    target = None
    if ">" in words:
        words, target = words[: words.index(">")], words[-1]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = run(words[1:])
    if target is not None:
        Path(target).write_text(out.getvalue(), encoding="utf-8")
        return Answer(step, code, ())
    return Answer(step, code, tuple(out.getvalue().splitlines()))


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def differs(answer: Answer) -> str | None:
    """The first line that the page shows and the command does not print there, or ``None``.

    Blanks and the decimals of scores do not count.
    """
    printed = [_plain(line) for line in answer.printed]
    at, anywhere = 0, False
    for line in answer.step.shown:
        if line == LEFT_OUT:
            anywhere = True
            continue
        wanted = _plain(line)
        places = range(at, len(printed)) if anywhere else range(at, min(at + 1, len(printed)))
        found = next((place for place in places if printed[place] == wanted), None)
        if found is None:
            return line
        at, anywhere = found + 1, False
    if at < len(printed) and not anywhere:
        return f"(the page does not show: {answer.printed[at]})"
    return None


def _plain(line: str) -> str:
    return " ".join(re.sub(r"\d+\.\d+", "0.0", line).split())
