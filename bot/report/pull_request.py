"""The comment on a pull request as a whole: what is around the report, and how it shrinks to what GitHub takes."""

from __future__ import annotations

from dataclasses import dataclass

from bot.curator.losses import Departure
from bot.errors import Problem
from bot.pipeline.impact.model import Impact
from bot.pipeline.review import Review
from bot.report.escaping import code
from bot.report.impact_markdown import render_impact
from bot.report.losses import render_departure
from bot.report.review_markdown import problem_list, render_markdown
from bot.report.tables import EVERYTHING, Detail
from bot.taxonomy.model import Taxonomy

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
    ``product`` the address below which the product's files lie, if it is known; ``commands`` whether commands are
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
    commands: bool = True
    impact: Impact | None = None
    departure: tuple[Departure, Taxonomy] | None = None

    @property
    def says_something(self) -> bool:
        """Whether there is anything to say but that there is nothing."""
        parts = (self.review, self.impact, self.departure)
        return bool(self.notices or self.problems or any(part is not None for part in parts))


def marker(digest: str) -> str:
    """The hidden first line by which our comment is known, and what it displays."""
    return f"<!-- incumbent:verdicts {digest} -->"


def render_comment(report: PullRequestReport, limit: int = COMMENT_CHARACTERS) -> str:
    """The comment, in as much detail as fits in ``limit`` characters; no table is ever cut inside."""
    for detail in DETAILS:
        text = _render(report, detail)
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
    blocks.append(f"<sub>For commit {code(report.commit[:12])}.{commands}</sub>")
    return "\n".join([marker(report.digest), "\n\n".join(blocks), ""])


def _more(report: PullRequestReport) -> str:
    return f"[the job summary]({report.run})" if report.run else "the job summary"
