"""What a run after a merge costs where many customers came before: make bench ARGS="history --customers 1000".

The bench makes a real git repository, in which customers bring their eval sets, and a GitHub that has nothing to say:
its pull requests are pushes, and the ledger tells of as many that were closed, each in a commit of its own.  The
classifier is one that takes no time.  Each job runs in a process of its own, with an object store of its own, as on
GitHub, and loads what `incumbent ci` loads.  First everything is merged, then nothing, then the change of one customer.
Seconds are of a processor.

With ``--times 10`` each customer is there ten times after the first run, with what the ledger knows of it: a first run
with all of them takes long.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import yaml

from incumbent.classifier.caching_backend import halt
from incumbent.classifier.model import Backend, Finding, Identity, InferenceRequest, Sample, agree
from incumbent.curator.entry import Admitted, Entry, EntryClassification
from incumbent.curator.file_changes import render
from incumbent.curator.store import entry_path
from incumbent.errors import IncompleteError
from incumbent.files.git import ObjectStore
from incumbent.files.process import collect_seldom
from incumbent.files.snapshot import WorkingTree
from incumbent.github.client import GitHubClient
from incumbent.github.events import Event, Flow
from incumbent.github.git_state import World
from incumbent.github.models import (
    CreateIssue,
    EditIssue,
    Issue,
    IssueComment,
    Operation,
    PullRequest,
    PushCommits,
    ThreadComment,
    WriteLedger,
)
from incumbent.ledger.classifications import shard_folder
from incumbent.ledger.event_files import appended
from incumbent.ledger.events import Passed, Shown, VerdictFacts, events_path
from incumbent.ledger.model import BRANCH, INDEX, RECONCILED, FolderIndex, Reconciled, folder_path
from incumbent.ledger.store import load, load_folder, record_text
from incumbent.pipeline.review import Platform
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.run import reconcile_event, survey_event
from incumbent.taxonomy.config import LEDGER_FILES
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.text.digests import digest

REPOSITORY: Final = Path(__file__).parents[2]
QUERIES: Final = 20
ENTRIES: Final = 500
SECONDS: Final = {"nothing": 5.0, "one": 10.0}
MEGABYTES: Final = {"nothing": 150.0}
EVENT: Final = Event(flow=Flow.RECONCILE, repository="o/r", default_branch="main")
LOADED: Final = {
    "analyse": ("incumbent.cli.ci", "incumbent.classifier.backends"),
    "publish": ("incumbent.cli.ci", "github"),
}
"""What each job of `incumbent ci` loads besides."""
_IDENTITY: Final = Identity(backend="embedded", model="none", prompt="none", samples=1)


def main(arguments: Sequence[str]) -> int:
    """Make the repository, run both jobs three times, and print what each cost; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench history")
    parser.add_argument("--customers", type=int, default=1_000)
    parser.add_argument("--closed", type=int, help="pull requests of which the ledger tells; as many as customers")
    parser.add_argument("--times", type=int, default=1, help="how often each customer is there after the first run")
    parser.add_argument("--job", nargs=3, metavar=("NAME", "REPOSITORY", "DOCUMENT"))
    options = parser.parse_args(arguments)
    if options.job:
        name, repository, document = options.job
        print(json.dumps(run_job(name, Path(repository), Path(document))))
        return 0
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        bare, document = Path(folder) / "platform.git", Path(folder) / "facts.json"
        make_repository(bare)
        measured(bare, document)
        draw = random.Random(5)
        everybody = range(options.customers)
        closed = options.customers if options.closed is None else options.closed
        brought = {path: text for each in everybody for path, text in eval_set(each, QUERIES, draw).items()}
        commit(bare, "main", brought)
        commit(bare, BRANCH, *({events_path(each): events(each)} for each in range(1, closed + 1)))
        print(
            f"{options.customers:,} customers with {QUERIES} queries each, {closed:,} closed pull requests", flush=True
        )
        for what in ("everything", "nothing", "one"):
            if what == "one":
                commit(bare, "main", eval_set(options.customers // 2, QUERIES + 1, draw))
            seconds, megabytes, size = measured(bare, document)
            kept = seconds <= SECONDS.get(what, seconds) and megabytes <= MEGABYTES.get(what, megabytes)
            missed += not kept
            print(
                f"{what} was merged: {seconds:.1f} s, {megabytes:.0f} MB, document of {size / 1e6:.1f} MB"
                + ("" if kept else ", over its goal"),
                flush=True,
            )
            if what == "everything" and options.times > 1:
                multiply(bare, brought, options.customers, options.times)
                print(f"now {options.customers * options.times:,} customers", flush=True)
    return int(missed > 0 and options.customers <= 1_000)


def measured(bare: Path, document: Path) -> tuple[float, float, int]:
    """Seconds of a processor of both jobs, megabytes of the larger, and bytes of the document between them."""
    begun, largest = _seconds(), 0.0
    for name in ("analyse", "publish"):
        command = [sys.executable, "-m", "dev.bench.history", "--job", name, str(bare), str(document)]
        done = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
        largest = max(largest, json.loads(done.stdout)["megabytes"])
    return _seconds() - begun, largest, document.stat().st_size


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_job(name: str, bare: Path, document: Path) -> dict[str, float]:
    """One of the two jobs, in this process."""
    collect_seldom()
    for module in LOADED[name]:
        import_module(module)
    with tempfile.TemporaryDirectory() as folder, ObjectStore.create(Path(folder) / "objects.git") as store:
        world = World(store=store, url=f"file://{bare}", token=None, run=None, configured=named)
        if name == "analyse":
            facts = survey_event(EVENT, world, lambda *_: Instant(), lambda done, total: None)
            assert isinstance(facts, Inventory)
            document.write_text(facts.model_dump_json(), encoding="utf-8")
        else:
            facts = Inventory.model_validate_json(document.read_bytes(), strict=False)
            reconcile_event(EVENT, facts, world, Quiet(bare), lambda _: None, dry_run=False)
    # What getrusage tells of this process may be what the one that started it took.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return {"megabytes": int(status.partition("VmHWM:")[2].split()[0]) / 1024}


class Instant:
    """A classifier that takes no time: what a query exercises is a matter of its text's digest."""

    identity = _IDENTITY
    usage = None

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, request in enumerate(requests):
            names, number = sorted(request.capabilities), zlib.crc32(request.turns[0].encode())
            chosen = {names[number % len(names)], names[number // 999 % len(names)]} if names else set()
            sample = Sample(
                votes={name: name in chosen for name in names},
                probabilities={name: 0.9 if name in chosen else 0.1 for name in names},
            )
            yield place, Finding(consensus=agree([sample], request.capabilities, 1) or {})


def named(platform: Platform) -> Backend:
    """The same for the job that asks nothing."""
    return halt(Instant(), IncompleteError("this job asks no classifier"))


class Quiet(GitHubClient):
    """GitHub without a pull request or a comment; commits and the dashboard go to the repository ``bare``."""

    def __init__(self, bare: Path) -> None:
        self.login = "github-actions[bot]"
        self.bare = bare
        self._dashboard = bare / "dashboard.md"

    def open_pull_requests(self, base: str) -> tuple[PullRequest, ...]:
        return ()

    def closed_pull_requests(self, base: str) -> tuple[PullRequest, ...]:
        return ()

    def find_pull_request(self, number: int) -> PullRequest | None:
        return None

    def introduced_by(self, commit: str) -> tuple[PullRequest, ...]:
        return ()

    def comments_since(self, moment: str) -> tuple[ThreadComment, ...]:
        return ()

    def comments(self, number: int) -> tuple[IssueComment, ...]:
        return ()

    def own_issues(self) -> tuple[Issue, ...] | None:
        return (Issue(number=1, body=self._dashboard.read_text()),) if self._dashboard.exists() else ()

    def author_of(self, commit: str) -> str:
        return "cora"

    def check(self, commit: str) -> None:
        return None

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> None:
        match operation:
            case PushCommits(branch=branch, commits=commits):
                for made in commits:
                    commit(self.bare, branch, dict(made.files))
            case WriteLedger(files=files):
                commit(self.bare, BRANCH, dict(files))
            case CreateIssue(body=body) | EditIssue(body=body):
                self._dashboard.write_text(body)
            case _:
                pass


def make_repository(bare: Path) -> None:
    """A platform with the product's taxonomy and config, and entries that cover all capabilities."""
    git(bare.parent, "init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    git(bare, "config", "uploadpack.allowFilter", "true")
    git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    files = [path for part in ("config", "taxonomy") for path in sorted((REPOSITORY / part).rglob("*"))]
    texts = {str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8") for path in files if path.is_file()}
    commit(bare, "main", texts | entries())


def entries() -> dict[str, str]:
    """The files of a regression set in which each capability is exercised, three at a time."""
    taxonomy, draw = load_taxonomy(WorkingTree(REPOSITORY)), random.Random(1)
    names, found = sorted(taxonomy.by_id), {}
    for number in range(ENTRIES):
        own = {names[number % len(names)], *draw.sample(names, 2)}
        entry = Entry(
            id=f"entry-{number:04d}",
            turns=(f"{draw.choice(exemplars())} [{number}]",),
            scores=dict.fromkeys(sorted(own), 0.95),
            classified=EntryClassification(taxonomy=taxonomy.version, **dataclasses.asdict(_IDENTITY)),
            admitted=Admitted(at="2026-01-01T00:00:00Z", decision="INCLUDE", route="direct"),
            pin="its eviction is not to be suggested",
        )
        found[entry_path(entry.id)] = render(entry)
    return found


def eval_set(customer: int, count: int, draw: random.Random) -> dict[str, str]:
    """The files of one customer's agent, with ``count`` queries."""
    texts = exemplars()
    rows = [
        {"id": f"q{place}", "query": f"{draw.choice(texts)} ({customer}, {place})"} for place in range(1, count + 1)
    ]
    return {
        f"{desk(customer)}/agent.yaml": yaml.safe_dump({"agent": 1, "name": f"Desk {customer}", "platform": "any"}),
        f"{desk(customer)}/evals.yaml": yaml.safe_dump({"eval_set": 1, "queries": rows}, width=1000),
    }


def multiply(bare: Path, brought: Mapping[str, str], customers: int, times: int) -> None:
    """Each of the ``customers`` who ``brought`` files is there ``times``, with what the ledger knows of it."""
    further = [(number, number + customers * time) for time in range(1, times) for number in range(customers)]
    commit(
        bare,
        "main",
        {
            f"{desk(another)}/{name}": brought[f"{desk(number)}/{name}"]
            for number, another in further
            for name in ("agent.yaml", "evals.yaml")
        },
    )
    with ObjectStore.open(bare) as store:
        ledger = store.snapshot(git(bare, "rev-parse", f"refs/heads/{BRANCH}"))
        index, reconciled = load(ledger, INDEX, FolderIndex), load(ledger, RECONCILED, Reconciled)
        assert index is not None
        assert reconciled is not None
        folders = {desk(another): index.folders[desk(number)] for number, another in further}
        records: dict[str, str | None] = {}
        for number in range(customers):
            known = load_folder(ledger, folder_path(desk(number)))
            text = "" if known is None else record_text(known)
            own = shard_folder(folder_path(desk(number)))
            shards = {path: ledger.read(path, LEDGER_FILES).decode() for path in ledger.paths(own)}
            for another in range(number + customers, customers * times if text else 0, customers):
                place = folder_path(desk(another))
                records[place] = re.sub(rf"customer-{number}\b", f"customer-{another}", text)
                records |= {f"{shard_folder(place)}{path.removeprefix(own)}": said for path, said in shards.items()}
    tip = git(bare, "rev-parse", "refs/heads/main")
    records[INDEX] = record_text(index.model_copy(update={"folders": index.folders | folders}))
    records[RECONCILED] = record_text(reconciled.model_copy(update={"commit": tip}))
    commit(bare, BRANCH, records)


def desk(customer: int) -> str:
    """The folder of the customer's agent."""
    return f"eval_sets/customer-{customer}/desk"


def events(number: int) -> str:
    """The file of events of the pull request ``number``, whose queries were left out without a question."""
    content, verdict, codes = "0" * 24, "1" * 24, "EXCLUDE direct REDUNDANT"
    facts = VerdictFacts(taxonomy="1.0.0", scores={"greeting": 0.9, "multi-turn": 0.8}, similarity=0.5)
    said: dict[str, Any] = {"at": "2026-01-01T00:00:00Z", "pull_request": number, "entry": "ENTRY", "content": content}
    said |= {"verdict": verdict, "codes": codes}
    shown = Shown(**said, base="2" * 40, head="3" * 40, place=0, author="ann", facts=facts)
    both = appended(None, [shown, Passed(**said, by="max", by_bot=False)])
    return "".join(
        both.replace("ENTRY", f"customer-{number}--desk--q{place}")
        .replace(content, digest([number, place]))
        .replace(verdict, digest([place, number]))
        for place in range(QUERIES)
    )


_TEXTS: list[str] = []


def exemplars() -> list[str]:
    """What queries are made of."""
    if not _TEXTS:
        _TEXTS.extend(row.turns[0] for row in load_taxonomy(WorkingTree(REPOSITORY)).exemplars)
    return _TEXTS


def commit(bare: Path, branch: str, *files: Mapping[str, str | None]) -> None:
    """Commits on top of ``branch``, which may be new: one for each of ``files``."""
    known = subprocess.run(
        ["git", "-C", str(bare), "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"],
        check=False,
        capture_output=True,
        text=True,
    ).stdout.strip()
    at = int(git(bare, "log", "-1", "--format=%ct", known)) if known else 1_767_225_540
    command = ["git", "-C", str(bare), "fast-import", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for number, changed in enumerate(files, 1):
            parts = [
                f"commit refs/heads/{branch}\ncommitter Cora <cora@example.com> {at + 60 * number} +0000\n".encode()
            ]
            parts += [b"data 1\nx\n", *([f"from {known}\n".encode()] if known and number == 1 else [])]
            for path, text in sorted(changed.items()):
                if text is None:
                    parts.append(f"D {path}\n".encode())
                else:
                    content = text.encode()
                    parts += [f"M 100644 inline {path}\ndata {len(content)}\n".encode(), content, b"\n"]
            process.stdin.write(b"".join(parts))
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def git(folder: Path, *arguments: str) -> Any:
    """What git says."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
