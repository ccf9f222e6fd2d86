"""The dashboard: the body of the one issue that says how the regression set stands (values in, Markdown out)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bot.agreement.agreement import Agreement
from bot.pipeline.review import Platform
from bot.report.agreement_section import agreement_sections
from bot.report.escaping import code, link, shortened, visible
from bot.report.growth import growth_chart
from bot.report.overview import losses_overview, status_overview
from bot.report.pull_request import COMMENT_CHARACTERS
from bot.report.tables import Section
from bot.report.voices import MarkdownVoice
from bot.report.wording import SHOWN_NAMES, counted, listed
from bot.text.masking import masked

TITLE: Final = "Incumbent: the regression set"
"""The issue's title."""

MARKER: Final = "<!-- incumbent:dashboard -->"
"""The hidden first line by which the issue is known."""

NOTICE_CHARACTERS: Final = 400
"""A notice is shown up to this length."""

LEVELS: Final[tuple[tuple[int | None, int | None], ...]] = (
    (None, None),
    *((rows, None) for rows in (100, 50, 20, 5, 0)),
    *((0, rows) for rows in (100, 50, 20, 10, 5, 2, 0)),
)
"""Rows of each table, from everything to numbers: what describes the set is cut first, what asks people last."""

Kind = Literal["admission", "displaced", "redundant", "source-deleted", "customer-left", "swap", "undone"]
"""Why a pull request of ours is, or could be, open."""

_KINDS: Final[dict[Kind, str]] = {
    "admission": "enters the set",
    "displaced": "displaced by better entries",
    "redundant": "redundant",
    "source-deleted": "its query was deleted",
    "customer-left": "its customer left",
    "swap": "swap with an entry that waits",
    "undone": "a curator took its admission back",
}


@dataclass(frozen=True, kw_only=True)
class OpenSuggestion:
    """A pull request of ours that is open: it evicts ``entries``, swaps them, or undoes their admission."""

    pull_request: int
    entries: tuple[str, ...]
    kind: Kind


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An eviction that could be suggested and is not open.

    ``why`` is plain text; ``compare`` leads to the page where a person opens the pull request, as a path or an
    address, where we may not.
    """

    entry: str
    kind: Kind
    why: str
    compare: str | None


@dataclass(frozen=True, kw_only=True)
class PendingReview:
    """The ``queries`` of one pull request, open or ``merged``, that need a person."""

    pull_request: int
    queries: tuple[str, ...]
    merged: bool


@dataclass(frozen=True, kw_only=True)
class LastRun:
    """A run of ours: when, on which commit, what it ``did`` in plain text, and the address of its page."""

    at: str
    commit: str
    did: str
    run: str | None


@dataclass(frozen=True, kw_only=True)
class Dashboard:
    """Everything that the dashboard says; lists are shown in their own order.

    ``platform`` is the default branch at ``commit``, at the moment ``at`` (ISO 8601); ``limit`` how many suggestions
    may be open at once (``limits.open_evictions``, from 0); ``refused`` how many refusals hold; ``runs`` the last ones,
    latest first; ``notices`` plain text; ``agreement`` what people made of verdicts (``None``: that is not known).
    """

    platform: Platform
    commit: str
    at: str
    open_suggestions: tuple[OpenSuggestion, ...] = ()
    limit: int
    candidates: tuple[Candidate, ...] = ()
    refused: int = 0
    pending: tuple[PendingReview, ...] = ()
    runs: tuple[LastRun, ...] = ()
    notices: tuple[str, ...] = ()
    agreement: Agreement | None = None


def render_dashboard(dashboard: Dashboard, limit: int = COMMENT_CHARACTERS) -> str:
    """The issue's body, in as much detail as fits in ``limit`` characters; the same values give the same bytes.

    Tables lose rows in the order of ``LEVELS`` and none is ever cut inside; the last of these, some thousands of
    characters, is given whatever the ``limit``.  Raises :class:`ValueError` where ``dashboard.at`` is no time.
    """
    body = _Body.of(dashboard)
    text = ""
    for describing, asking in LEVELS:
        text = body.render(describing, asking)
        # Counted in bytes: never fewer than the characters, however GitHub counts them.
        if len(text.encode("utf-8")) <= limit:
            break
    return text


@dataclass(frozen=True, slots=True)
class _Body:
    """What is worked out once, and written in more or less detail."""

    opening: tuple[str, ...]
    notices: tuple[str, ...]
    sections: tuple[Section, ...]
    closing: str

    @classmethod
    def of(cls, dashboard: Dashboard) -> _Body:
        platform = dashboard.platform
        status = status_overview(platform)
        chart = growth_chart(platform.regression_set, platform.config.ceiling, dashboard.at)
        opening = (
            f"### Regression set: {size_words(status)}",
            summary(status, dashboard.refused),
            *([] if chart is None else [chart]),
        )
        notices = tuple(code(shortened(visible(masked(notice)), NOTICE_CHARACTERS)) for notice in dashboard.notices)
        voice = MarkdownVoice(platform.taxonomy)
        could_go = dashboard.open_suggestions or dashboard.candidates or status.size < status.ceiling
        losses = losses_overview(platform) if status.waiting and not could_go else []
        sections = (
            _pending(dashboard.pending, voice),
            _open(dashboard, voice),
            _candidates(dashboard, voice),
            waiting(platform, voice),
            least_loss(losses, voice),
            lagging(platform, voice),
            coverage(status, voice),
            customers(platform, voice),
            pinned(platform, voice),
            not_ready(platform, voice),
            *(() if dashboard.agreement is None else agreement_sections(dashboard.agreement, voice)),
            _runs(dashboard.runs, voice),
        )
        return cls(opening, notices, tuple(item for item in sections if item.rows), _closing(dashboard))

    def render(self, describing: int | None, asking: int | None) -> str:
        """The body, with at most so many rows in tables that describe the set, and in those that ask something."""
        shown = self.notices[:asking]
        if len(shown) < len(self.notices):
            shown = (*shown, f"{len(self.notices) - len(shown)} more: see the log of the run.")
        blocks = [
            *self.opening[:2],
            *([] if not shown else ["> [!WARNING]\n" + "\n>\n".join(f"> {notice}" for notice in shown)]),
            *self.opening[2:],
            *(section.render(asking if section.asks else describing) for section in self.sections),
            self.closing,
        ]
        return "\n".join([MARKER, "\n\n".join(blocks), ""])


def _pending(pending: Sequence[PendingReview], voice: MarkdownVoice) -> Section:
    rows = tuple(
        (
            f"#{item.pull_request}",
            "merged" if item.merged else "open",
            str(len(item.queries)),
            _names(item.queries, voice),
        )
        for item in pending
    )
    queries = sum(len(item.queries) for item in pending)
    return Section(
        title=f"Need a person ({queries})",
        about=("Curators answer on the pull request: `/incumbent help`.",),
        header=("Pull request", "State", "Number", "Queries"),
        rows=rows,
        more="the pull requests themselves",
        asks=True,
    )


def _open(dashboard: Dashboard, voice: MarkdownVoice) -> Section:
    rows = tuple(
        (f"#{item.pull_request}", _names(item.entries, voice), _KINDS[item.kind]) for item in dashboard.open_suggestions
    )
    return Section(
        title=f"Suggested, for you to merge or close ({len(rows)})",
        header=("Pull request", "Entries", "Why"),
        rows=rows,
        more="the open pull requests",
        asks=True,
    )


def _candidates(dashboard: Dashboard, voice: MarkdownVoice) -> Section:
    by_hand = any(item.compare is not None for item in dashboard.candidates)
    rows = []
    for item in dashboard.candidates:
        why = f"{_KINDS[item.kind]}: {voice.quote(item.why)}" if item.why else _KINDS[item.kind]
        compare = "–" if item.compare is None else link("open the pull request", item.compare)
        rows.append((voice.name(item.entry), why, compare)[: 3 if by_hand else 2])
    leaving = sum(1 for item in dashboard.open_suggestions if item.kind != "admission")
    most = counted(dashboard.limit, "suggestion is", "suggestions are")
    return Section(
        title=f"Could go or enter, not suggested yet ({len(rows)})",
        about=(f"At most {most} open at once (`limits.open_evictions`); {leaving} now.",),
        header=("Entry", "Why", "By hand")[: 3 if by_hand else 2],
        rows=tuple(rows),
        more="`incumbent prune`",
        asks=True,
    )


def _names(ids: Sequence[str], voice: MarkdownVoice) -> str:
    return listed([voice.name(id) for id in ids[:SHOWN_NAMES]], total=len(ids)) if ids else "–"


def _runs(runs: Sequence[LastRun], voice: MarkdownVoice) -> Section:
    return Section(
        title="Last runs",
        header=("When", "Commit", "What it did", "Run"),
        rows=tuple(
            (
                voice.quote(item.at),
                code(item.commit[:12]),
                voice.quote(item.did),
                "–" if item.run is None else link("run", item.run),
            )
            for item in runs
        ),
        more="the Actions tab",
        fold=counted(len(runs), "run", "runs"),
    )


def _closing(dashboard: Dashboard) -> str:
    return (
        f"<sub>As of commit {code(dashboard.commit[:12])}, {code(dashboard.at)}; "
        f"taxonomy {dashboard.platform.taxonomy.version}. To refuse an eviction, close its pull request: it is not "
        "suggested again on the same grounds. To bring an evicted entry back, comment `/incumbent restore ID` here; to "
        "take an admission back, `/incumbent undo ID`.</sub>"
    )
