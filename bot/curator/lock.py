"""One curator at a time: two commands that write at once would each plan against a set that the other changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.curator.journal import settle
from bot.files.folder_lock import only_command_in


@contextmanager
def sole_curator(root: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Hold the platform repository at ``root`` from reading the set to writing it; ends with the process at the latest.

    A change that was interrupted is finished first; ``report`` is given a sentence of it.
    Raises :class:`OutsideError` while another command holds it.
    """
    busy = f"another command is changing the regression set of {root}; run this again when it has ended"
    with only_command_in(root, busy):
        said = settle(root)
        if said is not None:
            report(said)
        yield
