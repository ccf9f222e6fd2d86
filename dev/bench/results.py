"""A simulated year of release runs with known truth: make bench ARGS="results".

Each capability breaks now and then, and is repaired some releases later.  *Live* entries fail while their capability is
broken, *flapping* ones at random, and *dead* ones never.  What the product says is compared with what each entry is.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from bot.config import ResultSettings
from bot.curator.entry import Admitted, Entry, EntryClassification
from bot.results.history import histories
from bot.results.record import EntryResult, ReleaseRecord, content_of

Kind: TypeAlias = Literal["live", "dead", "flapping"]

ENTRIES: Final = 150
CAPABILITIES: Final = 15
SHARES: Final[dict[Kind, float]] = {"live": 0.7, "dead": 0.2, "flapping": 0.1}
BREAKS: Final = 0.03
"""The chance that a capability breaks in a release."""
REPAIR: Final = (1, 3)
"""Releases until it is repaired."""
FLAPS: Final = (0.1, 0.5)
"""The share of runs in which a flapping entry fails, drawn for each."""


def main(arguments: Sequence[str]) -> int:
    """Simulate, and print what was found after so many releases."""
    parser = argparse.ArgumentParser(prog="python -m dev.bench results")
    parser.add_argument("--seeds", type=int, default=10)
    seeds: int = parser.parse_args(arguments).seeds
    print(f"{ENTRIES} entries, {seeds} years; shares of all entries of a kind")
    print("runs  releases  flapping found  live taken for flapping  dead never failed  live never failed")
    for runs in (1, 3):
        for releases in (5, 10, 20, 50):
            found = [_shares(*year(seed, releases, runs)) for seed in range(seeds)]
            means = [sum(column) / seeds for column in zip(*found, strict=True)]
            cells = (f"{mean:.0%}".rjust(width) for mean, width in zip(means, (14, 23, 17, 17), strict=True))
            print(f"{runs:4}  {releases:8}  {'  '.join(cells)}")
    return 0


def year(seed: int, releases: int, runs: int) -> tuple[dict[str, Entry], dict[str, Kind], list[ReleaseRecord]]:
    """Entries, what each is, and the records of ``releases`` in which each entry ran ``runs`` times."""
    draw = random.Random(seed)
    kinds: dict[str, Kind] = {
        f"e{number:03}": draw.choices(list(SHARES), list(SHARES.values()))[0] for number in range(ENTRIES)
    }
    entries = {id: _entry(id, f"c{draw.randrange(CAPABILITIES)}") for id in kinds}
    rates = {id: draw.uniform(*FLAPS) for id in kinds}
    records = []
    for number, broken in enumerate(_breaks(draw, releases)):
        results = {}
        for id, entry in entries.items():
            (capability,) = entry.scores
            chance = {"live": float(capability in broken), "dead": 0.0, "flapping": rates[id]}[kinds[id]]
            failed = sum(1 for _ in range(runs) if draw.random() < chance)
            results[id] = EntryResult(content=content_of(entry), passed=runs - failed, failed=failed)
        at = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z"
        records.append(ReleaseRecord(release=f"v{number}", at=at, entries=results))
    return entries, kinds, records


def _breaks(draw: random.Random, releases: int) -> Iterator[set[str]]:
    """The broken capabilities of each release."""
    left: dict[str, int] = {}
    for _ in range(releases):
        left = {name: count - 1 for name, count in left.items() if count > 1}
        for number in range(CAPABILITIES):
            if f"c{number}" not in left and draw.random() < BREAKS:
                left[f"c{number}"] = draw.randint(*REPAIR)
        yield set(left)


def _shares(
    entries: dict[str, Entry], kinds: dict[str, Kind], records: list[ReleaseRecord]
) -> tuple[float, float, float, float]:
    known = histories(entries, records, ResultSettings())

    def share(kind: Kind, flapping: bool) -> float:
        ids = [id for id in entries if kinds[id] == kind]
        said = [known[id].flapping if flapping else not known[id].failing for id in ids]
        return sum(said) / len(ids)

    return share("flapping", True), share("live", True), share("dead", False), share("live", False)


def _entry(id: str, capability: str) -> Entry:
    return Entry(
        id=id,
        turns=(f"text of {id}",),
        scores={capability: 0.9},
        classified=EntryClassification(taxonomy="1.0.0", backend="none", model="none", prompt="none", samples=1),
        admitted=Admitted(at="2026-01-01T00:00:00Z", decision="INCLUDE", route="direct"),
    )
