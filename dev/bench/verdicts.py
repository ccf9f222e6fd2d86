"""How often verdicts are right on sets of others, by labels: python -m dev.bench verdicts [--show] [--sets FOLDER].

The queries lie in the folder that INCUMBENT_CORPUS names; the labels in tests/labels/verdicts are by authors who saw
the definitions of the capabilities alone (tests/labels/README.md).  ``--sets FOLDER`` takes others.  Each customer's
queries are judged as one cycle, customer after customer, against an empty regression set and against the one of this
repository; what is admitted directly enters, and nobody answers what waits.

A query *deserves* a slot if with right tags it would not be excluded at its turn: against the set of that moment and
what the queries that wait offer by right tags.  These are the tags of the labels, scored 0.95, and where the labels
leave it open those of the classifier with their own scores; facts of tools count where a tool is called.  Wins do not
count.  All queries of an eval set that the classifier cannot judge are one question, sensible if one of them deserves.

Shares come with Wilson intervals, 95 %, for the order in which the corpus names the customers, and pooled over ten
orders that are drawn.  ``--show`` names each wrong direct admission, each deserving query that is excluded and each
question about one that does not deserve it, by its line in the corpus.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import ne
from pathlib import Path
from typing import Any, Final, TypeAlias

from dev.bench.classifier import LABELS, REPOSITORY, WORDINGS
from incumbent.classifier.backends import make_backend
from incumbent.classifier.classify import classify
from incumbent.classifier.corrections import corrected
from incumbent.classifier.model import Backend, Classification
from incumbent.consolidator.admissions import resident
from incumbent.consolidator.cycle import CycleState, run_cycle
from incumbent.consolidator.verdict import Ruling, Verdict, VerdictOutcome
from incumbent.consolidator.verdict_engine import deciding, doubt_text
from incumbent.files.label_tables import read_labels, read_table
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.agents.reading import read_specification
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED, Specification
from incumbent.ledger.agreement.statistics import wilson
from incumbent.pipeline.review import Platform, load_platform
from incumbent.rater.adapter import rate
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry, ScoredQuery, Similarity
from incumbent.taxonomy.config import REVIEWED_FILES, Curation
from incumbent.taxonomy.model import Taxonomy

Labels: TypeAlias = Mapping[str, bool | None]
"""Capability → what people say of it; ``None``: two careful people would disagree."""
Names: TypeAlias = tuple[str, ...]

SETS: Final = ("ess", "m365", "starters")
CALL: Final = "execution.tools.call"
PACKAGES: Final = "pnp/copilot-pro-dev-samples:samples/"
"""How the ids of those queries begin whose agent's package the corpus holds."""
TURNED: Final = 0.05
"""At most this share of requests may have another outcome in another wording."""
RIGHT: Final = 0.95
"""The score of a right tag."""
ORDERS: Final = 10
"""How many orders of the customers are drawn."""
SEEN: Final = ("not seen", "seen below the bar", "seen")
"""How far the classifier sees a piece of merit."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A query of a set: as the classifier tags it, by right tags, and its labels."""

    scored: ScoredQuery
    right: ScoredQuery
    labels: Labels

    @property
    def id(self) -> str:
        """Its line in the corpus."""
        return self.scored.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A query with its verdict, and its ruling by right tags at the same turn.

    ``pieces`` is the merit by right tags: capabilities that are new or fill a floor, or else new combinations.
    """

    item: Item
    verdict: Verdict
    right: Ruling
    pieces: Sequence[Names]

    @property
    def deserves(self) -> bool:
        """Whether it deserves a slot, or a question."""
        return self.right.decision.admits

    @property
    def is_lost(self) -> bool:
        """Whether it deserves a slot and stays out; a close call is one that stays out."""
        return self.deserves and self.verdict.ruling.outcome is VerdictOutcome.STAYS_OUT

    @property
    def seen(self) -> str:
        """How far the classifier saw what the query deserves a slot for: the best of its pieces."""
        best = max(
            min(2 if name in self.verdict.facts.competent else int(name in self.item.scored.scores) for name in piece)
            for piece in self.pieces
        )
        return SEEN[best]

    @property
    def wrong_evidence(self) -> tuple[str, ...] | None:
        """The part of its evidence that labels say is FALSE; ``None`` if they speak of none of it."""
        labelled = [name for name in deciding(self.verdict.facts) if name in self.item.labels]
        return tuple(name for name in labelled if self.item.labels[name] is False) if labelled else None


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Some customers' queries in turn against one regression set; ``size`` is that of the set after them."""

    cycles: Sequence[Sequence[Judged]]
    entries: int

    @staticmethod
    def of(customers: Sequence[Sequence[Item]], residents: Sequence[RatedEntry], config: Curation) -> Stream:
        """``customers`` after each other, beginning with the set ``residents``."""
        present, found = list(residents), []
        for items in customers:
            by_id = {item.id: item for item in items}
            verdicts = run_cycle([item.scored for item in items], present, config)
            found.append(list(_judged([(by_id[verdict.id], verdict) for verdict in verdicts], present, config)))
            for verdict in verdicts:
                if verdict.admitted:
                    present.append(resident(by_id[verdict.id].scored, verdict, len(present)))
        return Stream(cycles=found, entries=len(present))

    @property
    def judged(self) -> Iterator[Judged]:
        """Each query."""
        return chain.from_iterable(self.cycles)

    def admissions(self) -> Iterator[bool]:
        """Of each direct admission with evidence that labels speak of, whether all of that is right."""
        return (
            not item.wrong_evidence for item in self.judged if item.verdict.admitted and item.wrong_evidence is not None
        )

    def pieces(self) -> Iterator[bool]:
        """Of each capability that a direct admission covers, and labels speak of, whether it is FALSE."""
        for item in self.judged:
            if item.verdict.admitted:
                labels = item.item.labels
                yield from (labels[name] is False for name in item.verdict.facts.competent if name in labels)

    def questions(self) -> Iterator[bool]:
        """Of each question that people are asked, whether it is about a query that deserves a slot."""
        for cycle in self.cycles:
            asked = [item for item in cycle if item.verdict.asks]
            yield from (item.deserves for item in asked if item.verdict.facts.familiar)
            if unfamiliar := [item.deserves for item in asked if not item.verdict.facts.familiar]:
                yield any(unfamiliar)

    def close_calls(self, most: int | None = None) -> Iterator[bool]:
        """Of each close call, the likeliest ``most`` of each eval set, whether it deserves a slot."""
        for cycle in self.cycles:
            called = [(item.verdict.close_call, item) for item in cycle]
            ranked = sorted((-call.likelihood, item.item.id, item.deserves) for call, item in called if call)
            yield from (deserves for *_, deserves in ranked[:most])


def _judged(
    cycle: Sequence[tuple[Item, Verdict]], residents: Sequence[RatedEntry], config: Curation
) -> Iterator[Judged]:
    """The queries of a ``cycle`` at their turns, by right tags."""
    queries = [query for item, _ in cycle for query in (item.scored, item.right)]
    knobs = config.knobs.model_copy(update={"winning_margin": 1.0})
    without_wins = config.model_copy(update={"knobs": knobs, "per_capability": {}}).under(
        config.uncombinable, config.fill_from_any, config.trial
    )
    live = LiveSet(residents, queries, without_wins)
    state = CycleState(live, without_wins, doubt_text, [])
    for item, verdict in cycle:
        right = live.profile(item.right)
        facts, ruling = state.judge(
            item.right, right, Similarity(verdict.facts.max_similarity, verdict.facts.most_similar)
        )
        pieces = [(name,) for name in deciding(facts)] or facts.new_combinations
        yield Judged(item=item, verdict=verdict, right=ruling, pieces=pieces)
        if verdict.admitted:
            live.admit(live.profile(item.scored))
        elif verdict.asks and item.scored.familiar:
            live.admit(right)


# Reading.


def read_label_file(file: Path) -> dict[str, Labels]:
    """The labels of each query of a set, by its line in the corpus."""
    table = read_table(
        file.read_text(encoding="utf-8"), str(file), {("labels", "source")}, "write that header", REVIEWED_FILES
    )
    listed = [word.text for word in table.capabilities or ()]
    found: dict[str, Labels] = {}
    for _, row in table.rows:
        cell, _, source = row.partition("\t")
        labels = read_labels(cell)
        found[source] = {name: None if name in labels.unknown else name in labels.true for name in listed}
    return found


def read_set(labels: Mapping[str, Labels], corpus: Path, platform: Platform, backend: Backend) -> list[list[Item]]:
    """The queries that are labelled, by customer, in the corpus's order."""
    rows = [(source, known, _row(corpus / "queries", source)) for source, known in labels.items()]
    agents: dict[Path | None, list[int]] = {}
    for place, (_, _, row) in enumerate(rows):
        agents.setdefault(package_of(row["qid"], corpus), []).append(place)
    items: dict[int, Item] = {}
    for folder, places in agents.items():
        specification = UNDECLARED if folder is None else _specification(folder, platform)
        queries = [_query(rows[place][0], rows[place][2]["turns"]) for place in places]
        result = classify(queries, specification, platform.taxonomy, backend, lambda done, total: None)
        for place, query, said in zip(places, queries, result.classifications.values(), strict=True):
            _, known, row = rows[place]
            items[place] = item_of(query, said, row["customer"], known, platform.taxonomy)
    found: dict[str | None, list[Item]] = {}
    for _, item in sorted(items.items()):
        found.setdefault(item.scored.customer, []).append(item)
    return list(found.values())


def package_of(qid: str, corpus: Path) -> Path | None:
    """The folder of the package of the agent that a query is for, if the corpus holds it."""
    if not qid.startswith(PACKAGES):
        return None
    name = qid.removeprefix(PACKAGES).partition("/")[0]
    folder = corpus / "agents" / "pnp-copilot-pro-dev-samples" / "samples" / name
    return folder if folder.is_dir() else None


def item_of(query: Query, said: Classification, customer: str | None, labels: Labels, taxonomy: Taxonomy) -> Item:
    """The ``query`` of which the classifier ``said`` something, and people ``labels``."""
    right = corrected(said, taxonomy, {name: value for name, value in labels.items() if value is not None})
    signature = rate(query.id, query.turns, right, taxonomy, personal={}).scores
    known = {}
    for name, score in signature.items():
        capability = taxonomy.by_id[name]
        label = labels.get(CALL if capability.source == "tool" and name not in labels else name)
        if label is not False:
            known[name] = RIGHT if label else score
    return Item(
        scored=rate(query.id, query.turns, said, taxonomy, customer, personal={}),
        right=ScoredQuery(id=query.id, turns=query.turns, scores=known, customer=customer),
        labels=labels,
    )


def _specification(folder: Path, platform: Platform) -> Specification:
    return read_specification(WorkingTree(folder), platform.config.limits)


def _query(id: str, turns: Sequence[str]) -> Query:
    return Query(id=id, turns=tuple(turns), file="", line=None)


def _row(folder: Path, source: str) -> dict[str, Any]:
    """The query of which ``source`` names the file and the line."""
    name, _, number = source.partition("#")
    found: dict[str, Any] = json.loads(_lines(folder / name)[int(number) - 1])
    return found


@lru_cache
def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").split("\n")


# Other wordings.


def turned(name: str, platform: Platform, residents: Sequence[RatedEntry], backend: Backend) -> dict[str, list[bool]]:
    """Wording → of each request of a file, each judged alone, whether its outcome is another than the plain one's."""
    header, *rows = [line.split("\t") for line in (LABELS / name).read_text(encoding="utf-8").splitlines()]
    outcomes = {}
    for place, wording in enumerate(header):
        queries = [_query(str(number), (row[place],)) for number, row in enumerate(rows)]
        result = classify(queries, UNDECLARED, platform.taxonomy, backend, lambda done, total: None)
        found = result.classifications.values()
        scored = [platform.rate(said, query, None) for query, said in zip(queries, found, strict=True)]
        outcomes[wording] = [run_cycle([query], residents, platform.config)[0].ruling.outcome for query in scored]
    return {wording: list(map(ne, outcomes[header[0]], outcomes[wording])) for wording in header[1:]}


# What is told.

COUNTS: Final[Mapping[str, tuple[str, Callable[[Stream], tuple[int, int]]]]] = {
    "direct admissions, evidence right": ("at least 0.95", lambda stream: _counted(stream.admissions())),
    "false pieces of what enters": ("at most 0.05", lambda stream: _counted(stream.pieces())),
    "questions, sensible": (
        "at least 0.78",
        lambda stream: _counted(stream.questions()),
    ),
    "questions, per query": (
        "at most 0.095",
        lambda stream: (len(list(stream.questions())), len(list(stream.judged))),
    ),
    "merit, excluded": (
        "at most 0.63",
        lambda stream: _counted(item.is_lost for item in stream.judged if item.deserves),
    ),
    "close calls, per query": (
        "at most 0.11",
        lambda stream: (len(list(stream.close_calls())), len(list(stream.judged))),
    ),
    "close calls, the best ten right": ("at least 0.37", lambda stream: _counted(stream.close_calls(10))),
}
"""What is measured: its target, and a count of how many."""


def _counted(hits: Iterable[bool]) -> tuple[int, int]:
    found = list(hits)
    return sum(found), len(found)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; returns the exit code, which is always 0."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench verdicts")
    parser.add_argument("--show", action="store_true", help="name the queries that verdicts are wrong on")
    parser.add_argument("--sets", type=Path, help="a folder with queries/*.jsonl and labels/*.tsv: these sets instead")
    given = parser.parse_args(arguments)
    platform = load_platform(WorkingTree(REPOSITORY))
    backend = make_backend(platform.config.classifier, platform.taxonomy)
    residents, stale = platform.regression_set.residents(platform.taxonomy, backend.identity)
    print(
        f"{backend.identity.model}; taxonomy {platform.taxonomy.version}; {len(residents)} entries, {len(stale)} stale"
    )
    corpus = os.environ.get("INCUMBENT_CORPUS")
    if corpus is None and given.sets is None:
        print("\nthe sets of others are left out: INCUMBENT_CORPUS names no folder that holds them")
    else:
        labels = LABELS / "verdicts" if given.sets is None else given.sets / "labels"
        names = SETS if given.sets is None else sorted(file.stem for file in labels.glob("*.tsv"))
        folder = given.sets or Path(corpus or "")
        sets = {name: read_set(read_label_file(labels / f"{name}.tsv"), folder, platform, backend) for name in names}
        sets["together"] = [items for customers in sets.values() for items in customers]
        for start, present in {"an empty regression set": (), "the shipped regression set": residents}.items():
            print(f"\nagainst {start}{'pooled over other orders':>87}")
            for name, customers in sets.items():
                print_figures(name, customers, present, platform.config, given.show)
    print("\nother wordings of a request, judged alone against the shipped set: another outcome")
    for name in WORDINGS:
        for wording, differ in turned(name, platform, residents, backend).items():
            print(_line(f"{name} {wording}", f"at most {TURNED:.2f}", _counted(differ)))
    return 0


def print_figures(
    name: str, customers: Sequence[Sequence[Item]], residents: Sequence[RatedEntry], config: Curation, shows: bool
) -> None:
    """The figures of a set, and what is wrong, query by query, if that is wanted."""
    stream = Stream.of(customers, residents, config)
    draw = random.Random(5)
    others = [Stream.of(draw.sample(customers, len(customers)), residents, config) for _ in range(ORDERS)]
    verdicts = [item.verdict for item in stream.judged]
    entered, asked = sum(verdict.admitted for verdict in verdicts), sum(verdict.asks for verdict in verdicts)
    sizes = sum(other.entries for other in others) / len(others)
    print(
        f"  {name}: {len(verdicts)} queries, {entered} enter directly, {asked} wait for a person; "
        f"{stream.entries} entries then, {sizes:.1f} over other orders"
    )
    for what, (target, count) in COUNTS.items():
        each = [count(other) for other in others]
        hits, total = (sum(numbers) for numbers in zip(*each, strict=True))
        print(f"{_line(what, target, count(stream))}{f'{hits / total:.3f}' if total else 'none':>8}")
    seen = Counter(item.seen for other in others for item in other.judged if item.is_lost)
    print(f"    {'of the merit excluded':84}{', '.join(f'{seen[how] / seen.total():.3f} {how}' for how in SEEN)}")
    if shows:
        _show(stream)


def _line(what: str, target: str, counted: tuple[int, int]) -> str:
    """A share with its interval, beside its target."""
    interval = wilson(*counted)
    if interval is None:
        return f"    {what:32} {'none':46}"
    share = counted[0] / counted[1]
    bound = float(target.split()[-1])
    kept = share >= bound if target.startswith("at least") else share <= bound
    bounds = f"[{interval.low:.2f}, {interval.high:.2f}]"
    numbers = f"{counted[0]} of {counted[1]}"
    return f"    {what:32} {share:.3f}  {bounds}  {'kept' if kept else 'MISSED':6}  {target:13}  {numbers:10}"


def _show(stream: Stream) -> None:
    for judged in stream.judged:
        item, verdict = judged.item, judged.verdict
        codes = ", ".join(verdict.reasons)
        if verdict.admitted and judged.wrong_evidence:
            print(f"    wrongly admitted  {item.id}: {_tags(item, judged.wrong_evidence)}; {codes}")
        elif judged.is_lost:
            called = "".join(f"; close call {' + '.join(call.capabilities)}" for call in [verdict.close_call] if call)
            merit = tuple(dict.fromkeys(chain(*judged.pieces)))
            print(f"    lost  {item.id}: {_tags(item, merit)}; {judged.seen}; {codes}{called}")
        elif verdict.asks and not judged.deserves:
            named = deciding(verdict.facts) or tuple(dict.fromkeys(chain(*verdict.facts.new_combinations)))
            print(f"    not sensible  {item.id}: {_tags(item, named)}; {codes}; {', '.join(judged.right.reasons)}")


def _tags(item: Item, names: Collection[str]) -> str:
    """Capabilities with what the classifier says of them: a score, or how probable it is after all."""
    doubts = {doubt.capability: doubt.probability for doubt in item.scored.doubts}
    scores = item.scored.scores
    said = (f"{scores[name]:.2f}" if name in scores else f"no {doubts.get(name, 0):.2f}" for name in names)
    return ", ".join(f"{name} {score}" for name, score in zip(names, said, strict=True))
