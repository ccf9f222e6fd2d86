"""The dashboard: the body of the one issue that says how the regression set stands (values in, Markdown out)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from incumbent.curator.entry import Entry
from incumbent.curator.growth import growth
from incumbent.curator.losses import Loss
from incumbent.files.git.file_history import FileHistory
from incumbent.ledger.agreement.agreement import Agreement
from incumbent.ledger.model import Run
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.pipeline.review import Platform
from incumbent.rater.model import RatedEntry
from incumbent.rater.pair_coverage import RuledOut
from incumbent.report.agreement import agreement_sections
from incumbent.report.escaping import code, link, shortened, visible
from incumbent.report.output import StatusOutput
from incumbent.report.results import result_sections, results_overview
from incumbent.report.review_comment import COMMENT_CHARACTERS
from incumbent.report.status import carried_words, growth_charts, losses_overview, missing_section, status_overview
from incumbent.report.tables import TableSection
from incumbent.report.task_list import Task
from incumbent.report.verdict_text import SHOWN_NAMES, MarkdownStyle, counted, figure, listed
from incumbent.runners.export.item import ExportItem
from incumbent.runners.export.plan import unready
from incumbent.text.compare import rounded
from incumbent.text.masking import masked

_FILES = "the files in `regression_set/`"
_STATUS = "`incumbent status`"


def size_words(status: StatusOutput) -> str:
    """Size and free slots against the ceiling, and the total cost, in one line."""
    free = status.ceiling - status.size
    left = f"{free} free" if free >= 0 else f"{-free} over the ceiling"
    return (
        f"{status.size} of {counted(status.ceiling, 'slot', 'slots')} taken, {left}; total cost {figure(status.cost)}"
    )


def summary(status: StatusOutput, refused: int) -> str:
    """The numbers of the set in one paragraph; ``refused`` is how many refusals of an eviction hold."""
    covered = sum(bool(item.coverers) for item in status.capabilities)
    sentences = [f"{covered} of {counted(len(status.capabilities), 'capability', 'capabilities')} covered."]
    sentences.append(f"{carried_words(status)}.")
    if status.waiting:
        sentences.append(f"{counted(len(status.waiting), 'entry waits', 'entries wait')} for a slot.")
    if status.evicted:
        sentences.append(f"{counted(len(status.evicted), 'entry was', 'entries were')} evicted (tombstones).")
    if refused:
        sentences.append(f"{counted(refused, 'refusal of an eviction holds', 'refusals of evictions hold')}.")
    return " ".join(sentences)


def coverage(status: StatusOutput, style: MarkdownStyle) -> TableSection:
    """Every capability, those in short supply first; otherwise in the taxonomy's order."""
    rows = [
        (
            style.capability(item.id),
            str(len(item.coverers)),
            "on trial" if item.on_trial else str(item.floor) if item.floor_met else f"**short of {item.floor}**",
            "–" if item.champion is None else style.name(item.champion),
            "–" if item.champion_score is None else f"{item.champion_score:.2f}",
        )
        for item in sorted(status.capabilities, key=lambda item: item.floor_met)
    ]
    short = sum(not item.floor_met for item in status.capabilities)
    are = "every floor is met" if not short else f"{short} of {len(rows)} short of their floor"
    return TableSection(
        title=f"Coverage: {are}",
        header=("Capability", "Coverers", "Floor", "Champion", "Score"),
        rows=tuple(rows),
        more=_STATUS,
        fold=counted(len(rows), "capability", "capabilities"),
    )


def waiting(platform: Platform, style: MarkdownStyle) -> TableSection:
    """The entries that wait for a slot, and what each would cover."""
    config = platform.config
    scored = {item.id: item for item in platform.regression_set.in_line(platform.taxonomy)[0]}

    def competent(resident: RatedEntry) -> str:
        names = [name for name, score in sorted(resident.scores.items()) if score >= config.competence_bar(name)]
        return listed([style.capability(name) for name in names]) if names else "–"

    rows = [
        (style.name(id), _customer(entry, style), style.quote(entry.admitted.at), competent(scored[id]))
        for id, entry in platform.regression_set.waiting.items()
    ]
    free = config.ceiling - len(platform.regression_set.entries)
    about = "`incumbent admit --waiting` lets in those that still earn a free slot." if free > 0 else "The set is full."
    return TableSection(
        title=f"Waiting for a slot ({len(rows)})",
        about=(about,),
        header=("Entry", "Customer", "Since", "Covers"),
        rows=tuple(rows),
        more=_STATUS,
        asks=True,
    )


def least_loss(losses: list[Loss], style: MarkdownStyle) -> TableSection:
    """With which entries least would be lost for those that wait, where none can go safely."""
    rows = []
    for loss in losses:
        parts = []
        if loss.capabilities:
            parts.append(f"the floor of {listed([style.capability(name) for name in loss.capabilities])}")
        if loss.combinations:
            names = [" + ".join(style.capability(name) for name in combination) for combination in loss.combinations]
            parts.append(f"the only test of {listed(names)}")
        rows.append((style.name(loss.admit), style.name(loss.id), "; ".join(parts) or "nothing"))
    return TableSection(
        title=f"Least loss ({len(rows)})",
        about=("Entries wait, and nothing can go safely. Least would be lost in these ways; a person decides.",),
        header=("Waits", "Would take the slot of", "What would be lost"),
        rows=tuple(rows),
        more="`incumbent prune`",
        asks=True,
    )


def stale_entries(platform: Platform, style: MarkdownStyle) -> TableSection:
    """The entries, in R and in line, whose scores are not all comparable, and why."""
    _, stale = platform.regression_set.present(platform.taxonomy)
    return TableSection(
        title=f"Stale ({len(stale)})",
        about=("Classified by another taxonomy or classifier: run `incumbent reclassify` and commit what it writes.",),
        header=("Entry", "Why", "Capabilities without a score"),
        rows=tuple((style.name(item.id), style.quote(item.reason), str(len(item.capabilities))) for item in stale),
        more=_STATUS,
        fold=counted(len(stale), "entry", "entries"),
    )


def not_ready(platform: Platform, style: MarkdownStyle) -> TableSection:
    """The entries of R that no runner can run, and why."""
    rows = tuple(
        (style.name(entry.id), _customer(entry, style), style.quote(why))
        for entry in platform.regression_set.entries.values()
        if (why := unready(ExportItem.of(entry), platform.fixtures)) is not None
    )
    return TableSection(
        title=f"Not ready to run ({len(rows)})",
        about=("`incumbent export` leaves them out.",),
        header=("Entry", "Customer", "Why"),
        rows=rows,
        more=_FILES,
        fold=counted(len(rows), "entry", "entries"),
    )


def customers(platform: Platform, style: MarkdownStyle) -> TableSection:
    """The slots that each customer holds, most first, and whether the next one would need a person."""
    held, config = platform.regression_set.held, platform.config
    most = rounded(config.limits.customer_share * config.ceiling)
    rows = [
        (style.quote(name), str(count), f"{count / config.ceiling:.0%}", "a person" if count + 1 > most else "directly")
        for name, count in sorted(held.items(), key=lambda item: (-item[1], item[0]))
    ]
    unsourced = len(platform.regression_set.entries) - sum(held.values())
    if unsourced:
        rows.append(("*no source*", str(unsourced), f"{unsourced / config.ceiling:.0%}", "–"))
    share = f"{config.limits.customer_share:.0%}"
    return TableSection(
        title=f"Customers ({len(held)})",
        about=(f"Above {share} of all slots (`limits.customer_share`), a customer's next query needs a person.",),
        header=("Customer", "Entries", "Of all slots", "The next enters by"),
        rows=tuple(rows),
        more=_FILES,
        fold=counted(len(held), "customer", "customers"),
    )


def pinned(platform: Platform, style: MarkdownStyle) -> TableSection:
    """The entries that people keep, and why."""
    pins = {id: entry.pin for id, entry in platform.regression_set.entries.items() if entry.pin is not None}
    return TableSection(
        title=f"Pinned by people ({len(pins)})",
        header=("Entry", "Reason"),
        rows=tuple((style.name(id), style.quote(reason)) for id, reason in pins.items()),
        more=_FILES,
        fold=counted(len(pins), "entry", "entries"),
    )


def quarantined(platform: Platform, style: MarkdownStyle) -> TableSection:
    """The entries that exports leave out in quarantine, and why."""
    found = [item for item in platform.regression_set.entries.values() if item.quarantined is not None]
    return TableSection(
        title=f"Quarantined ({len(found)})",
        about=("They stay in the set, and block no release: `incumbent export` leaves them out.",),
        header=("Entry", "Customer", "Why"),
        rows=tuple(
            (style.name(item.id), _customer(item, style), style.quote(item.quarantined or "")) for item in found
        ),
        more=_FILES,
        fold=counted(len(found), "entry", "entries"),
    )


def _customer(entry: Entry, style: MarkdownStyle) -> str:
    return "–" if entry.source is None else style.quote(entry.source.customer)


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

Kind = Literal[
    "admission",
    "displaced",
    "redundant",
    "source-deleted",
    "customer-left",
    "group",
    "swap",
    "repack",
    "top-up",
    "undone",
]
"""Why a pull request of ours is, or could be, open."""

_KINDS: Final[dict[Kind, str]] = {
    "admission": "enters the set",
    "displaced": "displaced by better entries",
    "redundant": "redundant",
    "source-deleted": "its query was deleted",
    "customer-left": "its customer left",
    "group": "several, each in a commit of its own",
    "swap": "swap with an entry that waits",
    "repack": "an excluded query does its work",
    "top-up": "an excluded query enters a free slot",
    "undone": "a curator took its admission back",
}


@dataclass(frozen=True, kw_only=True)
class OpenSuggestion:
    """A pull request of ours that is open: it evicts ``entries``, perhaps for others, or undoes their admission."""

    pull_request: int
    entries: tuple[str, ...]
    kind: Kind


@dataclass(frozen=True, kw_only=True)
class UnopenedSuggestion:
    """An eviction that could be suggested and is not open; ``boxes`` are what people may tick.

    ``why`` is plain text; ``compare`` leads to the page where a person opens the pull request, as a path or an
    address, where we may not.
    """

    entry: str
    kind: Kind
    why: str
    compare: str | None
    boxes: tuple[Task, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OpenQuarantine:
    """An offer to quarantine an entry, or to end that (``ends``); ``pull_request`` is ``None`` while none is open.

    ``compare`` leads to the page where a person opens it, where we may not.
    """

    entry: str
    ends: bool
    pull_request: int | None
    compare: str | None = None


@dataclass(frozen=True, kw_only=True)
class RefusedSuggestion:
    """A suggestion that people refused, on the ``pull_request`` or (``None``) in a comment; ``again`` is its box."""

    entry: str
    pull_request: int | None
    again: Task


@dataclass(frozen=True, kw_only=True)
class PendingReview:
    """The ``queries`` of one pull request, open or ``merged``, that need a person; ``boxes`` may be ticked."""

    pull_request: int
    queries: tuple[str, ...]
    merged: bool
    boxes: tuple[Task, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Dashboard:
    """Everything that the dashboard says; lists are shown in their own order.

    ``platform`` is the default branch at ``commit``, at the moment ``at`` (ISO 8601); ``limit`` how many suggestions
    may be open at once (``limits.open_evictions``, from 0); ``refused`` the digests of refusals that hold something
    back, ``reopenable`` those that people may take back by a box; ``runs`` the last ones,
    latest first; ``notices`` plain text; ``agreement`` what people made of verdicts (``None``: that is not known);
    ``agents`` the capabilities that each declared agent rules out; ``history`` the changes of the files of R;
    ``releases`` the last ones with results, and ``quarantines`` what is offered by these.
    """

    platform: Platform
    commit: str
    at: str
    open_suggestions: tuple[OpenSuggestion, ...] = ()
    limit: int
    candidates: tuple[UnopenedSuggestion, ...] = ()
    refused: frozenset[str] = frozenset()
    reopenable: tuple[RefusedSuggestion, ...] = ()
    pending: tuple[PendingReview, ...] = ()
    runs: tuple[Run, ...] = ()
    notices: tuple[str, ...] = ()
    agreement: Agreement | None = None
    agents: RuledOut = field(default_factory=dict)
    history: FileHistory | None = None
    releases: tuple[ReleaseRecord, ...] = ()
    quarantines: tuple[OpenQuarantine, ...] = ()


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
    sections: tuple[TableSection, ...]
    closing: str

    @classmethod
    def of(cls, dashboard: Dashboard) -> _Body:
        platform = dashboard.platform
        status = status_overview(platform, dashboard.agents)
        known, when = platform.regression_set, dashboard.at
        curves = growth(known, platform.taxonomy, platform.config, dashboard.agents, when, dashboard.history)
        chart = growth_charts(curves, platform.config.ceiling)
        opening = (
            f"### Regression set: {size_words(status)}",
            summary(status, len(dashboard.refused)),
            *([] if chart is None else [chart]),
        )
        notices = tuple(code(shortened(visible(masked(notice)), NOTICE_CHARACTERS)) for notice in dashboard.notices)
        style = MarkdownStyle(platform.taxonomy)
        could_go = dashboard.open_suggestions or dashboard.candidates or status.size < status.ceiling
        losses = losses_overview(platform, dashboard.refused) if status.waiting and not could_go else []
        sections = (
            _pending(dashboard.pending, style),
            _open(dashboard, style),
            _candidates(dashboard, style),
            _refused(dashboard.reopenable, style),
            _quarantines(dashboard, style),
            waiting(platform, style),
            least_loss(losses, style),
            stale_entries(platform, style),
            coverage(status, style),
            *(() if status.pairs is None else (missing_section(status.pairs, style),)),
            customers(platform, style),
            pinned(platform, style),
            not_ready(platform, style),
            quarantined(platform, style),
            *_results(dashboard, style),
            *(() if dashboard.agreement is None else agreement_sections(dashboard.agreement, style)),
            _runs(dashboard.runs, style),
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


def _results(dashboard: Dashboard, style: MarkdownStyle) -> tuple[TableSection, ...]:
    if not dashboard.releases:
        return ()
    return result_sections(results_overview(dashboard.platform, dashboard.releases, ledger=True), style)


def _pending(pending: Sequence[PendingReview], style: MarkdownStyle) -> TableSection:
    rows = tuple(
        (
            f"#{item.pull_request}",
            "merged" if item.merged else "open",
            str(len(item.queries)),
            _names(item.queries, style),
        )
        for item in pending
    )
    queries = sum(len(item.queries) for item in pending)
    or_tick = " Or read the verdict there, and tick a box here." if any(item.boxes for item in pending) else ""
    return TableSection(
        title=f"Need a person ({queries})",
        about=(f"Curators answer on the pull request: `/incumbent help`.{or_tick}",),
        header=("Pull request", "State", "Number", "Queries"),
        rows=rows,
        more="the pull requests themselves",
        asks=True,
        boxes=tuple(_lines(item.boxes) for item in pending),
        boxless=tuple(
            (len(item.queries) - len(item.boxes), len(item.queries)) if item.boxes else (0, 0) for item in pending
        ),
        instead="comment `/incumbent accept ID…` on the pull request",
    )


def _open(dashboard: Dashboard, style: MarkdownStyle) -> TableSection:
    rows = tuple(
        (f"#{item.pull_request}", _names(item.entries, style), _KINDS[item.kind]) for item in dashboard.open_suggestions
    )
    return TableSection(
        title=f"Suggested, for you to merge or close ({len(rows)})",
        header=("Pull request", "Entries", "Why"),
        rows=rows,
        more="the open pull requests",
        asks=True,
    )


def _candidates(dashboard: Dashboard, style: MarkdownStyle) -> TableSection:
    by_hand = any(item.compare is not None for item in dashboard.candidates)
    rows = []
    for item in dashboard.candidates:
        why = f"{_KINDS[item.kind]}: {style.quote(item.why)}" if item.why else _KINDS[item.kind]
        compare = "–" if item.compare is None else link("open the pull request", item.compare)
        rows.append((style.name(item.entry), why, compare)[: 3 if by_hand else 2])
    leaving = sum(1 for item in dashboard.open_suggestions if item.kind != "admission")
    most = counted(dashboard.limit, "suggestion is", "suggestions are")
    return TableSection(
        title=f"Could go or enter, not suggested yet ({len(rows)})",
        about=(f"At most {most} open at once (`limits.open_evictions`); {leaving} now.",),
        header=("Entry", "Why", "By hand")[: 3 if by_hand else 2],
        rows=tuple(rows),
        more="`incumbent prune`",
        asks=True,
        boxes=tuple(_lines(item.boxes) for item in dashboard.candidates),
        boxless=tuple((0, 1 if item.boxes else 0) for item in dashboard.candidates),
        instead="run `incumbent evict ID` or `incumbent accept ID`, or wait for room: the most urgent are shown",
    )


def _refused(reopenable: Sequence[RefusedSuggestion], style: MarkdownStyle) -> TableSection:
    rows = tuple(
        (style.name(item.entry), "in a comment" if item.pull_request is None else f"#{item.pull_request}")
        for item in reopenable
    )
    return TableSection(
        title=f"Refused ({len(rows)})",
        about=("Not suggested again until the grounds change, or until a curator ticks a box.",),
        header=("Entry", "Where"),
        rows=rows,
        more="the closed pull requests",
        boxes=tuple((item.again.line,) for item in reopenable),
        boxless=((0, 1),) * len(rows),
        instead="reopen the pull request, or delete the comment",
    )


def _quarantines(dashboard: Dashboard, style: MarkdownStyle) -> TableSection:
    rows = []
    for item in dashboard.quarantines:
        waits = "waits for room" if item.compare is None else link("open the pull request", item.compare)
        where = waits if item.pull_request is None else f"#{item.pull_request}"
        rows.append((where, style.name(item.entry), "stable: end its quarantine" if item.ends else "flaps: quarantine"))
    most = counted(dashboard.platform.config.limits.open_quarantines, "pull request is", "pull requests are")
    return TableSection(
        title=f"Quarantine, for you to merge or close ({len(rows)})",
        about=(f"At most {most} open at once (`limits.open_quarantines`).",),
        header=("Pull request", "Entry", "What"),
        rows=tuple(rows),
        more="`incumbent results`",
        asks=True,
    )


def _lines(boxes: Sequence[Task]) -> tuple[str, ...]:
    return tuple(task.line for task in boxes)


def _names(ids: Sequence[str], style: MarkdownStyle) -> str:
    return listed([style.name(id) for id in ids[:SHOWN_NAMES]], total=len(ids)) if ids else "–"


def _runs(runs: Sequence[Run], style: MarkdownStyle) -> TableSection:
    return TableSection(
        title="Last runs",
        header=("When", "Commit", "What it did", "Run"),
        rows=tuple(
            (
                style.quote(item.at),
                code(item.commit[:12]),
                style.quote(item.did),
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
