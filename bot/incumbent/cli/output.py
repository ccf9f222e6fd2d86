"""What commands print: JSON, lines, faults and costs, and the progress of long work in words."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
from pydantic import TypeAdapter

from incumbent.classifier.model import Backend, Progress, silent
from incumbent.classifier.usage import Usage, total
from incumbent.curator.entry import StaleEntry
from incumbent.errors import OutsideError, Problem
from incumbent.report.escaping import printable, unlogged, visible
from incumbent.text.masking import masked_json

_REDRAWN: Final = 0.1
_LINES: Final = 10.0
"""Seconds between two progress updates: on a terminal, and as lines."""
_MINUTE: Final = 60
_FIRST: Final = 1.0
"""Seconds after which a rate is meaningful."""


def print_json(value: object, shown_as: Any = None) -> None:
    """One JSON document on standard output, masked, keys in the order of the schema.

    ``shown_as`` is a view of ``value``; without, it is a model.
    """
    click.echo(masked_json(TypeAdapter(shown_as or type(value)).dump_python(value, mode="json")))


def say(text: str, err: bool = False) -> None:
    """Print ``text``, escaped so that text from files moves no cursor."""
    click.echo(printable(text), err=err)


def log(text: str, error: bool = False) -> None:
    """Write one line to the log of a job, escaped so that the runner sees no command in it."""
    click.echo(unlogged(text), err=error)


def write_files(files: Mapping[Path, str]) -> None:
    """Write ``files`` and create their folders; raises :class:`OutsideError` if the file system refuses."""
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        except OSError as error:
            raise OutsideError(f"{path} cannot be written: {error.strerror}; name another place") from None


def show_problems(problems: tuple[Problem, ...]) -> None:
    """Report faults of the input on standard error, for commands that went on with the rest."""
    if problems:
        count = len(problems)
        say(f"error: {count} {'fault' if count == 1 else 'faults'} in the input; the rest was read", err=True)
    for problem in sorted(problems, key=lambda item: item.order):
        say(str(problem), err=True)


def show_usage(*backends: Backend, besides: Usage | None = None) -> None:
    """Report on standard error the total cost of asking models, if any, and a kept model that was refused."""
    from incumbent.report.verdict_text import usage_line

    for refused in filter(None, (getattr(backend, "refused", None) for backend in backends)):
        say(
            f"note: {refused} is not used: it is cut, altered, of another version, or others could have written it. "
            "The model was fitted anew; if this is shown again, delete the file and make its folder yours alone",
            err=True,
        )
    usage = total([*(backend.usage for backend in backends), besides])
    if usage is not None:
        click.echo(usage_line(usage), err=True)


def show_preview(backend: Backend) -> str | None:
    """Why a preview has judged, if it has; said on standard error as well."""
    from incumbent.classifier.embedded.backend import EmbeddedBackend

    preview = backend.preview if isinstance(backend, EmbeddedBackend) else None
    if preview is not None:
        say(f"note: Preview: {preview}. Run `incumbent fit` for the whole fit.", err=True)
    return preview


def warn_of_stale(stale: Sequence[StaleEntry]) -> None:
    """Warn of stale entries on standard error, for commands that go on nevertheless."""
    for item in stale:
        say(f"warning: {item.id} is stale ({visible(item.reason)}): run `incumbent reclassify`", err=True)


def report_batches(text: str) -> None:
    """Report the state of batches on standard error."""
    say(f"note: {text}", err=True)


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


class Pace:
    """The progress of a step as lines, at most one in ``every`` seconds of ``clock``, except the last."""

    def __init__(self, label: str, every: float, clock: Callable[[], float]) -> None:
        self._label = label
        self._every = every
        self._clock = clock
        self._begun: tuple[float, int] | None = None
        self._shown = 0.0

    def line(self, done: int, total: int) -> str | None:
        """The line to show for this progress, if any; the first call gives what was done before."""
        now = self._clock()
        if self._begun is None:
            self._begun = now, done
        elif now - self._shown < self._every and not 0 < total == done:
            return None
        self._shown = now
        begun, before = self._begun
        return words(self._label, done, total, before, now - begun)


def words(label: str, done: int, total: int, begun: int, seconds: float) -> str:
    """A line such as ``rows read 5,000/20,000 (1,000/s, 15 s left)``.

    ``total`` is 0 if unknown.  The step started ``seconds`` ago with ``begun`` done, which do not count for the rate.
    The rate is left out while it would not be meaningful.
    """
    counted = f"{label} {done:,}/{total:,}" if total else f"{label} {done:,}"
    made = done - begun
    if made <= 0 or seconds < _FIRST:
        return counted
    rate = made / seconds
    shown = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s" if rate >= 1 else f"{rate * _MINUTE:.1f}/min"
    if not total:
        return f"{counted} ({shown})"
    ending = f"{lasting((total - done) / rate)} left" if done < total else f"in {lasting(seconds)}"
    return f"{counted} ({shown}, {ending})"


def lasting(seconds: float) -> str:
    """``seconds`` in one or two units, rounded up, such as ``15 s``, ``4 min`` and ``3 h 20 min``."""
    whole = int(-(-seconds // 1))
    if whole < 2 * _MINUTE:
        return f"{whole} s"
    minutes = -(-whole // _MINUTE)
    return f"{minutes} min" if minutes < 2 * _MINUTE else f"{minutes // 60} h {minutes % 60} min"
