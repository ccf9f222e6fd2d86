"""Judges queries that come with their scores against the current set: the paper's cs-to-verdict range (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.verdict import Verdict
from incumbent.curator.entry import Entry, StaleEntry, Tombstone
from incumbent.pipeline.matching import content_key, content_of
from incumbent.pipeline.review import Platform
from incumbent.rater.model import ScoredQuery
from incumbent.rater.scores import KeptScores


@dataclass(frozen=True, kw_only=True)
class Consolidation:
    """``verdicts`` on the undecided queries, in the cycle's order.

    ``settled`` maps queries that are already decided to the entry or tombstone that decides them, in input order;
    ``stale`` are the stale entries.
    """

    verdicts: tuple[Verdict, ...]
    settled: Mapping[str, Entry | Tombstone]
    stale: tuple[StaleEntry, ...]


def consolidate(platform: Platform, kept: KeptScores, gone: Collection[str] = ()) -> Consolidation:
    """Judge ``kept`` as one cycle, as a review judges an eval set.

    If a query has an entry with another text, no query is judged against that entry.  ``gone`` are ids of entries to
    treat as evicted: queries that they decide stay decided, as with a tombstone.
    """
    known = platform.regression_set
    settled = _settled(kept, known.on_record)
    present, stale = known.present(platform.taxonomy, kept.identity)
    left = {*gone, *(id for name, id in kept.entries.items() if name not in settled)}
    verdicts = run_cycle(
        [_with_personal(query, platform) for query in kept.queries if query.id not in settled],
        [item for item in present if item.id not in left],
        platform.config,
    )
    return Consolidation(verdicts=verdicts, settled=settled, stale=stale)


def _with_personal(query: ScoredQuery, platform: Platform) -> ScoredQuery:
    """``query`` with the personal data in its turns, unless its scores already list it."""
    return query if query.personal else replace(query, personal=platform.personal_in(query.turns, query.customer))


def _settled(kept: KeptScores, known: Mapping[str, Entry | Tombstone]) -> dict[str, Entry | Tombstone]:
    found: dict[str, Entry | Tombstone] = {}
    for query in kept.queries:
        record = known.get(kept.entries.get(query.id, ""))
        if record is None:
            continue
        content = content_of(record)
        key = kept.contents.get(query.id)
        same = content[0] == query.turns if key is None else content_key(content) == key
        if same:
            found[query.id] = record
    return found
