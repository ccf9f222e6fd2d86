"""Hands folders to the worker, and holds what it says against what must hold of any folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

MOST_SECONDS = 6.0
"""Of processor time, for one folder: two on a calm machine, and three times as much on one that others share."""
MOST_MEGABYTES = 200.0
"""Of memory, for the whole process."""
_WAIT = 60.0
"""Seconds after which a reading hangs."""

SECRET = "ghp_" + "Harb0urMasterTok3nOfTheNorthernQuay1"
_PARTS = (SECRET, SECRET[4:24])

Maker = Callable[[Path], None]
Content = bytes | Maker


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a folder."""

    queries: int
    tools: int
    count: int
    problems: tuple[str, ...]
    said: tuple[tuple[str, int | None], ...]
    wrong: tuple[str, ...]
    seconds: float
    megabytes: float


class Worker:
    """The process that has every folder read, and its copies that read one each (see :mod:`tests.hostile.worker`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._process: subprocess.Popen[str] | None = None

    def close(self) -> None:
        """End the process, and a copy of it that still reads."""
        if self._process is not None:
            self._kill()
            self._process.communicate()
            self._process = None

    def judge(self, files: Mapping[str, Content], says: str = "") -> Outcome:
        """Write ``files`` into a new folder, have it read, and remove it."""
        self._count += 1
        folder = self._folder / str(self._count)
        place(folder, files)
        try:
            found = self._ask({"folder": str(folder), "says": says, "secrets": _PARTS})
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return _outcome(found)

    def _kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            environment = {key: os.environ[key] for key in ("PATH", "PYTHONPATH", "HOME", "LANG") if key in os.environ}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.hostile.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parents[2],
                env=environment | {"PYTHONHASHSEED": "0"},
                start_new_session=True,
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = Timer(_WAIT, self._kill)
        timer.start()
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(order) + "\n")
                process.stdin.flush()
            line = process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            self.close()
            return {"crash": f"the process ended or hung for {_WAIT:.0f} seconds"}
        answer: dict[str, Any] = json.loads(line)
        return answer


def place(folder: Path, files: Mapping[str, Content]) -> None:
    """Write ``files``: bytes, or what makes something else of a path."""
    folder.mkdir(parents=True)
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            content(target)


def _outcome(found: dict[str, Any]) -> Outcome:
    wrong = [found["crash"]] if found["crash"] else []
    seconds, megabytes = found.get("seconds", 0.0), found.get("megabytes", 0.0)
    if seconds > MOST_SECONDS:
        wrong.append(f"{seconds:.1f} seconds of processor time")
    if megabytes > MOST_MEGABYTES:
        wrong.append(f"{megabytes:.0f} MB of memory")
    if found.get("leaked"):
        wrong.append("a message repeats a secret")
    wrong += [f"not fit to be shown: {fault}" for fault in found.get("faults", ())]
    wrong += [f"left the folder: {place}" for place in found.get("touched", ())]
    return Outcome(
        queries=found.get("queries", 0),
        tools=found.get("tools", 0),
        count=found.get("count", 0),
        problems=tuple(found.get("problems", ())),
        said=tuple((file, line) for file, line in found.get("said", ())),
        wrong=tuple(wrong),
        seconds=seconds,
        megabytes=megabytes,
    )
