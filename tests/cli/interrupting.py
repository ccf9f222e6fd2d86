"""A process that is told to stop at the n-th call by which it would change a file of a repository.

As a program: ``python -m tests.cli.interrupting REPOSITORY WHEN SIGNAL COMMAND...``.  ``WHEN`` is a number and
``before`` or ``after``, as in ``3-before``; or ``begun``, to say on standard output when the first file is written, and
to go on: whoever started it sends the signal.  ``SIGNAL`` is its number.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

NAMES = ("fsync", "replace", "rename", "unlink", "remove", "rmdir", "mkdir", "chmod")


class Calls:
    """Counts the calls that change files below ``root``.

    ``act`` is called before or after the one ``at`` (``None``: the first that opens a file to write it); where it is
    ``lasting``, at those that follow too.
    """

    def __init__(self, root: Path, at: int | None, after: bool, act: Callable[[], None], lasting: bool = False) -> None:
        self.lasting = lasting
        self.root, self.at, self.after, self.act = str(root.resolve()), at, after, act
        self.names: list[str] = []

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(target: Any, *rest: Any, **more: Any) -> Any:
            if not self._counts(name, target, rest, more):
                return call(target, *rest, **more)
            number = len(self.names)
            if self.at is None and name == "open":
                self.at = number
            self.names.append(name)
            if self.at is not None and not self.after and (number == self.at or (self.lasting and number > self.at)):
                self.act()
            found = call(target, *rest, **more)
            if number == self.at and self.after:
                if name == "open":
                    # Of what was to be written only a part is there.
                    found.write(b"id: ha" if "b" in found.mode else "id: ha")
                    found.flush()
                try:
                    self.act()
                except BaseException:
                    if name == "open":
                        found.close()
                    raise
                if name == "open":
                    found.seek(0)
                    found.truncate()
            return found

        return wrapped

    def _counts(self, name: str, target: Any, rest: tuple[Any, ...], more: dict[str, Any]) -> bool:
        # Pipes to other programs are opened by their descriptor, and files are synchronised by it.
        if isinstance(target, int):
            return name == "fsync"
        if name == "open" and not set(str(rest[0] if rest else more.get("mode", "r"))) & set("wax+"):
            return False
        # Names relative to a descriptor are those of a folder that is removed.
        if more.get("dir_fd") is not None:
            return True
        return str(Path(target).absolute()).startswith(self.root)


@contextmanager
def counted(calls: Calls) -> Iterator[Calls]:
    """Within, ``calls`` sees what changes files."""
    with mock.patch.object(io, "open", calls.around("open", io.open)):
        patches = [mock.patch.object(os, name, calls.around(name, getattr(os, name))) for name in NAMES]
        for patch in patches:
            patch.start()
        try:
            yield calls
        finally:
            for patch in patches:
                patch.stop()


def main(root: str, when: str, number: str, *arguments: str) -> int:
    # What a shell starts in the background ignores interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from incumbent.cli.main import run

    at: int | None
    if when == "begun":
        at, after = None, False

        def act() -> None:
            os.write(1, b"begun\n")
    else:
        at, after = int(when.partition("-")[0]), when.endswith("after")

        def act() -> None:
            os.kill(os.getpid(), int(number))

    with counted(Calls(Path(root), at, after, act)):
        return run(arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
