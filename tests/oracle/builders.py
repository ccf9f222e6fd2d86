"""What the oracle's own tests share: knobs, items that need no text, and a verdict in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rapidfuzz.distance.Indel import normalized_similarity

from tests.oracle.reference import cycle
from tests.oracle.values import Item, Knobs, Options, Verdict

PAPER_KNOBS = Knobs(0.50, 0.05, 0.80, 2, 5, 0.60, rule_values="scored", win_needs_bar=False)
PAPER = Options(novelty="signature", honesty_scope="all", clone_rescue=False)
SHIPPED = Options(novelty=2, honesty_scope="evidence", clone_rescue=True)


def sim(left: str, right: str) -> float:
    return normalized_similarity(left, right)


def unlike(left: str, right: str) -> float:
    return 1.0 if left == right else 0.0


def item(id: str, scores: Mapping[str, float], **more: Any) -> Item:
    """Each item has a text of its own."""
    defaults: dict[str, Any] = {"turns": (f"text of {id}",)}
    return Item(id=id, scores=scores, **defaults | more)


def run(
    queries: Sequence[Item], residents: Sequence[Item] = (), options: Options = SHIPPED, **other: Any
) -> list[Verdict]:
    return cycle(queries, residents, replace(PAPER_KNOBS, **other), options, unlike)


def said(verdict: Verdict) -> str:
    return " ".join((verdict.decision, verdict.route, *verdict.reasons))


def judged(
    query: Mapping[str, float], residents: Sequence[Item] = (), options: Options = SHIPPED, **other: Any
) -> Verdict:
    return run([item("q", query)], residents, options, **other)[0]


KEEP = "KEEP-BOTH direct SPLIT_OR_FLOOR"
SWAP = "REPLACE direct DOMINATES"
