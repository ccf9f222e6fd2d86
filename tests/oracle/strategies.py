"""Random cases: one generator, driven either by a seeded ``random.Random`` or by hypothesis (which then shrinks).

Scores come mostly from a coarse grid that contains the bars, and margins are its steps, so that ties and boundaries are
the rule and not the exception; queries are often drawn near an entry or another query, so that they challenge it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

from hypothesis import strategies as st

from tests.oracle.reference import grounds
from tests.oracle.values import Doubts, Grounds, Item, Knobs, Options, Results

T = TypeVar("T")

GRID = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
ODD = (0.0, 0.05, 0.123456789, 0.30000000000000004, 0.35 + 0.05, 0.725, 1 / 3)
HAIRS = (0.5 - 1e-9, 0.5 - 4e-10, 0.5 + 4e-10, 0.45 + 1e-9, 0.45 + 4e-10, 0.5500000000000002)
CUSTOMERS = ("one", "two", "three", None)
MOMENTS = tuple(f"2026-01-0{day}T00:00:00Z" for day in range(1, 5))
CLONES: tuple[tuple[str, ...], ...] = (
    ("Show my open tickets as a table.",),
    ("SHOW my  open tickets\tas a table.",),
    ("Show my open tickets as a list.",),
    ("Please show my open tickets as a table.",),
    ("Show my open tickets", "as a table."),
    ("show my open tickets\nas a table.",),
    ("Find the file on the oﬃce ﬂoor plan",),
    ("find the file on the office floor plan",),
    ("Where does the Straße end?",),
    ("where does the strasse end?",),
    ("abcdefghij",),
    ("abcdefghix",),
    ("abcdefghxy",),
    ("abcdefgxyz",),
    ("",),
)
WORDS = (
    "parcel", "invoice", "who", "compare", "tomorrow", "budget", "translate", "weather", "zip", "of", "my", "the",
    "quarterly", "escalate", "photo", "jump", "queue", "fix",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One input of ``cycle`` (queries, residents) and of ``prune`` (residents, open, refused)."""

    capabilities: tuple[str, ...]
    residents: tuple[Item, ...]
    queries: tuple[Item, ...]
    knobs: Knobs
    options: Options
    open: frozenset[str]
    refused: frozenset[Grounds]


class Source(Protocol):
    """Where the draws come from."""

    def pick(self, options: Sequence[T]) -> T: ...

    def count(self, least: int, most: int) -> int: ...

    def chance(self, percent: int) -> bool: ...


@dataclass(frozen=True)
class Seeded:
    """Draws of a seeded generator."""

    rng: random.Random

    def pick(self, options: Sequence[T]) -> T:
        return options[self.rng.randrange(len(options))]

    def count(self, least: int, most: int) -> int:
        return self.rng.randint(least, most)

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) >= 100 - percent


@dataclass(frozen=True)
class Drawn:
    """Draws of hypothesis: towards the first option, the least count, and no."""

    draw: st.DrawFn

    def pick(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))

    def count(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent


def score(source: Source) -> float:
    """Mostly of the grid, sometimes beside it, sometimes within or just past the ninth decimal of a boundary."""
    kind = source.count(0, 99)
    return source.pick(GRID if kind < 90 else ODD if kind < 95 else HAIRS)


def scores(source: Source, capabilities: Sequence[str], empty: int = 0) -> dict[str, float]:
    """The scores of a signature; in ``empty`` of 100 draws, of none."""
    if source.chance(empty):
        return {}
    found = {c: score(source) for c in capabilities if source.chance(45)}
    return found or {source.pick(capabilities): score(source)}


def near(source: Source, model: Mapping[str, float], capabilities: Sequence[str]) -> dict[str, float]:
    """Scores like those of another item: a step up or down here and there, a capability more or less."""
    found = {}
    for capability, value in model.items():
        if source.chance(8) and len(model) > 1:
            continue
        step = source.pick((0, 0, 0, 0.05, 0.05, 0.1, 0.1, 0.15, -0.05, -0.1))
        found[capability] = min(1.0, max(0.0, round(value + step, 9) if step else value))
    if source.chance(30):
        found[source.pick(capabilities)] = score(source)
    return found or {source.pick(capabilities): score(source)}


def turns(source: Source) -> tuple[str, ...]:
    """Words thrown together, mostly; a text of the clone pool, often enough."""
    if source.chance(25):
        return source.pick(CLONES)
    return tuple(
        " ".join(source.pick(WORDS) for _ in range(source.count(3, 9))) for _ in range(source.pick((1, 1, 1, 2, 3)))
    )


def knobs(source: Source, capabilities: Sequence[str]) -> Knobs:
    """Knobs around the values in use and at the ends that still make sense; one capability in five has its own."""
    bars, margins, floors = (0.5, 0.5, 0.3, 0.4, 0.6, 0.7), (0.05, 0.05, 0.0, 0.1, 0.15), (2, 1, 0, 1, 3)
    own: dict[str, dict[str, float]] = {}
    for capability in capabilities:
        if source.chance(20):
            own[capability] = {}
            if source.chance(60):
                own[capability]["competence_bar"] = source.pick((0.35, 0.45, 0.5, 0.65, 0.8, 1.0))
            if source.chance(50):
                own[capability]["winning_margin"] = source.pick((0.0, 0.05, 0.1, 0.3))
            if source.chance(50):
                own[capability]["redundancy_floor"] = source.pick((0, 1, 2, 4))
    rule_values: Literal["scored", "counted"] = source.pick(("counted", "counted", "scored"))
    return Knobs(
        competence_bar=source.pick(bars),
        winning_margin=source.pick(margins),
        clone_cutoff=source.pick((0.9, 0.8, 0.7, 1.0)),
        redundancy_floor=source.pick(floors),
        concentration_cap=source.pick((5, 2, 1, 0)),
        honesty_floor=source.pick((0.6, 0.0, 0.45, 0.75, 0.95)),
        per_capability=own,
        trial=frozenset(capability for capability in capabilities if source.chance(10)),
        recency=source.pick((None, None, 1.0, 30.0)),
        rule_values=rule_values,
        win_needs_bar=source.pick((True, True, False)),
    )


def options(source: Source, capabilities: Sequence[str]) -> Options:
    """Every mixture of the options; a capability that does not combine here and there."""
    novelty: Literal["signature", 1, 2, 3] = source.pick(("signature", 1, 2, 2, 3))
    honesty_scope: Literal["all", "evidence"] = source.pick(("all", "evidence"))
    return Options(
        novelty=novelty,
        honesty_scope=honesty_scope,
        clone_rescue=source.pick((False, True)),
        fill_floor=source.pick((False, True)),
        close_call=source.pick((0.4, 0.2, 0.35, 0.0)),
        uncombinable=frozenset(c for c in capabilities if source.chance(15)),
        fill_from_any=frozenset(c for c in capabilities if source.chance(15)),
        fill_to=source.pick((None, None, 0.5, 0.75)),
        ceiling=source.pick((150, 4, 7, 12)),
    )


def doubts(source: Source, capabilities: Sequence[str], held: Collection[str]) -> Doubts:
    """What a query may exercise after all; now and then in the place of something that it exercises."""
    found: dict[str, tuple[float, tuple[str, ...]]] = {}
    for c in capabilities:
        if c not in held and source.chance(30):
            others = [*sorted(held), *(other for other in capabilities if other not in held and other != c)]
            excludes = (source.pick(others),) if others and source.chance(30) else ()
            found[c] = (source.pick((0.1, 0.2, 0.3, 0.35, 0.45, 0.6, 0.9)), excludes)
    return found


def shuffled_names(source: Source, prefix: str, number: int) -> list[str]:
    """Ids whose order says nothing about the order in which they are drawn."""
    left = [f"{prefix}{place:02}" for place in range(number)]
    return [left.pop(source.count(0, len(left) - 1)) for _ in range(number)]


def ruled_of(source: Source, ruled: frozenset[str]) -> frozenset[str]:
    """The capabilities that a rule decides, those ``ruled`` or now and then none."""
    return frozenset() if source.chance(20) else ruled


def results(source: Source) -> Results:
    """None, mostly: else of a few releases, in which it failed never, always or sometimes."""
    if not source.chance(40):
        return Results()
    ran = source.count(1, 5)
    return Results(ran, source.pick((0, ran, source.count(0, ran))))


def residents_of(source: Source, capabilities: Sequence[str], most: int) -> tuple[Item, ...]:
    """Entries, some of which list others (or somebody long gone) as displaced."""
    found: list[Item] = []
    # Mostly the path of a score depends on its capability.
    ruled = frozenset(c for c in capabilities if source.chance(20))
    for name in shuffled_names(source, "r", source.count(0, most)):
        like = found and source.chance(35)
        found.append(
            Item(
                id=name,
                turns=turns(source),
                scores=near(source, source.pick(found).scores, capabilities) if like else scores(source, capabilities),
                admitted_at=source.pick(MOMENTS),
                pin="a person wants it" if source.chance(10) else None,
                setup_cost=source.pick((1.0, 1.0, 0.0, 0.5, 3.0)),
                customer=source.pick(CUSTOMERS),
                by_rule=ruled_of(source, ruled),
                results=results(source),
            )
        )
    names = [entry.id for entry in found]
    for place, entry in enumerate(found):
        if source.chance(30):
            listed = {source.pick([*names, "r-gone"]) for _ in range(source.count(1, 3))} - {entry.id}
            found[place] = replace(entry, displaces=tuple(sorted(listed)))
    return tuple(found)


def queries_of(source: Source, capabilities: Sequence[str], residents: Sequence[Item], most: int) -> tuple[Item, ...]:
    """Queries, half of which are near an entry or near an earlier query."""
    found: list[Item] = []
    ruled = frozenset(c for c in capabilities if source.chance(20))
    for name in shuffled_names(source, "q", source.count(0, most)):
        models = [*residents, *(other for other in found if other.scores)]
        like = models and source.chance(50)
        chosen = (
            near(source, source.pick(models).scores, capabilities) if like else scores(source, capabilities, empty=6)
        )
        marked = frozenset(c for c in chosen if source.chance(60)) if source.chance(10) else frozenset()
        found.append(
            Item(
                id=name,
                turns=turns(source),
                scores=chosen,
                arbitrated=marked,
                customer=source.pick(CUSTOMERS),
                familiar=not source.chance(8),
                doubts=doubts(source, capabilities, chosen),
                by_rule=ruled_of(source, ruled),
                setup_cost=source.pick((1.0, 1.0, 0.5)),
            )
        )
    return tuple(found)


def case_of(source: Source, most: int = 12) -> Case:
    """A case of at most ``most`` residents and as many queries."""
    capabilities = tuple(f"c{place}" for place in range(source.count(3, 8)))
    residents = residents_of(source, capabilities, most)
    queries = queries_of(source, capabilities, residents, most)
    drawn_knobs, drawn_options = knobs(source, capabilities), options(source, capabilities)
    opened = frozenset(entry.id for entry in residents if source.chance(15))
    refused = set()
    for entry in residents:
        if source.chance(12):
            now = grounds(entry, residents, drawn_knobs, drawn_options)
            stale = Grounds(entry.id, "displaced", ("r-gone",))
            refused.add(stale if source.chance(30) else now)
    return Case(capabilities, residents, queries, drawn_knobs, drawn_options, opened, frozenset(refused))


def random_case(rng: random.Random, most: int = 12) -> Case:
    """The case that ``rng`` leads to: ``random_case(random.Random(seed))`` is the same on every machine."""
    return case_of(Seeded(rng), most)


@st.composite
def cases(draw: st.DrawFn, most: int = 6) -> Case:
    """Cases for hypothesis; small ones by default, which already meet every path."""
    return case_of(Drawn(draw), most)
