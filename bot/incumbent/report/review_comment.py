"""The comment on a pull request as a whole: what is around the report, and how it shrinks to what GitHub takes.

It also says what the set loses with entries, also on an eviction that was merged when its grounds held no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from incumbent.curator.losses import Departure, Losses
from incumbent.curator.roles import EvictionKind
from incumbent.errors import Problem
from incumbent.pipeline.impact.model import Impact
from incumbent.pipeline.review import Review
from incumbent.report.escaping import code
from incumbent.report.impact import render_impact
from incumbent.report.review_markdown import problem_list, render_markdown
from incumbent.report.tables import EVERYTHING, Detail, TableWriter
from incumbent.report.verdict_text import MarkdownStyle, counted, listed
from incumbent.taxonomy.model import Taxonomy

COMMENT_CHARACTERS = 65_536
"""GitHub takes no longer comment."""
CHECK_BYTES = 60_000
"""The text of a check, well below what GitHub takes."""
SUMMARY_BYTES = 1_000_000
"""GitHub shows no longer summary of a job's step (1 MiB)."""

# From everything to a headline: folds go first, then all but the most important rows.
DETAILS = (
    EVERYTHING,
    Detail(folds=False),
    *(Detail(folds=False, rows=rows) for rows in (100, 50, 20, 10, 5, 2, 0)),
)


@dataclass(frozen=True, kw_only=True)
class PullRequestReport:
    """What a pull request's comment says.

    ``notices`` are sentences of ours that come first, in Markdown; ``problems`` faults that left something unread;
    ``commit`` the head that it speaks of; ``digest`` what it displays, for the marker; ``run`` the page of the run;
    ``product`` the address below which the product's files lie, if it is known; ``has_site``: the run keeps the page of
    what the pull request would change, as an artifact; ``commands`` whether commands are
    followed; ``impact`` what a change of taxonomy or config would do; ``departure`` what the regression set would lose
    with queries that are taken out, and the taxonomy that names it.
    """

    commit: str
    digest: str
    notices: tuple[str, ...]
    problems: tuple[Problem, ...]
    review: Review | None
    run: str | None
    product: str | None = None
    has_site: bool = False
    commands: bool = True
    impact: Impact | None = None
    departure: tuple[Departure, Taxonomy] | None = None

    @property
    def says_something(self) -> bool:
        """Whether there is anything to say but that there is nothing."""
        parts = (self.review, self.impact, self.departure)
        return bool(self.notices or self.problems or any(part is not None for part in parts))

    def text(self, detail: Detail) -> str:
        """The report in ``detail``, rendered once: comment, check and summary mostly show the same."""
        if detail not in self._texts:
            self._texts[detail] = _render(self, detail)
        return self._texts[detail]

    @cached_property
    def _texts(self) -> dict[Detail, str]:
        return {}


def marker(digest: str) -> str:
    """The hidden first line by which our comment is known, and what it displays."""
    return f"<!-- incumbent:verdicts {digest} -->"


def render_comment(report: PullRequestReport, limit: int = COMMENT_CHARACTERS) -> str:
    """The comment, in as much detail as fits in ``limit`` characters; no table is ever cut inside."""
    for detail in DETAILS:
        text = report.text(detail)
        # Counted in bytes: never fewer than the characters, however GitHub counts them.
        if len(text.encode("utf-8")) <= limit:
            return text
    return f"{marker(report.digest)}\n### This report is too long for a comment\n\nAll of it is in {_more(report)}.\n"


def render_summary(report: PullRequestReport, limit: int = SUMMARY_BYTES) -> str:
    """The report for the job summary, which takes more than a comment."""
    return render_comment(report, limit).split("\n", 1)[1]


def _render(report: PullRequestReport, detail: Detail) -> str:
    more = _more(report)
    blocks = [f"> {notice}" for notice in report.notices]
    if report.impact is not None:
        blocks.append(render_impact(report.impact, detail, more))
    if report.departure is not None:
        blocks.append(render_departure(*report.departure, detail, more))
    if report.review is not None:
        blocks.append(render_markdown(report.review, detail, more, report.product, report.commands))
    if report.problems:
        listed = problem_list(report.problems, detail, more)
        blocks.append(f"#### Faults in the input ({len(report.problems)})\n\n{listed}")
    if not report.says_something:
        blocks.append("Nothing to curate.")
    said = " Curators may say `/incumbent help`; a review is read at the next run, which `/incumbent run` here starts."
    commands = said if report.commands else ""
    blocks.append(f"<sub>For commit {code(report.commit[:12])}.{_page(report)}{commands}</sub>")
    return "\n".join([marker(report.digest), "\n\n".join(blocks), ""])


def _more(report: PullRequestReport) -> str:
    return f"[the job summary]({report.run})" if report.run else "the job summary"


def _page(report: PullRequestReport) -> str:
    if not (report.has_site and report.run):
        return ""
    return f" What a merge would change, as a page: the artifact {code(SITE)} at the end of [this run]({report.run})."


SITE = "incumbent-comparison"
"""The artifact with the page of what a pull request would change, as the documentation names it."""
SHOWN = 10
"""Names that are shown of a long list; the rest is counted."""
NO_LONGER_TRUE = "<!-- incumbent:no-longer-true -->"


def departure_headline(departure: Departure) -> str:
    """The whole in one line of plain text."""
    count = len(departure.entries) + len(departure.pinned)
    text = f"{counted(count, 'entry', 'entries')} would lose {'its' if count == 1 else 'their'} source"
    short = len(departure.losses.shortages)
    return f"{text}; {counted(short, 'capability', 'capabilities')} would fall short" if short else text


def render_departure(departure: Departure, taxonomy: Taxonomy, detail: Detail, more: str) -> str:
    """The section of a pull request's comment; ``more`` says where the rows are that ``detail`` leaves out."""
    blocks = [f"### {departure_headline(departure)}", "This removes queries that have entries in the regression set."]
    for kind, why in (
        (EvictionKind.CUSTOMER_LEFT, "the customer has no eval set any more"),
        (EvictionKind.SOURCE_DELETED, "the query is in no eval set any more"),
    ):
        names = [code(id) for id, given in departure.entries.items() if given is kind]
        if names:
            blocks.append(
                f"After the merge Incumbent suggests to evict {listed(names, SHOWN)} ({code(kind.value)}: {why}), "
                "each in a pull request that people merge or close."
            )
    if departure.pinned:
        blocks.append(
            f"Pinned by a person, and so not suggested: {listed([code(id) for id in departure.pinned], SHOWN)}."
        )
    if departure.entries:
        blocks += _lost(departure.losses, taxonomy, TableWriter(detail, more))
    return "\n\n".join(blocks)


def _lost(found: Losses, taxonomy: Taxonomy, table: TableWriter) -> list[str]:
    style = MarkdownStyle(taxonomy)
    if not found.shortages:
        blocks = ["Without them every capability that they cover keeps its floor."]
    else:
        rows = [
            (
                style.capability(item.capability),
                f"{item.before} → {item.after}",
                "no entry would cover it" if item.after == 0 else f"short of {item.floor}",
            )
            for item in found.shortages
        ]
        blocks = ["Without them:", table(("Capability", "Coverers", "Floor"), rows)]
    if found.combinations:
        count = counted(len(found.combinations), "combination", "combinations")
        blocks.append(f"{count} of capabilities would be carried by no entry.")
    return blocks


def render_no_longer_true(lost: Mapping[str, Losses], taxonomy: Taxonomy) -> str:
    """What is said on an eviction that was merged although its grounds hold no more; ``lost`` by entry."""
    lines = [line for id, found in lost.items() for line in _lacks(id, found, taxonomy)]
    ids = " ".join(lost)
    return "\n".join(
        [
            NO_LONGER_TRUE,
            "**No longer true.** The regression set has changed since this was suggested:",
            "",
            *lines,
            "",
            f"To bring {'it' if len(lost) == 1 else 'them'} back, a curator says `/incumbent restore {ids}`.",
            "",
        ]
    )


def _lacks(id: str, found: Losses, taxonomy: Taxonomy) -> list[str]:
    style = MarkdownStyle(taxonomy)
    lines = [
        f"- {style.capability(item.capability)} has {counted(item.after, 'competent coverer', 'competent coverers')} "
        f"without {code(id)}: short of {item.floor}"
        for item in found.shortages
    ]
    if found.best_of:
        lines.append(f"- {code(id)} was the best test of {_names(found.best_of, style)}")
    if found.combinations:
        first = " + ".join(style.capability(name) for name in found.combinations[0])
        rest = len(found.combinations) - 1
        more = f" and {counted(rest, 'other combination', 'other combinations')}" if rest else ""
        lines.append(f"- no entry carries {first}{more}, as {code(id)} did")
    return _cut(lines)


def _names(names: Sequence[str], style: MarkdownStyle) -> str:
    return listed([style.capability(name) for name in names], SHOWN)


def _cut(lines: Sequence[str]) -> list[str]:
    return [*lines[:SHOWN], *([f"- and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])]
