"""Change the rules that decide, one place at a time, and see whether a test fails (`make mutate`).

mutmut makes the changes ("mutants") in `bot/incumbent/consolidator`, `bot/incumbent/rater` and `bot/incumbent/curator`,
and runs on each the tests of those rooms that reach the changed function, in a copy of the tree in `mutants/`.  With
`--edges` they are made in what reads and writes at the edges instead (:mod:`dev.mutate_edges`).  All of them take
hours; `--sample` draws some.  The score is the share that a test fails for, or that never ends.  Exit codes: 0 the
floor is reached; 1 it is not; 2 the mutants could not be tried.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from dev.mutate_edges import try_mutants

FLOOR: Final = 90.0
"""The least score, in percent."""

FOUND: Final = ("killed", "timeout", "segfault")
"""What mutmut calls a mutant that was found."""

UNTRIED: Final = ("not checked", "skipped", "equivalent", "check was interrupted by user")

FIRST: Final = "incumbent.rater.similarity.*"
"""A few mutants: all are made, and the tests timed, before these are tried."""


def mutmut(*words: str) -> str:
    """What mutmut prints; its progress goes to standard error."""
    done = subprocess.run([sys.executable, "-m", "mutmut", *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout)
        raise SystemExit(2)
    return done.stdout


def statuses(text: str) -> dict[str, str]:
    """The status of each mutant, by its name, in what `mutmut results --all true` prints."""
    rows = (line.strip().partition(": ") for line in text.splitlines() if line.startswith("    "))
    return {name: status for name, _, status in rows}


def score(found: Mapping[str, str]) -> float:
    """The share of the tried mutants that were found, in percent."""
    tried = [status for status in found.values() if status not in UNTRIED]
    return 100 * sum(status in FOUND for status in tried) / max(1, len(tried))


def report(found: Mapping[str, str], floor: float) -> int:
    """Print what became of the mutants; the exit code."""
    counts = Counter(found.values())
    print("\n".join(f"{status:12} {name}" for name, status in sorted(found.items()) if status not in FOUND))
    print(f"{', '.join(f'{count} {status}' for status, count in counts.most_common())}")
    reached = score(found)
    tried = sum(status not in UNTRIED for status in found.values())
    print(f"{reached:.1f} % of {tried} mutants were found; the floor is {floor:g} %")
    return 0 if reached >= floor else 1


def main(words: Sequence[str] | None = None) -> int:
    """Try all mutants, or a sample."""
    parser = argparse.ArgumentParser(prog="make mutate", description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, metavar="N", help="try N mutants, drawn by the seed")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the sample (1)")
    parser.add_argument("--processes", type=int, metavar="N", help="so many at once (one for each processor)")
    parser.add_argument("--floor", type=float, default=FLOOR, help=f"the least score, in percent ({FLOOR:g})")
    parser.add_argument("--edges", action="store_true", help="mutants of the edges")
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="of the edges, files that begin so")
    asked = parser.parse_args(words)
    if asked.edges:
        return report(try_mutants(asked.sample, asked.seed, asked.only), asked.floor)
    code = try_core(asked)
    print("`.venv/bin/python -m mutmut show NAME` shows one (with PYTHONPATH as dev/mutate.sh sets it)")
    return code


def try_core(asked: argparse.Namespace) -> int:
    """Try mutants of the core with mutmut; the exit code."""
    many = ["--max-children", str(asked.processes)] if asked.processes else []
    if asked.sample is None:
        mutmut("run", *many)
        return report(statuses(mutmut("results", "--all", "true")), asked.floor)
    mutmut("run", *many, FIRST)
    names = sorted(statuses(mutmut("results", "--all", "true")))
    places = np.random.default_rng(asked.seed).permutation(len(names))[: asked.sample]
    drawn = [names[place] for place in sorted(places.tolist())]
    mutmut("run", *many, *drawn)
    found = statuses(mutmut("results", "--all", "true"))
    return report({name: found[name] for name in drawn}, asked.floor)


if __name__ == "__main__":
    raise SystemExit(main())
