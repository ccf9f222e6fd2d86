"""Reads folders, each in a process of its own, and says what reading it took and what came of it.

A process of its own shows what reading costs, and an audit hook what it opens.  Each is a copy of this one, in which
every module is loaded, so that none pays for another's memory.  One line of JSON in, one out.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from incumbent.errors import InputError, Problem
from incumbent.files.process import set_loaded_aside
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.agents.reader import bare_readers, whole_readers
from incumbent.intake.eval_sets.reader import readers
from incumbent.intake.expectation import understand
from incumbent.pipeline.submission import read_package
from incumbent.text.secrets import holds_key
from tests.factories import SHIPPED
from tests.fuzz.targets import faults_of, last_lines
from tests.hostile.judging import SECRET
from tests.hostile.templates import AGENT, EVALS

_SHOWN = 40
_watched: list[str] = []
_touched: list[str] = []
_NETWORK = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Note every file outside the watched folder that is opened, and everything that leaves the process."""
    if not _watched:
        return
    if event in _NETWORK:
        _touched.append(f"{event} {arguments!r:.200}")
    elif event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str | bytes):
        place = os.path.realpath(os.fsdecode(arguments[0]))
        inside = place == _watched[0] or place.startswith(_watched[0] + os.sep)
        # Modules that are imported when they are first needed are no input.
        if not inside and not re.search(r"\.(?:py|pyc|so|pyd)$|/__pycache__|/site-packages", place):
            _touched.append(f"{event} {place}")


def _read(folder: Path) -> tuple[int, int, tuple[Problem, ...], str]:
    """How many queries and tools were read, every problem and note, and all of it as the command line prints it."""
    try:
        package = read_package(WorkingTree(folder), "harbour", "desk", "eval_sets/harbour/desk", SHIPPED.limits)
    except InputError as error:
        return 0, 0, error.problems, str(error)
    for query in package.submission.queries:
        understand(query.expected, len(query.turns))
    problems = (*package.submission.problems, *package.submission.notes)
    return len(package.submission.queries), len(package.specification.tools or ()), problems, str(InputError(problems))


def _judge(order: dict[str, Any]) -> dict[str, Any]:
    folder = Path(order["folder"])
    _touched.clear()
    _watched[:] = [os.path.realpath(folder)]
    began = time.process_time()
    crash = ""
    queries, tools, text = 0, 0, ""
    problems: tuple[Problem, ...] = ()
    try:
        queries, tools, problems, text = _read(folder)
    except Exception:  # noqa: BLE001 (whatever it is, it is what the test is about)
        crash = traceback.format_exc()
    seconds = time.process_time() - began
    _watched.clear()
    files: dict[str, bytes] = {}
    for path in {problem.file for problem in problems}:
        place = folder / path
        if place.is_file() and not place.is_symlink() and place.stat().st_size < 5_000_000:
            files[path] = place.read_bytes()
    lines = last_lines(files)
    faults = [f"{fault}: {problem!s:.300}" for problem in problems for fault in faults_of(problem, lines)]
    wanted = re.compile(order["says"], re.IGNORECASE | re.DOTALL)
    said = [problem for problem in problems if wanted.search(problem.message)]
    return {
        "crash": crash,
        "queries": queries,
        "tools": tools,
        "count": len(problems),
        "characters": len(text),
        "problems": [str(problem)[:400] for problem in problems[:_SHOWN]],
        "said": [[problem.file, problem.line] for problem in said[:_SHOWN]],
        "leaked": any(secret in text for secret in order["secrets"]),
        "faults": faults[:_SHOWN],
        "touched": _touched[:_SHOWN],
        "seconds": seconds,
        "megabytes": _peak(),
    }


def _peak() -> float:
    """The most memory that this process ever held, in megabytes."""
    status = Path("/proc/self/status")
    if status.is_file():
        # What `getrusage` says on Linux begins with what the parent held.
        return int(re.search(r"VmHWM:\s*(\d+) kB", status.read_text())[1]) / 1e3  # type: ignore[index]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def _load() -> None:
    """Load every module that is loaded when it is first needed: each copy would load it again."""
    readers()
    whole_readers()
    bare_readers()
    holds_key(SECRET)
    table = "query,expected\nMy key is broken; call +44 20 7946 0958 or a@b.example.,\"{'a': [1]}\"\n"
    with TemporaryDirectory() as folder:
        for name, text in (("agent.yaml", AGENT), ("evals.yaml", EVALS), ("q.csv", table), ("q.yaml", "queries: [")):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        _read(Path(folder))


def main() -> None:
    """Answer line after line."""
    _load()
    set_loaded_aside()
    sys.addaudithook(_watch)
    for line in sys.stdin:
        copy = os.fork()
        if not copy:
            sys.stdout.write(json.dumps(_judge(json.loads(line))) + "\n")
            sys.stdout.flush()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
        if status:
            sys.stdout.write(json.dumps({"crash": f"the process ended with status {status}"}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
