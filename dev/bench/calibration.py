"""How well calibration finds what simulated reviewers go by: error of the recovered knobs against what is true.

python -m dev.bench calibration           the tables of docs/calibration.md
python -m dev.bench calibration --seeds 3 with fewer seeds
python -m dev.bench calibration --few     few answers on many capabilities

Ten capabilities in four groups, or with --few forty in eight, each with a true bar, margin and floor.  True values vary
by capability, mostly by group, mostly all together, or are the global ones; the method does not know which.  Queries
with one capability and a random score are judged by the real engine; five reviewers answer by the true values, and say
the opposite with a probability of 10, 20 or 30 %.  What goes to review is always answered.  A direct verdict is
overridden by who has read it and disagrees, and otherwise merged in silence, or with one explicit agreement in ten;
`read` is the share of those who read.  One question in five is answered by a second person as well; the first one
merges.  What is shown, said and merged are events, by the same functions as the product's, and run through responses,
validation, evidence and fit as the command does.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Final, Literal, TypeAlias, get_args

from incumbent.consolidator.verdict import Route
from incumbent.consolidator.verdict_engine import decide
from incumbent.files.snapshot import WorkingTree
from incumbent.github.ledger_events import merge_events
from incumbent.ledger.agreement.responses import responses_of
from incumbent.ledger.calibration.evidence import Knob, evidence_of
from incumbent.ledger.calibration.fit import Estimate, calibrate, present_value, with_proposals
from incumbent.ledger.calibration.override_filter import validate_responses
from incumbent.ledger.calibration.replay import Judged, PastSet, Replayed, replay
from incumbent.ledger.events import Answered, Decided, LedgerEvent, Shown, Suggested, VerdictFacts
from incumbent.ledger.model import Displayed, Merged, PullRequestRecord
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry, ScoredQuery, Similarity
from incumbent.report.verdict_text import admitting_route
from incumbent.taxonomy.config import Curation, load_config

REPOSITORY: Final = Path(__file__).parents[2]
CAPABILITIES: Final = 10
GROUPS: Final = 4
MANY: Final = 40
OF_MANY: Final = 8
REVIEWERS: Final = 5
SIZES: Final = (10, 25, 50, 100, 200)
ANSWERS: Final = (10, 25, 50, 100, 200)
NOISES: Final = (0.1, 0.2, 0.3)
OTHER_NOISES: Final = (0.1, 0.15, 0.25)
"""With few answers; two of them are none that the method tries."""
SECOND: Final = 0.2
SPOKEN: Final = 0.1
AT: Final = "2026-01-01T00:00:00Z"
GLOBAL: Final = {"competence_bar": 0.5, "honesty_floor": 0.6}
"""Amid the scores and the true bars, whatever ships."""


Varied: TypeAlias = Literal["own", "group", "all", "none"]
"""What the true values differ by: the capability, mostly the group, mostly all together, or nothing."""
RANGES: Final = {Knob.COMPETENCE_BAR: (0.3, 0.8), Knob.WINNING_MARGIN: (0.02, 0.30), Knob.REDUNDANCY_FLOOR: (1.0, 4.0)}
NEAR: Final = 0.15
"""How far capabilities of a group, or all, are from each other where it is the group, or all, that differs: a share of
the range."""


@dataclass(frozen=True)
class Truth:
    """What reviewers go by, by knob and capability."""

    values: dict[tuple[Knob, str], float]


@dataclass
class World:
    """What was shown and answered so far; ``fresh`` was not replayed yet."""

    knob: Knob
    groups: dict[str, str]
    events: list[LedgerEvent] = field(default_factory=list)
    fresh: list[Shown] = field(default_factory=list)
    situations: dict[Judged, Replayed] = field(default_factory=dict)
    number: int = 0


def main(arguments: Sequence[str]) -> int:
    """Measure and print; returns the exit code, which is always 0."""
    parser = argparse.ArgumentParser("bench calibration", description="How well calibration finds true knobs.")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--few", action="store_true", help="few answers on many capabilities")
    options = parser.parse_args(arguments)
    shipped = load_config(WorkingTree(REPOSITORY), None)
    config = shipped.model_copy(update={"knobs": shipped.knobs.model_copy(update=GLOBAL)})
    for varied in get_args(Varied):
        for read in (1.0, 0.5):
            print(f"\ntrue knobs vary by {varied}; {read:.0%} read what passes in silence")
            for knob in Knob:
                table(config, knob, varied, read, options.seeds, options.few)
    return 0


@dataclass(frozen=True)
class Cell:
    """One seed's outcome: the mean absolute error, that of the global knob, and what the estimates are like."""

    own: float
    other: float
    wrong: int
    proposed: int
    covered: int
    estimates: int


def table(config: Curation, knob: Knob, varied: Varied, read: float, seeds: int, few: bool) -> None:
    """Mean absolute error over capabilities and seeds, and the worst seed's excess over keeping the global knob."""
    count, number, sizes = (MANY, OF_MANY, ANSWERS) if few else (CAPABILITIES, GROUPS, SIZES)
    groups = {f"capability-{place}": f"group-{place % number}" for place in range(count)}
    print(
        f"\n{knob.value}: mean absolute error (worst excess of a seed over the global knob) "
        "[wrong moves / moves, a seed] share of intervals that hold the true value"
    )
    kept = fmean(error(config, knob, truth(config, random.Random(seed), varied, groups)) for seed in range(seeds))
    what = "explicit answers in all" if few else "verdicts per capability"
    print(f"{what}  " + "  ".join(f"{size:>29}" for size in sizes) + f"   global knob {kept:.3f}")
    for noise in OTHER_NOISES if few else NOISES:
        cells: dict[int, list[Cell]] = {size: [] for size in sizes}
        for seed in range(seeds):
            draw = random.Random(f"{seed} {noise} {read} {knob}")
            true = truth(config, random.Random(seed), varied, groups)
            world = World(knob, groups)
            for size in sizes:
                while progress(world, few) < size:
                    for name in [draw.choice(list(groups))] if few else groups:
                        ask(world, draw, config, knob, name, true, noise, read)
                cells[size].append(cell(world, config, true))
        row = [
            f"{fmean(item.own for item in found):.3f} ({max(item.own - item.other for item in found):+.3f}) "
            f"[{fmean(item.wrong for item in found):.1f}/{fmean(item.proposed for item in found):.1f}] "
            f"{sum(item.covered for item in found) / max(1, sum(item.estimates for item in found)):.2f}"
            for found in cells.values()
        ]
        print(f"noise {noise:.0%}".ljust(24) + "  ".join(f"{each:>29}" for each in row))


def progress(world: World, few: bool) -> int:
    """How many explicit answers there are, or how many verdicts on each capability."""
    if few:
        return sum(isinstance(event, Decided | Answered) for event in world.events)
    return world.number // len(world.groups)


def cell(world: World, config: Curation, true: Truth) -> Cell:
    """What is found in ``world`` by now."""
    estimates = estimated(world, config)
    fitted, knob = with_proposals(config, estimates), world.knob

    def off(name: str, by: Curation) -> float:
        return abs(present_value(knob, name, by) - true.values[knob, name])

    half = 0.0 if knob is Knob.REDUNDANCY_FLOOR else 0.005
    return Cell(
        own=error(fitted, knob, true),
        other=error(config, knob, true),
        wrong=sum(off(name, fitted) > off(name, config) + 1e-9 for name in world.groups),
        proposed=sum(item.proposed is not None for item in estimates),
        covered=sum(item.low - half <= true.values[knob, item.capability] <= item.high + half for item in estimates),
        estimates=len(estimates),
    )


def truth(config: Curation, draw: random.Random, varied: Varied, groups: Mapping[str, str]) -> Truth:
    """True knobs, far from the global ones and near them."""
    found: dict[tuple[Knob, str], float] = {}
    shared: dict[tuple[Knob, str], float] = {}
    for name, group in groups.items():
        for knob, (least, most) in RANGES.items():
            if varied == "none":
                value = present_value(knob, name, config)
            elif varied == "own":
                value = draw.uniform(least, most)
            else:
                key = knob, group if varied == "group" else "all"
                if key not in shared:
                    shared[key] = draw.uniform(least, most)
                off = (draw.random() - 0.5) * NEAR * (most - least)
                value = min(most, max(least, shared[key] + off))
            found[knob, name] = float(round(value)) if knob is Knob.REDUNDANCY_FLOOR else value
    return Truth(found)


def error(config: Curation, knob: Knob, true: Truth) -> float:
    """Mean absolute error of ``config`` over the capabilities."""
    return fmean(
        abs(present_value(of, name, config) - value) for (of, name), value in true.values.items() if of is knob
    )


def estimated(world: World, config: Curation) -> tuple[Estimate, ...]:
    """What calibration says of the knobs."""
    validated = validate_responses(responses_of(world.events), (), config.calibration)
    named = list(world.groups)

    def read(commit: str) -> PastSet:
        return PastSet(residents=residents(world.knob, named[int(commit)]), config=config)

    world.situations |= replay(world.fresh, read, None)
    world.fresh.clear()
    evidence = evidence_of((*validated.kept, *validated.silent), world.situations)
    return calibrate(evidence, config, world.groups)


def residents(knob: Knob, name: str) -> tuple[RatedEntry, ...]:
    """R: where margins are asked about, a champion of the capability and two more coverers; else nothing."""
    if knob is not Knob.WINNING_MARGIN:
        return ()
    return tuple(
        RatedEntry(id=f"{name}-{place}", turns=(), scores={name: score}, admitted_at=AT)
        for place, score in enumerate((0.55, 0.5, 0.5))
    )


def ask(
    world: World, draw: random.Random, config: Curation, knob: Knob, name: str, true: Truth, noise: float, read: float
) -> None:
    """Show one more verdict, or suggestion, on ``name``, and let people answer."""
    value = true.values[knob, name]
    world.number += 1
    number = world.number
    if knob is Knob.REDUNDANCY_FLOOR:
        remaining = draw.randint(int(present_value(knob, name, config)), 5)
        answers = [(by, (remaining >= value) != (draw.random() < noise)) for by in reviewers(draw)]
        world.events += suggestion(name, number, remaining, answers)
        return
    if knob is Knob.COMPETENCE_BAR:
        score = round(draw.uniform(0.2, 1.0), 4)
        enough, scores = score >= value, {name: score}
    else:
        lead = round(draw.uniform(0.0, 0.4), 4)
        enough, scores = lead > value, {name: round(0.55 + lead, 4)}
    shown = show(config, knob, name, number, scores, list(world.groups).index(name))
    world.fresh.append(shown)
    decision, route = shown.codes.split()[:2]
    people = reviewers(draw)
    world.events.append(shown)
    for by in people:
        wants = enough != (draw.random() < noise)
        agrees = wants == (decision != "EXCLUDE")
        seen = draw.random() < read
        spoken = draw.random() < SPOKEN
        if route == "review" or (seen and (not agrees or spoken)):
            world.events.append(command(shown, wants, agrees, by))
    world.events += merge(shown, people[0])


def reviewers(draw: random.Random) -> list[str]:
    """Who answers: mostly one person."""
    people = draw.sample(range(REVIEWERS), 2)
    return [f"reviewer-{person}" for person in people[: 2 if draw.random() < SECOND else 1]]


def show(config: Curation, knob: Knob, name: str, number: int, scores: dict[str, float], place: int) -> Shown:
    """The verdict on a query with these ``scores``."""
    query = ScoredQuery(id=f"q{number}", turns=(), scores=scores)
    live = LiveSet(residents(knob, name), [query], config)
    facts = live.facts(query, live.profile(query), Similarity(0.0, None))
    ruling = decide(facts, config.knobs, config.options)
    return Shown(
        at=AT,
        pull_request=number,
        entry=query.id,
        content=f"{number:024x}",
        verdict=f"{number:024x}",
        codes=" ".join([ruling.decision, ruling.route, *ruling.reasons]),
        base=f"{place:040d}",
        head="0" * 40,
        place=0,
        author="customer",
        facts=VerdictFacts(
            taxonomy="1.0.0",
            scores=scores,
            new=facts.new_capabilities,
            won=dict(facts.champion_scores),
            similarity=0.0,
        ),
    )


def command(shown: Shown, wants: bool, agrees: bool, by: str) -> Decided:
    """What a person says of what was ``shown``."""
    return Decided(
        at=AT,
        pull_request=shown.pull_request,
        entry=shown.entry,
        content=shown.content,
        verdict=shown.verdict,
        codes=shown.codes,
        action="accept" if wants else "reject",
        by=by,
        comment=1,
        reason=None if agrees else "because",
    )


def merge(shown: Shown, by: str) -> tuple[LedgerEvent, ...]:
    """The merge of what was ``shown``, as the product records it."""
    seen = {shown.entry: shown.content} if admitting_route(shown.codes) is Route.DIRECT else {}
    record = PullRequestRecord(
        pull_request=shown.pull_request, head=shown.head, merged=Merged(commit=shown.head, at=AT, seen=seen)
    )
    displayed = {shown.entry: Displayed(content=shown.content, verdict=shown.verdict, codes=shown.codes, since=AT)}
    return merge_events(record, displayed, {shown.entry: shown.content}, (by, AT))


def suggestion(name: str, number: int, remaining: int, answers: Sequence[tuple[str, bool]]) -> list[LedgerEvent]:
    """A suggested eviction that leaves ``remaining`` coverers of ``name``, and the ``answers`` to it."""
    branch, entries = f"incumbent/evict/{number}", (f"r{number}",)
    opened = Suggested(
        at=AT,
        pull_request=number,
        branch=branch,
        suggestion="redundant",
        entries=entries,
        remaining={name: remaining},
    )
    return [
        opened,
        *(
            Answered(
                at=AT,
                pull_request=number,
                branch=branch,
                suggestion="redundant",
                entries=entries,
                agrees=agrees,
                by=by,
                by_bot=False,
            )
            for by, agrees in answers
        ),
    ]
