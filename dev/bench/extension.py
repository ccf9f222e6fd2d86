"""How often a capability that the taxonomy lacks comes back as a candidate, and how often one is raised for nothing.

python -m dev.bench extension                               every intent capability hidden in turn, five seeds
python -m dev.bench extension --capability response.format.table --seeds 1
python -m dev.bench extension --seeds 5 --first 3           seeds 3 to 7, four processes at a time with --jobs 4
python -m dev.bench extension --real                        candidates raised by real queries, nothing hidden
python -m dev.bench extension --size 20000                  seconds and memory for so many queries of 1,000 customers

For each seed a third of the shipped exemplars is held out, by digests of their texts.  To hide a capability, all its
positive exemplars leave the taxonomy, under whatever other capabilities they stand as well, and with it what requires
it: neither classifier nor reference has seen anything of it.  They are streamed, 25 of them, by five of ten made-up
customers, each of whom asks for other things as often; what is asked besides is drawn from the held-out third.  Streams
with nothing hidden are the held-out third, in the order of its digests.  Real queries are those of eval_sets/ and,
where INCUMBENT_CORPUS names one, the corpus's, each vendor one customer.  See docs/extension.md for the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import Final

from dev.bench.hiding import HELD_OUT, Known, exemplars_of, held_out, without
from incumbent.classifier.classify import classify
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.model import Consensus
from incumbent.extension.candidates import find_candidates
from incumbent.extension.model import ExtensionCandidate, Observed
from incumbent.extension.signals import observe_all
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED
from incumbent.pipeline.submission import Submission, read_package, submission_folders
from incumbent.taxonomy.config import Curation, ExtensionSettings, load_config
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.model import Taxonomy, Turns
from incumbent.text.compare import normalise
from incumbent.text.personal_data.detector import Detector

REPOSITORY: Final = Path(__file__).parents[2]
HIDDEN_QUERIES: Final = 25
OTHER_QUERIES: Final = 75
CUSTOMERS: Final = 10
STEP: Final = 5
"""Candidates are looked for after every so many queries of the hidden capability."""
LOOK: Final = 50
"""And after every so many queries of a stream with nothing hidden."""
PURE: Final = 0.6
"""A candidate brings a capability back if at least this share of its queries exercises it."""
USUAL: Final = frozenset(
    {
        "execution.orchestration.single-turn",
        "execution.output-size.normal",
        "execution.output-size.small",
        "execution.tools.call",
    }
)
"""What two fifths or more of all queries exercise: hiding one takes exemplars away, its absence is no anomaly."""
CORPUS_FILES: Final = (
    "azure_mcp_a_to_c",
    "copilot_starters_pnp",
    "ess_starter_csv",
    "m365_copilot_eval_samples",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one stream with a hidden capability; ``after`` so many of its queries it came back, if it did.

    ``found`` is the purest candidate there, or else the purest at the end; ``others`` the number of those beside it.
    """

    after: int | None
    found: ExtensionCandidate | None
    purity: float
    others: int


@dataclass(frozen=True, slots=True)
class Stream:
    """Observed queries and the taxonomy they were seen by; ``truth`` says of each text whether it is of what is hidden.

    With every :data:`STEP` of those come ``per_step`` others.
    """

    taxonomy: Taxonomy
    observed: Sequence[Observed]
    truth: Mapping[str, bool]
    per_step: int


class Bench:
    """The shipped taxonomy and config, and what is measured with them."""

    def __init__(self) -> None:
        tree = WorkingTree(REPOSITORY)
        self.taxonomy = load_taxonomy(tree)
        self.config: Curation = load_config(tree, None)
        self.known = exemplars_of(self.taxonomy)

    @property
    def settings(self) -> ExtensionSettings:
        """The config's, with no limit on what is offered at a time."""
        return self.config.extension.model_copy(update={"open_candidates": 1_000})

    def reduced(self, hidden: str | None, seed: int) -> Taxonomy:
        """What the classifier is fitted on, and queries are compared with."""
        gone = {item.text for item in self.known if hidden in item.capabilities or held_out(item, seed)}
        return without(self.taxonomy, hidden, frozenset(gone))

    def background(self, hidden: str | None, seed: int) -> list[Known]:
        """The held-out exemplars that do not exercise ``hidden``, in an order of their own."""
        found = [item for item in self.known if held_out(item, seed) and hidden not in item.capabilities]
        return sorted(found, key=lambda item: item.draw(f"order {seed}"))

    def observe(self, stream: Sequence[tuple[str, Turns]], taxonomy: Taxonomy) -> list[Observed]:
        """``stream``, customers and what they ask, as a classifier sees it that was fitted on ``taxonomy``."""
        settings = self.config.classifier
        backend = EmbeddedBackend(taxonomy, settings.embedded, settings.samples, ModelCache(None))
        found = []
        for customer in dict.fromkeys(customer for customer, _ in stream):
            queries = tuple(
                Query(id=str(place), turns=turns, file="", line=None)
                for place, (own, turns) in enumerate(stream)
                if own == customer
            )
            submission = Submission(customer=customer, agent="agent", folder="", queries=queries)
            result = classify(queries, UNDECLARED, taxonomy, backend, lambda done, total: None)
            found += observe_all(submission, result.classifications, taxonomy, self.settings)
        return sorted(found, key=lambda item: int(item.id.rsplit("/")[-1]))

    def stream(self, hidden: str, seed: int) -> Stream:
        """Queries that exercise ``hidden`` among others, as seen by a classifier that knows nothing of it."""
        taxonomy = self.reduced(hidden, seed)
        own = [item for item in self.known if hidden in item.capabilities]
        own.sort(key=lambda item: item.draw(f"hidden {seed}"))
        others = self.background(hidden, seed)[:OTHER_QUERIES]
        per_step = len(others) * STEP // HIDDEN_QUERIES
        stream: list[tuple[str, Turns]] = []
        truth: dict[str, bool] = {}
        for place, item in enumerate(own[:HIDDEN_QUERIES]):
            stream.append((f"customer-{place % (CUSTOMERS // 2)}", item.turns))
            truth[item.text] = True
            for number in range(place * per_step // STEP, (place + 1) * per_step // STEP):
                # A third of what is asked besides comes from those who also ask for what is hidden.
                customer = number % (CUSTOMERS // 2) + (0 if number % HELD_OUT == 0 else CUSTOMERS // 2)
                stream.append((f"customer-{customer}", others[number].turns))
                truth[others[number].text] = False
        return Stream(taxonomy, self.observe(stream, taxonomy), truth, per_step)

    def hide(self, hidden: str, seed: int) -> Outcome:
        """Hide a capability, and look for it after every few queries that exercise it."""
        return self.search(self.stream(hidden, seed))

    def search(self, stream: Stream) -> Outcome:
        """Whether, and after how many queries, what ``stream`` hides comes back."""
        best, purity, others_raised = None, 0.0, 0
        for count in range(STEP, HIDDEN_QUERIES + 1, STEP):
            seen = stream.observed[: count + count * stream.per_step // STEP]
            raised = find_candidates(seen, stream.taxonomy, self.settings, (), Detector())
            purities = [mean(stream.truth[normalise(member.turns)] for member in item.members) for item in raised]
            best, purity, others_raised = None, 0.0, len(raised)
            if raised:
                place = max(range(len(raised)), key=lambda place: purities[place])
                best, purity, others_raised = raised[place], purities[place], len(raised) - 1
            if purity >= PURE:
                return Outcome(count, best, purity, others_raised)
        return Outcome(None, best, purity, others_raised)

    def nothing_hidden(self, seed: int) -> Stream:
        """The held-out exemplars as queries, nothing hidden."""
        taxonomy = self.reduced(None, seed)
        queries = [
            (f"customer-{place % CUSTOMERS}", item.turns) for place, item in enumerate(self.background(None, seed))
        ]
        return Stream(taxonomy, self.observe(queries, taxonomy), {}, 0)

    def raised_for_nothing(self, stream: Stream) -> list[ExtensionCandidate]:
        """Every candidate that ``stream`` raises on the way, each core once."""
        raised: list[ExtensionCandidate] = []
        for size in [*range(LOOK, len(stream.observed), LOOK), len(stream.observed)]:
            cores = [item.core for item in raised]
            raised += find_candidates(stream.observed[:size], stream.taxonomy, self.settings, cores, Detector())
        return raised

    def eval_sets(self) -> list[Observed]:
        """The queries of the repository's own eval sets, judged with their agents' specifications."""
        tree = WorkingTree(REPOSITORY)
        settings = self.config.classifier
        backend = EmbeddedBackend(self.taxonomy, settings.embedded, settings.samples, ModelCache(None))
        found = []
        for folder in submission_folders(tree):
            customer, agent = folder.split("/")[1:]
            own = WorkingTree(REPOSITORY / folder, tree.name(folder))
            package = read_package(own, customer, agent, folder, self.config.limits)
            submission = package.submission
            result = classify(
                submission.queries, package.specification, self.taxonomy, backend, lambda done, total: None
            )
            found += observe_all(submission, result.classifications, self.taxonomy, self.settings)
        return found

    def corpus(self, folder: Path) -> list[Observed]:
        """The corpus's eval sets, judged by the whole taxonomy; a vendor is one customer, of however many agents."""
        stream = []
        for name in CORPUS_FILES:
            for line in (folder / "queries" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
                item = json.loads(line)
                stream.append((str(item["source"]), tuple(item["turns"])))
        return self.observe(stream, self.taxonomy)

    def real(self, folder: Path | None) -> dict[str, Stream]:
        """Real queries by what they are called, in the order of their digests."""
        sets = {"eval_sets": self.eval_sets()}
        if folder is not None:
            sets["corpus"] = self.corpus(folder)
            sets["both"] = sets["eval_sets"] + sets["corpus"]
        return {
            name: Stream(self.taxonomy, sorted(observed, key=lambda item: (item.digest, item.id)), {}, 0)
            for name, observed in sets.items()
        }


def summary(candidate: ExtensionCandidate) -> str:
    """A candidate in a line."""
    terms = ", ".join(f"{item.trait.words} {item.members}" for item in candidate.telling[:4])
    kind = f"{candidate.kind} {' + '.join(candidate.belongs_to)}".strip()
    return (
        f"{len(candidate.members)} queries, {len(candidate.customers)} customers, surprise {candidate.surprise:.1f}, "
        f"excess {candidate.excess:.2f}, cohesion {candidate.cohesion:.2f}, {kind}: {terms}"
    )


def measured_size(size: int) -> int:
    """Print what it takes to look through ``size`` queries in a process that has done nothing else.

    Each is an exemplar with a word of courtesy or time; every fiftieth asks for a song, which no capability is about.
    """
    root = WorkingTree(REPOSITORY)
    taxonomy, config = load_taxonomy(root), load_config(root, None)
    exemplars = exemplars_of(taxonomy)
    draw, observed = random.Random(1), []
    words = sorted({word for known in exemplars for word in known.text.split()})
    for number in range(size):
        known, polite = draw.choice(exemplars), draw.choice(("", " please", " thanks", " for me", " now", " today"))
        sings = number % 50 == 0
        turns = (
            (f"Sing me a song about {draw.choice(words)}, and make it rhyme{polite}",)
            if sings
            else (*known.turns[:-1], f"{known.turns[-1]}{polite}")
        )
        own = frozenset() if sings else known.capabilities
        customer = f"customer{draw.randrange(1_000)}"
        beliefs = {
            item.id: Consensus(value=item.id in own, confidence=0.9 if item.id in own else 0.02)
            for item in taxonomy.capabilities
            if item.is_judged_from_text
        }
        observed.append(Observed(id=f"{customer}/a/{number}", customer=customer, turns=turns, beliefs=beliefs))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.perf_counter()
    found = find_candidates(observed, taxonomy, config.extension, (), Detector())
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{size:,} queries: {seconds:.1f} s, {peak / 1024:.0f} MB in all ({before / 1024:.0f} MB before)")
    for item in found:
        print(f"  {item.name}: {len(item.members)} queries of {len(item.customers)} customers")
    return 0


def main(arguments: Sequence[str]) -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench extension")
    parser.add_argument("--capability", action="append", help="hide this one only (may be given again)")
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="streams that are measured at a time")
    parser.add_argument("--real", action="store_true", help="only real queries")
    parser.add_argument("--nothing", action="store_true", help="only streams with nothing hidden")
    parser.add_argument("--size", type=int, help="only how long so many queries take, and how much memory")
    chosen = parser.parse_args(arguments)
    if chosen.size is not None:
        return measured_size(chosen.size)
    bench = Bench()
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    if not chosen.real and not chosen.nothing:
        known = sorted({name for item in bench.known for name in item.capabilities})
        hide_all(chosen.capability or known, seeds, chosen.jobs)
    if not chosen.real and not chosen.capability:
        for_nothing("exemplars", {f"seed {seed}": bench.nothing_hidden(seed) for seed in seeds}, bench)
    if not chosen.nothing and not chosen.capability:
        corpus = os.environ.get("INCUMBENT_CORPUS")
        for name, stream in bench.real(None if corpus is None else Path(corpus)).items():
            for_nothing(name, {name: stream}, bench)
    return 0


def for_nothing(what: str, streams: Mapping[str, Stream], bench: Bench) -> None:
    """How many candidates are raised by ``streams`` in which nothing is hidden."""
    total = count = 0
    for name, stream in streams.items():
        raised = bench.raised_for_nothing(stream)
        total += len(stream.observed)
        count += len(raised)
        for item in raised:
            print(f"  {name}: {summary(item)}")
    print(f"nothing hidden, {what}: {count} candidates in {total} queries, {1000 * count / total:.2f} per 1,000")


def hidden(job: tuple[str, int]) -> Outcome:
    """What came of hiding a capability under a seed, in a process of its own."""
    return _bench().hide(*job)


@lru_cache(maxsize=1)
def _bench() -> Bench:
    return Bench()


def hide_all(capabilities: Sequence[str], seeds: Sequence[int], jobs: int) -> None:
    """A line per capability, then the totals."""
    print("capability                                 recovered  after                purity  others  kinds")
    shares: dict[str, float] = {}
    with ProcessPoolExecutor(jobs) as pool:
        results = pool.map(hidden, [(name, seed) for name in capabilities for seed in seeds])
        for name in capabilities:
            outcomes = list(islice(results, len(seeds)))
            back = [item for item in outcomes if item.after is not None]
            shares[name] = len(back) / len(outcomes)
            after = ", ".join(str(item.after) for item in back) or "–"
            kinds = ", ".join(sorted({item.found.kind for item in back if item.found is not None})) or "–"
            purity = f"{mean(item.purity for item in (back or outcomes)):.2f}"
            others = f"{mean(item.others for item in outcomes):.1f}"
            print(
                f"{name:42} {len(back):4} of {len(outcomes):<2} {after:20} {purity:>6} {others:>7}  {kinds}", flush=True
            )
            best = max(outcomes, key=lambda item: item.purity)
            if best.found is not None:
                print(f"    {summary(best.found)}", flush=True)
    _total("all", shares)
    _total("those that most queries do not exercise", {name: shares[name] for name in shares if name not in USUAL})


def _total(what: str, shares: Mapping[str, float]) -> None:
    if shares:
        often = sum(share > 0.5 for share in shares.values())
        print(
            f"recovered of {what}: {100 * mean(shares.values()):.0f} % of the streams; {often} of {len(shares)} "
            "capabilities in most of them"
        )
