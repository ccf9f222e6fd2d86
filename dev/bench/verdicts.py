"""How often verdicts are right on sets of others, by labels: python -m dev.bench verdicts [--show].

The queries lie in the folder that INCUMBENT_CORPUS names; the labels in tests/labels/verdicts are by authors who saw
the definitions of the capabilities alone (tests/labels/README.md).  Each customer's queries are judged as one cycle,
customer after customer, against an empty regression set and against the one of this repository; what is admitted
directly enters, and nobody answers what waits.  The same is done with right tags: those of the labels, surely, and of
what the labels do not speak of the facts of the agent and of the tools that the query calls.

Shares come with Wilson intervals, 95 %, for the order in which the corpus names the customers, and pooled over ten
orders that are drawn.  ``--show`` names each wrong direct admission, each lost query and each review of what is not
there by its line in the corpus.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import ne
from pathlib import Path
from typing import Any, Final, TypeAlias

from bot.agreement.statistics import wilson
from bot.classifier.backends import make_backend
from bot.classifier.classify import classify
from bot.classifier.corrections import corrected
from bot.classifier.model import Backend, Classification
from bot.config import REVIEWED_FILES, Curation
from bot.consolidator.cycle import run_cycle
from bot.consolidator.verdict import Reason, Verdict
from bot.curator.admission import resident
from bot.files.label_tables import read_labels, read_table
from bot.files.snapshot import WorkingTree
from bot.intake.agents.reading import read_specification
from bot.intake.query import Query
from bot.intake.specification import UNDECLARED, Specification
from bot.pipeline.review import Platform, load_platform
from bot.rater.adapter import rate
from bot.rater.model import RatedEntry, ScoredQuery
from bot.report.verdict_text import SHOWN_NAMES, questions, strongest_first
from bot.taxonomy.model import Capability, Taxonomy
from dev.bench.classifier import LABELS, REPOSITORY, WORDINGS

Labels: TypeAlias = Mapping[str, bool | None]
"""Capability → what people say of it; ``None``: two careful people would disagree."""
Names: TypeAlias = tuple[str, ...]

SETS: Final = ("ess", "m365", "starters")
CALL: Final = "execution.tools.call"
PACKAGES: Final = "pnp/copilot-pro-dev-samples:samples/"
"""How the ids of those queries begin whose agent's package the corpus holds."""
TURNED: Final = 0.05
"""At most this share of requests may have another outcome in another wording."""
ORDERS: Final = 10
"""How many orders of the customers are drawn."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """A query of a set: as the classifier tags it, by right tags, and its labels.

    ``possible`` are the scores of what it exercises by right tags or may exercise, since labels leave it open.
    """

    scored: ScoredQuery
    right: ScoredQuery
    possible: Mapping[str, float]
    labels: Labels

    @property
    def id(self) -> str:
        """Its line in the corpus."""
        return self.scored.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A query with merit by right tags that stays out unseen.

    ``deserved`` is its verdict then, ``merit`` what gave that; ``is_covered``: queries that entered or wait cover it
    too, as far as labels say.
    """

    item: Item
    deserved: Verdict
    merit: tuple[Names, ...]
    verdict: Verdict
    is_covered: bool


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Some customers' queries in turn against one regression set: cycles by the classifier's tags and by right ones."""

    customers: Sequence[Sequence[Item]]
    cycles: Sequence[Sequence[Verdict]]
    right: Sequence[Sequence[Verdict]]
    config: Curation

    @staticmethod
    def of(customers: Sequence[Sequence[Item]], residents: Sequence[RatedEntry], config: Curation) -> Stream:
        """``customers`` after each other, beginning with the set ``residents``."""
        return Stream(
            customers=customers,
            cycles=_cycles([[item.scored for item in items] for items in customers], residents, config),
            right=_cycles([[item.right for item in items] for items in customers], residents, config),
            config=config,
        )

    @property
    def size(self) -> int:
        """How many queries there are."""
        return sum(map(len, self.customers))

    @property
    def judged(self) -> Iterator[tuple[Item, Verdict]]:
        """Each query with its verdict."""
        for items, cycle in zip(self.customers, self.cycles, strict=True):
            by_id = {item.id: item for item in items}
            for verdict in cycle:
                yield by_id[verdict.id], verdict

    def admissions(self) -> list[tuple[Item, tuple[str, ...]]]:
        """Direct admissions with evidence that labels speak of, each with the part of it that is FALSE."""
        found = []
        for item, verdict in self.judged:
            evidence = [name for name in _evidence(verdict) if name in item.labels]
            if verdict.admitted and evidence:
                found.append((item, tuple(name for name in evidence if item.labels[name] is False)))
        return found

    def reviews(self) -> list[tuple[Item, Verdict, bool]]:
        """What people are asked that labels speak of, and whether what the question names is there."""
        found = []
        for item, verdict in self.judged:
            answers = _answers(item, verdict) if verdict.asks else []
            if answers:
                found.append((item, verdict, any(answers)))
        return found

    def deserving(self) -> int:
        """How many queries have merit by right tags."""
        return sum(verdict.decision.admits for cycle in self.right for verdict in cycle)

    def lost(self) -> list[Lost]:
        """Those of them that are excluded directly and are no close call."""
        found = []
        present: list[Item] = []
        for items, cycle, right in zip(self.customers, self.cycles, self.right, strict=True):
            by_id, verdicts = {item.id: item for item in items}, {verdict.id: verdict for verdict in cycle}
            here = [by_id[verdict.id] for verdict in cycle if verdict.decision.admits]
            present += here
            for verdict in right:
                own = verdicts[verdict.id]
                if verdict.decision.admits and not (own.decision.admits or own.asks or own.close_calls):
                    merit = _merit(verdict)
                    covered = self._covers(present, here, verdict, merit)
                    item = by_id[verdict.id]
                    found.append(Lost(item=item, deserved=verdict, merit=merit, verdict=own, is_covered=covered))
        return found

    def questions(self) -> int:
        """How many questions people are asked."""
        return sum(questions([verdict for verdict in cycle if verdict.asks]) for cycle in self.cycles)

    def _covers(self, present: Sequence[Item], here: Sequence[Item], right: Verdict, merit: Iterable[Names]) -> bool:
        """Whether ``present`` queries, of which some are ``here`` with the same customer, cover the ``merit``."""
        filled = Reason.FILLS_FLOOR in right.reasons
        for names in merit:
            count = sum(self._carries(item, names) for item in present)
            enough = self.config.redundancy_floor(names[0]) if filled else 1
            once = filled and names[0] not in self.config.fill_from_any
            if count < enough and not (once and any(self._carries(item, names) for item in here)):
                return False
        return True

    def _carries(self, item: Item, names: Names) -> bool:
        return all(item.possible.get(name, 0.0) >= self.config.competence_bar(name) for name in names)


def _cycles(
    customers: Sequence[Sequence[ScoredQuery]], residents: Sequence[RatedEntry], config: Curation
) -> list[tuple[Verdict, ...]]:
    """The verdicts on each customer's queries, judged against ``residents`` and what entered before."""
    present, found = list(residents), []
    for queries in customers:
        by_id = {query.id: query for query in queries}
        verdicts = run_cycle(queries, present, config)
        for verdict in verdicts:
            if verdict.admitted:
                present.append(resident(by_id[verdict.id], verdict, len(present)))
        found.append(verdicts)
    return found


def _evidence(verdict: Verdict) -> Names:
    """The capabilities that an admission rests on."""
    facts = verdict.facts
    return tuple(sorted({*facts.new_capabilities, *facts.fills, *facts.wins}))


def _merit(verdict: Verdict) -> tuple[Names, ...]:
    """What gave a query its merit, by the gate that let it pass."""
    facts = verdict.facts
    names = facts.new_capabilities or tuple(facts.fills) or tuple(facts.wins)
    return tuple((name,) for name in names) or facts.new_combinations


def _answers(item: Item, verdict: Verdict) -> list[bool]:
    """For each thing that a question to people names, and labels speak of, whether it may be there."""
    names = strongest_first(verdict)[:SHOWN_NAMES] if Reason.NOVEL_COMBO in verdict.reasons else []
    named = names or [(name,) for name in _evidence(verdict)]
    labelled = [[name for name in names if name in item.labels] for names in named]
    return [all(item.labels[name] is not False for name in names) for names in labelled if names]


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
    scores = rate(query.id, query.turns, right, taxonomy, personal={}).scores
    bases = {name: _basis(taxonomy.by_id[name], labels) for name in scores}
    known = {name: score for name, score in scores.items() if bases[name] is True}
    return Item(
        scored=rate(query.id, query.turns, said, taxonomy, customer, personal={}),
        right=ScoredQuery(id=query.id, turns=query.turns, scores=known, customer=customer),
        possible={name: score for name, score in scores.items() if bases[name] is not False},
        labels=labels,
    )


def _basis(capability: Capability, labels: Labels) -> bool | None:
    """Whether a tag of a query that was corrected by its ``labels`` is right; ``None`` where they leave it open.

    Facts of tools are right where a tool is called.  Of a text's own traits only labels tell.
    """
    if capability.id in labels:
        return labels[capability.id]
    if capability.source == "tool":
        return labels.get(CALL, False)
    if capability.source == "spec":
        return True if capability.requires is None else labels.get(capability.requires, False)
    return False


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
    "direct admissions, confirmed": ("at least 0.90", lambda stream: _counted(not no for _, no in stream.admissions())),
    "merit by right tags, excluded": ("at most 0.15", lambda stream: (len(stream.lost()), stream.deserving())),
    "the same, merit not covered": (
        "at most 0.15",
        lambda stream: (sum(not item.is_covered for item in stream.lost()), stream.deserving()),
    ),
    "questions to people, per query": ("at most 0.05", lambda stream: (stream.questions(), stream.size)),
    "reviews, sensible": ("at least 0.70", lambda stream: _counted(sense for *_, sense in stream.reviews())),
}
"""What is measured: its target, and a count of how many."""


def _counted(hits: Iterable[bool]) -> tuple[int, int]:
    found = list(hits)
    return sum(found), len(found)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; returns the exit code, which is always 0."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench verdicts")
    parser.add_argument("--show", action="store_true", help="name the queries that verdicts are wrong on")
    shows = parser.parse_args(arguments).show
    platform = load_platform(WorkingTree(REPOSITORY))
    backend = make_backend(platform.config.classifier, platform.taxonomy)
    residents, stale = platform.regression_set.residents(platform.taxonomy, backend.identity)
    print(
        f"{backend.identity.model}; taxonomy {platform.taxonomy.version}; {len(residents)} entries, {len(stale)} stale"
    )
    corpus = os.environ.get("INCUMBENT_CORPUS")
    if corpus is None:
        print("\nthe sets of others are left out: INCUMBENT_CORPUS names no folder that holds them")
    else:
        sets = {
            name: read_set(read_label_file(LABELS / "verdicts" / f"{name}.tsv"), Path(corpus), platform, backend)
            for name in SETS
        }
        sets["together"] = [items for customers in sets.values() for items in customers]
        for start, present in {"an empty regression set": (), "the shipped regression set": residents}.items():
            print(f"\nagainst {start}{'pooled over other orders':>87}")
            for name, customers in sets.items():
                print_figures(name, customers, present, platform.config, shows)
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
    entered = sum(verdict.admitted for _, verdict in stream.judged)
    asked = sum(verdict.asks for _, verdict in stream.judged)
    print(f"  {name}: {stream.size} queries, {entered} enter directly, {asked} wait for a person")
    for what, (target, count) in COUNTS.items():
        each = [count(other) for other in others]
        hits, total = (sum(numbers) for numbers in zip(*each, strict=True))
        print(f"{_line(what, target, count(stream))}{f'{hits / total:.3f}' if total else 'none':>8}")
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
    for item, wrong in stream.admissions():
        if wrong:
            print(f"    wrongly admitted  {item.id}: {_tags(item, wrong)}")
    for lost in stream.lost():
        names = sorted({name for names in lost.merit for name in names})
        codes = f"{', '.join(lost.deserved.reasons)} by right tags, {', '.join(lost.verdict.reasons)}"
        behind = "".join(f" {id}" for id in lost.verdict.alternate_of)
        print(f"    lost  {lost.item.id}: {_tags(lost.item, names)}; {codes}{behind}{'; covered' * lost.is_covered}")
    for item, verdict, sense in stream.reviews():
        if not sense:
            named = {*_evidence(verdict), *(name for names in verdict.facts.new_combinations for name in names)}
            wrong = tuple(name for name in sorted(named) if item.labels.get(name, True) is False)
            print(f"    not sensible  {item.id}: {_tags(item, wrong)}; {', '.join(verdict.reasons)}")


def _tags(item: Item, names: Collection[str]) -> str:
    """Capabilities with what the classifier says of them: a score, or how probable it is after all."""
    doubts = {doubt.capability: doubt.probability for doubt in item.scored.doubts}
    scores = item.scored.scores
    said = (f"{scores[name]:.2f}" if name in scores else f"no {doubts.get(name, 0):.2f}" for name in names)
    return ", ".join(f"{name} {score}" for name, score in zip(names, said, strict=True))
