"""The outcome of a triage: as a report in Markdown, as eval sets for people to edit, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final, TypeAlias

from pydantic import Field
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from incumbent.classifier.usage import Usage
from incumbent.errors import Problem
from incumbent.files.views import View
from incumbent.files.yaml_writer import dumped
from incumbent.report.escaping import code, plain, shortened, visible
from incumbent.report.output import Spent
from incumbent.triage.shortlist import Chosen, Shortlist
from incumbent.triage.summary import CoverageCount, Summary

_TURN: Final = 160
"""Characters of a query in the report."""


@dataclass(frozen=True, kw_only=True)
class TriageOutcome:
    """The result of a triage; the first unreadable rows are listed as ``problems``.

    ``unclassified`` are the first queries that a language model could not classify, by id, and why.
    """

    rows: Annotated[int, Field(description="rows that could be read")]
    unreadable: Annotated[int, Field(description="rows that could not be read")]
    problems: tuple[Problem, ...]
    texts: Annotated[int, Field(description="rows without exact duplicates")]
    summary: Summary
    shortlist: Shortlist
    unclassified: Mapping[str, str]


def render_triage(
    summary: Summary,
    shortlist: Shortlist,
    names: Mapping[str, str],
    reading: Sequence[tuple[str, int]],
    shown: int,
    unclassified: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The report; ``names`` are those of capabilities by id, ``reading`` describes the input for the report's head.

    At most ``shown`` rows of each list are in it: the Parquet files beside it have all.  ``unclassified`` are the first
    queries without a classification, and why.
    """
    head, lists = _head(summary, shortlist, reading), _lists(summary, shortlist, names, shown)
    return "\n".join([*head, *_unclassified(unclassified, summary.counts.unclassified), *lists, ""])


def _head(summary: Summary, shortlist: Shortlist, reading: Sequence[tuple[str, int]]) -> Iterator[str]:
    counts = summary.counts
    entering = sum(item.verdict.admitted for item in shortlist.chosen)
    yield "# Triage"
    yield ""
    yield f"**{len(shortlist.chosen):,}** of {counts.rows:,} rows would have merit: {entering:,} would enter"
    yield f"the regression set, {len(shortlist.chosen) - entering:,} would wait for a person."
    yield ""
    rows = [
        *reading,
        ("representatives", counts.representatives),
        ("already decided", counts.settled),
        ("looked at", counts.looked),
        ("not looked at", counts.unseen),
        ("not classified", counts.unclassified),
        ("exercise nothing of the taxonomy", counts.off_taxonomy),
        ("of a kind of text that the classifier cannot judge", counts.unfamiliar),
        ("with merit against the present set", counts.merit),
        ("with merit at their turn", shortlist.judged),
    ]
    yield from _table(("what", "count"), ((what, f"{count:,}") for what, count in rows))
    if counts.unseen:
        yield ""
        yield f"Looking stopped after {counts.looked:,} representatives: the last `triage.stop_after` brought no merit."
        yield f"{counts.unseen:,} others, which stand for {counts.unseen_rows:,} rows, were not looked at. What they"
        yield "exercise is a quick estimate. All other counts, and the signatures, are of what was looked at."


def _unclassified(reasons: Mapping[str, str], count: int) -> Iterator[str]:
    if reasons:
        yield from _section("Not classified", count, len(reasons))
        yield from _table(("query", "reason"), ((code(id), code(why)) for id, why in reasons.items()))


def _lists(summary: Summary, shortlist: Shortlist, names: Mapping[str, str], shown: int) -> Iterator[str]:
    yield from _section("Shortlist", len(shortlist.chosen), shown)
    yield from _table(
        ("query", "verdict", "reasons", "rows like it"), (_row(item) for item in shortlist.chosen[:shown])
    )
    lacking = [item for item in summary.capabilities if item.rows + item.estimated and not item.entries]
    yield from _section("Capabilities that the traffic has and the set lacks", len(lacking), shown)
    yield from _covered(lacking[:shown], names)
    pairs = [item for item in summary.pairs if item.rows + item.estimated and not item.entries]
    yield from _section("Pairs that the traffic has and the set lacks", len(pairs), shown)
    yield from _covered(pairs[:shown], names)
    yield from _section("Capabilities of the traffic", len(summary.capabilities), shown)
    yield from _covered(summary.capabilities[:shown], names)
    yield from _section("Most frequent signatures", len(summary.signatures), shown)
    yield from _table(
        ("capabilities", "rows"),
        ((_named(signature, names, ", ") or "none", f"{rows:,}") for signature, rows in summary.signatures[:shown]),
    )


def _row(item: Chosen) -> tuple[str, ...]:
    what = "enters" if item.verdict.admitted else "waits for a person"
    reasons = ", ".join(code(reason.value) for reason in item.verdict.reasons)
    text = code(shortened(" / ".join(item.query.turns), _TURN))
    return f"{code(item.query.id)}: {text}", what, reasons, f"{item.rows:,}"


def _covered(items: Iterable[CoverageCount], names: Mapping[str, str]) -> Iterator[str]:
    rows = ((_named(item.names, names, " + "), *_numbers(item)) for item in items)
    return _table(("capability", "rows", "not looked at", "entries", "shortlist"), rows)


def _numbers(item: CoverageCount) -> tuple[str, ...]:
    return f"{item.rows:,}", f"{item.estimated:,}", f"{item.entries:,}", f"{item.chosen:,}"


def _named(ids: Sequence[str], names: Mapping[str, str], between: str) -> str:
    return between.join(plain(names.get(id, id)) for id in ids)


def _section(title: str, count: int, shown: int) -> Iterator[str]:
    yield ""
    yield f"## {title}" + (f" (the first {shown:,} of {count:,})" if count > shown else "")
    yield ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    found = list(rows)
    if not found:
        yield "None."
        return
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in found:
        yield f"| {' | '.join(row)} |"


def render_eval_set(chosen: Sequence[Chosen]) -> str:
    """The ``chosen`` queries of one agent as the text of ``eval_set.yaml``; comments say where each came from."""
    queries = CommentedSeq()
    for place, item in enumerate(chosen):
        query = CommentedMap(id=item.query.id)
        if len(item.query.turns) == 1:
            query["query"] = item.query.turns[0]
        else:
            query["turns"] = list(item.query.turns)
        queries.append(query)
        reasons = ", ".join(reason.value for reason in item.verdict.reasons)
        what = "enters" if item.verdict.admitted else "waits for a person"
        alike = "no other row is like it" if item.rows == 1 else f"{item.rows:,} rows are like it"
        # File names come from users and may contain line breaks; a comment is one line.
        note = f"{visible(item.file)} row {item.row}; {alike}; {what}: {reasons}"
        queries.yaml_set_comment_before_after_key(place, before=note, indent=2)
    return dumped(CommentedMap(eval_set=1, queries=queries))


ChosenOutput: TypeAlias = Annotated[
    Chosen,
    View(
        "id=query.id agent decision=verdict.ruling.decision route=verdict.ruling.route "
        "reasons=verdict.ruling.reasons rows",
        agent=Annotated[str, Field(description="the agent, as rows name it")],
    ),
]


@dataclass(frozen=True)
class PrintedTriage:
    """What a triage found; the folder has the tables.

    ``usage`` is what classifying has cost now.
    """

    outcome: TriageOutcome
    out: Annotated[str, Field(description="the folder of eval set, report and tables")]
    usage: Usage | None


TriageOutput: TypeAlias = Annotated[
    PrintedTriage,
    View(
        "out rows=outcome.rows unreadable=outcome.unreadable texts=outcome.texts "
        "representatives=outcome.summary.counts.representatives settled=outcome.summary.counts.settled "
        "off_taxonomy=outcome.summary.counts.off_taxonomy unclassified=outcome.summary.counts.unclassified "
        "unfamiliar=outcome.summary.counts.unfamiliar looked=outcome.summary.counts.looked "
        "unseen=outcome.summary.counts.unseen "
        "unseen_rows=outcome.summary.counts.unseen_rows merit=outcome.summary.counts.merit "
        "judged=outcome.shortlist.judged shortlist=outcome.shortlist.chosen usage",
        shortlist=tuple[ChosenOutput, ...],
        usage=Spent,
    ),
]
