"""How well calibration finds what simulated reviewers go by: error of the recovered knobs against what is true.

python -m dev.bench calibration           the table of docs/calibration.md
python -m dev.bench calibration --seeds 3 with fewer seeds

Ten capabilities, each with a true bar, margin and floor.  Queries with one capability and a random score are judged by
the real engine; five reviewers answer by the true values, and say the opposite with a probability of 10, 20 or 30 %.
What goes to review is always answered.  A direct verdict is overridden by who has read it and disagrees, and otherwise
merged in silence, or with one explicit agreement in ten; `read` is the share of those who read.  One question in five
is answered by a second person as well; the first one merges.  What is shown, said and merged are events, by the same
functions as the product's, and run through responses, validation, evidence and fit as the command does.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Final

from bot.agreement.responses import responses_of
from bot.calibration.evidence import Knob, evidence_of
from bot.calibration.fit import calibrate, present_value, with_proposals
from bot.calibration.override_filter import validate_responses
from bot.calibration.replay import Judged, PastSet, Replayed, replay
from bot.config import Curation, load_config
from bot.consolidator.verdict import Route
from bot.consolidator.verdict_engine import decide
from bot.files.snapshot import WorkingTree
from bot.github.ledger_events import merge_events
from bot.ledger.events import Answered, Decided, LedgerEvent, Shown, Suggested, VerdictFacts
from bot.ledger.model import Displayed, Merged, PullRequestRecord
from bot.rater.contextualizer import LiveSet, Similarity
from bot.rater.model import RatedEntry, ScoredQuery
from bot.report.verdict_text import admitting_route

REPOSITORY: Final = Path(__file__).parents[2]
CAPABILITIES: Final = 10
REVIEWERS: Final = 5
SIZES: Final = (10, 25, 50, 100, 200)
NOISES: Final = (0.1, 0.2, 0.3)
SECOND: Final = 0.2
SPOKEN: Final = 0.1
AT: Final = "2026-01-01T00:00:00Z"
GLOBAL: Final = {"competence_bar": 0.5, "honesty_floor": 0.6}
"""Amid the scores and the true bars, whatever ships."""


@dataclass(frozen=True)
class Truth:
    """What reviewers go by, by knob and capability."""

    values: dict[tuple[Knob, str], float]


@dataclass
class World:
    """What was shown and answered so far; ``fresh`` was not replayed yet."""

    knob: Knob
    events: list[LedgerEvent] = field(default_factory=list)
    fresh: list[Shown] = field(default_factory=list)
    situations: dict[Judged, Replayed] = field(default_factory=dict)
    number: int = 0


def main(arguments: Sequence[str]) -> int:
    """Measure and print; returns the exit code, which is always 0."""
    parser = argparse.ArgumentParser("bench calibration", description="How well calibration finds true knobs.")
    parser.add_argument("--seeds", type=int, default=4)
    seeds = parser.parse_args(arguments).seeds
    shipped = load_config(WorkingTree(REPOSITORY), None)
    config = shipped.model_copy(update={"knobs": shipped.knobs.model_copy(update=GLOBAL)})
    for varied in (True, False):
        for read in (1.0, 0.5):
            print(f"\ntrue knobs {'vary' if varied else 'are the global ones'}; {read:.0%} read what passes in silence")
            for knob in Knob:
                table(config, knob, varied, read, seeds)
    return 0


def table(config: Curation, knob: Knob, varied: bool, read: float, seeds: int) -> None:
    """Mean absolute error over capabilities and seeds, and the worst seed's excess over keeping the global knob."""
    print(f"\n{knob.value}: mean absolute error (worst excess of a seed over the global knob) [wrong moves per 10]")
    kept = fmean(error(config, knob, truth(config, random.Random(seed), varied)) for seed in range(seeds))
    print("verdicts per capability  " + "  ".join(f"{size:>20}" for size in SIZES) + f"   global knob {kept:.3f}")
    for noise in NOISES:
        cells: dict[int, list[tuple[float, float, int]]] = {size: [] for size in SIZES}
        for seed in range(seeds):
            draw = random.Random(f"{seed} {noise} {read} {knob}")
            true = truth(config, random.Random(seed), varied)
            world = World(knob)
            for count in range(1, SIZES[-1] + 1):
                for name in names():
                    ask(world, draw, config, knob, name, true, noise, read)
                if count in SIZES:
                    fitted = fit(world, config)
                    own, other = error(fitted, knob, true), error(config, knob, true)
                    worse = sum(
                        abs(present_value(knob, name, fitted) - true.values[knob, name])
                        > abs(present_value(knob, name, config) - true.values[knob, name]) + 1e-9
                        for name in names()
                    )
                    cells[count].append((own, own - other, worse))
        row = [
            f"{fmean(item[0] for item in found):.3f} ({max(item[1] for item in found):+.3f}) "
            f"[{fmean(item[2] for item in found):.1f}]"
            for found in cells.values()
        ]
        print(f"noise {noise:.0%}".ljust(24) + "  ".join(f"{cell:>20}" for cell in row))


def names() -> tuple[str, ...]:
    """The capabilities."""
    return tuple(f"capability-{number}" for number in range(CAPABILITIES))


def truth(config: Curation, draw: random.Random, varied: bool) -> Truth:
    """True knobs, far from the global ones and near them."""
    found: dict[tuple[Knob, str], float] = {}
    for name in names():
        drawn = draw.uniform(0.3, 0.8), draw.uniform(0.02, 0.30), float(draw.choice((1, 2, 2, 3, 4)))
        for knob, value in zip(Knob, drawn, strict=True):
            found[knob, name] = value if varied else present_value(knob, name, config)
    return Truth(found)


def error(config: Curation, knob: Knob, true: Truth) -> float:
    """Mean absolute error of ``config`` over the capabilities."""
    return fmean(abs(present_value(knob, name, config) - true.values[knob, name]) for name in names())


def fit(world: World, config: Curation) -> Curation:
    """``config`` with what calibration proposes."""
    validated = validate_responses(responses_of(world.events), (), config.calibration)

    def read(commit: str) -> PastSet:
        return PastSet(residents=residents(world.knob, names()[int(commit)]), config=config)

    world.situations |= replay(world.fresh, read, None)
    world.fresh.clear()
    evidence = evidence_of((*validated.kept, *validated.silent), world.situations)
    return with_proposals(config, calibrate(evidence, config))


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
    shown = show(config, knob, name, number, scores)
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


def show(config: Curation, knob: Knob, name: str, number: int, scores: dict[str, float]) -> Shown:
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
        base=f"{names().index(name):040d}",
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
