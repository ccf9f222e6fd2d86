"""Tables of counts: what the traffic exercises, how much of it R covers, and what the shortlist would add."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from incumbent.rater.profile import bits
from incumbent.triage.classifying import MERIT, Ground
from incumbent.triage.processes import FIRST, REPRESENTATIVES, SECOND
from incumbent.triage.shard_reading import name_looked_at
from incumbent.triage.shortlist import Shortlist
from incumbent.triage.tables import name, rows_of, shards, write_query, write_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SHORTLIST: Final = {
    "id": "VARCHAR",
    "agent": "VARCHAR",
    "turns": "VARCHAR[]",
    "decision": "VARCHAR",
    "route": "VARCHAR",
    "reasons": "VARCHAR[]",
    "competent": "VARCHAR[]",
    "new_capabilities": "VARCHAR[]",
    "new_combinations": "VARCHAR[][]",
    "file": "VARCHAR",
    "row": "BIGINT",
    "exact": "BIGINT",
    "near": "BIGINT",
    "masked": "VARCHAR[]",
}
_CAPABILITIES: Final = {
    "capability": "VARCHAR",
    "rows": "BIGINT",
    "representatives": "BIGINT",
    "estimated_rows": "BIGINT",
    "covered_by_set": "BIGINT",
    "covered_by_shortlist": "BIGINT",
}
_PAIRS: Final = {
    "first": "VARCHAR",
    "second": "VARCHAR",
    "rows": "BIGINT",
    "representatives": "BIGINT",
    "estimated_rows": "BIGINT",
    "covered_by_set": "BIGINT",
    "covered_by_shortlist": "BIGINT",
}
_DUPLICATES: Final = (
    'WITH firsts AS (SELECT place, file, "row", min(place) OVER (PARTITION BY agent, digest) AS first FROM keys) '
    'SELECT firsts.file, firsts."row", r.id AS representative, '
    "CASE WHEN near.\"of\" IS NULL THEN 'exact' ELSE 'near' END AS kind "
    'FROM firsts LEFT JOIN near ON near.place = first JOIN representatives r ON r.place = coalesce(near."of", first) '
    "WHERE firsts.place <> r.place ORDER BY firsts.place"
)
"""Each row that repeats a representative, in the order of the inputs; ``near`` ones have not quite its text."""


@dataclass(frozen=True, kw_only=True)
class TrafficCounts:
    """The outcomes of the representatives, and the number of rows that they represent."""

    rows: int
    representatives: Annotated[int, Field(description="rows without near duplicates")]
    settled: Annotated[int, Field(description="representatives that are on record already")]
    looked: Annotated[int, Field(description="representatives that were looked at, in their order")]
    unseen: Annotated[int, Field(description="representatives that were not looked at, after many without merit")]
    unseen_rows: Annotated[int, Field(description="rows that these represent")]
    off_taxonomy: Annotated[int, Field(description="representatives that exercise nothing of the taxonomy")]
    unfamiliar: Annotated[int, Field(description="representatives of a kind of text that the classifier cannot judge")]
    unclassified: Annotated[int, Field(description="representatives that a language model could not classify")]
    merit: Annotated[int, Field(description="representatives with merit against the present set")]


@dataclass(frozen=True, kw_only=True)
class CoverageCount:
    """A capability or pair, and how many competently cover it: rows of the traffic, entries, queries of the
    shortlist.

    ``estimated`` are rows that were not looked at, and cover it by the quick estimate.
    """

    names: tuple[str, ...]
    rows: int
    representatives: int
    estimated: int
    entries: int
    chosen: int


@dataclass(frozen=True, kw_only=True)
class Summary:
    """``signatures`` are the most frequent with their rows; ``capabilities`` and ``pairs`` all that are covered."""

    counts: TrafficCounts
    signatures: tuple[tuple[tuple[str, ...], int], ...]
    capabilities: tuple[CoverageCount, ...]
    pairs: tuple[CoverageCount, ...]


def summarise(
    connection: DuckDBPyConnection,
    work: Path,
    out: Path,
    ground: Ground,
    shortlist: Shortlist,
    shown: int,
    looked: int | None = None,
) -> Summary:
    """Count, and write the tables into the folder ``out``; at most ``shown`` signatures are returned.

    Of the classified representatives the first ``looked`` count, if that is set.
    """
    name(connection, "representatives", shards(work, REPRESENTATIVES))
    name_looked_at(connection, "classified", shards(work, SECOND.target), looked)
    name(connection, "keys", shards(work, "keys"))
    name(connection, "near", shards(work, "near"))
    counting = "SELECT count(*) AS representatives, coalesce(sum(exact + near), 0)::BIGINT AS rows FROM {}"
    (total,) = rows_of(connection, counting.format("representatives"))
    undecided = "representatives WHERE NOT list_contains(?::VARCHAR[], id)"
    others = f"(FROM {undecided}) ANTI JOIN classified USING (place)"
    (left,) = rows_of(connection, counting.format(undecided), [sorted(ground.settled)])
    (unseen,) = rows_of(connection, counting.format(others), [sorted(ground.settled)])
    (found,) = rows_of(
        connection,
        "SELECT count(*) AS looked, count(shortfall) AS unclassified, count(*) FILTER (NOT familiar) AS unfamiliar,"
        " count(*) FILTER (len(list_filter(signature, lambda x: NOT list_contains(arbitrated, x))) = 0)"
        " AS off_taxonomy,"
        f" count(*) FILTER {MERIT} AS merit"
        " FROM classified",
    )
    signatures = out / "signatures.parquet"
    write_query(
        connection,
        signatures,
        "SELECT list_sort(signature) AS signature, sum(weight)::BIGINT AS rows, count(*) AS representatives "
        "FROM classified WHERE signature IS NOT NULL GROUP BY 1 ORDER BY rows DESC, signature",
    )
    write_query(connection, out / "duplicates.parquet", _DUPLICATES)
    name(connection, "signatures", [signatures])
    top = rows_of(connection, "SELECT signature, rows FROM signatures LIMIT ?", [shown])
    # Capabilities that occur together are counted once for all queries that cover the same ones.
    grouped = "SELECT list_sort(competent) AS covered, {} FROM {} WHERE len(competent) > 0 GROUP BY 1"
    counted = "sum(weight)::BIGINT AS rows, count(*) AS representatives, 0 AS estimated"
    asked = [grouped.format(counted, "classified")]
    if paths := shards(work, FIRST.target):
        name(connection, "estimated", paths)
        counted = "0 AS rows, 0 AS representatives, sum(weight)::BIGINT AS estimated"
        asked.append(grouped.format(counted, "estimated ANTI JOIN classified USING (place)"))
    singles, doubles = _covered(ground, shortlist)
    traffic: dict[tuple[str, ...], list[int]] = {}
    for row in (row for query in asked for row in rows_of(connection, query)):
        names = row["covered"]
        for group in (*((each,) for each in names), *_pairs(names, ground)):
            count = traffic.setdefault(group, [0, 0, 0])
            count[0] += row["rows"]
            count[1] += row["representatives"]
            count[2] += row["estimated"]
    summary = Summary(
        counts=TrafficCounts(
            rows=total["rows"],
            representatives=total["representatives"],
            settled=total["representatives"] - left["representatives"],
            looked=found["looked"],
            unseen=unseen["representatives"],
            unseen_rows=unseen["rows"],
            off_taxonomy=found["off_taxonomy"],
            unfamiliar=found["unfamiliar"],
            unclassified=found["unclassified"],
            merit=found["merit"],
        ),
        signatures=tuple((tuple(row["signature"]), row["rows"]) for row in top),
        capabilities=_counted(traffic, singles, 1),
        pairs=_counted(traffic, doubles, 2),
    )
    _write(connection, out, shortlist, summary)
    return summary


def _pairs(names: list[str], ground: Ground) -> list[tuple[str, ...]]:
    apart = ground.platform.config.uncombinable
    free = sorted(each for each in names if each not in apart)
    return [(first, second) for place, first in enumerate(free) for second in free[place + 1 :]]


def _covered(
    ground: Ground, shortlist: Shortlist
) -> tuple[dict[tuple[str, ...], list[int]], dict[tuple[str, ...], list[int]]]:
    """Each capability and pair → the number of entries that cover it competently, and of queries of the shortlist."""
    singles: dict[tuple[str, ...], list[int]] = {}
    doubles: dict[tuple[str, ...], list[int]] = {}
    live = ground.live()
    profiles = [(member, 0) for member in live.members]
    profiles += [(live.profile(item.query), 1) for item in shortlist.chosen]
    for profile, place in profiles:
        names = [live.capabilities.names[index] for index in bits(profile.caps)]
        for each in names:
            singles.setdefault((each,), [0, 0])[place] += 1
        for pair in _pairs(names, ground):
            doubles.setdefault(pair, [0, 0])[place] += 1
    return singles, doubles


def _counted(
    traffic: dict[tuple[str, ...], list[int]], covered: dict[tuple[str, ...], list[int]], size: int
) -> tuple[CoverageCount, ...]:
    groups = {group for group in traffic if len(group) == size} | covered.keys()
    found = []
    for group in groups:
        (rows, representatives, estimated), (entries, chosen) = (
            traffic.get(group, (0, 0, 0)),
            covered.get(group, (0, 0)),
        )
        found.append(
            CoverageCount(
                names=group,
                rows=rows,
                representatives=representatives,
                estimated=estimated,
                entries=entries,
                chosen=chosen,
            )
        )
    return tuple(sorted(found, key=lambda item: (-item.rows - item.estimated, item.names)))


def _write(connection: DuckDBPyConnection, out: Path, shortlist: Shortlist, summary: Summary) -> None:
    rows = [
        {
            "id": item.query.id,
            "agent": item.agent,
            "turns": item.query.turns,
            "decision": item.verdict.decision.value,
            "route": item.verdict.route.value,
            "reasons": [reason.value for reason in item.verdict.reasons],
            "competent": item.verdict.facts.competent,
            "new_capabilities": item.verdict.facts.new_capabilities,
            "new_combinations": item.verdict.facts.new_combinations,
            "file": item.file,
            "row": item.row,
            "exact": item.exact,
            "near": item.near,
            "masked": item.masked,
        }
        for item in shortlist.chosen
    ]
    write_rows(connection, out / "shortlist.parquet", _SHORTLIST, rows)
    for table, columns, items in (
        ("capabilities", _CAPABILITIES, summary.capabilities),
        ("pairs", _PAIRS, summary.pairs),
    ):
        values = [
            (*item.names, item.rows, item.representatives, item.estimated, item.entries, item.chosen) for item in items
        ]
        write_rows(
            connection, out / f"{table}.parquet", columns, [dict(zip(columns, row, strict=True)) for row in values]
        )
