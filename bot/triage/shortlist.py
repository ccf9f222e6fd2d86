"""The few of the traffic that would have merit: one cycle over all that was classified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.consolidator.cycle import judge_arriving
from bot.consolidator.verdict import Verdict
from bot.rater.contextualizer import Key
from bot.rater.model import ScoredQuery
from bot.triage.classifying import Ground, scored
from bot.triage.processes import CLASSIFIED_FOLDER, REPRESENTATIVES, shards
from bot.triage.tables import name, rows_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A representative that enters, or waits for a person, with where it came from.

    ``exact`` counts the rows with its text, itself included, ``near`` those with nearly that text besides.
    """

    query: ScoredQuery
    verdict: Verdict
    agent: str
    file: str
    row: int
    exact: int
    near: int
    masked: tuple[str, ...]

    @property
    def rows(self) -> int:
        """How many rows of the traffic are like it, itself included."""
        return self.exact + self.near


@dataclass(frozen=True, kw_only=True)
class Shortlist:
    """``chosen`` in the cycle's order, those that enter before the others.

    ``judged`` is how many had merit at their turn.
    """

    chosen: tuple[Chosen, ...]
    judged: int


def choose(connection: DuckDBPyConnection, work: Path, ground: Ground) -> Shortlist:
    """Judge what was classified in ``work``: the same verdicts as a review of all representatives gives."""
    live = ground.live()
    name(connection, "representatives", shards(work, REPRESENTATIVES))
    name(connection, "classified", shards(work, CLASSIFIED_FOLDER))
    judged, admitting = 0, []
    for query, verdict in judge_arriving(_arriving(connection), live, ground.platform.config):
        judged += 1
        if verdict.decision.admits:
            admitting.append((query, verdict))
    # As a review has it: those that enter, then those that wait.
    admitting.sort(key=lambda item: not item[1].admitted)
    wanted = (
        "SELECT id, agent, file, row, exact, near, masked FROM representatives WHERE list_contains(?::VARCHAR[], id)"
    )
    found = {row.pop("id"): row for row in rows_of(connection, wanted, [[query.id for query, _ in admitting]])}
    return Shortlist(
        chosen=tuple(
            Chosen(query=query, verdict=verdict, **found[query.id] | {"masked": tuple(found[query.id]["masked"])})
            for query, verdict in admitting
        ),
        judged=judged,
    )


def _arriving(connection: DuckDBPyConnection) -> Iterator[tuple[Key, ScoredQuery]]:
    """Those with merit against R, sorted by key and id."""
    query = (
        "SELECT c.*, r.turns FROM classified c JOIN representatives r USING (place) "
        "WHERE c.new > 0 OR c.fills > 0 OR c.contested > 0 OR c.combinations > 0 "
        "ORDER BY c.new DESC, c.fills DESC, c.contested DESC, c.combinations DESC, c.total DESC, c.id"
    )
    for row in rows_of(connection, query):
        key = -row["new"], -row["fills"], -row["contested"], -row["combinations"], -row["total"]
        yield key, scored(row, row["turns"])
