"""Which text similarity tells near-duplicates from other queries, and at which cutoff?  See docs/similarity.md.

Three sets of labelled pairs: our own (similarity_pairs.tsv), and two natural ones from a corpus of real agent packages
and prompts where the environment variable INCUMBENT_CORPUS names one.  The output is the same on every run.

    python dev/bench/similarity_roc.py
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel, JaroWinkler, LCSseq, Levenshtein

from incumbent.rater.similarity import SCORER
from incumbent.text.compare import normalise

Floats = NDArray[np.float64]
Scorer = Callable[[str, str], float]
Pair = tuple[str, str]

PAIRS = Path(__file__).with_name("similarity_pairs.tsv")
SCORERS: Mapping[str, Scorer] = {
    "LCSseq": LCSseq.normalized_similarity,
    "Indel": Indel.normalized_similarity,
    "Levenshtein": Levenshtein.normalized_similarity,
    "JaroWinkler": JaroWinkler.normalized_similarity,
    "token_sort_ratio": lambda a, b: fuzz.token_sort_ratio(a, b) / 100,
    "token_set_ratio": lambda a, b: fuzz.token_set_ratio(a, b) / 100,
}
CUTOFFS = (0.80, 0.85, 0.88, 0.89, 0.90, 0.91, 0.92, 0.95)
FALSE_RATES = (0.01, 0.05, 0.10)
RECALL = 0.60  # at which the scorers are compared on containment
RESAMPLES, SEED = 2000, 20260101

# Words without which two prompts of one tool still ask for the same: articles, "all", and the verbs of a plain listing.
_FILLERS = "a all an any are do for from get have i in is list me my of on please show that the there to"
FILLERS = frozenset(_FILLERS.split())
LANGUAGE = re.compile(r"-(csharp|cs|js|python|ts)$")


@dataclass(frozen=True, slots=True)
class Kind:
    """The own pairs of one label and kind."""

    duplicate: bool
    name: str
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class PairSet:
    """Labelled pairs.  A negative is a group of pairs of which the most similar counts, as in maxSim."""

    name: str
    positives: tuple[Pair, ...]
    negatives: tuple[tuple[Pair, ...], ...]

    def scores(self, scorer: Scorer) -> tuple[Floats, Floats]:
        """The similarity of each positive and of each negative."""
        positives = [scorer(a, b) for a, b in self.positives]
        negatives = [max(scorer(a, b) for a, b in group) for group in self.negatives]
        return np.array(positives), np.array(negatives)


def own_kinds(path: Path = PAIRS) -> list[Kind]:
    """Our own labelled pairs, normalised, by kind."""
    kinds: dict[str, list[Pair]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            label, a, b = line.split("\t")
            kinds[label].append((normalise(a.split("||")), normalise(b.split("||"))))
    return [
        Kind(label.startswith("near-duplicate/"), label.partition("/")[2], tuple(pairs))
        for label, pairs in kinds.items()
    ]


def own_pairs(kinds: Sequence[Kind]) -> PairSet:
    """Our own pairs as one set."""
    positives = tuple(pair for kind in kinds if kind.duplicate for pair in kind.pairs)
    negatives = tuple((pair,) for kind in kinds if not kind.duplicate for pair in kind.pairs)
    return PairSet("own pairs", positives, negatives)


def tool_prompts(corpus: Path) -> PairSet:
    """Prompts per tool of MCP servers.

    Near-duplicates: prompts of one tool with the same words but for ``FILLERS``.  Non-duplicates: each prompt and the
    most similar one of another tool of the same service.  Other prompts of the same tool are paraphrases or ask for
    more, and are left out.
    """
    lines = (corpus / "queries" / "azure_mcp_a_to_c.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    prompts = [(row["customer"], row["tools"], normalise(row["turns"])) for row in rows]
    positives: list[Pair] = []
    negatives: dict[int, list[Pair]] = defaultdict(list)
    for (first, one), (second, other) in combinations(enumerate(prompts), 2):
        pair = (one[2], other[2])
        if one[0] != other[0]:
            continue
        if one[1] != other[1]:
            negatives[first].append(pair)
            negatives[second].append(pair)
        elif _content(pair[0]) == _content(pair[1]):
            positives.append(pair)
    return PairSet("tool prompts", tuple(positives), tuple(map(tuple, negatives.values())))


def conversation_starters(corpus: Path) -> PairSet:
    """Conversation starters of agents that exist as variants of one sample in several programming languages.

    Near-duplicates: each starter and its counterpart in another variant, which is the one that shares most words.
    Non-duplicates: each starter of any agent and the most similar other starter of the same agent.
    """
    families: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for folder, starters in _starters(corpus):
        families[LANGUAGE.sub("", folder)].setdefault(folder, starters)
    positives = [
        (text, _counterpart(text, right))
        for family in families.values()
        for left, right in combinations(family.values(), 2)
        for text in left
    ]
    negatives: dict[str, set[Pair]] = defaultdict(set)
    for family in families.values():
        for starters in family.values():
            for a, b in combinations(dict.fromkeys(starters), 2):
                negatives[a].add((a, b))
                negatives[b].add((a, b))
    return PairSet("starters", tuple(positives), tuple(tuple(sorted(group)) for group in negatives.values()))


def _starters(corpus: Path) -> Iterator[tuple[str, list[str]]]:
    samples = corpus / "agents" / "pnp-copilot-pro-dev-samples" / "samples"
    for path in sorted(samples.rglob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8-sig"))
        except ValueError:
            continue
        found = data.get("conversation_starters") if isinstance(data, dict) else None
        texts = [normalise([starter["text"]]) for starter in found or () if "[[" not in starter.get("text", "[[")]
        if texts:
            yield path.relative_to(samples).parts[0], texts


def _counterpart(text: str, others: Sequence[str]) -> str:
    return max(others, key=lambda other: len(_content(text) & _content(other)))


def _content(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"<[^>]*>|[\w-]+", text)) - FILLERS


def area(kernel: Floats, positives: Floats, negatives: Floats) -> float:
    """The area under the ROC curve, with weights of the positives and negatives."""
    return float(positives @ kernel @ negatives / (positives.sum() * negatives.sum()))


def kernel_of(positives: Floats, negatives: Floats) -> Floats:
    """For each positive and negative 1 if the positive is more similar, 0.5 if equal, else 0."""
    difference = positives[:, None] - negatives[None, :]
    return (np.sign(difference) + 1) / 2


def at(values: Floats, cutoff: float) -> float:
    """The share of ``values`` that reach ``cutoff``."""
    return float(np.mean(np.round(values, 9) >= round(cutoff, 9)))


def interval(values: Sequence[float]) -> str:
    """The middle 95 % of ``values``."""
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{low:+.2f} to {high:+.2f}"


def roc_table(pairs: PairSet) -> None:
    """One line per scorer: area, hits at fixed false alarms, and the cutoff where hits exceed false alarms most."""
    equal = sum(a == b for a, b in pairs.positives)
    print(f"\n{pairs.name}: {len(pairs.positives)} near-duplicates ({equal} equal), {len(pairs.negatives)} others")
    rates = "".join(f"{f'hit@{rate:.0%}':>8}" for rate in FALSE_RATES)
    print(f"  {'scorer':17}{'AUC':>6}  {'minus LCSseq, 95 %':>18}{rates}   best cutoff: hit, false")
    generator = np.random.default_rng(SEED)
    draws = [
        (_resample(generator, len(pairs.positives)), _resample(generator, len(pairs.negatives)))
        for _ in range(RESAMPLES)
    ]
    reference: list[float] = []
    for name, scorer in SCORERS.items():
        positives, negatives = pairs.scores(scorer)
        kernel = kernel_of(positives, negatives)
        areas = [area(kernel, *draw) for draw in draws]
        reference = reference or areas
        against = interval([mine - theirs for mine, theirs in zip(areas, reference, strict=True)])
        whole = area(kernel, np.ones(len(positives)), np.ones(len(negatives)))
        candidates = np.unique(np.concatenate([positives, negatives]))
        hits = np.array([at(positives, cutoff) for cutoff in candidates])
        false = np.array([at(negatives, cutoff) for cutoff in candidates])
        fixed = "".join(f"{hits[false <= rate].max(initial=0.0):8.2f}" for rate in FALSE_RATES)
        best = int(np.argmax(np.round(hits - false, 9)))
        print(
            f"  {name:17}{whole:6.3f}  {'' if scorer is SCORER else against:>18}{fixed}"
            f"   {candidates[best]:.3f}: {hits[best]:.2f}, {false[best]:.2f}"
        )


def _resample(generator: np.random.Generator, size: int) -> Floats:
    return generator.multinomial(size, np.full(size, 1 / size)).astype(np.float64)


def cutoff_table(sets: Sequence[PairSet]) -> None:
    """The chosen scorer at several cutoffs: hits and false alarms per set."""
    print("\nLCSseq, share of near-duplicates found / of others called clones, by cutoff")
    print("  " + " " * 14 + "".join(f"{cutoff:>11.2f}" for cutoff in CUTOFFS))
    for pairs in sets:
        positives, negatives = pairs.scores(SCORER)
        cells = [f"{at(positives, cutoff):.2f}/{at(negatives, cutoff):.2f}" for cutoff in CUTOFFS]
        print(f"  {pairs.name:14}" + "".join(f"{cell:>11}" for cell in cells))


def kind_table(kinds: Sequence[Kind]) -> None:
    """The chosen scorer on our own pairs, kind by kind."""
    cutoffs = (0.80, 0.85, 0.90, 0.95)
    print("\nLCSseq on own pairs: called clones, by kind and cutoff")
    print(f"  {'':33}{'pairs':>6}" + "".join(f"{cutoff:>7.2f}" for cutoff in cutoffs) + "   least  most")
    for kind in kinds:
        values = np.array([SCORER(a, b) for a, b in kind.pairs])
        cells = "".join(f"{round(at(values, cutoff) * len(values)):7d}" for cutoff in cutoffs)
        label = ("near-duplicate, " if kind.duplicate else "other, ") + kind.name
        print(f"  {label:33}{len(values):6d}{cells}   {values.min():.3f} {values.max():.3f}")


def containment_table(kinds: Sequence[Kind]) -> None:
    """Each scorer on queries that contain another and ask for more, at the cutoff where it finds ``RECALL``."""
    own = own_pairs(kinds)
    added = [pair for kind in kinds if not kind.duplicate and kind.name.startswith("added") for pair in kind.pairs]
    print(f"\nown pairs, at the cutoff where a scorer finds {RECALL:.0%} of the near-duplicates")
    print(f"  {'scorer':17}{'cutoff':>7}{'false':>7}   false of the {len(added)} that contain the other and add to it")
    for name, scorer in SCORERS.items():
        positives, negatives = own.scores(scorer)
        cutoff = float(np.sort(positives)[::-1][int(np.ceil(RECALL * len(positives))) - 1])
        contained = at(np.array([scorer(a, b) for a, b in added]), cutoff)
        print(f"  {name:17}{cutoff:7.3f}{at(negatives, cutoff):7.2f}   {contained:.2f}")


def main() -> None:
    """Print all tables."""
    kinds = own_kinds()
    sets = [own_pairs(kinds)]
    corpus = os.environ.get("INCUMBENT_CORPUS")
    if corpus:
        sets += [tool_prompts(Path(corpus)), conversation_starters(Path(corpus))]
    else:
        print("INCUMBENT_CORPUS is not set: own pairs only, the two natural sets are left out.")
    for pairs in sets:
        roc_table(pairs)
    containment_table(kinds)
    cutoff_table(sets)
    kind_table(kinds)


if __name__ == "__main__":
    main()
