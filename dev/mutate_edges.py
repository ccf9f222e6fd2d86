"""Mutants of the edges (`make mutate ARGS="--edges"`): GitHub, reconcile, the ledger, files, and what writes the set.

There are too many tests near these rooms for mutmut, and many of them run git.  So each mutant is written into a copy
of the tree, and tried by the tests that reach its line, fastest first, for :data:`BUDGET` seconds of them at most.
Which reach it is measured with coverage, and measured again only for a file of tests that has changed.  A mutant is
tried in a fork of a process that has loaded all packages but this project: what is loaded of that is the mutant.
"""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

ROOMS: Final = (
    *(
        "bot/incumbent/github/*.py",
        "bot/incumbent/reconcile/*.py",
        "bot/incumbent/ledger/*.py",
        "bot/incumbent/files/*.py",
    ),
    *(
        "bot/incumbent/curator/store.py",
        "bot/incumbent/curator/journal.py",
        "bot/incumbent/curator/staging.py",
        "bot/incumbent/curator/file_changes.py",
    ),
    "bot/incumbent/curator/corrections.py",
)
"""Whose mutants are tried."""

TESTS: Final = (
    *(f"tests/{room}/test_*.py" for room in ("github", "reconcile", "ledger", "files", "curator", "git")),
    *("tests/site/test_comparison.py", "tests/taxonomy/test_table_edits.py", "tests/evaluation/test_labels.py"),
    *("tests/results/test_ledger_records.py", "tests/report/test_pull_request_bodies.py"),
)
"""The tests that are near: of the rooms, of git, and of what a file elsewhere is tested with."""

BUDGET: Final = 8.0
"""So many seconds of tests are run for one mutant."""

PATIENCE: Final = 30
"""After so many seconds of processor time, or :data:`WAIT` seconds by the clock, a mutant never ends."""

WAIT: Final = 60.0

_BROKEN: Final = 99
"""The exit code of a fork in which pytest could not run."""

WORK: Final = Path("build/mutation/edges")
KNOWN: Final = Path("dev/equivalent_mutants.json")
"""Mutants that no test can find, with the reason."""

FLIPPED: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
PYTEST: Final = (
    *("-q", "--tb=line", "--hypothesis-profile=mutants"),
    *(
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:pytest_cov",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small change: the bytes from ``start`` to ``end`` of the file at ``path`` become ``after``."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str
    source: str
    """The line that the change begins in."""
    within: str = ""
    """The function around it."""

    @property
    def name(self) -> str:
        """Where it is and what it changes, in one line."""
        return f"{self.path}:{self.line}: {shown(self.before)} -> {shown(self.after)}   | {self.source}"

    @property
    def key(self) -> tuple[str, ...]:
        """What stays the same when other lines change."""
        return self.path, self.within, self.source, shown(self.before), shown(self.after)


def shown(text: str) -> str:
    """``text`` in one short line."""
    words = " ".join(text.split())
    return words if len(words) <= 60 else f"{words[:57]}..."


def mutants_of(path: str, source: str) -> list[Mutant]:
    """All mutants of the module at ``path``, in the order of their places."""
    data = source.encode()
    starts = [0]
    for row in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    rows = source.splitlines()
    found: dict[tuple[int, int, str], Mutant] = {}
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for start, end, after in _changes(tree, data, starts):
        before = data[start:end].decode()
        if after == before:
            continue
        line = next(number for number, begin in enumerate(starts) if begin > start)
        around = [node for node in functions if node.lineno <= line <= (node.end_lineno or 0)]
        within = max(around, key=lambda node: node.lineno).name if around else ""
        changed = Mutant(path, line, start, end, before, after, rows[line - 1].strip(), within)
        found.setdefault((start, end, after), changed)
    return sorted(found.values(), key=lambda item: (item.start, item.end, item.after))


def _changes(tree: ast.Module, data: bytes, starts: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """Where each change begins and ends, and what stands there then."""

    def span(node: Any) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def text(node: Any) -> str:
        begin, end = span(node)
        return data[begin:end].decode()

    for node in _places(tree.body):
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield (*span(node), f"(({text(left)}) {FLIPPED[type(op)]} ({text(right)}))")
            case ast.BoolOp(op=op, values=values):
                joined = " or " if isinstance(op, ast.And) else " and "
                yield (*span(node), f"({joined.join(f'({text(each)})' for each in values)})")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield (*span(node), f"({text(operand)})")
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                yield (*span(node), f"(({text(left)}) {'-' if isinstance(op, ast.Add) else '+'} ({text(right)}))")
            case ast.Constant(value=bool(value)):
                yield (*span(node), str(not value))
            case ast.Constant(value=int(value)):
                yield (*span(node), str(value + 1))
            case ast.Constant(value=str(value)) if value and not any(letter.isspace() for letter in value):
                yield (*span(node), repr(f"XX{value}"))
            case ast.Return(value=ast.expr() as value) if text(value) != "None":
                yield (*span(node), "return None")
            case ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign():
                yield (*span(node), "pass")
            case ast.Expr(value=ast.Call()):
                yield (*span(node), "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield (*span(node), "pass")
        for each in _conditions(node):
            yield (*span(each), f"(not ({text(each)}))")
        if isinstance(node, ast.Call) and len(node.args) > 1:
            first, second = node.args[:2]
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                begin, end = span(first)[0], span(second)[1]
                between = data[span(first)[1] : span(second)[0]].decode()
                yield begin, end, text(second) + between + text(first)


def _conditions(node: ast.AST) -> list[ast.expr]:
    """What ``node`` asks, where the opposite is no other change already."""
    match node:
        case ast.If() | ast.While() | ast.IfExp():
            asked = [node.test]
        case ast.comprehension():
            asked = node.ifs
        case _:
            asked = []
    return [each for each in asked if not _has_opposite(each)]


def _has_opposite(node: ast.expr) -> bool:
    match node:
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn() | ast.Is() | ast.IsNot()]):
            return True
        case ast.UnaryOp(op=ast.Not()):
            return True
    return False


def _places(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """What may be changed of ``nodes``: no annotation, no text for people, and nothing that is only for type checks."""
    for node in nodes:
        match node:
            case ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Expr(value=ast.Constant()):
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.AnnAssign(value=value):
                if value is not None and not _is_type(node.annotation):
                    yield from _places([value])
            case ast.ClassDef():
                yield from _places(node.body)
            case ast.FunctionDef():
                values = [*node.args.defaults, *node.args.kw_defaults]
                yield from _places([each for each in (*values, *node.body) if each is not None])
            case ast.Raise():
                yield node
            case _:
                yield node
                yield from _places(ast.iter_child_nodes(node))


def _is_type(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "TypeAlias"


def all_mutants(root: Path) -> list[Mutant]:
    """All mutants of the rooms, in the order of their places."""
    paths = sorted(path.relative_to(root).as_posix() for pattern in ROOMS for path in root.glob(pattern))
    return [each for path in paths for each in mutants_of(path, (root / path).read_text(encoding="utf-8"))]


class Scratch:
    """A copy of the tree, in which one mutant at a time is tried."""

    def __init__(self, root: Path) -> None:
        self._around = TemporaryDirectory(prefix="incumbent-mutants-")
        self.root = Path(self._around.name).resolve() / "tree"
        words = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        listed = subprocess.run(words, cwd=root, stdout=subprocess.PIPE, check=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            if (root / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.root / name)

    def run(self, ids: Sequence[str], *, measured: Path | None = None) -> int | None:
        """The exit code of pytest for the tests ``ids``; ``None`` if it never ended.

        With ``measured``, what they reach is written there, however long that takes.
        """
        child = os.fork()
        if not child:
            code = _BROKEN
            try:
                code = _tried(self.root, ids, measured)
            finally:
                if code == _BROKEN:
                    traceback.print_exc()
                os._exit(code)
        until = time.monotonic() + (WAIT if measured is None else 1_200)
        while time.monotonic() < until:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                _end(child)
                code = os.waitstatus_to_exitcode(status)
                return None if code == -signal.SIGXCPU else code
            time.sleep(0.01)
        _end(child)
        os.waitpid(child, 0)
        return None


def _end(group: int) -> None:
    """End what is left of the processes of ``group``."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _tried(root: Path, ids: Sequence[str], measured: Path | None) -> int:
    """In the fork: run the tests ``ids`` of the tree at ``root``; the exit code."""
    os.setsid()
    here = Path.cwd()
    os.chdir(root)
    sys.path[:] = [str(root), *(path for path in sys.path if path not in ("", str(here)))]
    out = os.open(root.parent / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("incumbent", "tests", "dev")]:
        del sys.modules[name]
    import pytest

    files = sorted({id.partition("::")[0] for id in ids})
    words = [*PYTEST, "--basetemp", str(root.parent / "temporary"), *files]
    if measured is None:
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 5))
        code = int(pytest.main([*words, "-x"], plugins=[Chosen(ids)]))
    else:
        reach = Reach()
        code = int(pytest.main(words, plugins=[reach]))
        measured.write_text(json.dumps(reach.found), encoding="utf-8")
    sys.stdout.flush()
    sys.stderr.flush()
    return code


class Chosen:
    """A plugin of pytest that runs the tests ``ids``, in their order."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ranks = {id: rank for rank, id in enumerate(ids)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._ranks), key=lambda item: self._ranks[item.nodeid]
        )


class Reach:
    """A plugin of pytest that measures how long each test takes, and which lines of the rooms it reaches."""

    def __init__(self) -> None:
        import coverage

        self.found: dict[str, dict[str, Any]] = {}
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=[f"*/{room}" for room in ROOMS])

    def pytest_collection_finish(self) -> None:
        self._coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        item = self.found.setdefault(report.nodeid, {"seconds": 0.0, "passed": True, "lines": {}})
        item["seconds"] += report.duration
        item["passed"] &= report.outcome != "failed"

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Some tests reach nothing of the rooms.
            data = self._coverage.get_data()
        root = Path.cwd()
        for path in data.measured_files():
            name = Path(path).relative_to(root).as_posix()
            for line, contexts in data.contexts_by_lineno(path).items():
                for context in contexts:
                    if context in self.found:
                        self.found[context]["lines"].setdefault(name, []).append(line)


def reach_of(scratch: Scratch, work: Path) -> dict[str, dict[str, Any]]:
    """What each test reaches, by its id.

    It is measured where it is not known: a file of tests, what is beside it, or a module that it reaches has changed.
    """
    root = scratch.root
    now = {
        path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest()
        for pattern in (*ROOMS, "tests/**/*.py")
        for path in root.glob(pattern)
    }
    found: dict[str, dict[str, Any]] = {}
    for file in sorted(path for pattern in TESTS for path in root.glob(pattern)):
        name, folder = file.relative_to(root).as_posix(), file.parent.relative_to(root).as_posix()
        kept = work / "reach" / f"{name.replace('/', '.')}.json"
        before: dict[str, Any] = {"rests_on": {"": ""}}
        if kept.exists():
            before = json.loads(kept.read_text(encoding="utf-8"))
        if any(now.get(path) != digest for path, digest in before["rests_on"].items()):
            kept.parent.mkdir(parents=True, exist_ok=True)
            measured = scratch.root.parent / "reach.json"
            began = time.monotonic()
            code = scratch.run([name], measured=measured)
            print(f"measured {name}: {code} in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
            if code not in (0, 1):
                continue
            tests = json.loads(measured.read_text(encoding="utf-8"))
            reached = {path for item in tests.values() for path in item["lines"]}
            beside = {path for path in now if path.rpartition("/")[0] in ("tests", folder) and "/test_" not in path}
            before = {"rests_on": {path: now[path] for path in sorted({name, *reached, *beside})}, "tests": tests}
            kept.write_text(json.dumps(before), encoding="utf-8")
        imports = imported_by(file.read_text(encoding="utf-8"))
        found |= {id: {**item, "imports": imports} for id, item in before["tests"].items()}
    return {name: item for name, item in found.items() if item["passed"]}


def imported_by(source: str) -> list[str]:
    """The modules of the product that the tests in ``source`` import, as paths."""
    found = re.findall(r"^from (incumbent[\w.]*) import ", source, re.MULTILINE)
    names = re.findall(r"^from (incumbent[\w.]*) import (\w+)$", source, re.MULTILINE)
    return sorted(f"bot/{name.replace('.', '/')}.py" for name in {*found, *map(".".join, names)})


def near(mutant: Mutant, reach: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The tests for ``mutant``: those that reach its line, then others of its module's own file of tests.

    What a module does when it is loaded, coverage sees of no test: there all count that reach or import the module.
    Of alike ones, those of the own file are first, and of these the fastest.
    """
    own = f"/test_{Path(mutant.path).stem}"
    ranks: dict[str, tuple[bool, bool, float, str]] = {}
    for name, item in reach.items():
        reaches = mutant.line in item["lines"].get(mutant.path, ())
        if reaches or own in name:
            ranks[name] = (not reaches, own not in name, float(item["seconds"]), name)
    if all(not_reached for not_reached, *_ in ranks.values()):
        ranks |= {
            name: (True, own not in name, float(item["seconds"]), name)
            for name, item in reach.items()
            if mutant.path in {*item["lines"], *item["imports"]}
        }
    chosen: list[str] = []
    spent = 0.0
    for name in sorted(ranks, key=ranks.__getitem__):
        spent += ranks[name][2]
        if spent > BUDGET and chosen:
            break
        chosen.append(name)
    return chosen


@cache
def known() -> Mapping[tuple[str, ...], str]:
    """Why no test can find a mutant, by its key."""
    rows = json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else []
    names = ("path", "within", "line", "before", "after")
    return {tuple(row[name] for name in names): row["reason"] for row in rows}


def preload() -> None:
    """Load all packages that the rooms and their tests need."""
    import importlib

    names = (
        "pytest",
        "coverage",
        "hypothesis",
        "incumbent.github.run",
        "incumbent.github.client",
        "incumbent.reconcile.run",
    )
    for name in (*names, "incumbent.cli.main", "github", "requests", "tests.github.scenes", "tests.reconcile.hub"):
        importlib.import_module(name)


def try_mutants(sample: int | None, seed: int, paths: Sequence[str] = ()) -> dict[str, str]:
    """What became of all mutants, or of a ``sample`` drawn by ``seed``, of the files that begin with ``paths``."""
    root = Path.cwd()
    scratch = Scratch(root)
    preload()
    reach = reach_of(scratch, root / WORK)
    mutants = [each for each in all_mutants(scratch.root) if not paths or each.path.startswith(tuple(paths))]
    if sample is not None:
        drawn = np.random.default_rng(seed).permutation(len(mutants))[:sample]
        mutants = [mutants[place] for place in drawn.tolist()]
    found: dict[str, str] = {}
    for number, mutant in enumerate(mutants):
        status = _status(scratch, mutant, near(mutant, reach))
        found[mutant.name] = status
        print(f"{number + 1}/{len(mutants)} {status:10} {mutant.name}", file=sys.stderr, flush=True)
    return found


def _status(scratch: Scratch, mutant: Mutant, tests: Sequence[str]) -> str:
    """Try ``mutant`` with ``tests``."""
    if mutant.key in known():
        return "equivalent"
    if not tests:
        return "no tests"
    place = scratch.root / mutant.path
    whole = place.read_bytes()
    changed = whole[: mutant.start] + mutant.after.encode() + whole[mutant.end :]
    try:
        compile(changed, mutant.path, "exec")
    except SyntaxError:
        return "skipped"
    # Most are found by one file of tests: to read the others takes longer than to run them.
    nearest = [name for name in tests if name.partition("::")[0] == tests[0].partition("::")[0]]
    code: int | None = 0
    try:
        place.write_bytes(changed)
        for lot in (nearest, [name for name in tests if name not in nearest]):
            if lot and code == 0:
                code = scratch.run(lot)
    finally:
        place.write_bytes(whole)
        # What was compiled of the mutant has its size and second: it would be taken for the file.
        for compiled in (place.parent / "__pycache__").glob(f"{place.stem}.*.pyc"):
            compiled.unlink()
    # Where pytest ran no test, or could not run, nothing was found; where a module could not be loaded, it was.
    return {None: "timeout", 0: "survived", 5: "not checked", _BROKEN: "not checked"}.get(code, "killed")
