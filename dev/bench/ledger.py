"""What the ledger holds of the largest eval set that the limits allow: make bench ARGS="ledger".

Each part is made, written as text and read back as a run does before it writes; so is the document of facts that the
first job hands to the second.  Seconds of a processor and megabytes are compared with goals, which are in proportion to
the number of queries.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from dev.bench.history import REPOSITORY
from dev.bench.promises import ROUNDS
from incumbent.classifier.model import CalledTools, Classification, Consensus, Findings, Identity, Judgement
from incumbent.files.documents import parse_json
from incumbent.files.snapshot import WorkingTree
from incumbent.files.validation import validate
from incumbent.github.facts import (
    DOCUMENT_LIMITS,
    FORMAT,
    Analysis,
    ClassifierWork,
    JudgedFacts,
    QueryFacts,
    SubmissionFacts,
)
from incumbent.github.read_back import read_back
from incumbent.intake.query import Query
from incumbent.ledger.classifications import shards_of
from incumbent.ledger.event_files import appended
from incumbent.ledger.events import Decided, Shown, VerdictFacts, events_path
from incumbent.ledger.model import (
    INDEX,
    DecisionRecord,
    Displayed,
    DisplayedVerdict,
    FolderIndex,
    PullRequestRecord,
    ReconciledFolder,
    Showing,
    record_path,
)
from incumbent.ledger.store import record_text
from incumbent.pipeline.submission import Submission
from incumbent.taxonomy.config import load_config
from incumbent.text.digests import digest

QUERIES: Final = load_config(WorkingTree(REPOSITORY), None).limits.queries
CAPABILITIES: Final = 200
CHANGED: Final = 20
"""The queries that a push changes."""
CUSTOMERS: Final = 10_000
GOALS: Final[Mapping[str, tuple[float, float]]] = {
    "classifications, embedded": (4.0, 10.0),
    "classifications, language model": (8.0, 20.0),
    "record of the pull request, all displayed and decided": (1.0, 6.0),
    "events: all shown, all decided": (2.0, 8.0),
    "index of the folders of 10,000 customers": (1.0, 5.0),
    "push that changes 20 queries": (2.0, 4.0),
    "facts between the jobs, language model": (60.0, 200.0),
}
"""Seconds of a processor and megabytes for :data:`QUERIES` queries."""
AT: Final = "2026-11-21T10:00:00Z"
FACTS: Final = "facts.json"


def main(arguments: Sequence[str]) -> int:
    """Measure all parts; the exit code is 1 if one is above its goal."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench ledger")
    parser.add_argument("--queries", type=int, default=QUERIES)
    return 0 if measure(parser.parse_args(arguments).queries) else 1


def measure(queries: int) -> bool:
    """Whether no part takes more than its goal."""
    print(f"{queries:,} queries × {CAPABILITIES} capabilities, written and read back")
    embedded = {_key(number): _classification(number, asked=False) for number in range(queries)}
    asked = {_key(number): _classification(number, asked=True) for number in range(queries)}
    path = record_path(7)
    changed = {key: item for key, item in embedded.items() if key not in {_key(number) for number in range(CHANGED)}}
    changed |= {_key(number + queries): _classification(number + queries, asked=False) for number in range(CHANGED)}
    before = shards_of(path, embedded)
    made: dict[str, Callable[[], Mapping[str, str]]] = {
        "classifications, embedded": lambda: shards_of(path, embedded),
        "classifications, language model": lambda: shards_of(path, asked),
        "record of the pull request, all displayed and decided": lambda: {path: record_text(_record(queries))},
        "events: all shown, all decided": lambda: {events_path(7): _events(queries)},
        "index of the folders of 10,000 customers": lambda: {
            INDEX: record_text(_index(CUSTOMERS * queries // QUERIES))
        },
        "push that changes 20 queries": lambda: dict(shards_of(path, changed).items() - before.items()),
        "facts between the jobs, language model": lambda: {FACTS: _facts(asked).model_dump_json()},
    }
    broken = 0
    for name, make in made.items():
        # A small part has a share of what does not depend on the number of queries.
        most, size = (goal * max(queries / QUERIES, 0.2) for goal in GOALS[name])
        seconds, rounds = math.inf, 0
        while seconds > most and rounds < ROUNDS:
            begun = time.process_time()
            files = make()
            if FACTS in files:
                validate(Analysis, parse_json(files[FACTS].encode(), FACTS, DOCUMENT_LIMITS))
            else:
                read_back(files)
            seconds = min(seconds, time.process_time() - begun)
            rounds += 1
        megabytes, largest = sum(map(len, files.values())) / 1e6, max(map(len, files.values())) / 1e6
        kept = seconds <= most and megabytes <= size
        broken += not kept
        print(
            f"{'kept  ' if kept else 'BROKEN'}  {seconds:5.2f} s (at most {most:.1f})  {megabytes:5.2f} MB (at most "
            f"{size:.1f})  {name}: {len(files)} {'file' if len(files) == 1 else 'files'}, the largest {largest:.2f} MB",
            flush=True,
        )
    return not broken


def _key(number: int) -> str:
    return digest(["query", number])


def _names() -> list[str]:
    return [f"group-{number // 10}.capability-{number}" for number in range(CAPABILITIES)]


def _classification(number: int, *, asked: bool) -> Classification:
    """As the embedded backend finds it, or as a language model does that was ``asked`` five times."""
    draw, names = random.Random(number), _names()
    scores = [round(draw.random() * 5) / 5 if asked else draw.random() for _ in names]
    findings = {}
    if asked:
        answers = {
            digest(name): Consensus(score >= 0.5, score, "stated") for name, score in zip(names, scores, strict=True)
        }
        step = {f"tool-{place}": 0.25 for place in draw.sample(range(20), 4)}
        calls = {digest("tools"): CalledTools(0.9, (step, step))}
        findings[digest(["found", number])] = Findings.model_construct(capabilities=answers, tools=calls)
    return Classification(
        judgements={
            name: Judgement(score >= 0.5, score, "inference") for name, score in zip(names, scores, strict=True)
        },
        basis="stated" if asked else "calibrated",
        findings=findings,
    )


def _entry(number: int) -> str:
    return f"customer-{number % 7}-agent-query-{number:05d}-{_key(number)[:8]}"


CODES: Final = "INCLUDE review NEW_COVERAGE WIN UNTRUSTED_AUTHOR"


def _record(queries: int) -> PullRequestRecord:
    entries = {_entry(number): _key(number) for number in range(queries)}
    decisions = [
        DecisionRecord(
            entry=entry,
            content=key,
            verdict=key,
            codes=CODES,
            action="accept",
            by="a-curator",
            comment=1_234_567_890,
            said=key,
            reason="it is what customers ask most, and nothing else tests it",
            at=AT,
        )
        for entry, key in entries.items()
    ]
    verdicts = {entry: DisplayedVerdict(verdict=key, codes=CODES) for entry, key in entries.items()}
    return PullRequestRecord(
        pull_request=7,
        head="1" * 40,
        texts=entries,
        changes=dict.fromkeys(entries, 1),
        displayed={entry: Displayed(verdict=key, codes=CODES, since=AT) for entry, key in entries.items()},
        showing=Showing(digest=digest("shown"), verdicts=verdicts),
        decisions=tuple(decisions),
    )


def _events(queries: int) -> str:
    names = _names()
    facts = [
        VerdictFacts(
            taxonomy="1.0.0",
            scores=dict.fromkeys(sorted(random.Random(number).sample(names, 10)), 0.9),
            similarity=0.5,
            most_similar=_entry(number + 1),
        )
        for number in range(queries)
    ]
    about = [
        {
            "at": AT,
            "pull_request": 7,
            "entry": _entry(number),
            "content": _key(number),
            "verdict": _key(number),
            "codes": CODES,
        }
        for number in range(queries)
    ]
    judged = {"base": "1" * 40, "head": "2" * 40, "author": "mara"}
    shown = [
        Shown.model_validate({**each, **judged, "place": place, "facts": item})
        for place, (each, item) in enumerate(zip(about, facts, strict=True))
    ]
    said = {"action": "accept", "by": "a-curator", "comment": 1}
    decided = [Decided.model_validate({**each, **said}) for each in about]
    return appended(appended(None, shown), decided)


def _facts(found: Mapping[str, Classification]) -> Analysis:
    """The document of a pull request with queries of forty words that were ``found`` to be so."""
    file = "eval_sets/acme/desk/evals.yaml"
    queries = [
        QueryFacts.model_construct(
            query=Query(id=f"q{place:05d}", turns=(f"query {place} " * 20,), file=file, line=place + 1),
            key=key,
            classification=item,
            waits=False,
            shortfall=None,
            expected_tools=None,
        )
        for place, (key, item) in enumerate(found.items())
    ]
    submission = SubmissionFacts.model_construct(
        about=Submission(customer="acme", agent="desk", folder="eval_sets/acme/desk"),
        specification="s",
        queries=tuple(queries),
        ruled_out=(),
    )
    judged = JudgedFacts(
        pull_request=7,
        base="1" * 40,
        head="2" * 40,
        identity=Identity(backend="openai", model="m", prompt="p", samples=5),
        submissions=(submission,),
    )
    return Analysis.model_construct(
        format=FORMAT,
        repository="o/r",
        at=AT,
        held=False,
        touches=("eval_sets",),
        judged=judged,
        work=ClassifierWork(reused=0, classified=len(queries)),
        impact=None,
        remembered={},
    )


def _index(customers: int) -> FolderIndex:
    names = _names()
    return FolderIndex(
        conditions=digest("conditions"),
        entries={_entry(number): _key(number) for number in range(150)},
        folders={
            f"eval_sets/customer-{number}/agent": ReconciledFolder(
                tree="1" * 40, pull_requests=(number + 1,), uncarried=tuple(names[:2]), ruled_out=tuple(names[2:4])
            )
            for number in range(customers)
        },
    )
